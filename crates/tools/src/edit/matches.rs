//! Finds a text in a file's bytes and computes what replaces it. Pure.
//!
//! Models never see carriage returns, so they cannot write them: a search text without any is
//! compared as if every CRLF were LF, and what replaces a match gets the line ends that are used
//! there. A search text that holds carriage returns means them, and is taken byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

use crate::hunk::Replacement;

/// How many matches one call may have.
pub const EDIT_MATCHES_MAX: usize = 100_000;

/// Where a text was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The places in the file's bytes, in order.
    pub(super) ranges: Vec<Range<usize>>,
    /// The text was compared byte for byte, so its replacement is written so too.
    verbatim: bool,
}

/// Finds `old`, at most one place more than [`EDIT_MATCHES_MAX`]. Places that overlap count only
/// when not all of them are to be replaced: then each is one the model could have meant.
pub(super) fn find(content: &[u8], old: &str, replace_all: bool) -> Found {
    if old.contains('\r') {
        let ranges = positions(content, old.as_bytes(), replace_all);
        if !ranges.is_empty() {
            return Found { ranges, verbatim: true };
        }
    }
    let old = old.replace("\r\n", "\n");
    let plain = Plain::new(content);
    let ranges = positions(&plain.bytes, old.as_bytes(), replace_all)
        .into_iter()
        .map(|range| plain.raw(range.start)..plain.raw(range.end))
        .collect();
    Found { ranges, verbatim: false }
}

/// How large the content will be at least, before anything is copied for each match.
pub(super) fn size_after_at_least(content: &[u8], found: &Found, new: &str) -> usize {
    let replaced: usize = found.ranges.iter().map(ExactSizeIterator::len).sum();
    // No line end takes less.
    let shortest = new.len() - new.matches("\r\n").count();
    (content.len() - replaced).saturating_add(found.ranges.len().saturating_mul(shortest))
}

/// What replaces each match.
pub(super) fn replacements(content: &[u8], found: &Found, new: &str) -> Vec<Replacement> {
    let lf = new.replace("\r\n", "\n");
    let crlf = lf.replace('\n', "\r\n");
    let written = |range: &Range<usize>| match line_end(content, range) {
        _ if found.verbatim => new,
        Some(LineEnd::Lf) => &lf,
        Some(LineEnd::CrLf) => &crlf,
        None => new,
    };
    let one = |range: &Range<usize>| Replacement {
        range: range.clone(),
        new: written(range).as_bytes().to_vec(),
    };
    found.ranges.iter().map(one).collect()
}

/// How large the content will be.
pub(crate) fn size_after(content: &[u8], replacements: &[Replacement]) -> usize {
    replacements
        .iter()
        .fold(content.len(), |size, one| (size - one.range.len()).saturating_add(one.new.len()))
}

/// The content after the replacements, which are in order and do not overlap.
pub(crate) fn apply(content: &[u8], replacements: &[Replacement]) -> Vec<u8> {
    let mut after = Vec::with_capacity(size_after(content, replacements));
    let mut done = 0;
    for one in replacements {
        after.extend_from_slice(&content[done..one.range.start]);
        after.extend_from_slice(&one.new);
        done = one.range.end;
    }
    after.extend_from_slice(&content[done..]);
    after
}

/// The numbers, from 1, of the lines where the first `n_max` ranges start.
pub(super) fn line_numbers(content: &[u8], ranges: &[Range<usize>], n_max: usize) -> Vec<usize> {
    let mut line = 1;
    let mut done = 0;
    let mut numbers = Vec::new();
    for range in ranges.iter().take(n_max) {
        line += memchr::memchr_iter(b'\n', &content[done..range.start]).count();
        done = range.start;
        numbers.push(line);
    }
    numbers
}

fn positions(content: &[u8], old: &[u8], replace_all: bool) -> Vec<Range<usize>> {
    let finder = Finder::new(old);
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(start) = content.get(from..).and_then(|rest| finder.find(rest)) {
        let start = from + start;
        let end = start + old.len();
        ranges.push(start..end);
        if EDIT_MATCHES_MAX < ranges.len() {
            break;
        }
        from = if replace_all { end } else { start + 1 };
    }
    ranges
}

/// A content with every CRLF as LF, and the way back.
struct Plain<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where in `bytes` the LFs are that were CRLF, in order.
    joined: Vec<usize>,
}

impl<'a> Plain<'a> {
    fn new(content: &'a [u8]) -> Self {
        let finder = Finder::new(b"\r\n");
        let mut found = finder.find_iter(content).peekable();
        if found.peek().is_none() {
            return Self { bytes: Cow::Borrowed(content), joined: Vec::new() };
        }
        let mut bytes = Vec::with_capacity(content.len());
        let mut joined = Vec::new();
        let mut done = 0;
        for at in found {
            bytes.extend_from_slice(&content[done..at]);
            joined.push(bytes.len());
            done = at + 1;
        }
        bytes.extend_from_slice(&content[done..]);
        Self { bytes: Cow::Owned(bytes), joined }
    }

    /// The place in the content of a place in `bytes`; that of a joined line end is its CR.
    fn raw(&self, at: usize) -> usize {
        at + self.joined.partition_point(|joined| *joined < at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// The line end that is used at `range`: the first within it, else the next after it, else the
/// last before it.
fn line_end(content: &[u8], range: &Range<usize>) -> Option<LineEnd> {
    let at = memchr::memchr(b'\n', &content[range.start..])
        .map(|at| range.start + at)
        .or_else(|| memchr::memrchr(b'\n', &content[..range.start]))?;
    let crlf = at > 0 && content[at - 1] == b'\r';
    Some(if crlf { LineEnd::CrLf } else { LineEnd::Lf })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(content: &str, old: &str, new: &str, replace_all: bool) -> Option<Vec<u8>> {
        let found = find(content.as_bytes(), old, replace_all);
        if found.ranges.is_empty() || (found.ranges.len() > 1 && !replace_all) {
            return None;
        }
        Some(apply(content.as_bytes(), &replacements(content.as_bytes(), &found, new)))
    }

    #[test]
    fn line_ends_are_those_of_the_place() {
        let cases = [
            // (content, old, new, after)
            ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
            ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
            ("a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"),
            ("a\nb\r\nc\n", "c", "x\ny", "a\nb\r\nx\ny\n"),
            ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
            ("a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"),
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            ("a\r\nb\r\n", "\n", "", ""),
            ("ab", "b", "x\r\ny", "ax\r\ny"),
            ("\u{feff}a\r\n", "a", "b", "\u{feff}b\r\n"),
            ("a\rb\rc", "b", "x", "a\rx\rc"),
        ];
        for (content, old, new, after) in cases {
            let done = edit(content, old, new, false);
            let expected = (!after.is_empty()).then(|| after.as_bytes().to_vec());
            assert_eq!(done, expected, "{content:?}: {old:?} -> {new:?}");
        }
    }

    #[test]
    fn overlapping_places_are_ambiguous_but_replaced_one_after_the_other() {
        assert_eq!(edit("aaa", "aa", "b", false), None);
        assert_eq!(edit("aaa", "aa", "b", true), Some(b"ba".to_vec()));
    }

    #[test]
    fn matches_are_bounded() {
        let content = "x".repeat(EDIT_MATCHES_MAX + 10);
        assert_eq!(find(content.as_bytes(), "x", true).ranges.len(), EDIT_MATCHES_MAX + 1);
    }

    /// Few letters, so that matches are common.
    fn text() -> impl Strategy<Value = String> {
        "[ab\n \u{e9}]{0,24}"
    }

    proptest! {
        #[test]
        fn an_edit_is_what_replacing_text_means(
            content in text(), old in "[ab\n\u{e9}]{1,3}", new in text(), all: bool,
        ) {
            let overlapping = (0..content.len())
                .filter(|at| content.as_bytes()[*at..].starts_with(old.as_bytes()))
                .count();
            let expected = match (overlapping, all) {
                (0, _) => None,
                (_, true) => Some(content.replace(&old, &new)),
                (1, false) => Some(content.replacen(&old, &new, 1)),
                (_, false) => None,
            };
            prop_assert_eq!(edit(&content, &old, &new, all), expected.clone().map(String::into_bytes));

            // The same edit of the same text with CRLF gives the same text with CRLF. The text
            // ends in a line end, so that there is one to learn from.
            let lines = |text: &str| format!("{text}\n").replace('\n', "\r\n");
            if old != "\n" && !old.ends_with('\n') {
                let crlf = edit(&lines(&content), &old, &new, all);
                prop_assert_eq!(crlf, expected.map(|text| lines(&text).into_bytes()));
            }
        }

        #[test]
        fn nothing_panics_and_what_is_around_a_match_stays(
            content in prop::collection::vec(any::<u8>(), 0..64),
            at in 0usize..64, len in 1usize..8, new: String,
        ) {
            let start = at.min(content.len());
            let end = (start + len).min(content.len());
            let old = String::from_utf8_lossy(&content[start..end]).into_owned();
            if old.is_empty() {
                return Ok(());
            }
            let found = find(&content, &old, false);
            if let [range] = found.ranges.as_slice() {
                let after = apply(&content, &replacements(&content, &found, &new));
                prop_assert!(after.starts_with(&content[..range.start]));
                prop_assert!(after.ends_with(&content[range.end..]));
            }
        }
    }
}
