//! Where the edges of what a reader sees as one character are.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// The edge after the one at `at`; the end of the text at its end.
pub(super) fn next(text: &str, at: usize) -> usize {
    let found = GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0);
    found.ok().flatten().unwrap_or(text.len())
}

/// The edge before `at`; the beginning of the text at its beginning.
pub(super) fn previous(text: &str, at: usize) -> usize {
    let found = GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0);
    found.ok().flatten().unwrap_or(0)
}

/// Whether no grapheme is cut at `at`.
pub(super) fn is_edge(text: &str, at: usize) -> bool {
    text.is_char_boundary(at)
        && GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

/// The nearest edge at or after `at`.
pub(super) fn snap(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let at = (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if is_edge(text, at) { at } else { next(text, at) }
}

/// The grapheme that begins at `at`.
pub(super) fn at(text: &str, at: usize) -> Option<&str> {
    text.get(at..next(text, at)).filter(|grapheme| !grapheme.is_empty())
}

/// The grapheme that ends at `at`.
pub(super) fn before(text: &str, at: usize) -> Option<&str> {
    text.get(previous(text, at)..at).filter(|grapheme| !grapheme.is_empty())
}

/// The graphemes of a piece, with their places in the whole text.
pub(super) fn of(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    text[start..end].grapheme_indices(true).map(move |(at, grapheme)| (start + at, grapheme))
}
