//! What is wrong with a value, in words.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::Types;

/// The most characters of a value, a name or a reason within other words.
pub(crate) const SHORT_CHARS_MAX: usize = 100;
/// Of more ways to fit than these only some are told.
const WAYS_TOLD_MAX: usize = 3;

/// Something that is wrong with a value: where, and why.
#[derive(Debug, Clone)]
pub struct Problem<'v> {
    path: String,
    value: Cow<'v, Value>,
    words: Words,
    pub(crate) wanted: Option<Types>,
    pub(crate) alternatives: Vec<Vec<Problem<'v>>>,
}

/// A sentence.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    /// It says all by itself.
    Plain(String),
    /// It begins with the value.
    OfValue(String),
    /// It ends with the value.
    ForValue(String),
}

impl<'v> Problem<'v> {
    pub(crate) fn new(path: String, value: &'v Value, words: Words) -> Self {
        let (value, wanted, alternatives) = (Cow::Borrowed(value), None, Vec::new());
        Self { path, value, words, wanted, alternatives }
    }

    /// The same problem of a value that stands for it, and that it may have for itself.
    pub(crate) fn about<'o>(self, value: &Value) -> Problem<'o> {
        let about = |list: Vec<Self>| list.into_iter().map(|it| it.about(value)).collect();
        Problem {
            path: self.path,
            value: Cow::Owned(value.clone()),
            words: self.words,
            wanted: self.wanted,
            alternatives: self.alternatives.into_iter().map(about).collect(),
        }
    }

    /// Where in the value, as a JSON pointer; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What stands there.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The types of which the value is none, if that is the problem.
    #[must_use]
    pub fn wanted(&self) -> Option<Types> {
        self.wanted
    }

    /// What is wrong by each of several schemas of which one would have to fit, if that is the
    /// problem.
    pub fn alternatives(&self) -> impl Iterator<Item = &Problem<'v>> {
        self.alternatives.iter().flatten()
    }

    /// The reason, with these words for the value.
    #[must_use]
    pub fn with_value(&self, value: &str) -> String {
        let mut told = match &self.words {
            Words::Plain(words) => words.clone(),
            Words::OfValue(words) => format!("{value} {words}"),
            Words::ForValue(words) => format!("{words} {value}"),
        };
        let ways = self.alternatives.iter().filter_map(|problems| problems.first());
        for (index, way) in ways.take(WAYS_TOLD_MAX).enumerate() {
            told += if index == 0 { ": " } else { "; or " };
            told += &way.beside(&self.path);
        }
        told
    }

    /// The reason in few words, beside others about the value at a path.
    fn beside(&self, path: &str) -> String {
        let inner = self.path.strip_prefix(path).unwrap_or(&self.path);
        let place = if inner.is_empty() { String::new() } else { format!("`{inner}` ") };
        let (Words::Plain(words) | Words::OfValue(words) | Words::ForValue(words)) = &self.words;
        place + &shortened(words, SHORT_CHARS_MAX)
    }
}

/// A value in a message.
pub(crate) fn short(value: &Value) -> String {
    beginning(value, SHORT_CHARS_MAX)
}

/// A value as JSON, up to so many characters. What is behind them is not written.
pub(crate) fn beginning(value: &Value, chars_max: usize) -> String {
    // A character more says that there is one, and no character has more than four bytes.
    let mut text = vec![0; 4 * (chars_max + 1)];
    let mut rest = &mut text[..];
    // Fails when there is no more room, with all that there was room for written.
    let _ = serde_json::to_writer(&mut rest, value);
    let left = rest.len();
    text.truncate(text.len() - left);
    let whole = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    shortened(whole, chars_max)
}

/// The beginning of a text, with a mark where it was cut.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl fmt::Display for Problem<'_> {
    /// The reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_value(&self.value.to_string()))
    }
}
