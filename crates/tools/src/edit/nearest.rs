//! What to say when a text was not found: the piece of the file most like it, and why it differs.
//!
//! Two cheap passes over the lines choose a few places; only those are compared closely.

use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::matches::find;
use super::one::without_line_numbers;

/// Bytes of the file that are looked at.
const CONTENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the search text, and of a place, that are compared closely.
const COMPARED_BYTES_MAX: usize = 2_000;
/// Lines of the search text that are looked at.
const OLD_LINES_MAX: usize = 1_000;
/// Lines of the nearest piece that are shown.
const SHOWN_LINES_MAX: usize = 20;
/// Characters of each of them.
const SHOWN_CHARS_MAX: usize = 300;
/// Places that are compared closely.
const CANDIDATES_MAX: usize = 6;
/// Bytes of one line that the cheap passes look at.
const LINE_BYTES_MAX: usize = 400;
/// Lines with the same text that are counted; a text with more occurrences says little.
const SAME_LINES_MAX: usize = 50;
/// How much alike two texts must be, from 0 to 1, to be worth showing.
const RATIO_MIN: f32 = 0.5;

/// One sentence, and the nearest text with its line numbers when there is one.
pub(crate) fn hint(content: &[u8], old: &str) -> String {
    if let Some(bare) = without_line_numbers(old)
        && !find(content, &bare, false).ranges.is_empty()
    {
        return "it seems to contain the line numbers that Read shows; leave them out".to_owned();
    }
    let content = String::from_utf8_lossy(&content[..content.len().min(CONTENT_BYTES_MAX)]);
    let lines: Vec<&str> = content.lines().collect();
    let old_lines: Vec<&str> = old.lines().take(OLD_LINES_MAX).collect();
    let Some(nearest) = nearest(&lines, &old_lines) else {
        return "nothing in the file is much like it, so Read the file again".to_owned();
    };
    let shown = &lines[nearest.start..nearest.end];
    let why = if words_of(shown).eq(words_of(&old_lines)) {
        "the nearest text differs only in white space"
    } else {
        "the nearest text is"
    };
    format!("{why}:\n{}", numbered(shown, nearest.start))
}

/// These lines of the content with their numbers, bounded.
pub(crate) fn shown(content: &[u8], range: std::ops::Range<usize>) -> String {
    let content = String::from_utf8_lossy(content);
    let lines: Vec<&str> = content.lines().skip(range.start).take(range.len()).collect();
    numbered(&lines, range.start)
}

fn numbered(lines: &[&str], start: usize) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().take(SHOWN_LINES_MAX).enumerate() {
        let line = crate::text::cut(line, SHOWN_CHARS_MAX);
        text.push_str(&format!("{:>6}\t{line}\n", start + index + 1));
    }
    if SHOWN_LINES_MAX < lines.len() {
        text.push_str(&format!("(and {} more lines)\n", lines.len() - SHOWN_LINES_MAX));
    }
    text
}

/// The lines most like `old`, when any are enough alike.
fn nearest(lines: &[&str], old: &[&str]) -> Option<std::ops::Range<usize>> {
    let wanted = clip(&old.join("\n")).to_owned();
    let window = |start: usize| start..(start + old.len()).min(lines.len());
    let compared = |start: usize| {
        // Only as many lines as can matter: a window may be as long as the file.
        let place = lines[window(start)].iter().take(COMPARED_BYTES_MAX);
        let text = place.copied().collect::<Vec<_>>().join("\n");
        likeness(&wanted, clip(&text))
    };
    let mut best: Option<(f32, usize)> = None;
    for start in candidates(lines, old) {
        let ratio = compared(start);
        if RATIO_MIN <= ratio && best.is_none_or(|(best, _)| best < ratio) {
            best = Some((ratio, start));
        }
    }
    best.map(|(_, start)| window(start))
}

/// The share of characters that two texts have in common, in order, from 0 to 1.
fn likeness(one: &str, other: &str) -> f32 {
    let mut input = InternedInput::default();
    input.update_before(one.chars());
    input.update_after(other.chars());
    let n_chars = input.before.len() + input.after.len();
    let n_kept =
        input.before.len() - Diff::compute(Algorithm::Myers, &input).count_removals() as usize;
    // A few thousand each, which the type holds exactly.
    2.0 * n_kept as f32 / n_chars.max(1) as f32
}

/// Where the closest pieces may start: places where many lines are the same but for white space
/// around them, and places whose line resembles the longest line of `old`.
fn candidates(lines: &[&str], old: &[&str]) -> Vec<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        let same = places.entry(line.trim()).or_default();
        if same.len() < SAME_LINES_MAX {
            same.push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate() {
        let line = line.trim();
        for place in places.get(line).into_iter().flatten() {
            *votes.entry(place.saturating_sub(index)).or_default() += line.len();
        }
    }
    let mut starts = top(votes.into_iter().map(|(start, votes)| (votes, start)));

    let Some((anchor, longest)) = old.iter().enumerate().max_by_key(|(_, line)| line.trim().len())
    else {
        return starts;
    };
    let wanted = Pairs::of(longest.trim());
    let alike = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (wanted.in_common(line.trim()), index.saturating_sub(anchor)))
        .filter(|(alike, _)| *alike > 0);
    starts.extend(top(alike));
    heeler_core::sort(&mut starts);
    starts.dedup();
    starts
}

/// The starts with the highest scores, the earlier first among equals.
fn top(scored: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut best: Vec<(usize, usize)> = Vec::new();
    for (score, start) in scored {
        let at = best.partition_point(|(other, at)| (score, *at) <= (*other, start));
        if at < CANDIDATES_MAX {
            best.insert(at, (score, start));
            best.truncate(CANDIDATES_MAX);
        }
    }
    best.into_iter().map(|(_, start)| start).collect()
}

/// The pairs of neighbouring bytes in a line: a measure of likeness that costs one pass.
struct Pairs {
    counts: HashMap<[u8; 2], usize>,
    n_pairs: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        let mut n_pairs = 0;
        for pair in pairs(line) {
            *counts.entry(pair).or_default() += 1;
            n_pairs += 1;
        }
        Self { counts, n_pairs }
    }

    /// 0 to 1000: the share of pairs that both have.
    fn in_common(&self, line: &str) -> usize {
        let mut seen: HashMap<[u8; 2], usize> = HashMap::new();
        let (mut n_common, mut n_pairs) = (0, 0);
        for pair in pairs(line) {
            n_pairs += 1;
            let seen = seen.entry(pair).or_default();
            *seen += 1;
            if *seen <= self.counts.get(&pair).copied().unwrap_or(0) {
                n_common += 1;
            }
        }
        2_000 * n_common / (n_pairs + self.n_pairs).max(1)
    }
}

fn pairs(line: &str) -> impl Iterator<Item = [u8; 2]> {
    let bytes = line.as_bytes();
    bytes[..bytes.len().min(LINE_BYTES_MAX)].windows(2).map(|pair| [pair[0], pair[1]])
}

fn words_of<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    lines.iter().flat_map(|line| line.split_whitespace())
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(content: &str, old: &str, expect: Expect) {
        expect.assert_eq(&hint(content.as_bytes(), old));
    }

    const CODE: &str =
        "fn one() {\n    call(1);\n}\n\nfn two(text: &str) {\n    call(2);\n    done();\n}\n";

    #[test]
    fn the_nearest_text_is_shown_with_its_place() {
        check(
            CODE,
            "fn two(text: &String) {\n    call(2);\n    done();\n",
            expect![[r#"
            the nearest text is:
                 5	fn two(text: &str) {
                 6	    call(2);
                 7	    done();
        "#]],
        );
        check(
            CODE,
            "fn two(text: &str) {\n  call(2);\n  done();",
            expect![[r#"
            the nearest text differs only in white space:
                 5	fn two(text: &str) {
                 6	    call(2);
                 7	    done();
        "#]],
        );
        check(
            CODE,
            "     1\tfn one() {\n     2\t    call(1);",
            expect!["it seems to contain the line numbers that Read shows; leave them out"],
        );
        check(
            CODE,
            "import numpy as np",
            expect!["nothing in the file is much like it, so Read the file again"],
        );
        check("", "x", expect!["nothing in the file is much like it, so Read the file again"]);
        check("x", "\n", expect!["nothing in the file is much like it, so Read the file again"]);
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let long = format!("{}\n", "word ".repeat(200));
        let content = long.repeat(200);
        let hint = hint(content.as_bytes(), &format!("{}changed\n", long.repeat(30)));
        assert!(hint.ends_with("(and 11 more lines)\n"), "{hint}");
        assert!(hint.contains("[... 700 more bytes]"), "{hint}");
    }

    #[test]
    fn a_large_file_costs_little() {
        let line = "    let value = compute(index, table, options);\n";
        let content = line.repeat(2 * CONTENT_BYTES_MAX / line.len());
        let old = "    let value = compute(index, tables, options);\n".repeat(50_000);
        let hint = hint(content.as_bytes(), &old);
        assert!(hint.starts_with("the nearest text is"), "{hint}");
        let n_more = OLD_LINES_MAX - SHOWN_LINES_MAX;
        assert!(hint.ends_with(&format!("(and {n_more} more lines)\n")), "{hint}");
    }

    proptest! {
        #[test]
        fn any_text_gives_a_hint(content in prop::collection::vec(any::<u8>(), 0..200), old: String) {
            prop_assert!(!hint(&content, &old).is_empty());
        }
    }
}
