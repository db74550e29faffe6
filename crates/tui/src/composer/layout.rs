//! The text as rows of a given width, and which column each grapheme stands in.

use std::borrow::Cow;
use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::graphemes;
use super::units::Units;

/// How many blanks a tab is.
const TAB: &str = "    ";

/// A row of the text, in bytes of it; a line break belongs to no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The next row begins where this one ends: the line was too long.
    pub(super) goes_on: bool,
}

/// The rows of the text; at least one. Breaks after blanks and wide characters, and where neither
/// is, anywhere. A blank may stand one column further out, where else only the cursor does.
pub(super) fn rows(text: &str, units: &Units, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut line_start = 0;
    loop {
        let line_end = super::words::line_end(text, line_start);
        wrap(text, units, columns, line_start..line_end, &mut rows);
        if line_end == text.len() {
            return rows;
        }
        line_start = line_end + 1;
    }
}

fn wrap(text: &str, units: &Units, columns: usize, line: Range<usize>, rows: &mut Vec<Row>) {
    let mut start = line.start;
    let mut used = 0;
    // Where the row may break, and how much of it stands before that.
    let mut chance: Option<(usize, usize)> = None;
    for (at, grapheme) in graphemes::of(text, line.start, line.end) {
        let width = cell(grapheme, units, columns).width();
        let blank = grapheme.starts_with(char::is_whitespace);
        let hangs = blank && used + width == columns + 1;
        if used + width > columns && at > start && !hangs {
            let (end, before) = chance.take().unwrap_or((at, used));
            rows.push(Row { start, end, goes_on: true });
            start = end;
            used -= before;
        }
        // What was carried over can be too wide still: a word without any chance.
        if used + width > columns && at > start && !hangs {
            rows.push(Row { start, end: at, goes_on: true });
            start = at;
            used = 0;
        }
        used += width;
        if blank || width > 1 {
            chance = Some((at + grapheme.len(), used));
        }
    }
    let room_for_cursor = used <= columns;
    rows.push(Row { start, end: line.end, goes_on: !room_for_cursor });
    if !room_for_cursor {
        rows.push(Row { start: line.end, end: line.end, goes_on: false });
    }
}

/// The row in which a cursor at this place stands: where two meet, the later.
pub(super) fn row_of(rows: &[Row], at: usize) -> usize {
    rows.partition_point(|row| row.start <= at).saturating_sub(1)
}

/// The column of a place in its row.
pub(super) fn column(text: &str, units: &Units, columns: usize, row: &Row, at: usize) -> usize {
    graphemes::of(text, row.start, at.clamp(row.start, row.end))
        .map(|(_, grapheme)| cell(grapheme, units, columns).width())
        .sum()
}

/// The place in a row that is nearest to a column, from the left.
pub(super) fn at_column(text: &str, units: &Units, columns: usize, row: &Row, aim: usize) -> usize {
    let mut used = 0;
    for (at, grapheme) in graphemes::of(text, row.start, row.end) {
        used += cell(grapheme, units, columns).width();
        // The end of a row that goes on is the beginning of the next.
        let last_of_broken = row.goes_on && at + grapheme.len() == row.end;
        if used > aim || last_of_broken {
            return at;
        }
    }
    row.end
}

/// What is shown for a grapheme. Nothing that moves a terminal's cursor is ever shown as it is, and
/// nothing is shown as nothing.
pub(super) fn cell<'a>(grapheme: &'a str, units: &Units, columns: usize) -> Cow<'a, str> {
    if let Some(label) = units.label(grapheme) {
        return Cow::Owned(cut(label, columns));
    }
    let shown = match grapheme.chars().next() {
        Some('\t') => TAB,
        Some(letter) if letter.is_ascii() && !letter.is_control() => grapheme,
        Some(letter) if letter.is_ascii() => return Cow::Owned(picture(letter).to_string()),
        Some(letter) if letter.is_control() => "\u{FFFD}",
        _ => grapheme,
    };
    match shown.width() {
        0 => Cow::Borrowed("\u{FFFD}"),
        width if width > columns && shown == TAB => Cow::Borrowed(" "),
        width if width > columns => Cow::Borrowed("\u{FFFD}"),
        _ => Cow::Borrowed(shown),
    }
}

/// The picture that Unicode has of a control character.
fn picture(letter: char) -> char {
    let code = match u32::from(letter) {
        0x7F => 0x2421,
        code => 0x2400 + code,
    };
    char::from_u32(code).unwrap_or('\u{FFFD}')
}

/// The beginning of a text that fits, with two dots when it is not all.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(2);
    let mut short = String::new();
    let mut used = 0;
    for (_, grapheme) in graphemes::of(text, 0, text.len()) {
        used += grapheme.width();
        if used > room {
            break;
        }
        short.push_str(grapheme);
    }
    short.push_str(&".."[..columns.min(2)]);
    short
}
