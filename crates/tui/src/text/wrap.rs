//! Lines that fit: broken at spaces, or cut with an ellipsis.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::width::{graphemes, known_graphemes, width};

/// What stands where something was cut off.
pub const ELLIPSIS: &str = "…";

/// Breaks `line` so that no row is wider than `cells`; rows after the first begin with `hanging`
/// spaces.
///
/// It breaks at spaces, which then vanish, and on both sides of signs that are two cells wide; what
/// has no such place is broken anywhere. Spaces at the beginning of the line stay. An empty line is
/// one empty row. A hanging indent of more than half the room is cut down to that, and where not
/// even one wide sign fits an ellipsis stands for it.
#[must_use]
pub fn wrap(line: &Line<'_>, cells: usize, hanging: usize) -> Vec<Line<'static>> {
    let cells = cells.max(1);
    // A later row has room for a wide sign, or else no indent.
    let hanging = hanging.min(cells / 2).min(cells.saturating_sub(2));
    let flat = Flat::of(line, cells);
    let rows = rows(&flat.text, cells, cells - hanging);
    let mut lines = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let mut spans = Vec::new();
        if index > 0 && hanging > 0 {
            spans.push(Span::raw(" ".repeat(hanging)));
        }
        flat.push_spans(row, &mut spans);
        lines.push(flat.line(spans));
    }
    lines
}

/// Cuts `line` to `cells`; an ellipsis in the style of what is cut says that there was more.
#[must_use]
pub fn truncate(line: &Line<'_>, cells: usize) -> Line<'static> {
    let flat = Flat::of(line, cells.max(1));
    let mut spans = Vec::new();
    if cells == 0 {
        return flat.line(spans);
    }
    let mut used = 0;
    // Where the text may end so that an ellipsis still fits.
    let mut end = 0;
    for grapheme in graphemes(&flat.text) {
        if used + grapheme.width > cells {
            flat.push_spans(0..end, &mut spans);
            spans.push(Span::styled(ELLIPSIS, flat.style_at(end)));
            return flat.line(spans);
        }
        used += grapheme.width;
        if used < cells {
            end = grapheme.end();
        }
    }
    flat.push_spans(0..flat.text.len(), &mut spans);
    flat.line(spans)
}

/// The same line with text of its own.
#[must_use]
pub fn owned(line: &Line<'_>) -> Line<'static> {
    Line {
        style: line.style,
        alignment: line.alignment,
        spans: line
            .spans
            .iter()
            .map(|span| Span::styled(span.content.clone().into_owned(), span.style))
            .collect(),
    }
}

/// The cells a line takes.
#[must_use]
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| width(&span.content)).sum()
}

/// A line as one text, and which style begins where.
struct Flat {
    text: String,
    /// Ends of stretches, in order, and their styles.
    styles: Vec<(usize, Style)>,
    /// Of the line as a whole.
    base: Line<'static>,
}

impl Flat {
    fn of(line: &Line<'_>, cells: usize) -> Self {
        let mut text =
            String::with_capacity(line.spans.iter().map(|span| span.content.len()).sum());
        let mut styles = Vec::with_capacity(line.spans.len());
        for span in &line.spans {
            text.push_str(&span.content);
            styles.push((text.len(), span.style));
        }
        let base = Line { style: line.style, alignment: line.alignment, spans: Vec::new() };
        let mut flat = Self { text, styles, base };
        if !flat.text.is_ascii() {
            flat.keep_signs_whole(cells);
        }
        flat
    }

    /// Moves borders of styles that lie within a sign to its end: in pieces it would take more
    /// cells. A sign that fits no row becomes an ellipsis.
    fn keep_signs_whole(&mut self, cells: usize) {
        let mut text = String::with_capacity(self.text.len());
        let mut moved = self.styles.clone();
        let mut border = 0;
        for grapheme in graphemes(&self.text) {
            text.push_str(if grapheme.width > cells { ELLIPSIS } else { grapheme.text });
            while border < self.styles.len() && self.styles[border].0 <= grapheme.end() {
                moved[border].0 = text.len();
                border += 1;
            }
        }
        self.text = text;
        self.styles = moved;
    }

    fn style_at(&self, at: usize) -> Style {
        let found = self.styles.iter().find(|(end, _)| at < *end).or(self.styles.last());
        found.map(|(_, style)| *style).unwrap_or_default()
    }

    fn push_spans(&self, row: Range<usize>, spans: &mut Vec<Span<'static>>) {
        let first = self.styles.partition_point(|(end, _)| *end <= row.start);
        let mut at = row.start;
        for (end, style) in &self.styles[first..] {
            let end = (*end).min(row.end);
            if at < end {
                spans.push(Span::styled(self.text[at..end].to_owned(), *style));
                at = end;
            }
            if at == row.end {
                break;
            }
        }
    }

    fn line(&self, spans: Vec<Span<'static>>) -> Line<'static> {
        Line { spans, ..self.base.clone() }
    }
}

/// The stretches of `text` that become rows; the first has `first` cells, the others `others`.
fn rows(text: &str, first: usize, others: usize) -> Vec<Range<usize>> {
    let is_ascii = text.is_ascii();
    // Most lines fit.
    if is_ascii && text.len() <= first {
        return std::iter::once(0..text.len()).collect();
    }
    let mut rows = Vec::new();
    let mut start = 0;
    let mut limit = first;
    loop {
        let (end, next) = row_end(&text[start..], is_ascii, limit);
        rows.push(start..start + end);
        start += next;
        limit = others;
        if start >= text.len() {
            return rows;
        }
    }
}

/// Where a row that begins here ends, and where the next one begins.
fn row_end(text: &str, is_ascii: bool, limit: usize) -> (usize, usize) {
    let mut used = 0;
    let mut chance = None;
    let mut has_text = false;
    let mut spaces_from = None;
    for sign in known_graphemes(text, is_ascii) {
        if sign.is_space() {
            let from = *spaces_from.get_or_insert(sign.start);
            if used + 1 > limit {
                let spaces = text[sign.start..].bytes().take_while(|byte| *byte == b' ').count();
                return (if has_text { from } else { sign.start }, sign.start + spaces);
            }
            used += 1;
            if has_text {
                chance = Some((from, sign.end()));
            }
            continue;
        }
        spaces_from = None;
        let is_wide = sign.width > 1;
        if is_wide && has_text && chance.is_none_or(|(_, next)| next != sign.start) {
            chance = Some((sign.start, sign.start));
        }
        if used + sign.width > limit && sign.start > 0 {
            return chance.unwrap_or((sign.start, sign.start));
        }
        used += sign.width;
        has_text = true;
        if is_wide {
            chance = Some((sign.end(), sign.end()));
        }
    }
    (text.len(), text.len())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use ratatui::style::Color;

    use super::*;

    fn check(text: &str, cells: usize, hanging: usize, shown: Expect) {
        let rows = wrap(&Line::raw(text), cells, hanging);
        let rows: Vec<String> = rows.iter().map(|row| format!("|{row}|")).collect();
        shown.assert_eq(&rows.join("\n"));
    }

    #[test]
    fn lines_break_at_spaces() {
        check(
            "the quick brown fox",
            10,
            2,
            expect![[r#"
            |the quick|
            |  brown|
            |  fox|"#]],
        );
        check(
            "  indented   text  that goes on  ",
            12,
            0,
            expect![[r#"
            |  indented|
            |text  that|
            |goes on  |"#]],
        );
        check("", 10, 2, expect!["||"]);
    }

    #[test]
    fn what_has_no_space_is_broken_anywhere() {
        check(
            "see https://example.com/a/long/path now",
            12,
            2,
            expect![[r#"
            |see|
            |  https://ex|
            |  ample.com/|
            |  a/long/pat|
            |  h now|"#]],
        );
        check(
            "日本語のテキストは空白なしで折り返す",
            9,
            0,
            expect![[r#"
            |日本語の|
            |テキスト|
            |は空白な|
            |しで折り|
            |返す|"#]],
        );
    }

    #[test]
    fn signs_stay_whole() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let text = format!("a{family}{family}e\u{301}e\u{301}");
        let rows = wrap(&Line::raw(text.as_str()), 3, 0);
        let rows: Vec<String> = rows.iter().map(Line::to_string).collect();
        assert_eq!(rows, [format!("a{family}"), family.into(), "e\u{301}e\u{301}".into()]);
    }

    #[test]
    fn styles_go_along() {
        let line = Line::from(vec![
            Span::styled("red text ", Color::Red),
            Span::styled("and blue", Color::Blue),
        ]);
        let rows = wrap(&line, 7, 0);
        assert_eq!(rows[1].spans[0], Span::styled("text", Color::Red));
        assert_eq!(rows[2].spans[0], Span::styled("and", Color::Blue));
    }

    #[test]
    fn what_is_cut_ends_with_an_ellipsis() {
        let cut = |text: &str, cells| truncate(&Line::raw(text.to_owned()), cells).to_string();
        assert_eq!(cut("a long line", 6), "a lon…");
        assert_eq!(cut("fits", 4), "fits");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("日本語", 1), "…");
        assert_eq!(cut("any", 0), "");
    }

    #[test]
    fn a_line_of_a_megabyte_takes_one_pass() {
        let text = "word and 日本 ".repeat(70_000);
        let rows = wrap(&Line::raw(text.as_str()), 80, 0);
        let signs: usize = rows.iter().map(|row| row.to_string().replace(' ', "").len()).sum();
        assert_eq!(signs, text.replace(' ', "").len());
    }

    /// Any text, in pieces of any style, rich in what is hard.
    fn any_line() -> impl Strategy<Value = Line<'static>> {
        let piece = prop_oneof![
            "[a-z ]{0,12}",
            "[ -~]{0,8}",
            "[日本語\u{301}\u{200d}\u{1f468}\u{1f1e9}\u{fe0f}لا ]{0,8}",
            any::<String>(),
        ];
        let style = prop_oneof![Just(Color::Red), Just(Color::Blue)];
        proptest::collection::vec((piece, style), 0..6).prop_map(|pieces| {
            let span = |(text, style): (String, Color)| {
                Span::styled(crate::text::clean(&text).replace('\n', " "), style)
            };
            Line::from(pieces.into_iter().map(span).collect::<Vec<_>>())
        })
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_asked(line in any_line(), cells in 0usize..30, hanging in 0usize..40) {
            for row in wrap(&line, cells, hanging) {
                prop_assert!(line_width(&row) <= cells.max(1), "{row:?}");
            }
            prop_assert!(line_width(&truncate(&line, cells)) <= cells);
        }

        #[test]
        fn nothing_but_spaces_is_lost(line in any_line(), cells in 2usize..30) {
            let solid = |text: String| text.replace(' ', "");
            let rows: String = wrap(&line, cells, 1).iter().map(Line::to_string).collect();
            prop_assert_eq!(solid(rows), solid(line.to_string()));
        }
    }
}
