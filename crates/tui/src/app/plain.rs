//! The window as words alone, one line below the other, for whoever has it read aloud.
//!
//! What is new is written once, below what stands there, and never again. The last line alone is
//! edited in place: what somebody writes, or the answer to what is asked.

use std::sync::Arc;

use heeler_core::{Mode, Timestamp};
use ratatui::text::Line;

use super::App;
use super::draw::{COMPOSER_ROWS_MAX, composer_styles};
use super::guard::Held;
use crate::screen::{Frame, Place};
use crate::text::{clean, one_line, wrap};
use crate::transcript::Look;

/// Lines are made as if there were room for all of them, so that nothing is cut, and broken then.
pub(super) const WIDE: usize = 10_000;

/// What was told, so that it is told once.
#[derive(Default)]
pub(super) struct Told {
    /// Who answered, and in which mode, when the status was told.
    status: Option<(String, Mode)>,
    /// Whether a turn ended since then.
    pub(super) has_ended: bool,
    /// That a turn runs.
    is_running: bool,
    /// How many inputs that wait.
    n_queued: u64,
    /// What is asked, and which keys answer.
    asked: Option<String>,
    keys: String,
    /// That Ctrl-C leaves.
    is_leaving: bool,
}

impl App {
    /// What is new, and the line that is edited.
    pub(super) fn spoken_frame(&mut self, now: Timestamp) -> Frame {
        let (theme, highlight) = (self.theme.clone(), Arc::clone(&self.highlight));
        let look = Look { width: WIDE, theme: &theme, highlight: &*highlight, now };
        let mut finished = self.transcript.drain(look);
        self.tell_turn(look, &mut finished);
        finished.extend(self.transcript.begun(look));
        self.tell_news(look, &mut finished);
        let finished = broken(&finished, usize::from(self.width));
        let (live, cursor) = self.spoken_live(look);
        Frame { finished, live, cursor: Some(cursor) }
    }

    /// That a turn runs, below what began it.
    fn tell_turn(&mut self, look: Look<'_>, lines: &mut Vec<Line<'static>>) {
        let runs = self.transcript.running_since().is_some();
        if runs && !self.told.is_running && !lines.is_empty() {
            lines.push(Line::styled("working, Esc stops it", look.theme.text));
            self.told.is_running = true;
        }
        self.told.is_running &= runs;
    }

    /// What else is no more as it was told.
    fn tell_news(&mut self, look: Look<'_>, lines: &mut Vec<Line<'static>>) {
        let say = |text: String| Line::styled(text, look.theme.text);
        let n_new = usize::try_from(self.n_queued - self.told.n_queued).unwrap_or(usize::MAX);
        let n_known =
            if self.is_busy() { self.queued.len().saturating_sub(n_new) } else { usize::MAX };
        for queued in self.queued.iter().skip(n_known) {
            let shown = one_line(&queued.shown);
            lines.push(say(format!("waits for the turn: {}", clean(&shown))));
        }
        self.told.n_queued = self.n_queued;
        if self.told.status.is_none() {
            lines.push(say("write what is to be done; /help has the keys and commands".to_owned()));
        }
        let status = (self.settings.model.name.clone(), self.settings.policy.mode);
        if std::mem::take(&mut self.told.has_ended) || self.told.status.as_ref() != Some(&status) {
            lines.push(self.status.line(status.1, None, look));
            self.told.status = Some(status);
        }
        let is_leaving = self.leaving.is_some();
        if is_leaving && !self.told.is_leaving {
            lines.push(say("Ctrl-C once more leaves".to_owned()));
        }
        self.told.is_leaving = is_leaving;
        self.tell_asked(look, lines);
    }

    /// What is asked, once it can be answered.
    fn tell_asked(&mut self, look: Look<'_>, lines: &mut Vec<Line<'static>>) {
        if self.is_written_elsewhere(look.now) {
            return;
        }
        let Some((asked, keys)) = self.prompts.words(look) else {
            (self.told.asked, self.told.keys) = (None, String::new());
            return;
        };
        let (asked_text, keys_text) = (text(&asked), text(&keys));
        let is_new = self.told.asked.as_ref() != Some(&asked_text);
        if is_new {
            lines.extend(asked);
        }
        if is_new || self.told.keys != keys_text {
            lines.extend(keys);
        }
        (self.told.asked, self.told.keys) = (Some(asked_text), keys_text);
    }

    /// Whether what is asked takes no keys, and they go where messages are written.
    fn is_written_elsewhere(&self, now: Timestamp) -> bool {
        matches!(self.held(now), Some(Held::New | Held::Writes))
    }

    /// What is written, and where the cursor stands.
    fn spoken_live(&self, look: Look<'_>) -> (Vec<Line<'static>>, Place) {
        let width = usize::from(self.width);
        if let Some(picker) = &self.picker {
            let (lines, column) = picker.words(look);
            let column = column.min(self.width.saturating_sub(1));
            return (broken(&lines, width), Place { column, row: 0 });
        }
        let is_message = self.prompts.is_answered() && !self.composer.is_empty();
        if self.prompts.is_open() && !is_message && !self.is_written_elsewhere(look.now) {
            let (lines, (column, row)) = self.prompts.spoken_live(self.width, look);
            return (lines, Place { column, row });
        }
        let styles = composer_styles(look.theme);
        let drawn = self.composer.lines(self.width, COMPOSER_ROWS_MAX, &styles);
        let mut lines = drawn.lines;
        if let Some(words) = self.composer.menu_words() {
            lines.extend(broken(&[Line::styled(words, look.theme.text)], width));
        }
        let (column, row) = drawn.cursor;
        (lines, Place { column, row })
    }
}

/// The lines as a window of this width holds them.
pub(super) fn broken(lines: &[Line<'static>], width: usize) -> Vec<Line<'static>> {
    lines.iter().flat_map(|line| wrap(line, width, 0)).collect()
}

fn text(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
