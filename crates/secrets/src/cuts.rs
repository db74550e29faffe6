//! What is left of a value where a text was cut: its beginning before a cut, its end behind one.

use std::ops::Range;

use memchr::memmem;

use crate::Found;

/// How a mark begins that stands where text was left out; it goes on to a `]` in the same line.
const OPENS: &str = "[...";
/// The same at the end of what was shortened to a length.
const SHORTENED: char = '\u{2026}';
/// The longest such mark, in bytes.
const MARK_BYTES_MAX: usize = 256;
/// The fewest characters of a value that count as a part of it: fewer stand beside a cut by chance, and
/// tell nothing.
const PART_CHARS_MIN: usize = 4;

/// A value with the name that it goes by.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Whether a text begins and ends as it was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// It is whole but for where a mark says so.
    Whole,
    /// It may have been cut at both ends as well.
    Cut,
}

/// The parts of values beside each cut of a text.
pub(crate) fn find(text: &str, ends: Ends, values: &[Value]) -> Vec<Found> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for mark in marks(text)
        .chain((ends == Ends::Cut).then_some([0..0, text.len()..text.len()]).into_iter().flatten())
    {
        // Blanks are not told apart from those that stand around a mark.
        let (before, after) = (text[..mark.start].trim_end(), text[mark.end..].trim_start());
        let begun = values.iter().filter_map(|it| Some((begun_at_end(before, &it.value)?, it)));
        if let Some((n_bytes, Value { name, .. })) = begun.max_by_key(|(n_bytes, _)| *n_bytes) {
            found.push(Found { range: before.len() - n_bytes..before.len(), what: name.clone() });
        }
        let ended = values.iter().filter_map(|it| Some((ended_at_start(after, &it.value)?, it)));
        if let Some((n_bytes, Value { name, .. })) = ended.max_by_key(|(n_bytes, _)| *n_bytes) {
            let start = text.len() - after.len();
            found.push(Found { range: start..start + n_bytes, what: name.clone() });
        }
    }
    found
}

/// How many bytes of the beginning of a value, not all of it, a text ends with.
fn begun_at_end(text: &str, value: &str) -> Option<usize> {
    // A text may have a mark every few bytes.
    if !value.as_bytes().contains(text.as_bytes().last()?) {
        return None;
    }
    let shortest = value.char_indices().nth(PART_CHARS_MIN)?.0;
    let lengths = value.char_indices().map(|(at, _)| at).filter(|at| *at >= shortest);
    lengths.rev().find(|at| text.ends_with(&value[..*at]))
}

/// How many bytes of the end of a value, not all of it, a text starts with.
fn ended_at_start(text: &str, value: &str) -> Option<usize> {
    if !value.as_bytes().contains(text.as_bytes().first()?) {
        return None;
    }
    let longest_start = value.char_indices().rev().nth(PART_CHARS_MIN - 1)?.0;
    let starts =
        value.char_indices().map(|(at, _)| at).filter(|at| (1..=longest_start).contains(at));
    starts.into_iter().find(|at| text.starts_with(&value[*at..])).map(|at| value.len() - at)
}

/// Where marks stand.
fn marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let opened = memmem::find_iter(text.as_bytes(), OPENS).filter_map(|at| {
        let rest = &text.as_bytes()[at..];
        let rest = &rest[..rest.len().min(MARK_BYTES_MAX)];
        let end = memchr::memchr2(b']', b'\n', rest).filter(|end| rest[*end] == b']')?;
        Some(at..at + end + 1)
    });
    opened.chain(text.match_indices(SHORTENED).map(|(at, mark)| at..at + mark.len()))
}
