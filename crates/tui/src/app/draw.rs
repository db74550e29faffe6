//! The window as lines: what is finished, and the live region below it.

use std::sync::Arc;

use heeler_core::Timestamp;
use ratatui::text::{Line, Span};

use super::App;
use super::guard::Held;
use super::pager::Paged;
use super::plain::{WIDE, broken};
use super::prompt::Drawn;
use crate::composer::ComposerStyles;
use crate::screen::{Frame, Place};
use crate::text::{clean, line_width, one_line, truncate};
use crate::theme::Theme;
use crate::transcript::{Look, Settled};

/// The most rows of the composer.
pub(super) const COMPOSER_ROWS_MAX: u16 = 12;
/// The most inputs that wait and are shown.
const QUEUED_ROWS_MAX: usize = 4;
/// The least rows of the transcript's open end that stay in sight above a prompt.
const LIVE_ROWS_MIN: usize = 3;
/// With less room, what is asked stands there alone.
const ASKED_ROWS_MIN: usize = 5;

impl App {
    /// What stands on the screen now. Finished lines are given once.
    pub fn frame(&mut self, now: Timestamp) -> Frame {
        if self.is_plain {
            return self.spoken_frame(now);
        }
        let (theme, highlight) = (self.theme.clone(), Arc::clone(&self.highlight));
        let width = usize::from(self.width);
        let look = Look { width, theme: &theme, highlight: &*highlight, now };
        let finished = self.transcript.drain(look);
        let live = self.transcript.live(look);
        let (mut below, mut cursor) = self.below(look);
        let room = usize::from(self.height).saturating_sub(1);
        // What is asked takes the rows it needs: it was made to fit.
        let n_least = if self.prompts.is_open() { 0 } else { LIVE_ROWS_MIN };
        if below.len() + n_least > room {
            // Where there is little room, what is written counts more than what is read.
            let n_cut = (below.len() + n_least).saturating_sub(room).min(below.len());
            let before = cursor.map_or(below.len(), |at| usize::from(at.row)).saturating_sub(1);
            let n_cut = n_cut.min(before);
            below.drain(..n_cut);
            let cut = u16::try_from(n_cut).unwrap_or(u16::MAX);
            cursor = cursor.map(|at| Place { row: at.row.saturating_sub(cut), ..at });
        }
        let n_live = live.len().min(room.saturating_sub(below.len()));
        let mut lines: Vec<Line<'static>> = live[live.len() - n_live..].to_vec();
        let above = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let cursor = cursor.map(|at| Place { row: at.row.saturating_add(above), ..at });
        lines.extend(below);
        Frame { finished: fitted(finished, width), live: fitted(lines, width), cursor }
    }

    /// The page that covers the screen, if one does.
    pub fn page(&mut self, now: Timestamp) -> Option<(Vec<Line<'static>>, Option<Place>)> {
        let pager = self.pager.as_mut()?;
        let (theme, highlight) = (&self.theme, &*self.highlight);
        let width = if self.is_plain { WIDE } else { usize::from(self.width) };
        let look = Look { width, theme, highlight, now };
        let fit = |lines: Vec<Line<'static>>| match self.is_plain {
            true => broken(&lines, usize::from(self.width)),
            false => fitted(lines, width),
        };
        // Made once, however often one turns the page: a long session has a hundred thousand lines.
        let paged = match self.paged.take() {
            Some(paged) if paged.width == self.width => self.paged.insert(paged),
            _ => self.paged.insert(Paged { width: self.width, ..Paged::default() }),
        };
        let revisions = (self.transcript.revision(), self.prompts.revision());
        if paged.revisions != Some(revisions) {
            paged.revisions = Some(revisions);
            match self.transcript.settled(&mut paged.kept, look) {
                Settled::Anew(lines) => paged.settled = fit(lines),
                Settled::More(lines) => paged.settled.extend(fit(lines)),
            }
            let mut open = self.transcript.unsettled(&paged.kept, look);
            open.extend(self.prompts.whole(look));
            paged.open = fit(open);
        }
        let page = pager.page(paged, self.height, Look { width: usize::from(self.width), ..look });
        Some(page)
    }

    /// The last lines that went to the scrollback, as many as a screen holds.
    #[must_use]
    pub fn tail(&self, now: Timestamp) -> Vec<Line<'static>> {
        let (theme, highlight) = (&self.theme, &*self.highlight);
        let look = Look { width: usize::from(self.width), theme, highlight, now };
        self.transcript.tail(look, usize::from(self.height))
    }

    /// Whether what is asked can be seen, so that a key that allows it means something.
    pub(super) fn tells_asked(&self, now: Timestamp) -> bool {
        let (width, theme, highlight) = (usize::from(self.width), &self.theme, &*self.highlight);
        let look = Look { width, theme, highlight, now };
        self.is_plain || self.asked(&mut self.waiting(look), 0, None, look).tells
    }

    /// What is asked, below these lines and above so many that are written; where there is little room
    /// the lines above it go.
    fn asked(
        &self,
        above: &mut Vec<Line<'static>>,
        n_written: usize,
        held: Option<Held>,
        look: Look<'_>,
    ) -> Drawn {
        // The last row stays empty, and the status has one.
        let all = usize::from(self.height).saturating_sub(n_written + 2);
        if all.saturating_sub(above.len()) < ASKED_ROWS_MIN {
            above.clear();
        }
        self.prompts.lines(held, all.saturating_sub(above.len()), look)
    }

    /// What stands below the transcript: what waits, then a prompt, a list, or the composer, then the
    /// status.
    fn below(&self, look: Look<'_>) -> (Vec<Line<'static>>, Option<Place>) {
        let mut lines = self.waiting(look);
        let below = |n_above: usize| {
            let above = u16::try_from(n_above).unwrap_or(u16::MAX);
            move |(column, row): (u16, u16)| Place { column, row: row.saturating_add(above) }
        };
        let cursor;
        if let Some(picker) = &self.picker {
            let (rows, at) = picker.lines(self.height, look);
            cursor = at.map(below(lines.len()));
            lines.extend(rows);
        } else if self.prompts.is_open() {
            let held = self.held(look.now);
            let is_writing = held == Some(Held::Writes) || self.prompts.is_answered();
            let mut written = Vec::new();
            let written_at = is_writing.then(|| self.composed_below(&mut written, look));
            let drawn = self.asked(&mut lines, written.len(), held, look);
            let placed = below(lines.len());
            lines.extend(drawn.lines);
            let written_at = written_at.map(|at| below(lines.len())((at.column, at.row)));
            cursor = written_at.or(drawn.cursor.map(placed));
            lines.extend(written);
        } else {
            cursor = Some(self.composed_below(&mut lines, look));
        }
        lines.push(match self.leaving {
            Some(_) => Line::styled("Ctrl-C once more leaves", look.theme.warning),
            None => self.status.line(self.settings.policy.mode, self.mode_label(look.now), look),
        });
        (lines, cursor)
    }

    /// What stands above all that: that a turn runs, and what waits for it.
    fn waiting(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = vec![Line::default()];
        if let Some(since) = self.transcript.running_since()
            && !self.prompts.is_open()
            && !self.is_over()
        {
            lines.push(self.working(look.now.since(since), look));
        }
        let waiting = self.waiting_lines(look.now);
        for waits in waiting.iter().take(QUEUED_ROWS_MAX) {
            let text = format!("  {}", clean(&one_line(waits)));
            lines.push(truncate(&Line::styled(text, look.theme.dim), look.width));
        }
        let n_more = waiting.len().saturating_sub(QUEUED_ROWS_MAX);
        if n_more > 0 {
            lines.push(Line::styled(format!("  and {n_more} more"), look.theme.dim));
        }
        lines
    }

    /// The mode of vim's keys where somebody writes now.
    fn mode_label(&self, now: Timestamp) -> Option<&'static str> {
        match self.prompts.is_written_in() && self.held(now) != Some(Held::Writes) {
            true => self.prompts.mode_label(),
            false => self.composer.mode_label(),
        }
    }

    /// Adds the composer to what stands above it; where its cursor is then.
    fn composed_below(&self, lines: &mut Vec<Line<'static>>, look: Look<'_>) -> Place {
        let above = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let styles = composer_styles(look.theme);
        let drawn = self.composer.lines(self.width, COMPOSER_ROWS_MAX, &styles);
        lines.extend(drawn.lines);
        lines.extend(self.composer.menu(self.width, &styles));
        let (column, row) = drawn.cursor;
        Place { column, row: row.saturating_add(above) }
    }

    fn working(&self, millis: u64, look: Look<'_>) -> Line<'static> {
        let spans = vec![
            Span::styled("working ", look.theme.accent),
            Span::styled(format!("{} · Esc stops", whole_seconds(millis)), look.theme.dim),
        ];
        truncate(&Line::from(spans), look.width)
    }
}

/// How the composer looks in a theme.
pub(super) fn composer_styles(theme: &Theme) -> ComposerStyles {
    ComposerStyles {
        text: theme.text,
        prompt: theme.accent,
        placeholder: theme.dim,
        unit: theme.link,
        selection: theme.selection,
        menu: theme.text,
        menu_chosen: theme.selection,
        menu_about: theme.dim,
        mark: theme.is_spoken().then_some("You: "),
    }
}

/// The lines, none wider than the window.
fn fitted(mut lines: Vec<Line<'static>>, width: usize) -> Vec<Line<'static>> {
    for line in lines.iter_mut().filter(|line| line_width(line) > width) {
        *line = truncate(line, width);
    }
    lines
}

/// A length of time that is seen to pass.
fn whole_seconds(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{} s", millis / 1000),
        _ => crate::transcript::seconds(millis),
    }
}
