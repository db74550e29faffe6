//! Text without an end: what is open stays small, and nothing of it is lost.

use super::super::highlight::{CodePlace, Highlighted};
use super::super::testing::shown;
use super::super::{Highlight, Uncolored};
use super::scan::{CODE_PIECE_LINES, DEPTH_MAX, SEGMENT_BYTES_MAX};
use super::stream::{LINE_BYTES_MAX, WAITING_MAX};
use super::*;

/// Colors that never come.
struct Never;

impl Highlight for Never {
    fn classes(&self, _place: &CodePlace, _code: &str) -> Highlighted {
        Highlighted { is_pending: true, ..Highlighted::default() }
    }
}

/// Streams `parts` and gives the rows of the longest tail, and what came of it all.
fn stream(parts: impl Iterator<Item = String>, highlight: &dyn Highlight) -> (usize, String) {
    let theme = Theme::plain();
    let look = Look { width: 80, theme: &theme, highlight };
    let mut stream = StreamingMarkdown::new();
    let mut lines = Vec::new();
    let mut longest = 0;
    for (index, part) in parts.enumerate() {
        stream.push(&part);
        lines.extend(stream.committed(look));
        // A frame now and then, at odd places.
        if index % 97 == 0 {
            longest = longest.max(stream.tail(look).len());
        }
    }
    stream.finish();
    lines.extend(stream.flush(look));
    (longest, shown(&lines))
}

#[test]
fn a_long_block_of_code_does_not_stay_open() {
    let code = || (0..5_000).map(|number| format!("line {number}\n"));
    let parts = || std::iter::once("- in an item\n\n  ```\n".to_owned()).chain(code());
    let indented = |part: String| if part.starts_with("line") { format!("  {part}") } else { part };
    let (longest, all) = stream(parts().map(indented), &Uncolored);
    assert!(longest <= CODE_PIECE_LINES + 3, "{longest}");
    assert_eq!(all.matches("line").count(), 5_000);
    // Colors that do not come are not waited for without an end.
    let colored = std::iter::once("```rust\n".to_owned()).chain(code());
    let (longest, all) = stream(colored, &Never);
    assert!(longest > CODE_PIECE_LINES, "it waits");
    assert!(longest <= (WAITING_MAX + 1) * CODE_PIECE_LINES + 1, "{longest}");
    assert_eq!(all.matches("line").count(), 5_000);
}

#[test]
fn a_paragraph_without_an_end_is_cut_at_a_line() {
    let line = format!("{}end\n", "word ".repeat(14));
    let lines = 3 * SEGMENT_BYTES_MAX / line.len();
    let (longest, all) = stream(std::iter::repeat_n(line.clone(), lines), &Uncolored);
    assert!(longest <= SEGMENT_BYTES_MAX / line.len() + 1, "{longest}");
    assert_eq!(all, line.repeat(lines), "no empty line and no other break");
}

#[test]
fn a_line_without_an_end_is_cut_at_a_space() {
    let words = 2 * LINE_BYTES_MAX;
    let (longest, all) = stream(std::iter::repeat_n("word ".to_owned(), words), &Uncolored);
    assert!(longest <= (LINE_BYTES_MAX + SEGMENT_BYTES_MAX) / 75 + 2, "{longest}");
    assert_eq!(all.matches("word").count(), words);
}

#[test]
fn a_table_that_is_cut_says_its_head_again() {
    let rows = 2 * SEGMENT_BYTES_MAX / 16;
    let head = "| first | second |\n|---|---|\n".to_owned();
    let row = |number| format!("| {number:06} | b |\n");
    let (_, all) = stream(std::iter::once(head).chain((0..rows).map(row)), &Uncolored);
    assert!(all.matches("second").count() > 1);
    assert_eq!(all.lines().filter(|line| line.ends_with("│ b")).count(), rows);
}

#[test]
fn what_is_nested_too_deep_is_text() {
    let source = format!("{} deep", "> ".repeat(DEPTH_MAX + 3));
    let lines = shown(&markdown(&source, 200, &Theme::plain(), &Uncolored));
    assert_eq!(lines.matches('│').count(), DEPTH_MAX);
    assert!(lines.contains("> > >  deep"), "{lines}");
}
