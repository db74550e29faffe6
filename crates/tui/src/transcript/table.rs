//! Two columns where there is room for both, and one below the other where there is not.

use ratatui::text::{Line, Span};

use super::{Look, spoken};
use crate::text::{clean, width, wrap};

/// Between the columns.
const GAP_CELLS: usize = 2;
/// With fewer cells for the second column, it stands below the first.
const RIGHT_CELLS_MIN: usize = 28;

/// A row. One without a second column is a line of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableRow {
    /// What it is about, on one line.
    pub left: String,
    /// What is said of it, on as many as it takes.
    pub right: String,
}

impl TableRow {
    /// Both columns.
    pub fn new(left: impl Into<String>, right: impl Into<String>) -> Self {
        Self { left: left.into(), right: right.into() }
    }

    /// A line across both.
    pub fn line(text: impl Into<String>) -> Self {
        Self::new(text, "")
    }
}

/// The rows as lines.
pub(super) fn lines(rows: &[TableRow], look: Look<'_>) -> Vec<Line<'static>> {
    if look.theme.is_spoken() {
        let spoken_rows = rows.iter().flat_map(|TableRow { left, right }| {
            let sign = if right.is_empty() { "" } else { ": " };
            let words = format!("{}{sign}{right}", left.trim_end());
            let line = |line: &str| Line::styled(line.to_owned(), look.theme.text);
            clean(&spoken(&words, look.theme)).lines().map(line).collect::<Vec<_>>()
        });
        return spoken_rows.collect();
    }
    let both = rows.iter().filter(|row| !row.right.is_empty());
    let left_cells = both.map(|row| width(&clean(&row.left))).max().unwrap_or(0);
    let is_wide = look.width >= left_cells + GAP_CELLS + RIGHT_CELLS_MIN;
    let indent = if is_wide { left_cells + GAP_CELLS } else { GAP_CELLS };
    let mut lines = Vec::new();
    for TableRow { left, right } in rows {
        let (left, right) = (clean(left), clean(right));
        if right.is_empty() || !is_wide {
            let line = Line::styled(left.clone().into_owned(), look.theme.text);
            lines.extend(wrap(&line, look.width, 0));
        }
        for (index, text) in right.lines().enumerate() {
            let before = if index == 0 && is_wide { &*left } else { "" };
            let room = indent.saturating_sub(width(before));
            let text = format!("{before}{}{text}", " ".repeat(room));
            let line = Line::from(Span::styled(text, look.theme.text));
            lines.extend(wrap(&line, look.width, indent));
        }
    }
    lines
}
