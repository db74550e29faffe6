//! What is left of a value where a text was cut: its beginning before a cut, its end behind one.

use std::ops::Range;

use memchr::memmem;

use crate::Found;

/// How a mark begins that stands where text was left out; it goes on to a `]` in the same line. One that
/// holds a path, which may hold a `]` too, goes on to what is below.
const OPENS: &[u8] = b"[...";
/// How such a mark ends.
const CLOSES: &[u8] = b"...]";
/// The same at the end of what was shortened to a length.
const SHORTENED: &[u8] = "\u{2026}".as_bytes();
/// The fewest characters of a value that count as a part of it: fewer stand beside a cut by chance, and
/// tell nothing.
const PART_CHARS_MIN: usize = 4;

/// A value with the name that it goes by.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The parts of values beside each cut of a text. A text may have a mark every few bytes: it is read at
/// most once for each value, and only where four characters of that stand beside a mark.
pub(crate) fn find(text: &str, values: &[Value]) -> Vec<Found> {
    if values.is_empty() {
        return Vec::new();
    }
    let cuts = Cuts::of(text);
    let found = |Value { name, value }: &Value| {
        let (name, begun) = (name.clone(), begun_before(text, &cuts.before, value));
        let parts = begun.into_iter().chain(ended_behind(text, &cuts.behind, value));
        parts.map(move |range| Found { range, what: name.clone() })
    };
    values.iter().flat_map(found).collect()
}

/// Where text was left out, in order. Blanks are not told apart from those that stand around a mark.
#[derive(Default)]
struct Cuts {
    /// Where what stands before one ends.
    before: Vec<usize>,
    /// Where what stands behind one begins.
    behind: Vec<usize>,
}

impl Cuts {
    fn of(text: &str) -> Self {
        let mut cuts = Self::default();
        let bytes = text.as_bytes();
        // Where the first `]` behind what was begun last stands, and where that line ends: both are looked
        // for once, or a line full of beginnings would be read for each.
        let (mut closes, mut line_end) = (None, 0);
        for at in memchr::memchr3_iter(OPENS[0], b']', SHORTENED[0], bytes) {
            if bytes[at..].starts_with(SHORTENED) {
                cuts.before(text, at);
                cuts.behind(text, at + SHORTENED.len());
            } else if bytes[at..].starts_with(OPENS) {
                let found = |next: Option<usize>| next.map_or(bytes.len(), |next| at + next);
                if line_end <= at {
                    line_end = found(memchr::memchr(b'\n', &bytes[at..]));
                }
                if closes.is_none_or(|closes| closes <= at) {
                    closes = Some(found(memchr::memchr2(b']', b'\n', &bytes[at..])));
                }
                if closes.and_then(|closes| bytes.get(closes)) == Some(&b']') {
                    cuts.before(text, at);
                }
            } else if bytes[at] == b']'
                && (Some(at) == closes || at < line_end && bytes[..=at].ends_with(CLOSES))
            {
                // Of two such places either may be the end: beside the other nothing stands.
                cuts.behind(text, at + 1);
            }
        }
        cuts
    }

    fn before(&mut self, text: &str, at: usize) {
        self.before.push(text[..at].trim_end().len());
    }

    fn behind(&mut self, text: &str, at: usize) {
        self.behind.push(text.len() - text[at..].trim_start().len());
    }
}

/// Beginnings of a value, none of them all of it, that end at one of these places, which are in order.
fn begun_before(text: &str, places: &[usize], value: &str) -> Vec<Range<usize>> {
    let Some((shortest, _)) = value.char_indices().nth(PART_CHARS_MIN) else { return Vec::new() };
    let is_near = |end: usize| {
        let last = text[..end].char_indices().rev().nth(PART_CHARS_MIN - 1);
        last.is_some_and(|(at, _)| holds(value, &text[at..end]))
    };
    let (mut begun, mut read_to) = (None, 0);
    let mut found = Vec::new();
    for end in places.iter().copied().filter(|end| is_near(*end)) {
        let begun = begun.get_or_insert_with(|| Begun::of(value.bytes().collect()));
        let from = end.saturating_sub(value.len() - 1);
        if read_to < from {
            begun.n_bytes = 0;
        }
        text.as_bytes()[read_to.max(from)..end].iter().for_each(|byte| begun.read(*byte));
        read_to = end;
        if begun.n_bytes >= shortest {
            found.push(end - begun.n_bytes..end);
        }
    }
    found
}

/// Ends of a value, none of them all of it, that begin at one of these places, which are in order.
fn ended_behind(text: &str, places: &[usize], value: &str) -> Vec<Range<usize>> {
    let last = value.char_indices().rev().nth(PART_CHARS_MIN - 1);
    let Some(shortest) = last.map(|(at, _)| value.len() - at) else { return Vec::new() };
    let is_near = |start: usize| {
        let (mut rest, first) = (text[start..].chars(), PART_CHARS_MIN - 1);
        rest.nth(first).is_some() && holds(value, &text[start..text.len() - rest.as_str().len()])
    };
    // An end is the beginning of what is read from its end.
    let (mut begun, mut read_from) = (None, text.len());
    let mut found = Vec::new();
    for start in places.iter().copied().rev().filter(|start| is_near(*start)) {
        let begun = begun.get_or_insert_with(|| Begun::of(value.bytes().rev().collect()));
        let to = text.len().min(start + value.len() - 1);
        if to < read_from {
            begun.n_bytes = 0;
        }
        let rest = &text.as_bytes()[start..read_from.min(to)];
        rest.iter().rev().for_each(|byte| begun.read(*byte));
        read_from = start;
        if begun.n_bytes >= shortest {
            found.push(start..start + begun.n_bytes);
        }
    }
    found
}

/// Whether a few characters stand in a value.
fn holds(value: &str, few: &str) -> bool {
    // Most do not, and of these most are known by one byte.
    value.as_bytes().contains(&few.as_bytes()[0])
        && memmem::find(value.as_bytes(), few.as_bytes()).is_some()
}

/// Reads bytes, and knows how many of the beginning of a value, not all of it, they end with: as Knuth,
/// Morris and Pratt do, so that a value that repeats itself costs no more than another.
struct Begun {
    value: Vec<u8>,
    /// Of each beginning, how long the longest shorter one is that it ends with.
    shorter: Vec<usize>,
    n_bytes: usize,
}

impl Begun {
    fn of(value: Vec<u8>) -> Self {
        let mut begun = Self { shorter: vec![0; value.len() + 1], value, n_bytes: 0 };
        for at in 1..begun.value.len() {
            begun.read(begun.value[at]);
            begun.shorter[at + 1] = begun.n_bytes;
        }
        begun.n_bytes = 0;
        begun
    }

    fn read(&mut self, byte: u8) {
        while self.n_bytes > 0 && self.value[self.n_bytes] != byte {
            self.n_bytes = self.shorter[self.n_bytes];
        }
        self.n_bytes += usize::from(self.value[self.n_bytes] == byte);
        if self.n_bytes == self.value.len() {
            self.n_bytes = self.shorter[self.n_bytes];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As each is meant: one length after the other.
    fn begun_at(text: &str, value: &str) -> Option<usize> {
        let lengths = value.char_indices().skip(PART_CHARS_MIN).map(|(at, _)| at);
        lengths.filter(|at| text.ends_with(&value[..*at])).last()
    }

    fn ended_at(text: &str, value: &str) -> Option<usize> {
        let mut starts = value.char_indices().skip(1).map(|(at, _)| &value[at..]);
        let end = starts.find(|end| text.starts_with(end))?;
        (end.chars().count() >= PART_CHARS_MIN).then_some(end.len())
    }

    proptest! {
        #[test]
        fn parts_are_those_that_one_length_after_the_other_gives(
            text in "[ab\u{e9}]{0,60}", value in "[ab\u{e9}]{0,12}", skipped in 1_usize..9,
        ) {
            let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            let places: Vec<usize> = places.step_by(skipped).collect();
            let begun = places.iter().filter_map(|at| Some((at, begun_at(&text[..*at], &value)?)));
            let begun: Vec<Range<usize>> = begun.map(|(at, n)| at - n..*at).collect();
            prop_assert_eq!(begun_before(&text, &places, &value), begun);
            let ended = places.iter().filter_map(|at| Some((at, ended_at(&text[*at..], &value)?)));
            let ended: Vec<Range<usize>> = ended.map(|(at, n)| *at..at + n).rev().collect();
            prop_assert_eq!(ended_behind(&text, &places, &value), ended);
        }
    }

    /// Would take minutes if each mark cost as much as the value is long.
    #[test]
    fn a_text_full_of_marks_and_parts_of_a_long_value_is_read_once() {
        let value = Value { name: "MY_TOKEN".into(), value: "a".repeat(20_000) + "b" };
        for piece in ["aaaa\u{2026}", "aaaa [...] aaaa", "[...", "[...]"] {
            let text = piece.repeat(20_000);
            let n_found = find(&text, std::slice::from_ref(&value)).len();
            assert_eq!(
                n_found,
                text.matches("aaaa\u{2026}").count() + text.matches("aaaa [...]").count()
            );
        }
    }
}
