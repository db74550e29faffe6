//! What was said and done, as items: a fold over a session's events.
//!
//! Items stand in the order they began. The front ones that can change no more are drained as lines
//! for the terminal's scrollback; the rest is the upper part of the live region.

mod back;
mod call;
mod events;
mod item;
mod message;
mod note;
mod shortened;
mod table;
mod unfolded;

use std::collections::VecDeque;

use heeler_core::{Timestamp, View};
use ratatui::text::Line;

use crate::text::{self, Highlight, clean};
use crate::theme::Theme;
pub use back::{Kept, Settled};
pub(crate) use call::{SPINNER_MILLIS, is_command_alone};
use item::Item;
use message::Heard;
pub use note::Note;
pub(crate) use note::{patch_lines, spoken};
pub use table::TableRow;

/// The most finished items that are kept for looking back; what is older stands in the journal, and
/// in the terminal's scrollback.
pub const ITEMS_MAX: usize = 20_000;

/// The most turns of a stored session that are shown when it is opened; the pager has them all.
const SHOWN_TURNS_MAX: usize = 3;

/// What lines are made with.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// Cells that a line may take.
    pub width: usize,
    /// Styles.
    pub theme: &'a Theme,
    /// Colours of code.
    pub highlight: &'a dyn Highlight,
    /// The time now, for what runs.
    pub now: Timestamp,
}

impl<'a> Look<'a> {
    /// The part of it that Markdown needs.
    fn text(self) -> text::Look<'a> {
        text::Look { width: self.width, theme: self.theme, highlight: self.highlight }
    }
}

/// The fold.
#[derive(Default)]
pub struct Transcript {
    /// What may still change, and what waits behind it.
    open: VecDeque<Item>,
    /// What went to the scrollback.
    done: VecDeque<Item>,
    /// How many were let go of `done`.
    forgotten: usize,
    /// Whether any line was drained yet, and of what kind the last was.
    last: Option<item::Kind>,
    /// How many thoughts of the running attempt were shown.
    thoughts: usize,
    turn: Option<RunningTurn>,
    /// Grows with every change.
    revision: u64,
}

/// The turn that runs.
struct RunningTurn {
    since: Timestamp,
    calls: u32,
}

impl Transcript {
    /// What a session holds already, as if it had been watched; `runs` says whether its turn goes on.
    #[must_use]
    pub fn of_view(view: &View, runs: bool, now: Timestamp) -> Self {
        let mut transcript = Self::default();
        for message in &view.messages {
            transcript.message(message, Heard::Stored, now);
        }
        if view.turn.is_none() {
            transcript.close(now);
        }
        transcript.hide_all_but(SHOWN_TURNS_MAX);
        if let Some(turn) = view.turn.as_ref().filter(|_| runs) {
            let calls = u32::try_from(turn.calls.len()).unwrap_or(u32::MAX);
            transcript.turn = Some(RunningTurn { since: now, calls });
            if !turn.draft.is_empty() {
                transcript.answer(0, &turn.draft, now);
            }
        }
        transcript
    }

    /// The turn that an earlier process left goes on from now.
    pub fn resumed(&mut self, now: Timestamp) {
        self.revision += 1;
        self.turn = Some(RunningTurn { since: now, calls: 0 });
    }

    /// Adds what the window itself has to say: the answer of a command, an error.
    pub fn note(&mut self, note: Note) {
        self.revision += 1;
        self.open.push_back(Item::Note(note));
    }

    /// Grows with every change: lines of an equal revision say the same.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a turn runs, and since when.
    #[must_use]
    pub fn running_since(&self) -> Option<Timestamp> {
        self.turn.as_ref().map(|turn| turn.since)
    }

    /// Takes the lines that can change no more.
    pub fn drain(&mut self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while let Some(item) = self.open.front_mut() {
            let part = item.drain(look);
            let is_done = item.is_done();
            let kind = item.kind();
            if !part.is_empty() {
                if !item.has_drained() && item::are_apart(self.last, kind) {
                    lines.push(Line::default());
                }
                item.note_drained();
                lines.extend(part);
                self.last = Some(kind);
            }
            if !is_done {
                break;
            }
            if let Some(item) = self.open.pop_front() {
                self.done.push_back(item);
            }
            if self.done.len() > ITEMS_MAX {
                self.done.pop_front();
                self.forgotten += 1;
            }
        }
        lines
    }

    /// Calls that began to run and of which that was not given yet, a line each: where nothing is
    /// written twice, this is how one knows.
    pub fn begun(&mut self, look: Look<'_>) -> Vec<Line<'static>> {
        let rows = self.open.iter_mut().filter_map(|item| match item {
            Item::Call(row) => Some(row),
            _ => None,
        });
        rows.filter_map(|row| row.begun(look)).collect()
    }

    /// The lines of what may still change.
    #[must_use]
    pub fn live(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut last = self.last;
        for item in &self.open {
            let part = item.live(look);
            if part.is_empty() {
                continue;
            }
            if !item.has_drained() && item::are_apart(last, item.kind()) {
                lines.push(Line::default());
            }
            lines.extend(part);
            last = Some(item.kind());
        }
        lines
    }

    /// The last lines of what went to the scrollback, `rows_max` at most.
    #[must_use]
    pub fn tail(&self, look: Look<'_>, rows_max: usize) -> Vec<Line<'static>> {
        let mut parts = Vec::new();
        let mut n_rows = 0;
        let open = self.open.iter().filter(|item| item.has_drained());
        for item in self.done.iter().chain(open).rev() {
            if n_rows >= rows_max {
                break;
            }
            let part = item.drained(look);
            n_rows += part.len();
            parts.push((item.kind(), part));
        }
        let mut lines = joined(parts.into_iter().rev());
        lines.drain(..lines.len().saturating_sub(rows_max));
        lines
    }

    /// Takes all but the last turns for shown.
    fn hide_all_but(&mut self, turns_max: usize) {
        let is_said = |item: &Item| item.kind() == item::Kind::Said;
        let said: Vec<usize> = self
            .open
            .iter()
            .enumerate()
            .filter(|(_, item)| is_said(item))
            .map(|(at, _)| at)
            .collect();
        let Some(first) = said.len().checked_sub(turns_max) else { return };
        let n_hidden = said[first];
        if n_hidden > 0 {
            self.done.extend(self.open.drain(..n_hidden));
            let text = format!("{first} earlier turns: Ctrl-T shows them");
            self.open.push_front(Item::Note(Note::quiet(text)));
        }
    }

    /// Nothing of what stands here changes any more.
    fn close(&mut self, now: Timestamp) {
        for item in &mut self.open {
            item.close(now);
        }
    }
}

/// The lines of items, apart where they have to be.
fn joined(parts: impl Iterator<Item = (item::Kind, Vec<Line<'static>>)>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut last = None;
    for (kind, part) in parts.filter(|(_, part)| !part.is_empty()) {
        if item::are_apart(last, kind) {
            lines.push(Line::default());
        }
        lines.extend(part);
        last = Some(kind);
    }
    lines
}

/// A length of time for a person.
pub(crate) fn seconds(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{:.1} s", millis as f64 / 1000.0),
        10_000..60_000 => format!("{} s", millis / 1000),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis / 1000 % 60),
        _ => format!("{} h {} min", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// A text as lines of one style, cleaned.
fn plain_lines(text: &str, style: ratatui::style::Style) -> Vec<Line<'static>> {
    clean(text).lines().map(|line| Line::styled(line.to_owned(), style)).collect()
}
