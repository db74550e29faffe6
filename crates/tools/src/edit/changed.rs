//! Shows what an edit changed: a few lines around each place, with their numbers.

use std::ops::Range;

use similar::{ChangeTag, TextDiff};

use super::matches::Replacement;
use crate::text::{count_lines, cut};

/// Unchanged lines around a place.
const CONTEXT_LINES: usize = 3;
/// Places that are shown.
const HUNKS_MAX: usize = 4;
/// Lines of one place that are shown.
const HUNK_LINES_MAX: usize = 40;
/// Characters of each line.
const LINE_CHARS_MAX: usize = 300;
/// Lines, old and new together, that are compared; of more only the count is told.
const COMPARED_LINES_MAX: usize = 2_000;

/// The changed lines: removed ones with their old number and `-`, the others with their new one.
pub(super) fn snippet(content: &[u8], replacements: &[Replacement]) -> String {
    let mut text = String::new();
    let mut lines = Numbers::default();
    let mut rest = replacements;
    for _ in 0..HUNKS_MAX {
        let Some(hunk) = Hunk::first(content, rest) else { break };
        rest = &rest[hunk.replacements.len()..];
        if !text.is_empty() {
            text.push_str("   ...\n");
        }
        lines.skip(&content[lines.at..hunk.range.start]);
        hunk.show(content, &mut lines, &mut text);
    }
    if !rest.is_empty() {
        text.push_str(&format!("(and {} more places)\n", rest.len()));
    }
    text
}

/// How far the snippet has come, and which line numbers that is before and after the edit.
#[derive(Default)]
struct Numbers {
    at: usize,
    old: usize,
    new: usize,
}

impl Numbers {
    fn skip(&mut self, unchanged: &[u8]) {
        let n_lines = memchr::memchr_iter(b'\n', unchanged).count();
        self.at += unchanged.len();
        self.old += n_lines;
        self.new += n_lines;
    }
}

/// Whole lines that hold one or more replacements close to each other.
struct Hunk<'a> {
    range: Range<usize>,
    replacements: &'a [Replacement],
}

impl<'a> Hunk<'a> {
    fn first(content: &[u8], replacements: &'a [Replacement]) -> Option<Self> {
        let start = before(content, replacements.first()?.range.start);
        let mut end = start;
        let mut n_replacements = 0;
        for one in replacements {
            if n_replacements > 0 && end < one.range.start {
                break;
            }
            end = after(content, one.range.end);
            n_replacements += 1;
        }
        Some(Self { range: start..end, replacements: &replacements[..n_replacements] })
    }

    fn show(&self, content: &[u8], numbers: &mut Numbers, text: &mut String) {
        let old = &content[self.range.clone()];
        let mut new = Vec::new();
        let mut done = self.range.start;
        for one in self.replacements {
            new.extend_from_slice(&content[done..one.range.start]);
            new.extend_from_slice(&one.new);
            done = one.range.end;
        }
        new.extend_from_slice(&content[done..self.range.end]);

        let (n_old, n_new) = (count_lines(old), count_lines(&new));
        if COMPARED_LINES_MAX < n_old + n_new {
            let line = numbers.new + 1;
            text.push_str(&format!("({n_old} lines became {n_new}, from line {line})\n"));
        } else {
            diff(old, &new, numbers, text);
        }
        numbers.at = self.range.end;
        numbers.old += memchr::memchr_iter(b'\n', old).count();
        numbers.new += memchr::memchr_iter(b'\n', &new).count();
    }
}

fn diff(old: &[u8], new: &[u8], numbers: &Numbers, text: &mut String) {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    let mut n_left = HUNK_LINES_MAX;
    let mut n_hidden = 0;
    for change in diff.iter_all_changes() {
        if n_left == 0 {
            n_hidden += 1;
            continue;
        }
        n_left -= 1;
        let (sign, number) = match change.tag() {
            ChangeTag::Delete => ('-', change.old_index().map(|index| numbers.old + index)),
            ChangeTag::Insert => ('+', change.new_index().map(|index| numbers.new + index)),
            ChangeTag::Equal => (' ', change.new_index().map(|index| numbers.new + index)),
        };
        let line = change.value().trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        let line = cut(line, LINE_CHARS_MAX);
        text.push_str(&format!("{:>6} {sign}{line}\n", number.unwrap_or(0) + 1));
    }
    if n_hidden > 0 {
        text.push_str(&format!("(and {n_hidden} more lines here)\n"));
    }
}

/// The start of the line that is [`CONTEXT_LINES`] before the one at `at`.
fn before(content: &[u8], at: usize) -> usize {
    memchr::memrchr_iter(b'\n', &content[..at]).nth(CONTEXT_LINES).map_or(0, |end| end + 1)
}

/// The end of the line that is [`CONTEXT_LINES`] after the one at `at`.
fn after(content: &[u8], at: usize) -> usize {
    let ends = memchr::memchr_iter(b'\n', &content[at..]);
    // A piece that ended with a line end has its first line of context right behind it.
    let ended = at > 0 && content[at - 1] == b'\n';
    let n_ends = if ended { CONTEXT_LINES - 1 } else { CONTEXT_LINES };
    let mut ends = ends.map(|end| at + end + 1);
    ends.nth(n_ends).unwrap_or(content.len())
}
