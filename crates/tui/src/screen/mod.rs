//! The terminal as we use it: finished lines go to its own scrollback, and below them stands one
//! live region that is redrawn in place.
//!
//! All movement is relative to where the live region begins, so nobody has to ask the terminal
//! where the cursor is. A draw, with what led to it, is one write between the marks of a synchronized
//! update; one that changes nothing writes nothing.

mod paint;
mod row;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use ratatui::text::Line;

use crate::outlet::Outlet;
use paint::Painter;
pub(crate) use row::Row;
pub use terminal::{TerminalModes, size};

/// The marks of an update that a terminal shows at once.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const ERASE_BELOW: &str = "\x1b[J";
const ERASE_RIGHT: &str = "\x1b[K";
const ENTER_ALTERNATE: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE: &str = "\x1b[?1049l";

/// A place in the live region or on the alternate screen, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Cells from the left.
    pub column: u16,
    /// Rows from the top.
    pub row: u16,
}

/// What stands on the screen next.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Lines that are done: written once, above the live region, never touched again.
    pub finished: Vec<Line<'static>>,
    /// The live region, from top to bottom.
    pub live: Vec<Line<'static>>,
    /// Where the cursor stands in the live region; `None` hides it.
    pub cursor: Option<Place>,
}

/// A terminal behind a writer.
pub struct Screen<W> {
    out: W,
    width: u16,
    height: u16,
    live: Vec<Row>,
    /// How many rows of finished lines stand above the live region, on the screen.
    above: u16,
    /// Whether the first of them is the screen's first row: nothing of others is left there.
    is_whole: bool,
    /// Where the terminal's cursor is, within the live region.
    at: Place,
    cursor: Option<Place>,
    alternate: Option<Vec<Row>>,
    /// Whether an update is begun that the next draw has to end.
    is_begun: bool,
}

impl<W: Write> Screen<W> {
    /// A screen of this size, with the cursor at the beginning of an empty line.
    pub fn new(out: W, width: u16, height: u16) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        let (live, at) = (Vec::new(), Place::default());
        let (above, is_whole) = (0, false);
        let (cursor, alternate, is_begun) = (Some(at), None, false);
        Self { out, width, height, live, above, is_whole, at, cursor, alternate, is_begun }
    }

    /// Where it writes to.
    pub(crate) fn out(&self) -> &W {
        &self.out
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.width, self.height)
    }

    /// Shows a frame. What of the live region does not fit is cut at its top.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw(&mut self, frame: Frame) -> io::Result<()> {
        if self.alternate.is_some() {
            self.leave_alternate()?;
        }
        let mut live: Vec<Row> = frame.live.iter().map(|line| Row::of(line, self.width)).collect();
        let n_cut = live.len().saturating_sub(usize::from(self.height));
        live.drain(..n_cut);
        let cut = count(n_cut);
        let cursor = frame.cursor.map(|at| Place {
            column: at.column.min(self.width - 1),
            row: at.row.saturating_sub(cut).min(count(live.len()).saturating_sub(1)),
        });
        if frame.finished.is_empty() && live == self.live && cursor == self.cursor && !self.is_begun
        {
            return self.out.flush();
        }
        let mut painter = Painter::default();
        painter.text(BEGIN);
        if frame.finished.is_empty() {
            self.change(&mut painter, &live);
        } else {
            self.go_to(&mut painter, Place::default());
            painter.text(ERASE_BELOW);
            self.write_finished(&mut painter, &frame.finished);
            self.at = Place::default();
            self.write_rows(&mut painter, &live);
        }
        self.live = live;
        self.note_above(count(frame.finished.len()));
        self.cursor = cursor;
        if let Some(cursor) = cursor {
            self.go_to(&mut painter, cursor);
            painter.text(SHOW_CURSOR);
        }
        painter.text(END);
        self.is_begun = false;
        self.out.write_all(painter.bytes())?;
        self.out.flush()
    }

    /// Takes a new size: the end of what is finished is written anew, `tail`, and by the next draw the
    /// live region below it. A terminal may have broken what stood there into other lines, in a way only
    /// it knows: that goes up to the scrollback.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn restart(&mut self, width: u16, height: u16, tail: &[Line<'static>]) -> io::Result<()> {
        let mut painter = self.begin()?;
        (self.width, self.height) = (width.max(1), height.max(1));
        self.scroll(&mut painter);
        let room = usize::from(self.height).saturating_sub(self.live.len().max(1));
        let n_rows = tail.len().min(room);
        self.above = count(n_rows);
        self.rewrite(painter, &tail[tail.len() - n_rows..])
    }

    /// Writes what is ours anew where it stands, of what is finished no more than `tail`.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn repaint(&mut self, tail: &[Line<'static>]) -> io::Result<()> {
        let mut painter = self.begin()?;
        let n_rows = tail.len().min(self.above.into());
        if self.is_whole {
            // Wherever others left the cursor.
            painter.text(&format!("\x1b[{}H", usize::from(self.above) - n_rows + 1));
        } else {
            self.go_to(&mut painter, Place::default());
            if n_rows > 0 {
                painter.text(&format!("\x1b[{n_rows}A"));
            }
        }
        self.rewrite(painter, &tail[tail.len() - n_rows..])
    }

    /// Lets all that stands on the screen go up to the scrollback; the next draw begins at the top.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn scroll_out(&mut self) -> io::Result<()> {
        let mut painter = self.begin()?;
        self.scroll(&mut painter);
        self.rewrite(painter, &[])
    }

    /// Takes a size; the next draw writes the live region anew below what stands there, which nobody
    /// touches.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn go_on(&mut self, width: u16, height: u16) -> io::Result<()> {
        let mut painter = self.begin()?;
        let size = (width.max(1), height.max(1));
        if size == (self.width, self.height) {
            self.go_to(&mut painter, Place::default());
            painter.text(ERASE_BELOW);
        } else {
            // Where its first row is now, only the terminal knows.
            let last = count(self.live.len()).saturating_sub(1).max(self.at.row);
            self.go_to(&mut painter, Place { column: 0, row: last });
            painter.text("\r\n");
            self.share();
        }
        (self.width, self.height) = size;
        self.forget();
        self.out.write_all(painter.bytes())
    }

    /// Shows a whole page on the alternate screen, which the next [`Screen::draw`] leaves.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw_page(&mut self, page: &[Line<'static>], cursor: Option<Place>) -> io::Result<()> {
        let rows: Vec<Row> = page
            .iter()
            .take(usize::from(self.height))
            .map(|line| Row::of(line, self.width))
            .collect();
        let mut painter = Painter::default();
        painter.text(BEGIN);
        let old = match &mut self.alternate {
            Some(old) => std::mem::take(old),
            None => {
                terminal::note_alternate(true);
                painter.text(ENTER_ALTERNATE);
                painter.text("\x1b[2J");
                Vec::new()
            }
        };
        let n_rows = rows.len().max(old.len());
        for index in 0..n_rows {
            let (old, new) = (old.get(index), rows.get(index));
            if old != new {
                painter.text(&format!("\x1b[{};1H", index + 1));
                match new {
                    Some(row) => painter.row(row),
                    None => painter.text("\x1b[m"),
                }
                if new.is_none_or(|row| row.width() < usize::from(self.width)) {
                    painter.text(ERASE_RIGHT);
                }
            }
        }
        if let Some(at) = cursor {
            painter.text(&format!("\x1b[{};{}H", at.row + 1, at.column + 1));
            painter.text(SHOW_CURSOR);
        }
        painter.text(END);
        self.is_begun = false;
        self.alternate = Some(rows);
        self.out.write_all(painter.bytes())?;
        self.out.flush()
    }

    /// Asks the terminal something that shows nothing.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn ask(&mut self, question: &str) -> io::Result<()> {
        self.out.write_all(question.as_bytes())?;
        self.out.flush()
    }

    /// Takes the live region away, so that others may write where it began.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.alternate.is_some() {
            self.leave_alternate()?;
        }
        let mut painter = Painter::default();
        self.go_to(&mut painter, Place::default());
        painter.text(ERASE_BELOW);
        painter.text(SHOW_CURSOR);
        painter.text(END);
        self.is_begun = false;
        self.forget();
        self.out.write_all(painter.bytes())?;
        self.out.flush()
    }

    /// Goes on after others wrote to the terminal: the cursor is at the beginning of an empty line.
    pub fn resume(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width.max(1), height.max(1));
        self.share();
        self.forget();
    }

    /// Others wrote to the terminal: nobody knows any more what stands above the live region.
    pub fn share(&mut self) {
        (self.above, self.is_whole) = (0, false);
    }

    /// Begins an update of the main screen, which the next draw ends.
    fn begin(&mut self) -> io::Result<Painter> {
        if self.alternate.is_some() {
            self.leave_alternate()?;
        }
        self.is_begun = true;
        let mut painter = Painter::default();
        painter.text(BEGIN);
        Ok(painter)
    }

    /// Scrolls out what stands above the live region: line breaks do that with every terminal, while some
    /// keep nothing of a screen that is erased.
    fn scroll(&mut self, painter: &mut Painter) {
        self.go_to(painter, Place::default());
        painter.text(ERASE_BELOW);
        painter.text(&"\n".repeat(usize::from(self.height) - 1));
        painter.text("\x1b[H");
        (self.above, self.is_whole) = (0, true);
    }

    /// Ends the beginning of an update with finished lines, from where the cursor is.
    fn rewrite(&mut self, mut painter: Painter, finished: &[Line<'static>]) -> io::Result<()> {
        self.write_finished(&mut painter, finished);
        painter.text(ERASE_BELOW);
        self.forget();
        self.out.write_all(painter.bytes())
    }

    /// Writes finished lines from where the cursor is, over what stands there.
    fn write_finished(&self, painter: &mut Painter, lines: &[Line<'static>]) {
        for line in lines {
            let row = Row::of(line, self.width);
            painter.row(&row);
            if row.width() < usize::from(self.width) {
                painter.text(ERASE_RIGHT);
            }
            painter.text("\r\n");
        }
    }

    /// Counts the finished rows above the live region that did not scroll out.
    fn note_above(&mut self, n_finished: u16) {
        let room = self.height - count(self.live.len()).clamp(1, self.height);
        let above = self.above.saturating_add(n_finished);
        self.is_whole |= above >= room;
        self.above = above.min(room);
    }

    fn leave_alternate(&mut self) -> io::Result<()> {
        self.alternate = None;
        terminal::note_alternate(false);
        self.out.write_all(LEAVE_ALTERNATE.as_bytes())?;
        // The cursor's look is one for both screens; what `draw` compares with says how it is now.
        self.out.write_all(HIDE_CURSOR.as_bytes())?;
        self.cursor = None;
        Ok(())
    }

    fn forget(&mut self) {
        self.live.clear();
        self.at = Place::default();
        self.cursor = Some(Place::default());
    }

    /// Brings the region from what it is to `live`, cell by cell.
    fn change(&mut self, painter: &mut Painter, live: &[Row]) {
        let old = std::mem::take(&mut self.live);
        let common = old.len().min(live.len());
        for (index, (old, new)) in old.iter().zip(live).enumerate() {
            let Some(part) = new.difference(old) else { continue };
            self.go_to(painter, Place { column: count(part.column), row: count(index) });
            painter.cells(part.cells);
            if part.erases_rest {
                painter.text(ERASE_RIGHT);
            }
            // Where the cursor is after the last column is the terminal's own affair: `go_to` begins
            // with a carriage return.
        }
        if old.len() > live.len() {
            self.go_to(painter, Place { column: 0, row: count(live.len()) });
            painter.text(ERASE_BELOW);
        }
        if live.len() > common {
            match common.checked_sub(1) {
                Some(last) => {
                    self.go_to(painter, Place { column: 0, row: count(last) });
                    painter.text("\r\n");
                    self.at.row += 1;
                }
                None => self.go_to(painter, Place::default()),
            }
            self.write_rows(painter, &live[common..]);
        }
    }

    /// Writes rows from where the cursor is, making room by scrolling where there is none.
    fn write_rows(&mut self, painter: &mut Painter, rows: &[Row]) {
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                painter.text("\r\n");
                self.at.row += 1;
            }
            painter.row(row);
        }
        self.at.column = 0;
    }

    fn go_to(&mut self, painter: &mut Painter, to: Place) {
        painter.text("\r");
        match (self.at.row, to.row) {
            (from, to) if from > to => painter.text(&format!("\x1b[{}A", from - to)),
            (from, to) if from < to => painter.text(&format!("\x1b[{}B", to - from)),
            _ => {}
        }
        if to.column > 0 {
            painter.text(&format!("\x1b[{}C", to.column));
        }
        self.at = to;
    }
}

impl Screen<Outlet> {
    /// From here on nobody waits for a terminal that takes nothing.
    pub(crate) fn give_up(&mut self) {
        self.out.give_up();
    }
}

/// A count of rows or cells; a terminal has fewer than this can hold.
fn count(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
