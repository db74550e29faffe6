//! A segment of Markdown as lines: its margins, and code.

use ratatui::text::{Line, Span};

use super::super::highlight::{Highlighted, Run};
use super::super::{truncate, width, wrap};
use super::scan::{Body, Margin, Segment};
use super::{Look, leaf};
use crate::theme::Theme;

/// Stands before each line of a quote.
fn quote_bar(theme: &Theme) -> &'static str {
    theme.sign("│ ", "Quote: ")
}

/// Stands before each line of code.
const CODE_INDENT: &str = "  ";
/// Stands before the rest of a line of code that was too long.
const CODE_GOES_ON: &str = "↪ ";

pub(super) fn segment(segment: &Segment, look: Look<'_>, lines: &mut Vec<Line<'static>>) {
    let cells_max = look.width.max(1);
    if let Some(kept) = segment.gap {
        lines.push(gap(&segment.margins[..kept.min(segment.margins.len())], look.theme, cells_max));
    }
    let margins = fitting(&segment.margins, cells_max / 2, look.theme);
    let cells: usize = margins.iter().map(|margin| margin.cells(look.theme)).sum();
    let body = match &segment.body {
        Body::Text(text) => leaf::lines(text, cells_max - cells, look.theme),
        Body::Code { place, text, label } => {
            let known = look.highlight.classes(place, text);
            code(text, label.as_deref(), &known, cells_max - cells, look.theme)
        }
    };
    let is_quoted = segment.margins.contains(&Margin::Quote);
    for (index, mut line) in body.into_iter().enumerate() {
        if is_quoted {
            line.style = look.theme.quote.patch(line.style);
        }
        if !margins.is_empty() {
            let before = margins.iter().map(|margin| margin.span(index == 0, look.theme));
            line.spans.splice(0..0, before);
        }
        lines.push(line);
    }
}

/// The innermost margins that leave the text its half of the room.
fn fitting<'a>(margins: &'a [Margin], cells_max: usize, theme: &Theme) -> &'a [Margin] {
    let mut cells = 0;
    let mut first = margins.len();
    while first > 0 && cells + margins[first - 1].cells(theme) <= cells_max {
        first -= 1;
        cells += margins[first].cells(theme);
    }
    &margins[first..]
}

/// The empty line between two segments; a quote's bar goes through.
fn gap(margins: &[Margin], theme: &Theme, cells_max: usize) -> Line<'static> {
    if theme.is_spoken() {
        return Line::default();
    }
    let last_quote = margins.iter().rposition(|margin| *margin == Margin::Quote);
    let through = &margins[..last_quote.map_or(0, |at| at + 1)];
    let fits = fitting(through, cells_max / 2, theme);
    Line::from(fits.iter().map(|margin| margin.span(false, theme)).collect::<Vec<_>>())
}

impl Margin {
    fn cells(&self, theme: &Theme) -> usize {
        match self {
            Self::Quote => width(quote_bar(theme)),
            Self::Item { cells, .. } => *cells,
        }
    }

    fn span(&self, is_first_line: bool, theme: &Theme) -> Span<'static> {
        match self {
            Self::Quote => Span::styled(quote_bar(theme), theme.quote),
            Self::Item { marker: Some(marker), .. } if is_first_line && theme.is_spoken() => {
                Span::styled(marker.replace('•', "-"), theme.accent)
            }
            Self::Item { marker: Some(marker), .. } if is_first_line => {
                Span::styled(marker.clone(), theme.accent)
            }
            Self::Item { cells, .. } => Span::raw(" ".repeat(*cells)),
        }
    }
}

fn code(
    text: &str,
    label: Option<&str>,
    known: &Highlighted,
    cells: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let indent = if cells > 2 * width(CODE_INDENT) { CODE_INDENT } else { "" };
    if let Some(label) = label {
        lines.push(truncate(&Line::styled(format!("{indent}{label}"), theme.dim), cells));
    }
    for (index, line) in text.lines().enumerate() {
        let runs = known.classes.get(index).map(Vec::as_slice);
        let line = Line::from(colored(line, runs.unwrap_or_default(), theme));
        for (row, mut wrapped) in wrap(&line, cells - width(indent), 0).into_iter().enumerate() {
            let before = match (indent, row) {
                ("", _) => Span::raw(""),
                (_, 0) => Span::raw(CODE_INDENT),
                _ => Span::styled(theme.sign(CODE_GOES_ON, CODE_INDENT), theme.dim),
            };
            wrapped.spans.insert(0, before);
            lines.push(wrapped);
        }
    }
    lines
}

/// A line of code in the styles of its runs.
pub(crate) fn colored(line: &str, runs: &[Run], theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::with_capacity(2 * runs.len() + 1);
    let mut at = 0;
    for run in runs {
        // A run that does not fit the text is none: the text is what counts.
        let (Some(before), Some(inside)) =
            (line.get(at..run.range.start), line.get(run.range.clone()))
        else {
            continue;
        };
        if !before.is_empty() {
            spans.push(Span::styled(before.to_owned(), theme.text));
        }
        spans.push(Span::styled(inside.to_owned(), theme.class(run.class)));
        at = run.range.end;
    }
    let rest = &line[at..];
    if !rest.is_empty() {
        spans.push(Span::styled(rest.to_owned(), theme.text));
    }
    spans
}
