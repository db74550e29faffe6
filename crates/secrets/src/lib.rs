//! Finds keys, tokens and passwords in text, and takes them out.
//!
//! Two things are looked for: the values of variables whose names say that they are secret, exactly
//! as they are, and the forms that well-known services give their keys. What is written another way
//! (encoded, split, spoken of) is not found: this keeps accidents away, not somebody who wants a
//! secret out; that is what confinement is for. A key that heeler itself holds is a [`Secret`].
//!
//! Invariant: what was taken out appears nowhere, not in errors and not in `Debug`.

mod forms;
mod randomness;
mod secret;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use regex::Regex;

pub use secret::Secret;

/// How what was taken out begins; the name of its kind and a `]` follow.
pub const MARKER: &str = "[redacted: ";

/// The shortest value that counts as a secret, in characters: what is shorter stands in ordinary
/// text by chance.
pub const SECRET_CHARS_MIN: usize = 12;

/// The most values of variables that are looked for; far more than anybody sets.
pub const VALUES_MAX: usize = 256;

/// What a variable's name holds when its value is secret.
const SECRET_NAMES: [&str; 7] =
    ["APIKEY", "API_KEY", "CREDENTIAL", "PASSWORD", "PASSWD", "SECRET", "TOKEN"];
/// Ends of such names.
const SECRET_ENDS: [&str; 3] = ["_KEY", "_PAT", "_PASS"];

/// Knows what is secret here, and takes it out of text.
///
/// ```
/// use heeler_secrets::Secrets;
///
/// let secrets = Secrets::of_variables([("DATABASE_PASSWORD", "k3-Qm9-vT2-xW8")]);
/// let text = "connect with k3-Qm9-vT2-xW8";
/// assert_eq!(secrets.redact(text), "connect with [redacted: DATABASE_PASSWORD]");
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    /// Finds the values; absent when there are none.
    values: Option<Regex>,
    /// The names of the variables, in the order of the groups that find their values.
    names: Vec<String>,
}

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What it is: a variable's name, or a form.
    pub what: String,
}

impl Secrets {
    /// Knows the well-known forms, and of these variables the values whose names call them secret.
    #[must_use]
    pub fn of_variables<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut secret: Vec<(&str, &str)> = variables
            .into_iter()
            .map(|(name, value)| (name, value.trim()))
            .filter(|(name, value)| is_secret_name(name) && is_secret_value(value))
            .take(VALUES_MAX)
            .collect();
        // Of two values that begin alike the longer one has to win.
        secret.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let groups: Vec<String> =
            secret.iter().map(|(_, value)| format!("({})", regex::escape(value))).collect();
        if groups.is_empty() {
            return Self::default();
        }
        let names = secret.iter().map(|(name, _)| (*name).to_owned()).collect();
        // Escaped text of bounded number is a pattern; one too large for the engine is looked for
        // by its form alone.
        Self { values: Regex::new(&groups.join("|")).ok(), names }
    }

    /// Every secret in a text, in order, none inside of another.
    #[doc(hidden)]
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Found> {
        // Nothing secret is as short, whatever the form.
        if text.len() < SECRET_CHARS_MIN {
            return Vec::new();
        }
        let mut found: Vec<Found> = self.find_values(text).chain(forms::find(text)).collect();
        // The one that begins first wins, then the longer one.
        found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
        let mut end = 0;
        found.retain(|found| {
            let is_apart = found.range.start >= end;
            end = end.max(found.range.end);
            is_apart
        });
        found
    }

    /// The text with a marker in the place of each secret.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_part(text, 0..text.len())
    }

    /// A part of a text with a marker in the place of each secret, also of one that only begins or ends
    /// in it. Of the text beside the part no more is needed than a secret may be long. The part begins
    /// and ends between two characters of the text.
    #[must_use]
    pub fn redact_part<'a>(&self, text: &'a str, part: Range<usize>) -> Cow<'a, str> {
        let mut found = self.find(text);
        found.retain(|found| found.range.start < part.end && part.start < found.range.end);
        if found.is_empty() {
            return Cow::Borrowed(&text[part]);
        }
        let mut redacted = String::with_capacity(part.len());
        let mut end = part.start;
        for Found { range, what } in found {
            redacted.push_str(&text[end..range.start.max(end)]);
            redacted.push_str(MARKER);
            redacted.push_str(&what);
            redacted.push(']');
            end = range.end;
        }
        redacted.push_str(&text[end.min(part.end)..part.end]);
        Cow::Owned(redacted)
    }

    fn find_values(&self, text: &str) -> impl Iterator<Item = Found> {
        self.values.iter().flat_map(move |values| {
            values.captures_iter(text).filter_map(|captures| {
                let whole = captures.get(0)?;
                let name = (1..captures.len()).find(|group| captures.get(*group).is_some())?;
                Some(Found { range: whole.range(), what: self.names.get(name - 1)?.clone() })
            })
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("names", &self.names).finish_non_exhaustive()
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
}

/// A value that says what it is (a path, a word, a number) is no secret, whatever its name.
fn is_secret_value(value: &str) -> bool {
    value.chars().count() >= SECRET_CHARS_MIN
        && !value.starts_with(['/', '~'])
        && randomness::bits_per_char(value) >= randomness::NAMED_BITS_MIN
}

#[cfg(test)]
mod tests;
