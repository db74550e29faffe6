//! Finds keys, tokens and passwords in text, and takes them out.
//!
//! Two things are looked for: the values of variables whose names say that they are secret, exactly
//! as they are, and the forms that well-known services give their keys. Where a text was cut, what is
//! left of a value beside the mark of the cut is found as well; of a form whoever cuts takes it out
//! ([`Secrets::redact_ends`]). What is written another way (encoded, split, spoken of) is not found:
//! this keeps accidents away, not somebody who wants a secret out; that is what confinement is for. A
//! key that heeler itself holds is a [`Secret`].
//!
//! Invariant: what was taken out appears nowhere, not in errors and not in `Debug`.

mod cuts;
mod forms;
mod names;
mod randomness;
mod secret;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use regex::Regex;

use self::cuts::Value;
pub use secret::Secret;

/// How what was taken out begins; the name of its kind and a `]` follow.
pub const MARKER: &str = "[redacted: ";

/// The shortest value that counts as a secret, in characters: what is shorter stands in ordinary
/// text by chance.
pub const SECRET_CHARS_MIN: usize = 12;

/// The most values of variables that are looked for; far more than anybody sets.
pub const VALUES_MAX: usize = 256;

/// How far beyond a cut is looked for what begins or ends there, in bytes; no key is as long.
#[doc(hidden)]
pub const BEYOND_CUT_BYTES: usize = 16 * 1024;

/// Where the secret of a well-known form begins that a text ends within, if it goes on as it began: one
/// that is not known as a secret yet.
#[doc(hidden)]
#[must_use]
pub fn begun_at_end(text: &str) -> Option<usize> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(BEYOND_CUT_BYTES));
    forms::begun(&text[from..]).map(|start| from + start)
}

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
    /// The variables, in the order of the groups that find their values.
    named: Vec<Value>,
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
            .filter(|(name, value)| names::is_secret(name, value))
            .take(VALUES_MAX)
            .collect();
        // Of two values that begin alike the longer one has to win.
        secret.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let groups: Vec<String> =
            secret.iter().map(|(_, value)| format!("({})", regex::escape(value))).collect();
        if groups.is_empty() {
            return Self::default();
        }
        let value = |(name, value): &(&str, &str)| Value {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let named = secret.iter().map(value).collect();
        // Escaped text of bounded number is a pattern; one too large for the engine is looked for
        // by its form alone.
        Self { values: Regex::new(&groups.join("|")).ok(), named }
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
        redacted(text, part, self.find(text))
    }

    /// A part of a text with a marker in the place of each secret that only begins or ends in it, or that
    /// only what stands beside the part tells; those are left that the part alone tells. For who cuts a
    /// text that is redacted later: half a secret would not be known as one, and neither would a whole one
    /// without the word before it. The part begins and ends between two characters of the text.
    #[doc(hidden)]
    #[must_use]
    pub fn redact_ends<'a>(&self, text: &'a str, part: Range<usize>) -> Cow<'a, str> {
        let cuts = [part.start, part.end].into_iter().filter(|at| (1..text.len()).contains(at));
        let found = cuts.flat_map(|at| self.untold(text, at, &part)).collect();
        redacted(text, part, in_order(found))
    }

    /// The secrets in a part of a text, near a place where that was cut, that the part alone does not tell.
    fn untold(&self, text: &str, at: usize, part: &Range<usize>) -> Vec<Found> {
        let from = text.floor_char_boundary(at.saturating_sub(BEYOND_CUT_BYTES));
        let to = text.floor_char_boundary(at.saturating_add(BEYOND_CUT_BYTES));
        let find = |within: Range<usize>| {
            let found = self.find(&text[within.clone()]).into_iter();
            found.map(move |Found { range, what }| Found {
                range: within.start + range.start..within.start + range.end,
                what,
            })
        };
        let is_in_part = |one: &Found| one.range.start < part.end && part.start < one.range.end;
        let mut found: Vec<Found> = find(from..to).filter(is_in_part).collect();
        if !found.is_empty() {
            let told: Vec<Found> = find(from.max(part.start)..to.min(part.end)).collect();
            let is_told = |one: &Found| {
                told.iter().any(|told| {
                    told.range.start <= one.range.start && one.range.end <= told.range.end
                })
            };
            found.retain(|one| !is_told(one));
        }
        found
    }

    /// Every secret in a text, in order, none inside of another.
    #[doc(hidden)]
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Found> {
        let parts = cuts::find(text, &self.named);
        // Nothing whole is as short, whatever the form.
        if text.len() < SECRET_CHARS_MIN && parts.is_empty() {
            return Vec::new();
        }
        in_order(self.find_values(text).chain(forms::find(text)).chain(parts).collect())
    }

    fn find_values(&self, text: &str) -> impl Iterator<Item = Found> {
        self.values.iter().flat_map(move |values| {
            values.captures_iter(text).filter_map(|captures| {
                let whole = captures.get(0)?;
                let name = (1..captures.len()).find(|group| captures.get(*group).is_some())?;
                Some(Found { range: whole.range(), what: self.named.get(name - 1)?.name.clone() })
            })
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.named.iter().map(|it| &*it.name).collect();
        f.debug_struct("Secrets").field("names", &names).finish_non_exhaustive()
    }
}

/// What was found, in order, none inside of another.
fn in_order(mut all: Vec<Found>) -> Vec<Found> {
    // The one that begins first gives the name, then the longer one.
    all.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    let mut found: Vec<Found> = Vec::new();
    for next in all {
        match found.last_mut() {
            // Of two that overlap nothing is left.
            Some(last) if next.range.start < last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
            }
            _ => found.push(next),
        }
    }
    found
}

/// A part of a text with a marker in the place of what was found.
fn redacted(text: &str, part: Range<usize>, mut found: Vec<Found>) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests;
