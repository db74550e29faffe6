//! The composer as lines of styled cells, and where the cursor stands in them.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::edit::Editor;
use super::graphemes;
use super::layout::{self, Row, cell, cut};

/// Below this width there is no prompt: the text needs the columns.
const PROMPT_WIDTH_MIN: u16 = 12;

/// How the parts of a composer look.
#[derive(Debug, Clone, Copy, Default)]
pub struct ComposerStyles {
    /// What was typed.
    pub text: Style,
    /// The mark before the first row.
    pub prompt: Style,
    /// What stands there while nothing is written.
    pub placeholder: Style,
    /// Folded pastes and images.
    pub unit: Style,
    /// What vim's visual mode has chosen.
    pub selection: Style,
    /// A row of the menu.
    pub menu: Style,
    /// The chosen row of the menu.
    pub menu_chosen: Style,
    /// What the menu's rows say about themselves.
    pub menu_about: Style,
    /// Another mark before the first row, which says enough where nothing is written.
    pub mark: Option<&'static str>,
}

/// The composer, drawn.
#[derive(Debug, Clone, Default)]
pub struct Drawn {
    /// At least one, none wider than was asked for.
    pub lines: Vec<Line<'static>>,
    /// Column and row of the cursor within the lines: it is where an input method writes.
    pub cursor: (u16, u16),
    /// Rows that are above the first line.
    pub above: usize,
    /// Rows that are below the last line.
    pub below: usize,
}

/// What was last drawn, for keys that move by rows, and so that the view stays where it can.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub(super) columns: usize,
    top: usize,
}

/// What is drawn, and into how much room.
pub(super) struct Canvas<'a> {
    pub(super) prompt: &'a str,
    pub(super) placeholder: &'a str,
    pub(super) selection: Option<Range<usize>>,
    pub(super) width: u16,
    pub(super) height_max: u16,
    pub(super) styles: &'a ComposerStyles,
}

impl Canvas<'_> {
    /// Draws the text.
    pub(super) fn text(&self, editor: &Editor, view: &mut View) -> Drawn {
        let gutter = self.gutter();
        // The last column is the cursor's, behind a full row.
        let columns = usize::from(self.width).saturating_sub(gutter + 1).max(1);
        let (text, units) = (editor.text(), &editor.buffer.units);
        let rows = layout::rows(text, units, columns);
        let row = layout::row_of(&rows, editor.cursor());
        let height = usize::from(self.height_max).max(1).min(rows.len());
        let top = view.top.clamp((row + 1).saturating_sub(height), row).min(rows.len() - height);
        *view = View { columns, top };

        let mut lines: Vec<_> = rows[top..top + height]
            .iter()
            .enumerate()
            .map(|(index, row)| self.row(editor, row, columns, top + index == 0))
            .collect();
        if text.is_empty() {
            lines = vec![self.line(true, self.hint(gutter))];
        }
        let column = gutter + layout::column(text, units, columns, &rows[row], editor.cursor());
        let column = column.min(usize::from(self.width).saturating_sub(1));
        let cursor = (column as u16, (row - top) as u16);
        Drawn { lines, cursor, above: top, below: rows.len() - top - height }
    }

    /// Draws one line that stands in the text's place, with the cursor at its end.
    pub(super) fn question(&self, question: &str, answer: &str) -> Drawn {
        let room = usize::from(self.width).saturating_sub(1);
        let question = cut(question, room);
        let shown: String = visible(answer);
        // The end of a long answer is what is being written.
        let mut start = 0;
        while question.width() + shown[start..].width() > room && start < shown.len() {
            start = graphemes::next(&shown, start);
        }
        let column = question.width() + shown[start..].width();
        let spans = vec![
            Span::styled(question, self.styles.prompt),
            Span::styled(shown[start..].to_owned(), self.styles.text),
        ];
        let cursor = (column.min(room) as u16, 0);
        Drawn { lines: vec![Line::from(spans)], cursor, above: 0, below: 0 }
    }

    fn gutter(&self) -> usize {
        if self.width < PROMPT_WIDTH_MIN { 0 } else { self.prompt.width() }
    }

    fn hint(&self, gutter: usize) -> Vec<Span<'static>> {
        let room = usize::from(self.width).saturating_sub(gutter);
        vec![Span::styled(cut(self.placeholder, room), self.styles.placeholder)]
    }

    fn row(&self, editor: &Editor, row: &Row, columns: usize, first: bool) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (at, grapheme) in graphemes::of(editor.text(), row.start, row.end) {
            let style = self.style(editor, at, grapheme);
            let shown = cell(grapheme, &editor.buffer.units, columns);
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(&shown),
                _ => spans.push(Span::styled(shown.into_owned(), style)),
            }
        }
        let chosen = |range: &Range<usize>| range.contains(&row.end) && !row.goes_on;
        if self.selection.as_ref().is_some_and(chosen) {
            // A chosen line break is seen as a blank.
            spans.push(Span::styled(" ", self.styles.selection));
        }
        self.line(first, spans)
    }

    fn style(&self, editor: &Editor, at: usize, grapheme: &str) -> Style {
        match &self.selection {
            Some(range) if range.contains(&at) => self.styles.selection,
            _ if editor.buffer.units.get(grapheme).is_some() => self.styles.unit,
            _ => self.styles.text,
        }
    }

    /// The spans behind the prompt, or behind as many blanks.
    fn line(&self, first: bool, mut spans: Vec<Span<'static>>) -> Line<'static> {
        let mark = match self.gutter() {
            0 => return Line::from(spans),
            _ if first => self.prompt.to_owned(),
            gutter => " ".repeat(gutter),
        };
        spans.insert(0, Span::styled(mark, self.styles.prompt));
        Line::from(spans)
    }
}

/// A text on one line, without anything that moves the cursor.
pub(super) fn visible(text: &str) -> String {
    let units = super::units::Units::default();
    graphemes::of(text, 0, text.len())
        .map(|(_, grapheme)| match grapheme {
            "\n" => std::borrow::Cow::Borrowed(" "),
            _ => cell(grapheme, &units, usize::MAX),
        })
        .collect()
}
