//! Tables that fit: columns share the room, and where there is none each row becomes a list.

use pulldown_cmark::Alignment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::{line_width, wrap};
use crate::theme::Theme;

/// Between two columns.
const SEPARATOR: &str = " │ ";
const CROSSING: &str = "─┼─";
const SEPARATOR_CELLS: usize = 3;
/// A column narrower than this, unless all it holds is short, cannot be read.
const COLUMN_CELLS_MIN: usize = 8;

/// Lines that are not yet wrapped.
type Cell = Vec<Vec<Span<'static>>>;

/// A table while it is read.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first is the head.
    rows: Vec<Vec<Cell>>,
    row: Vec<Cell>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Cell) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    pub(super) fn lines(&self, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
        match shares(&self.natural(), cells) {
            Some(widths) if !theme.is_spoken() => self.grid(&widths, theme),
            _ => self.list(cells, theme),
        }
    }

    /// The cells each column would like to have.
    fn natural(&self) -> Vec<usize> {
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(cell_width).max().unwrap_or(0)
        };
        (0..self.alignments.len()).map(|column| widest(column).max(1)).collect()
    }

    fn grid(&self, widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
        let rows: Vec<Vec<Line<'static>>> =
            self.rows.iter().map(|row| self.grid_row(row, widths, theme)).collect();
        // Rows of several lines run into each other without a rule between them.
        let has_rules = rows.iter().skip(1).any(|lines| lines.len() > 1);
        let mut lines = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            if index == 1 || (index > 1 && has_rules) {
                lines.push(rule(widths, theme));
            }
            lines.extend(row);
        }
        lines
    }

    fn grid_row(&self, row: &[Cell], widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
        let columns: Vec<Vec<Line<'static>>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| row.get(column).map(|cell| wrapped(cell, *width)))
            .map(Option::unwrap_or_default)
            .collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut lines = Vec::with_capacity(height);
        for index in 0..height {
            let mut spans = Vec::new();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    spans.push(Span::styled(SEPARATOR, theme.dim));
                }
                let line = columns[column].get(index).cloned().unwrap_or_default();
                let room = width.saturating_sub(line_width(&line));
                let left = match self.alignments[column] {
                    Alignment::None | Alignment::Left => 0,
                    Alignment::Center => room / 2,
                    Alignment::Right => room,
                };
                push_spaces(&mut spans, left);
                spans.extend(line.spans);
                if column + 1 < widths.len() {
                    push_spaces(&mut spans, room - left);
                }
            }
            lines.push(Line::from(spans));
        }
        lines
    }

    /// Each row as its cells with their heads, one below the other.
    fn list(&self, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let head = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        for (index, row) in self.rows.iter().skip(1).enumerate() {
            if index > 0 {
                lines.push(if theme.is_spoken() { Line::default() } else { rule(&[cells], theme) });
            }
            for (column, cell) in row.iter().enumerate() {
                let mut named: Cell = head.get(column).cloned().unwrap_or_default();
                let has_name = named.iter().any(|line| !line.is_empty());
                if has_name && let Some(last) = named.last_mut() {
                    last.push(Span::styled(": ", Style::new()));
                }
                for (place, line) in cell.iter().enumerate() {
                    match named.last_mut() {
                        Some(last) if place == 0 => last.extend(line.iter().cloned()),
                        _ => named.push(line.clone()),
                    }
                }
                for line in named {
                    lines.extend(wrap(&Line::from(line), cells, 2));
                }
            }
        }
        if self.rows.len() == 1 {
            lines.extend(head.iter().flat_map(|cell| wrapped(cell, cells)));
        }
        lines
    }
}

/// How many cells each column gets; `None` if a table makes no sense in so little room.
fn shares(natural: &[usize], cells: usize) -> Option<Vec<usize>> {
    let separators = natural.len().saturating_sub(1) * SEPARATOR_CELLS;
    let mut room = cells.checked_sub(separators)?;
    if natural.iter().sum::<usize>() <= room {
        return Some(natural.to_vec());
    }
    // Short columns take what they need; the others share what is left.
    let mut order: Vec<usize> = (0..natural.len()).collect();
    heeler_core::sort_by_key(&mut order, |column| natural[*column]);
    let mut widths = vec![0; natural.len()];
    for (place, column) in order.iter().enumerate() {
        let share = room / (natural.len() - place);
        widths[*column] = natural[*column].min(share);
        if widths[*column] < natural[*column].min(COLUMN_CELLS_MIN) {
            return None;
        }
        room -= widths[*column];
    }
    Some(widths)
}

fn rule(widths: &[usize], theme: &Theme) -> Line<'static> {
    let columns: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    Line::styled(columns.join(CROSSING), theme.dim)
}

fn cell_width(cell: &Cell) -> usize {
    cell.iter().map(|line| line_width(&Line::from(line.clone()))).max().unwrap_or(0)
}

fn wrapped(cell: &Cell, cells: usize) -> Vec<Line<'static>> {
    cell.iter().flat_map(|line| wrap(&Line::from(line.clone()), cells, 0)).collect()
}

fn push_spaces(spans: &mut Vec<Span<'static>>, count: usize) {
    if count > 0 {
        spans.push(Span::raw(" ".repeat(count)));
    }
}
