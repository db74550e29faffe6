//! What could be meant: a list below the text, of which one row is chosen.

use std::ops::Range;

use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::draw::{ComposerStyles, visible};
use super::layout::cut;

/// The most rows that a menu shows at once.
pub const MENU_ROWS_MAX: usize = 8;
/// The widest that the first column gets.
const LEFT_COLUMNS_MAX: usize = 60;
/// The mark of the chosen row, which is seen without colors, too.
const CHOSEN: &str = "> ";

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// What it is.
    pub(super) left: String,
    /// What it says about itself.
    pub(super) right: String,
    /// What is written when it is accepted.
    pub(super) written: String,
    /// Nothing more needs to be written: accepting it with Enter sends.
    pub(super) complete: bool,
}

/// What a menu is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Commands,
    Files,
    /// How a command goes on; nothing to choose.
    Hint,
}

/// A menu that is open.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) about: About,
    /// What accepting it replaces.
    pub(super) range: Range<usize>,
    /// What was written so far.
    pub(super) query: String,
    pub(super) items: Vec<Item>,
    pub(super) chosen: usize,
}

impl Menu {
    pub(super) fn can_choose(&self) -> bool {
        self.about != About::Hint && !self.items.is_empty()
    }

    pub(super) fn item(&self) -> Option<&Item> {
        self.items.get(self.chosen)
    }

    /// Steps through the items, around their ends.
    pub(super) fn step(&mut self, down: bool) {
        let count = self.items.len().max(1);
        self.chosen = (self.chosen + if down { 1 } else { count - 1 }) % count;
    }

    pub(super) fn lines(&self, width: u16, styles: &ComposerStyles) -> Vec<Line<'static>> {
        let rows: Vec<_> =
            self.items.iter().map(|item| (item.left.as_str(), item.right.as_str())).collect();
        let chosen = self.can_choose().then_some(self.chosen);
        lines(&rows, chosen, width, styles)
    }
}

/// Rows as lines: those around the chosen one.
pub(super) fn lines(
    rows: &[(&str, &str)],
    chosen: Option<usize>,
    width: u16,
    styles: &ComposerStyles,
) -> Vec<Line<'static>> {
    let count = rows.len().min(MENU_ROWS_MAX);
    let place = chosen.unwrap_or(0);
    let top = (place + 1).saturating_sub(count).min(rows.len() - count);
    let shown = rows.iter().enumerate().skip(top).take(count);
    let room = usize::from(width).saturating_sub(CHOSEN.len());
    let widest = rows[top..top + count].iter().map(|(left, _)| left.width()).max().unwrap_or(0);
    let left_columns = widest.min(LEFT_COLUMNS_MAX).min(room);
    let line = |(index, (left, right)): (usize, &(&str, &str))| {
        let is_chosen = chosen == Some(index);
        let style = if is_chosen { styles.menu_chosen } else { styles.menu };
        let mark = if is_chosen { CHOSEN } else { "  " };
        if right.is_empty() {
            let text = format!("{mark}{}", cut(&visible(left), room));
            return Line::from(Span::styled(cut(&text, usize::from(width)), style));
        }
        let left = cut(&visible(left), left_columns);
        let blanks = " ".repeat(left_columns.saturating_sub(left.width()));
        let right = format!("  {}", visible(right));
        let right = cut(&right, room.saturating_sub(left_columns));
        let left = cut(&format!("{mark}{left}{blanks}"), usize::from(width));
        Line::from(vec![Span::styled(left, style), Span::styled(right, styles.menu_about)])
    };
    shown.map(line).collect()
}
