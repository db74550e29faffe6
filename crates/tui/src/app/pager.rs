//! The whole transcript on a screen of its own, with search.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::keys::is_control;
use crate::screen::Place;
use crate::text::{clean, truncate};
use crate::transcript::{Kept, Look, spoken};

/// The most characters that are searched for.
const QUERY_CHARS_MAX: usize = 200;

/// Where one looks.
#[derive(Default)]
pub(super) struct Pager {
    /// Rows between what is shown and the end: none to follow what comes.
    above_end: usize,
    /// What is typed after `/`.
    typing: Option<String>,
    query: String,
    /// What the next page does first.
    jump: Option<Jump>,
    /// The rows of a page and of everything, when last shown.
    page_rows: usize,
    all_rows: usize,
    /// The width they were made for.
    width: usize,
}

/// Every line, kept as long as it says the same.
#[derive(Default)]
pub(super) struct Paged {
    /// The width they were made for, and the revisions of what they say.
    pub(super) width: u16,
    pub(super) revisions: Option<(u64, u64)>,
    pub(super) kept: Kept,
    /// What changes no more.
    pub(super) settled: Vec<Line<'static>>,
    /// What stands below it.
    pub(super) open: Vec<Line<'static>>,
}

impl Paged {
    fn len(&self) -> usize {
        self.settled.len() + self.open.len()
    }

    /// From one line to before another.
    fn range(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = &Line<'static>> {
        let n = self.settled.len();
        let settled = &self.settled[range.start.min(n)..range.end.min(n)];
        let open = &self.open[range.start.saturating_sub(n)..range.end.saturating_sub(n)];
        settled.iter().chain(open)
    }
}

#[derive(Clone, Copy)]
enum Jump {
    Next,
    Previous,
}

/// What a key did.
pub(super) enum Turned {
    Stays,
    Closes,
}

impl Pager {
    pub(super) fn key(&mut self, key: KeyEvent) -> Turned {
        if let Some(typing) = &mut self.typing {
            match key.code {
                KeyCode::Enter => {
                    self.query = self.typing.take().unwrap_or_default();
                    self.jump = Some(Jump::Previous);
                }
                KeyCode::Esc => self.typing = None,
                _ if is_control(key, 'c') => self.typing = None,
                _ if is_control(key, 'u') => typing.clear(),
                _ if key.modifiers.contains(KeyModifiers::CONTROL) => {}
                KeyCode::Backspace if typing.pop().is_none() => self.typing = None,
                KeyCode::Char(c) if typing.chars().count() < QUERY_CHARS_MAX => typing.push(c),
                _ => {}
            }
            return Turned::Stays;
        }
        let page = self.page_rows.max(2) - 1;
        match key.code {
            _ if is_control(key, 't') || is_control(key, 'c') => return Turned::Closes,
            KeyCode::Esc | KeyCode::Char('q') => return Turned::Closes,
            KeyCode::Up | KeyCode::Char('k') => self.up(1),
            KeyCode::Down | KeyCode::Char('j') => self.down(1),
            KeyCode::PageUp | KeyCode::Char('b') => self.up(page),
            KeyCode::PageDown | KeyCode::Char(' ' | 'f') => self.down(page),
            KeyCode::Home | KeyCode::Char('g') => self.up(usize::MAX),
            KeyCode::End | KeyCode::Char('G') => self.above_end = 0,
            KeyCode::Char('/') => self.typing = Some(String::new()),
            KeyCode::Char('n') => self.jump = Some(Jump::Previous),
            KeyCode::Char('N') => self.jump = Some(Jump::Next),
            _ => {}
        }
        Turned::Stays
    }

    /// Takes what was pasted into what is searched for; `false` when nobody types that.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let Some(typing) = &mut self.typing else { return false };
        let room = QUERY_CHARS_MAX.saturating_sub(typing.chars().count());
        typing.extend(text.chars().filter(|c| !c.is_control()).take(room));
        true
    }

    fn up(&mut self, rows: usize) {
        let most = self.all_rows.saturating_sub(self.page_rows);
        self.above_end = self.above_end.saturating_add(rows).min(most);
    }

    fn down(&mut self, rows: usize) {
        self.above_end = self.above_end.saturating_sub(rows);
    }

    /// The page, of all lines, on a screen this high.
    pub(super) fn page(
        &mut self,
        all: &Paged,
        height: u16,
        look: Look<'_>,
    ) -> (Vec<Line<'static>>, Option<Place>) {
        self.page_rows = usize::from(height).saturating_sub(1).max(1);
        if self.above_end > 0 && self.width == look.width {
            // Who looks back goes on looking at the same.
            self.above_end = (self.above_end + all.len()).saturating_sub(self.all_rows);
        }
        (self.all_rows, self.width) = (all.len(), look.width);
        self.up(0);
        let found = self.jump.take().map(|jump| self.find(all, jump));
        let end = all.len() - self.above_end;
        let first = end.saturating_sub(self.page_rows);
        let mut page: Vec<Line<'static>> =
            all.range(first..end).map(|line| self.marked(line)).collect();
        page.resize(self.page_rows, Line::default());
        let hint = match (&self.typing, found) {
            (Some(typing), _) => format!("/{}", clean(typing)),
            (None, Some(false)) => format!("`{}` is not there", clean(&self.query)),
            _ => {
                let arrows = look.theme.sign("↑↓", "arrows");
                let keys = format!("q: back · {arrows} PgUp PgDn Home End · /: search · n N: more");
                let of = format!("{end} of {}", all.len());
                spoken(&format!("{of} · {keys}"), look.theme).into_owned()
            }
        };
        let column = u16::try_from(crate::text::width(&hint)).unwrap_or(u16::MAX);
        page.push(truncate(&Line::styled(hint, look.theme.status), look.width));
        let row = height.saturating_sub(1);
        let cursor = self.typing.as_ref().map(|_| Place { column, row });
        (page, cursor)
    }

    /// Goes to the next line that holds the query, and tells whether there is one.
    fn find(&mut self, all: &Paged, jump: Jump) -> bool {
        if self.query.is_empty() {
            return true;
        }
        let query = self.query.to_lowercase();
        let holds = |line: &Line<'static>| text(line).to_lowercase().contains(&query);
        let first = |range: Range<usize>| {
            let start = range.start;
            all.range(range).position(holds).map(|index| start + index)
        };
        let last = |range: Range<usize>| {
            let end = range.end;
            all.range(range).rev().position(holds).map(|index| end - 1 - index)
        };
        // The line that is looked at stands at the foot of the page.
        let at = all.len() - self.above_end;
        // From the end once more, where nothing is left.
        let found = match jump {
            Jump::Previous => last(0..at.saturating_sub(1)).or_else(|| last(0..all.len())),
            Jump::Next => first(at..all.len()).or_else(|| first(0..all.len())),
        };
        if let Some(found) = found {
            self.above_end = all.len() - found - 1;
            self.up(0);
        }
        found.is_some()
    }

    /// The line, turned where it holds what is searched for.
    fn marked(&self, line: &Line<'static>) -> Line<'static> {
        let is_found = !self.query.is_empty()
            && text(line).to_lowercase().contains(&self.query.to_lowercase());
        if !is_found {
            return line.clone();
        }
        let mut line = line.clone();
        for span in &mut line.spans {
            span.style = span.style.add_modifier(Modifier::REVERSED);
        }
        line
    }
}

fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}
