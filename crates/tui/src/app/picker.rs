//! A list to choose from, narrowed by what is typed, with a glance at what is chosen.

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use heeler_core::SessionId;
use ratatui::text::{Line, Span};

use super::keys::is_control;
use crate::host::{Glance, SessionRow};
use crate::text::{clean, truncate, wrap};
use crate::transcript::Look;

/// The rows of a list that are shown.
const ROWS_MAX: usize = 12;
/// The most characters that narrow a list.
const QUERY_CHARS_MAX: usize = 200;
/// The most lines of what was asked last.
const ASKED_LINES_MAX: usize = 2;
/// The most lines of what was answered last.
const ANSWERED_LINES_MAX: usize = 4;
/// Rows of the screen that are not the list's, and those of the glance with its rule.
const ROWS_ELSEWHERE: usize = 6;
const GLANCE_ROWS: usize = ASKED_LINES_MAX + ANSWERED_LINES_MAX + 1;

/// A list.
pub(super) struct Picker {
    title: &'static str,
    rows: Vec<Row>,
    query: String,
    /// What the query leaves, as places in `rows`.
    matching: Vec<usize>,
    /// The chosen one among those.
    at: usize,
    /// What was looked at; none while it is being read.
    glances: HashMap<SessionId, Option<Result<Glance, String>>>,
}

struct Row {
    session: SessionRow,
    is_current: bool,
    /// What the query is looked for in.
    searched: String,
}

impl Row {
    fn new(session: SessionRow, current: &SessionId) -> Self {
        let is_current = session.id == *current;
        let name = session.name.as_ref().map_or("", |name| name.as_str());
        let searched = format!("{name} {} {}", session.title, session.id).to_lowercase();
        Self { session, is_current, searched }
    }
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
        let rows: Vec<Row> = rows.into_iter().map(|row| Row::new(row, current)).collect();
        let matching = (0..rows.len()).collect();
        let title = "Go on with which session?";
        Self { title, rows, query: String::new(), matching, at: 0, glances: HashMap::new() }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Chosen {
        let last = self.matching.len().saturating_sub(1);
        match key.code {
            KeyCode::Esc => return Chosen::Is(Picked::Nothing),
            KeyCode::Enter => {
                let picked = self.chosen().cloned();
                return Chosen::Is(picked.map_or(Picked::Nothing, Picked::Session));
            }
            KeyCode::Up => self.at = self.at.saturating_sub(1),
            KeyCode::Down => self.at = (self.at + 1).min(last),
            KeyCode::PageUp => self.at = self.at.saturating_sub(ROWS_MAX),
            KeyCode::PageDown => self.at = (self.at + ROWS_MAX).min(last),
            KeyCode::Backspace => {
                self.query.pop();
                self.narrow();
            }
            _ if is_control(key, 'p') => self.at = self.at.saturating_sub(1),
            _ if is_control(key, 'n') => self.at = (self.at + 1).min(last),
            KeyCode::Char(c)
                if !key.modifiers.contains(KeyModifiers::CONTROL)
                    && self.query.chars().count() < QUERY_CHARS_MAX =>
            {
                self.query.push(c);
                self.narrow();
            }
            _ => {}
        }
        Chosen::Goes
    }

    /// Narrows it by what was pasted.
    pub(super) fn paste(&mut self, text: &str) {
        let room = QUERY_CHARS_MAX.saturating_sub(self.query.chars().count());
        self.query.extend(text.chars().filter(|c| !c.is_control()).take(room));
        self.narrow();
    }

    /// The session that is to be looked at: the chosen one, once.
    pub(super) fn wants(&mut self) -> Option<SessionId> {
        let id = self.chosen()?.clone();
        if self.glances.contains_key(&id) {
            return None;
        }
        self.glances.insert(id.clone(), None);
        Some(id)
    }

    /// Takes what was asked for.
    pub(super) fn take(&mut self, id: SessionId, glance: Result<Glance, String>) {
        self.glances.insert(id, Some(glance));
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
        if self.matching.is_empty() {
            let none = if self.rows.is_empty() { "  there is none yet" } else { "  none matches" };
            lines.push(Line::styled(none, theme.dim));
        }
        let room = usize::from(height).saturating_sub(ROWS_ELSEWHERE);
        let has_glance = room > GLANCE_ROWS + 2;
        let n_shown = ROWS_MAX.min(if has_glance { room - GLANCE_ROWS } else { room }).max(1);
        let first = self.at.saturating_sub(n_shown.saturating_sub(1));
        let shown = self.matching.iter().enumerate().skip(first).take(n_shown);
        let shown: Vec<(usize, &Row)> = shown.map(|(index, at)| (index, &self.rows[*at])).collect();
        let age_cells = shown.iter().map(|(_, row)| row.age(look).len()).max().unwrap_or(0);
        for (index, row) in shown {
            lines.push(row.line(index == self.at, age_cells, look));
        }
        if has_glance {
            lines.extend(self.glance(look));
        }
        let hint =
            format!("  {} of {} · Enter: go on · Esc: back", self.matching.len(), self.rows.len());
        lines.push(truncate(&Line::styled(hint, theme.dim), look.width));
        (lines, Some((column, 0)))
    }

    /// The one that is chosen, in words, and where the cursor stands in the first line.
    pub(super) fn words(&self, look: Look<'_>) -> (Vec<Line<'static>>, u16) {
        let theme = look.theme;
        let title = format!("{} {}", self.title, clean(&self.query));
        let column = u16::try_from(crate::text::width(&title)).unwrap_or(u16::MAX);
        let mut lines = vec![Line::styled(title, theme.accent)];
        let n = self.matching.len();
        match self.matching.get(self.at) {
            Some(at) => {
                let choice = Span::raw(format!("choice {} of {n}:", self.at + 1));
                let mut line = self.rows[*at].line(false, 0, look);
                line.spans.insert(0, choice);
                lines.push(line);
            }
            None => lines.push(Line::raw("none is there")),
        }
        lines.extend(self.glance(look));
        lines.push(Line::raw("Enter: go on, Esc: back"));
        (lines, column)
    }

    /// The last that was said in the chosen session.
    fn glance(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let Some(glance) = self.chosen().and_then(|id| self.glances.get(id)) else {
            return Vec::new();
        };
        let theme = look.theme;
        let mut lines = Vec::new();
        if !theme.is_spoken() {
            lines.push(Line::styled("─".repeat(look.width.min(40)), theme.dim));
        }
        match glance {
            None => lines.push(Line::styled(theme.sign("  …", ""), theme.dim)),
            Some(Err(why)) => {
                lines.extend(some_lines("", why, ASKED_LINES_MAX, theme.error, look));
            }
            Some(Ok(Glance { asked, answered })) => {
                lines.extend(some_lines(
                    theme.sign("> ", "You: "),
                    asked,
                    ASKED_LINES_MAX,
                    theme.text,
                    look,
                ));
                lines.extend(some_lines("", answered, ANSWERED_LINES_MAX, theme.dim, look));
            }
        }
        lines
    }

    fn chosen(&self) -> Option<&SessionId> {
        self.matching.get(self.at).map(|at| &self.rows[*at].session.id)
    }

    /// Leaves the rows that hold every word of the query.
    fn narrow(&mut self) {
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let matches = |row: &Row| words.iter().all(|word| row.searched.contains(word));
        self.at = 0;
        self.matching = (0..self.rows.len()).filter(|at| matches(&self.rows[*at])).collect();
    }
}

impl Row {
    /// How long ago it changed, as short as can be.
    fn age(&self, look: Look<'_>) -> String {
        match look.now.since(self.session.changed) / 1000 {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds @ 60..3_600 => format!("{} min", seconds / 60),
            seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
            seconds => format!("{} days", seconds / 86_400),
        }
    }

    /// Its age in a column of so many cells, what it is about, and what is said of it, which is never
    /// cut.
    fn line(&self, is_chosen: bool, age_cells: usize, look: Look<'_>) -> Line<'static> {
        let theme = look.theme;
        let sign = if is_chosen { "▸ " } else { "  " };
        let style = if is_chosen { theme.selection } else { theme.text };
        let age = Span::styled(format!("{:>age_cells$}  ", self.age(look)), theme.dim);
        let mut spans = vec![Span::styled(sign, style), age];
        if let Some(name) = &self.session.name {
            spans.push(Span::styled(format!("{} ", clean(name.as_str())), theme.accent));
        }
        spans.push(Span::styled(clean(self.session.title.trim()).into_owned(), style));
        let current = if self.is_current { " (this one)" } else { "" };
        let forked = if self.session.is_fork { theme.sign(" · fork", ", fork") } else { "" };
        let after = format!("{forked}{current}");
        let room = look.width.saturating_sub(crate::text::width(&after)).max(1);
        spans = truncate(&Line::from(spans), room).spans;
        spans.push(Span::styled(after, theme.dim));
        truncate(&Line::from(spans), look.width)
    }
}

/// The first lines of a text, without what is empty.
fn some_lines(
    sign: &str,
    text: &str,
    lines_max: usize,
    style: ratatui::style::Style,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let text = clean(text);
    let full = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut lines = Vec::new();
    for line in full.take(lines_max) {
        let sign = if lines.is_empty() { sign } else { "" };
        let line = Line::styled(format!("{sign}{line}"), style);
        lines.extend(wrap(&line, look.width.saturating_sub(2).max(1), 0));
    }
    lines.truncate(lines_max);
    for line in &mut lines {
        line.spans.insert(0, Span::raw("  "));
    }
    lines
}
