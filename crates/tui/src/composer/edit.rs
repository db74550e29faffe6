//! What can be done to the text, whatever key it is done with.

use std::ops::Range;

use super::buffer::{Buffer, TEXT_BYTES_MAX};
use super::draft::Part;
use super::graphemes;
use super::kills::{Kills, Side};
use super::layout;
use super::units::{UNITS_MAX, clean, is_marker};
use super::words::{line_end, line_start};

/// The most bytes that are unfolded into the text.
pub const UNFOLD_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of one paste.
pub const PASTE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most bytes of all pastes and images that one composer holds.
pub const HELD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the key before did, where the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Did {
    #[default]
    Other,
    /// Wrote a character: what is typed in a row is taken back by words.
    Typed,
    /// Cut: what is cut in a row comes back as one.
    Cut,
    /// Put back what was cut, from here on: another text can take its place.
    Yanked(usize),
    /// Wrote what was sent before: no menu opens for that.
    Recalled,
    /// Moved up or down, aiming at this column.
    Climbed(usize),
}

/// The buffer, what was cut from it, and what the last key did.
#[derive(Debug, Default)]
pub(super) struct Editor {
    pub(super) buffer: Buffer,
    pub(super) kills: Kills,
    before: Did,
    pub(super) did: Did,
    /// What somebody must be told about this key.
    pub(super) notice: Option<String>,
    /// How many columns the text was given when it was last drawn.
    pub(super) columns: usize,
}

impl Editor {
    /// A key begins.
    pub(super) fn begin(&mut self) {
        self.before = std::mem::take(&mut self.did);
    }

    pub(super) fn text(&self) -> &str {
        self.buffer.text()
    }

    pub(super) fn cursor(&self) -> usize {
        self.buffer.cursor()
    }

    pub(super) fn move_to(&mut self, at: usize) {
        self.buffer.move_to(at);
    }

    /// Replaces, and says so where the text would become too long.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &str) -> bool {
        let done = self.buffer.replace(range, with).is_ok();
        if !done {
            self.notice = Some(format!(
                "The text is as long as it can be, {} kB. Put the rest into a file and name it \
                 with @",
                TEXT_BYTES_MAX / 1024
            ));
        }
        done
    }

    /// Writes a typed character.
    pub(super) fn type_letter(&mut self, letter: char) {
        if is_marker(letter) {
            return;
        }
        let at = self.cursor();
        let blank_before = graphemes::before(self.text(), at).is_none_or(|it| it.trim().is_empty());
        let word_begins = blank_before && !letter.is_whitespace();
        if self.before != Did::Typed || word_begins {
            self.buffer.undo.seal();
        }
        self.replace(at..at, &clean(letter.encode_utf8(&mut [0; 4])));
        self.did = Did::Typed;
    }

    /// Writes a text that came as one.
    pub(super) fn insert(&mut self, text: &str) {
        self.buffer.undo.seal();
        let at = self.cursor();
        self.replace(at..at, &clean(text));
        self.buffer.undo.seal();
    }

    /// Puts a unit at the cursor.
    pub(super) fn insert_unit(&mut self, part: Part) {
        let size = match &part {
            Part::Paste(text) => text.len(),
            _ => 0,
        };
        let room = self.buffer.units.bytes() + size <= HELD_BYTES_MAX;
        match room.then(|| self.buffer.units.add(part)).flatten() {
            Some(marker) => {
                self.buffer.undo.seal();
                let at = self.cursor();
                self.replace(at..at, marker.encode_utf8(&mut [0; 4]));
                self.buffer.undo.seal();
            }
            None => {
                self.notice = Some(format!(
                    "No more than {UNITS_MAX} pastes and images, {} MB together, go into one \
                     message. Put this one into a file and name it with @",
                    HELD_BYTES_MAX / (1024 * 1024)
                ));
            }
        }
    }

    /// Puts the paste at the cursor, or before it, into the text.
    pub(super) fn unfold(&mut self) -> bool {
        let cursor = self.cursor();
        let places = [
            cursor..graphemes::next(self.text(), cursor),
            graphemes::previous(self.text(), cursor)..cursor,
        ];
        let paste = places.into_iter().find_map(|range| {
            match self.buffer.units.get(&self.text()[range.clone()])? {
                Part::Paste(paste) => Some((range, paste.clone())),
                Part::Text(_) | Part::Image(_) => None,
            }
        });
        let Some((range, paste)) = paste else { return false };
        if paste.len() > UNFOLD_BYTES_MAX {
            self.notice = Some(format!(
                "This paste is too long to be unfolded here (over {} kB); Ctrl-G opens everything \
                 in your editor",
                UNFOLD_BYTES_MAX / 1024
            ));
            return true;
        }
        self.buffer.undo.seal();
        self.replace(range, &paste);
        self.buffer.undo.seal();
        true
    }

    /// Deletes without keeping.
    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.buffer.undo.seal();
        self.buffer.cut(range);
        self.buffer.undo.seal();
    }

    /// Deletes and keeps; what is cut in a row is kept as one.
    pub(super) fn kill(&mut self, range: Range<usize>, side: Side) {
        self.did = Did::Cut;
        if range.is_empty() {
            return;
        }
        self.buffer.undo.seal();
        let cut = self.buffer.cut(range);
        self.buffer.undo.seal();
        match self.before {
            Did::Cut => self.kills.extend(&cut, side),
            _ => self.kills.push(cut),
        }
    }

    /// Puts back what was cut last.
    pub(super) fn yank(&mut self) {
        let Some(text) = self.kills.newest().map(str::to_owned) else { return };
        self.buffer.undo.seal();
        let at = self.cursor();
        if self.replace(at..at, &text) {
            self.did = Did::Yanked(at);
        }
        self.buffer.undo.seal();
    }

    /// Puts what was cut before that in its place.
    pub(super) fn yank_older(&mut self) {
        let Did::Yanked(start) = self.before else { return };
        self.kills.turn();
        let Some(text) = self.kills.newest().map(str::to_owned) else { return };
        let range = start..self.cursor();
        if self.replace(range, &text) {
            self.did = Did::Yanked(start);
        }
        self.buffer.undo.seal();
    }

    /// Swaps the two graphemes around the cursor; at a line's end the two before it.
    pub(super) fn transpose(&mut self) {
        let (text, cursor) = (self.text(), self.cursor());
        let middle = match cursor == line_end(text, cursor) {
            true => graphemes::previous(text, cursor),
            false => cursor,
        };
        let end = graphemes::next(text, middle);
        let start = graphemes::previous(text, middle);
        if middle <= line_start(text, cursor) || end == middle {
            return;
        }
        let swapped = format!("{}{}", &text[middle..end], &text[start..middle]);
        self.buffer.undo.seal();
        self.replace(start..end, &swapped);
        self.buffer.undo.seal();
    }

    /// Puts another text in the place of the whole, as one change; the cursor stands at its end.
    pub(super) fn set(&mut self, text: &str) {
        self.buffer.undo.seal();
        self.replace(0..self.text().len(), text);
        self.buffer.undo.seal();
    }

    /// Moves a row up or down; whether there was one.
    pub(super) fn climb(&mut self, to: Way) -> bool {
        let rows = layout::rows(self.text(), &self.buffer.units, self.columns());
        let row = layout::row_of(&rows, self.cursor());
        let aim = match self.before {
            Did::Climbed(column) => column,
            _ => self.column_in(&rows[row], self.cursor()),
        };
        let target = match to {
            Way::Up => row.checked_sub(1),
            Way::Down => Some(row + 1),
        };
        let Some(target) = target.and_then(|target| rows.get(target)) else { return false };
        let at = layout::at_column(self.text(), &self.buffer.units, self.columns(), target, aim);
        self.move_to(at);
        self.did = Did::Climbed(aim);
        true
    }

    fn column_in(&self, row: &layout::Row, at: usize) -> usize {
        layout::column(self.text(), &self.buffer.units, self.columns(), row, at)
    }

    /// Columns of the text; what was never drawn is as wide as it likes.
    pub(super) fn columns(&self) -> usize {
        match self.columns {
            0 => usize::from(u16::MAX),
            columns => columns,
        }
    }
}

/// Where to, by rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}
