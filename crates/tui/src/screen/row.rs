//! One row of cells, and where it differs from another.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

/// The cells of a row, without the empty ones at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Row(Vec<Cell>);

/// What has to be written to make one row another.
pub(super) struct Difference<'a> {
    pub(super) column: usize,
    pub(super) cells: &'a [Cell],
    /// Whether what stands to the right of these cells goes.
    pub(super) erases_rest: bool,
}

impl Row {
    /// The row of a line; what is beyond `width` is cut.
    pub(crate) fn of(line: &Line<'_>, width: u16) -> Self {
        let columns = u16::try_from(line.width()).unwrap_or(u16::MAX).clamp(1, width.max(1));
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 1));
        buffer.set_line(0, 0, line, columns);
        let mut cells = buffer.content;
        let (empty, space) = (Cell::default(), Cell::new(" "));
        let is_blank = |cell: &Cell| *cell == empty || *cell == space;
        let last = cells.iter().rposition(|cell| !is_blank(cell));
        // A wide character takes the cells behind it, too.
        cells.truncate(last.map_or(0, |at| at + cells[at].symbol().width().max(1)));
        Self(cells)
    }

    /// How many cells it takes.
    pub(super) fn width(&self) -> usize {
        self.0.len()
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.0
    }

    /// What makes `old` this row; `None` when it is.
    pub(super) fn difference(&self, old: &Self) -> Option<Difference<'_>> {
        if self == old {
            return None;
        }
        let same = self.0.iter().zip(&old.0).take_while(|(new, old)| new == old).count();
        // Half of a wide character cannot be written.
        let column = (0..=same).rev().find(|&at| self.begins_at(at) && old.begins_at(at))?;
        Some(Difference {
            column,
            cells: &self.0[column..],
            erases_rest: old.width() > self.width(),
        })
    }

    /// Whether no character reaches over the left edge of this column.
    fn begins_at(&self, column: usize) -> bool {
        let Some(before) = column.checked_sub(1) else { return true };
        self.0.get(before).is_none_or(|cell| cell.symbol().width() <= 1)
    }
}
