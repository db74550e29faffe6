//! What is folded where it is done, shown whole to who looks back, within bounds.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::Line;

use super::Look;
use super::item::indented;
use crate::theme::Theme;

/// The most bytes of one text that are shown; of a longer one, its beginning and its end.
pub(super) const TEXT_BYTES_MAX: usize = 256 * 1024;
/// The most that is unfolded of a transcript, the newest of it: every line is made at once.
pub(super) const ALL_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What a line takes beside its text.
const LINE_BYTES: usize = 64;

/// How lines are called that are this many.
pub(super) fn lines(n: usize) -> &'static str {
    if n == 1 { "line" } else { "lines" }
}

/// What it takes to unfold this text, in bytes.
pub(super) fn cost(text: &str) -> usize {
    let n_lines = text.bytes().filter(|byte| *byte == b'\n').count();
    text.len().saturating_add(LINE_BYTES * (n_lines + 1)).min(TEXT_BYTES_MAX * 2)
}

/// The text, or its beginning and end with a word about what is between.
pub(super) fn within<'a>(text: &'a str, theme: &Theme) -> Cow<'a, str> {
    if text.len() <= TEXT_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let beginning = &text[..text.floor_char_boundary(TEXT_BYTES_MAX / 2)];
    let end = &text[text.ceil_char_boundary(text.len() - TEXT_BYTES_MAX / 2)..];
    let n_left_out = text.len() - beginning.len() - end.len();
    let dots = theme.sign("… ", "");
    Cow::Owned(format!("{beginning}\n{dots}{n_left_out} bytes left out: see `heeler show`\n{end}"))
}

/// The lines of a cleaned text, each behind this sign and none cut.
pub(super) fn rows(text: &str, sign: &str, style: Style, look: Look<'_>) -> Vec<Line<'static>> {
    let row = |line: &str| match line.trim() {
        "" => vec![Line::styled(sign.trim_end().to_owned(), style)],
        _ => indented(line, sign, style, look),
    };
    within(text.trim_end(), look.theme).lines().flat_map(row).collect()
}
