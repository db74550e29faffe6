//! What the session or the window has to say.

use std::borrow::Cow;

use heeler_core::{MediaItem, MediaReference, Reread};
use ratatui::text::Line;

use super::item::indented;
use super::{Look, TableRow, plain_lines, table};
use crate::text::{clean, wrap};
use crate::theme::Theme;

/// Before the further rows of a line of a patch: one more than before its own text.
const PATCH_INDENT: usize = 4;

/// Words, in a tone.
pub struct Note {
    text: String,
    tone: Tone,
    /// In place of a text.
    rows: Vec<TableRow>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tone {
    Quiet,
    Plain,
    Difference,
    Warning,
    Error,
}

impl Note {
    fn of(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, rows: Vec::new() }
    }

    /// Said by the way.
    pub fn quiet(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Quiet)
    }

    /// The answer of a command.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Plain)
    }

    /// The answer of a command, in two columns.
    pub fn table(rows: Vec<TableRow>) -> Self {
        Self { rows, ..Self::plain("") }
    }

    /// What differs, as `git diff` writes it.
    pub fn difference(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Difference)
    }

    /// What somebody should know.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Warning)
    }

    /// What went wrong, and the next step.
    pub fn error(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Error)
    }

    /// What a tool has for the user.
    pub(super) fn for_user(text: &str, media: &[MediaReference], items: &[MediaItem]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        if !text.is_empty() {
            lines.push(text.to_owned());
        }
        for reference in media {
            let item = items.iter().find(|item| item.reference == *reference);
            let path = item.and_then(|item| item.path.as_ref());
            lines.push(match path {
                Some(path) => format!("+ {}", path.display()),
                None => format!("+ {reference}"),
            });
        }
        Self::plain(lines.join("\n"))
    }

    /// What a new prefix cost.
    pub(super) fn reread(reread: &Reread) -> Self {
        let cost = reread.cost.map(|cost| format!(", {cost} more")).unwrap_or_default();
        Self::quiet(format!(
            "the cached beginning could not be used: {} tokens were read again{cost}",
            reread.tokens
        ))
    }

    pub(super) fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let theme = look.theme;
        let (sign, style) = match self.tone {
            Tone::Quiet => (theme.sign("· ", ""), theme.dim),
            Tone::Plain if !self.rows.is_empty() => return table::lines(&self.rows, look),
            Tone::Plain => return self.wrapped(look),
            Tone::Difference => {
                let text = clean(&self.text);
                return text.lines().flat_map(|line| patch_lines(line, look)).collect();
            }
            Tone::Warning => (theme.sign("! ", "Warning: "), theme.warning),
            Tone::Error => (theme.sign("✗ ", "Error: "), theme.error),
        };
        indented(&clean(&self.text), sign, style, look)
    }

    fn wrapped(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let lines = plain_lines(&spoken(&self.text, look.theme), look.theme.text);
        lines.iter().flat_map(|line| wrap(line, look.width, 0)).collect()
    }
}

/// A line of a patch, in the colours of what it does, in as many rows as it needs.
pub(crate) fn patch_lines(line: &str, look: Look<'_>) -> Vec<Line<'static>> {
    let line = clean(line);
    let style = match line.chars().next() {
        _ if line.starts_with("+++") || line.starts_with("---") => look.theme.strong,
        Some('+') => look.theme.added,
        Some('-') => look.theme.removed,
        Some('*' | '@') => look.theme.strong,
        _ if line.starts_with("diff ") => look.theme.strong,
        _ => look.theme.text,
    };
    let text = match line.chars().next() {
        Some('+') if look.theme.is_spoken() => format!("  added: {}", &line[1..]),
        Some('-') if look.theme.is_spoken() => format!("  removed: {}", &line[1..]),
        _ => format!("  {line}"),
    };
    // Whoever agrees to it has to see its end, too.
    wrap(&Line::styled(text, style), look.width, PATCH_INDENT)
}

/// Words of ours, which a dot may part, as they are read aloud where that is wanted.
pub(crate) fn spoken<'a>(text: &'a str, theme: &Theme) -> Cow<'a, str> {
    match theme.is_spoken() {
        true => Cow::Owned(text.replace(" · ", ", ")),
        false => Cow::Borrowed(text),
    }
}
