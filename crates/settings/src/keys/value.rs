//! Values of keys: read from a file or a variable, and shown again as TOML.

use std::fmt::{self, Display};

use super::{Key, Kind};
use crate::document::{self, Format, Node, Value};

/// Billionths of a dollar.
const BILLION: f64 = 1e9;
/// The most dollars a turn may be given.
const DOLLARS_MAX: f64 = 1e6;
/// The least tokens a model may be told to reason with; providers refuse less.
const THINKING_TOKENS_MIN: u64 = 1_024;
/// The most.
const THINKING_TOKENS_MAX: u64 = 1_000_000;
/// How much a model may be told to reason, by name.
pub(super) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyValue {
    /// True or false.
    Switch(bool),
    /// A number in the key's unit; dollars in billionths.
    Number(u64),
    /// A text.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

impl Kind {
    /// What a value has to be, in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Number { min, max, unit } if max >= u64::MAX >> 1 => {
                format!("a number of {unit} from {min}")
            }
            Self::Number { min, max, unit } => format!("a number of {unit} from {min} to {max}"),
            Self::Limit { max, unit } => {
                format!("a number of {unit} from 1 to {max}, or 0 for no limit")
            }
            Self::Dollars => format!("an amount of dollars from 0 to {DOLLARS_MAX}; 0 is no limit"),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Choices(names) => format!("a list, each once, of {}", names.join(", ")),
            Self::Name { chars_max } => format!("a text of one line, 1 to {chars_max} characters"),
            Self::Effort => format!(
                "one of {}, or a number of tokens from {THINKING_TOKENS_MIN} to \
                 {THINKING_TOKENS_MAX}",
                EFFORTS.join(", ")
            ),
            Self::SwitchOrText { chars_max } => {
                format!("true, false, or a text of one line, 1 to {chars_max} characters")
            }
            Self::FileNames { count_max } => {
                format!("a list of up to {count_max} names of files, without folders")
            }
            Self::Outside(_) => "what docs/settings.md says".to_owned(),
        }
    }

    /// The value that stands in a file, if it can be meant.
    pub(crate) fn read(self, value: &Value) -> Option<KeyValue> {
        let number = || match value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        };
        match self {
            Self::Switch => switch(value),
            Self::Number { min, max, .. } => {
                number().filter(|n| (min..=max).contains(n)).map(KeyValue::Number)
            }
            Self::Limit { max, .. } => number().filter(|n| *n <= max).map(KeyValue::Number),
            Self::Dollars => dollars(value).map(KeyValue::Number),
            Self::Choice(names) => text(value).filter(|t| names.contains(t)).map(kept),
            Self::Choices(names) => list(value, names.len(), |name| names.contains(&name)),
            Self::Name { chars_max } => text(value).filter(|t| is_line(t, chars_max)).map(kept),
            Self::Effort => match text(value) {
                Some(name) => Some(name).filter(|name| EFFORTS.contains(name)).map(kept),
                None => number()
                    .filter(|n| (THINKING_TOKENS_MIN..=THINKING_TOKENS_MAX).contains(n))
                    .map(KeyValue::Number),
            },
            // Between quotes, too, nobody means these words.
            Self::SwitchOrText { chars_max } => match text(value) {
                Some("true") => Some(KeyValue::Switch(true)),
                Some("false") => Some(KeyValue::Switch(false)),
                Some(text) => Some(text).filter(|text| is_line(text, chars_max)).map(kept),
                None => switch(value),
            },
            Self::FileNames { count_max } => list(value, count_max, is_file_name),
            Self::Outside(_) => None,
        }
    }

    /// The value that a variable has, if it can be meant: text as it stands, all else as in TOML.
    pub(crate) fn read_variable(self, given: &str) -> Option<KeyValue> {
        let given = given.trim();
        let as_text = self.read(&Value::Text(given.to_owned()));
        // A number that no file could hold is as good as the largest that one can.
        let huge = || given.parse::<u64>().ok().map(|_| Value::Integer(i64::MAX));
        as_text.or_else(|| {
            self.read(
                &parse(given).filter(|value| !matches!(value, Value::Other(_))).or_else(huge)?,
            )
        })
    }
}

impl Key {
    /// What holds when nobody says anything.
    #[must_use]
    pub fn default_value(&self) -> Option<KeyValue> {
        self.kind.read(&parse(self.default)?)
    }

    /// A value of this key, as it is written in TOML.
    #[must_use]
    pub fn show(&self, value: &KeyValue) -> String {
        match (self.kind, value) {
            (Kind::Dollars, KeyValue::Number(billionths)) => Dollars(*billionths).to_string(),
            _ => value.to_string(),
        }
    }
}

impl Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => on.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => toml_text(text).fmt(f),
            Self::List(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| toml_text(text)).collect();
                write!(f, "[{}]", texts.join(", "))
            }
        }
    }
}

/// Billionths of a dollar, as dollars with as many digits as they need.
struct Dollars(u64);

impl Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let digits = format!("{rest:09}");
        match digits.trim_end_matches('0') {
            "" => whole.fmt(f),
            digits => write!(f, "{whole}.{digits}"),
        }
    }
}

/// A text as TOML has it between quotes.
pub(crate) fn toml_text(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// A value as it would stand behind a key.
fn parse(given: &str) -> Option<Value> {
    plain(given).or_else(|| in_a_file(given))
}

fn in_a_file(given: &str) -> Option<Value> {
    let file = format!("value = {given}\n");
    let Node { value: Value::Table(entries), .. } =
        document::read(Format::Toml, "", file.as_bytes()).ok()?
    else {
        return None;
    };
    // More than one would be more than a value.
    <[_; 1]>::try_from(entries).ok().map(|[entry]| entry.node.value)
}

/// What nearly every value is, without a file around it: every start of a program reads the defaults.
fn plain(given: &str) -> Option<Value> {
    let text = |given: &str| {
        let inner = given.strip_prefix('"')?.strip_suffix('"')?;
        let is_plain = !inner.contains(|c: char| c.is_control() || c == '"' || c == '\\');
        is_plain.then(|| Value::Text(inner.to_owned()))
    };
    match given {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "0" => Some(Value::Integer(0)),
        _ if given.starts_with(|c: char| matches!(c, '1'..='9'))
            && given.bytes().all(|b| b.is_ascii_digit()) =>
        {
            given.parse().ok().map(Value::Integer)
        }
        _ => match given.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(items) => items
                .split(", ")
                .map(|item| text(item).map(|value| Node { line: 1, value }))
                .collect::<Option<_>>()
                .map(Value::List),
            None => text(given),
        },
    }
}

fn kept(text: &str) -> KeyValue {
    KeyValue::Text(text.to_owned())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn switch(value: &Value) -> Option<KeyValue> {
    match value {
        Value::Bool(on) => Some(KeyValue::Switch(*on)),
        _ => None,
    }
}

/// Texts that pass, none of them twice.
fn list(value: &Value, count_max: usize, passes: impl Fn(&str) -> bool) -> Option<KeyValue> {
    let Value::List(nodes) = value else { return None };
    let mut texts: Vec<String> = Vec::new();
    for node in nodes {
        let one = text(&node.value).filter(|one| passes(one))?;
        if texts.len() == count_max || texts.iter().any(|known| known == one) {
            return None;
        }
        texts.push(one.to_owned());
    }
    Some(KeyValue::List(texts))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "what is cast is within the limits above"
)]
fn dollars(value: &Value) -> Option<u64> {
    let dollars = match value {
        Value::Integer(number) => *number as f64,
        Value::Fraction(number) => *number,
        _ => return None,
    };
    let dollars = Some(dollars).filter(|dollars| (0.0..=DOLLARS_MAX).contains(dollars))?;
    let billionths = (dollars * BILLION).round() as u64;
    // What is too little to be counted is a limit still; zero would be none.
    Some(if dollars > 0.0 { billionths.max(1) } else { 0 })
}

fn is_line(text: &str, chars_max: usize) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= chars_max
        && !text.chars().any(char::is_control)
}

/// Whether this is a file in whatever folder is looked at, and nothing else.
fn is_file_name(name: &str) -> bool {
    is_line(name, 255) && !matches!(name, "." | "..") && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_is_what_a_file_would_hold() {
        let texts = ["\"\"", "\"a, b\"", "[\"a\"]", "[\"a\", \"b c\"]", "[\"a\", \"\"]"];
        let defaults = super::super::KEYS.iter().map(|key| key.default);
        for given in ["true", "false", "0", "7", "12034"].into_iter().chain(texts).chain(defaults) {
            let plain = plain(given);
            assert!(plain.is_some() || given.is_empty(), "{given}");
            assert_eq!(plain, in_a_file(given), "{given}");
        }
        let others = ["01", "+1", "1_0", "1.5", "99999999999999999999", "'a'", "\"a\\n\"", "[]"];
        for given in
            others.into_iter().chain(["[1]", "[\"a\",\"b\"]", "\"a\" # b", "\"", "[", "true "])
        {
            assert_eq!(plain(given), None, "{given}");
        }
    }
}
