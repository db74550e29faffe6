//! What vim's operators do to a range.

use std::ops::Range;

use super::super::buffer::TEXT_BYTES_MAX;
use super::super::edit::Editor;
use super::super::graphemes;
use super::super::units::is_marker;
use super::super::words::{line_end, line_start};
use super::motion::first_letter;
use super::{Mode, Vim};

/// What is operated on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) range: Range<usize>,
    /// Whole lines: the range is without the last line break.
    pub(super) lines: bool,
}

impl Target {
    /// The lines of a range.
    pub(super) fn of_lines(text: &str, range: Range<usize>) -> Self {
        let range = line_start(text, range.start)..line_end(text, range.end);
        Self { range, lines: true }
    }
}

impl Vim {
    /// Does `d`, `c`, `y` or `~` to the target.
    pub(super) fn operate(&mut self, editor: &mut Editor, operator: char, target: Target) {
        let Target { range, lines } = target;
        match operator {
            'y' => {
                self.keep(editor, editor.text()[range.clone()].to_owned(), lines);
                // Lines leave the cursor where it is, in the first of them.
                if !lines || editor.cursor() > line_end(editor.text(), range.start) {
                    editor.move_to(range.start);
                }
            }
            'd' if lines => {
                let cut = editor.text()[range.clone()].to_owned();
                self.keep(editor, cut, true);
                let range = with_line_break(editor.text(), range);
                editor.delete(range.clone());
                let at = range.start.min(editor.text().len());
                editor.move_to(first_letter(editor.text(), at));
            }
            '~' => self.swap_case(editor, range),
            _ => {
                let cut = editor.text()[range.clone()].to_owned();
                self.keep(editor, cut, lines);
                editor.delete(range.clone());
                editor.move_to(range.start);
                if operator == 'c' {
                    self.mode = Mode::Insert;
                }
            }
        }
    }

    /// Keeps what was cut or copied for `p` and for Ctrl-Y.
    fn keep(&mut self, editor: &mut Editor, text: String, lines: bool) {
        if !text.is_empty() {
            self.kept_lines = lines.then(|| text.clone());
            editor.kills.push(text);
        }
    }

    pub(super) fn swap_case(&mut self, editor: &mut Editor, range: Range<usize>) {
        let swapped: String = editor.text()[range.clone()]
            .chars()
            .flat_map(|letter| {
                let upper: Vec<_> = match letter.is_lowercase() {
                    true => letter.to_uppercase().collect(),
                    false => letter.to_lowercase().collect(),
                };
                upper
            })
            .collect();
        let start = range.start;
        editor.replace(range, &swapped);
        editor.move_to(start);
    }

    /// Puts what was kept behind or before the cursor.
    pub(super) fn put(&mut self, editor: &mut Editor, after: bool, count: usize) {
        let Some(kept) = editor.kills.newest().map(str::to_owned) else { return };
        // One more than fits is refused, and said to be.
        let count = count.min(TEXT_BYTES_MAX / kept.len().max(1) + 1);
        let (text, cursor) = (editor.text(), editor.cursor());
        if self.kept_lines.as_ref() == Some(&kept) {
            let block = vec![kept; count].join("\n");
            let (at, block, start) = match after {
                true => (line_end(text, cursor), format!("\n{block}"), 1),
                false => (line_start(text, cursor), format!("{block}\n"), 0),
            };
            if editor.replace(at..at, &block) {
                editor.move_to(first_letter(editor.text(), at + start));
            }
            return;
        }
        let at = match after && cursor < line_end(text, cursor) {
            true => graphemes::next(text, cursor),
            false => cursor,
        };
        if editor.replace(at..at, &kept.repeat(count)) {
            editor.move_to(graphemes::previous(editor.text(), editor.cursor()));
        }
    }

    /// Joins the line with those below.
    pub(super) fn join(&mut self, editor: &mut Editor, count: usize) {
        for _ in 0..count.max(2) - 1 {
            let text = editor.text();
            let end = line_end(text, editor.cursor());
            if end == text.len() {
                return;
            }
            let start = first_letter(text, end + 1);
            let blank = match graphemes::before(text, end).is_none_or(|it| it.trim().is_empty()) {
                true => "",
                false => " ",
            };
            editor.replace(end..start, blank);
            editor.move_to(end);
        }
    }

    /// Writes a letter over so many graphemes.
    pub(super) fn write_over(&mut self, editor: &mut Editor, letter: char, count: usize) {
        let (text, start) = (editor.text(), editor.cursor());
        if is_marker(letter) {
            return;
        }
        let end = line_end(text, start);
        let places = graphemes::of(text, start, end).take(count);
        let (found, last) =
            places.fold((0, start), |(found, _), (at, it)| (found + 1, at + it.len()));
        if found < count {
            return;
        }
        editor.replace(start..last, &letter.to_string().repeat(count));
        editor.move_to(graphemes::previous(editor.text(), editor.cursor()));
    }
}

/// The lines with the break that goes when they go.
fn with_line_break(text: &str, range: Range<usize>) -> Range<usize> {
    match (range.end < text.len(), range.start) {
        (true, _) => range.start..range.end + 1,
        (false, 0) => range,
        (false, start) => start - 1..range.end,
    }
}
