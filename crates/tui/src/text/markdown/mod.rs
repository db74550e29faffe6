//! Markdown as lines, whole or while it is still being written.
//!
//! What differs from a page in a browser, since a terminal has neither clicks nor room: each block
//! is read by itself, so a link by reference keeps its `[text][1]` and the address stays where it
//! was written; a line break within a paragraph stays one; the address of a link stands behind it;
//! HTML is shown as it was written.

mod draw;
mod leaf;
#[cfg(test)]
mod limits;
mod scan;
mod starts;
mod stream;
mod table;
#[cfg(test)]
mod tests;

use ratatui::text::Line;

pub use self::stream::StreamingMarkdown;
use super::highlight::Highlight;
use crate::theme::Theme;

/// What lines are made for.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The cells a line may take; at least one is used.
    pub width: usize,
    /// The styles.
    pub theme: &'a Theme,
    /// The colors of code.
    pub highlight: &'a dyn Highlight,
}

/// Draws `source`, which may hold anything, as lines of at most `width` cells.
#[must_use]
pub fn markdown(
    source: &str,
    width: usize,
    theme: &Theme,
    highlight: &dyn Highlight,
) -> Vec<Line<'static>> {
    let look = Look { width, theme, highlight };
    let mut stream = StreamingMarkdown::new();
    stream.push(source);
    stream.finish();
    stream.flush(look)
}
