//! Shows what an edit changed: a few lines around each place, with their numbers.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::hunk::Replacement;
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
pub(crate) fn snippet(content: &[u8], replacements: &[Replacement]) -> String {
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
            // Lines around two places are shown once, where both have them.
            if n_replacements > 0 && end < before(content, one.range.start) {
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
    let input = InternedInput::new(old.as_ref(), new.as_ref());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let mut shown = Shown { text, n_left: HUNK_LINES_MAX, n_hidden: 0 };
    let unchanged = |shown: &mut Shown<'_>, range: Range<u32>| {
        for at in range {
            shown.line(' ', numbers.new + at as usize, input.interner[input.after[at as usize]]);
        }
    };
    let mut done = 0;
    for hunk in diff.hunks() {
        unchanged(&mut shown, done..hunk.after.start);
        for at in hunk.before.map(|at| at as usize) {
            shown.line('-', numbers.old + at, input.interner[input.before[at]]);
        }
        done = hunk.after.end;
        for at in hunk.after.map(|at| at as usize) {
            shown.line('+', numbers.new + at, input.interner[input.after[at]]);
        }
    }
    unchanged(&mut shown, done..input.after.len() as u32);
    if shown.n_hidden > 0 {
        let n_hidden = shown.n_hidden;
        text.push_str(&format!("(and {n_hidden} more lines here)\n"));
    }
}

/// What is shown of one place.
struct Shown<'a> {
    text: &'a mut String,
    n_left: usize,
    n_hidden: usize,
}

impl Shown<'_> {
    /// Shows a line by its index, if it is still one of the first.
    fn line(&mut self, sign: char, index: usize, line: &str) {
        if self.n_left == 0 {
            self.n_hidden += 1;
            return;
        }
        self.n_left -= 1;
        let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        let line = cut(line, LINE_CHARS_MAX);
        self.text.push_str(&format!("{:>6} {sign}{line}\n", index + 1));
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
