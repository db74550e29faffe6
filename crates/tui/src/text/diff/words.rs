//! What differs within two lines of which one took the other's place.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, TokenSource};

/// Longer lines are marked as a whole: nobody reads words in them.
const LINE_BYTES_MAX: usize = 1_000;

/// The bytes that differ in the old and in the new line; `None` if the lines have little in common,
/// where marks would only flicker.
pub(super) fn changed(old: &str, new: &str) -> Option<[Vec<Range<usize>>; 2]> {
    if old.len() > LINE_BYTES_MAX || new.len() > LINE_BYTES_MAX {
        return None;
    }
    let input = InternedInput::new(Words(old), Words(new));
    let diff = Diff::compute(Algorithm::Myers, &input);
    let [old_borders, new_borders] = [borders(old), borders(new)];
    let mut changed = [Vec::new(), Vec::new()];
    for hunk in diff.hunks() {
        push(&mut changed[0], &old_borders, &hunk.before);
        push(&mut changed[1], &new_borders, &hunk.after);
    }
    let bytes: usize = changed.iter().flatten().map(ExactSizeIterator::len).sum();
    let is_alike = bytes * 10 <= (old.len() + new.len()) * 7;
    is_alike.then_some(changed)
}

fn push(changed: &mut Vec<Range<usize>>, borders: &[usize], tokens: &Range<u32>) {
    let range = borders[tokens.start as usize]..borders[tokens.end as usize];
    if !range.is_empty() {
        changed.push(range);
    }
}

/// Where words begin, and the end.
fn borders(line: &str) -> Vec<usize> {
    let mut at = 0;
    let mut borders = vec![0];
    borders.extend(Words(line).tokenize().map(|word| {
        at += word.len();
        at
    }));
    borders
}

/// Names and numbers are one token each, every other character another.
#[derive(Clone, Copy)]
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let is_word = |next: char| next.is_alphanumeric() || next == '_';
        let end = if is_word(first) {
            self.0.find(|next| !is_word(next)).unwrap_or(self.0.len())
        } else {
            first.len_utf8()
        };
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

impl<'a> TokenSource for Words<'a> {
    type Token = &'a str;
    type Tokenizer = Self;

    fn tokenize(&self) -> Self {
        *self
    }

    fn estimate_tokens(&self) -> u32 {
        // Bounded above: a line that gets here is short.
        u32::try_from(self.0.len() / 4).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_lines_unlike_each_other_have_no_marks() {
        let long = "word ".repeat(LINE_BYTES_MAX / 5);
        assert_eq!(changed(&long, &long), Some([Vec::new(), Vec::new()]));
        assert_eq!(changed(&format!("{long}!"), &long), None);
        assert_eq!(changed("one two", "three, four"), None);
        assert_eq!(
            changed("a one b", "a two b"),
            Some([std::iter::once(2..5).collect(), std::iter::once(2..5).collect()])
        );
    }
}
