//! The text, the cursor in it, and the one door through which it changes.

use std::ops::Range;

use super::draft::{Draft, Part};
use super::graphemes;
use super::undo::{Edit, Undo};
use super::units::{Units, clean};

/// The most bytes of text that is not folded: all of it is laid out for every frame.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The text and the cursor.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    text: String,
    cursor: usize,
    /// Another one after every change.
    revision: u64,
    pub(super) units: Units,
    pub(super) undo: Undo,
}

/// The text would be longer than it may be.
#[derive(Debug)]
pub(super) struct TooLong;

impl Buffer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Moves the cursor there, or to the next edge of a grapheme.
    pub(super) fn move_to(&mut self, at: usize) {
        self.cursor = graphemes::snap(&self.text, at);
    }

    /// Puts the text in the range's place; the cursor stands after it.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &str) -> Result<(), TooLong> {
        if with.len() > range.len() && self.text.len() - range.len() + with.len() > TEXT_BYTES_MAX {
            return Err(TooLong);
        }
        if range.is_empty() && with.is_empty() {
            return Ok(());
        }
        self.revision += 1;
        let before = self.cursor;
        let at = range.start;
        let removed = self.text[range.clone()].to_owned();
        self.text.replace_range(range, with);
        self.move_to(at + with.len());
        let edit = Edit { at, removed, inserted: with.to_owned() };
        self.undo.record(edit, before, self.cursor);
        Ok(())
    }

    /// Takes the range out and hands it over.
    pub(super) fn cut(&mut self, range: Range<usize>) -> String {
        let removed = self.text[range.clone()].to_owned();
        // Less text is never too long.
        let _ = self.replace(range, "");
        removed
    }

    /// Takes back the last group of changes; whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        let Some(group) = self.undo.back() else { return false };
        self.revision += 1;
        for edit in group.edits.iter().rev() {
            let range = edit.at..edit.at + edit.inserted.len();
            self.text.replace_range(range, &edit.removed);
        }
        self.move_to(group.cursor_before);
        true
    }

    /// Does again what was taken back; whether there was anything.
    pub(super) fn redo(&mut self) -> bool {
        let Some(group) = self.undo.forth() else { return false };
        self.revision += 1;
        for edit in &group.edits {
            let range = edit.at..edit.at + edit.removed.len();
            self.text.replace_range(range, &edit.inserted);
        }
        self.move_to(group.cursor_after);
        true
    }

    /// What is written, as a value of its own.
    pub(super) fn draft(&self) -> Draft {
        Draft { parts: self.units.parts(&self.text) }
    }

    /// The draft as text of this buffer; units that find no place are left out.
    pub(super) fn encode(&mut self, draft: &Draft) -> String {
        draft.parts.iter().fold(String::new(), |mut text, part| {
            match part {
                Part::Text(piece) => text.push_str(&clean(piece)),
                unit => text.extend(self.units.add(unit.clone())),
            }
            text
        })
    }

    /// Empties it for the next text: nothing can be taken back, and of the units only those stay
    /// that one of the texts mentions.
    pub(super) fn reset<'a>(&mut self, mentioned: impl Iterator<Item = &'a str>) {
        self.revision += 1;
        self.text.clear();
        self.cursor = 0;
        self.undo = Undo::default();
        self.units.keep(mentioned);
    }
}
