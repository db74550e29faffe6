//! A list to choose from, narrowed by what is typed.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use heeler_core::SessionId;
use ratatui::text::{Line, Span};

use super::keys::is_control;
use crate::host::SessionRow;
use crate::text::{clean, truncate};
use crate::transcript::{Look, seconds};

/// The rows of a list that are shown.
const ROWS_MAX: usize = 12;
/// The most characters that narrow a list.
const QUERY_CHARS_MAX: usize = 200;

/// A list.
pub(super) struct Picker {
    title: &'static str,
    rows: Vec<Row>,
    query: String,
    /// Index within what the query leaves.
    at: usize,
}

struct Row {
    session: SessionRow,
    is_current: bool,
}

/// What a key did to a list.
pub(super) enum Chosen {
    Goes,
    Is(Picked),
}

/// What was chosen.
pub(super) enum Picked {
    Nothing,
    Session(SessionId),
}

impl Picker {
    pub(super) fn of_sessions(rows: Vec<SessionRow>, current: &SessionId) -> Self {
        let row = |session: SessionRow| Row { is_current: session.id == *current, session };
        let rows = rows.into_iter().map(row).collect();
        Self { title: "Go on with which session?", rows, query: String::new(), at: 0 }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Chosen {
        let last = self.matching().len().saturating_sub(1);
        match key.code {
            KeyCode::Esc => return Chosen::Is(Picked::Nothing),
            KeyCode::Enter => {
                let picked = self.matching().get(self.at).map(|row| row.session.id.clone());
                return Chosen::Is(picked.map_or(Picked::Nothing, Picked::Session));
            }
            KeyCode::Up => self.at = self.at.saturating_sub(1),
            KeyCode::Down => self.at = (self.at + 1).min(last),
            KeyCode::PageUp => self.at = self.at.saturating_sub(ROWS_MAX),
            KeyCode::PageDown => self.at = (self.at + ROWS_MAX).min(last),
            KeyCode::Backspace => {
                self.query.pop();
                self.at = 0;
            }
            _ if is_control(key, 'p') => self.at = self.at.saturating_sub(1),
            _ if is_control(key, 'n') => self.at = (self.at + 1).min(last),
            KeyCode::Char(c)
                if !key.modifiers.contains(KeyModifiers::CONTROL)
                    && self.query.chars().count() < QUERY_CHARS_MAX =>
            {
                self.query.push(c);
                self.at = 0;
            }
            _ => {}
        }
        Chosen::Goes
    }

    pub(super) fn lines(
        &self,
        height: u16,
        look: Look<'_>,
    ) -> (Vec<Line<'static>>, Option<(u16, u16)>) {
        let theme = look.theme;
        let title = format!("{} {}", self.title, clean(&self.query));
        let column = u16::try_from(crate::text::width(&title)).unwrap_or(u16::MAX);
        let mut lines = vec![truncate(&Line::styled(title, theme.accent), look.width)];
        let rows = self.matching();
        if rows.is_empty() {
            let none = if self.rows.is_empty() { "  there is none yet" } else { "  none matches" };
            lines.push(Line::styled(none, theme.dim));
        }
        let n_shown = ROWS_MAX.min(usize::from(height).saturating_sub(6)).max(1);
        let first = self.at.saturating_sub(n_shown.saturating_sub(1));
        for (index, row) in rows.iter().enumerate().skip(first).take(n_shown) {
            let sign = if index == self.at { "▸ " } else { "  " };
            let age = seconds(look.now.since(row.session.changed));
            let current = if row.is_current { " (this one)" } else { "" };
            let title = clean(row.session.title.trim());
            let style = if index == self.at { theme.selection } else { theme.text };
            let spans = vec![
                Span::styled(format!("{sign}{title}"), style),
                Span::styled(format!("  {age} ago{current}"), theme.dim),
            ];
            lines.push(truncate(&Line::from(spans), look.width));
        }
        let hint = format!("  {} of {} · Enter: go on · Esc: back", rows.len(), self.rows.len());
        lines.push(truncate(&Line::styled(hint, theme.dim), look.width));
        (lines, Some((column, 0)))
    }

    /// The rows that hold every word of the query.
    fn matching(&self) -> Vec<&Row> {
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let matches = |row: &&Row| {
            let text = format!("{} {}", row.session.title, row.session.id).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.rows.iter().filter(matches).collect()
    }
}
