//! The end of a session, where another process had it open or its journal cannot be written: whoever
//! writes goes on writing here, and not into the shell behind the window.

use crossterm::event::{KeyCode, KeyEvent};
use heeler_core::Timestamp;

use super::keys::is_control;
use super::prompt::CutOff;
use super::{Action, App};
use crate::composer::{Draft, keeps_whole};
use crate::transcript::Note;

/// A window is left by itself when no key came for so long and nothing is written.
const STILL_MILLIS: u64 = 2_000;

/// A session that is over.
pub(super) struct Over {
    /// What of what is written is in the history.
    kept: Draft,
}

impl App {
    pub(super) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// The session is closed, and all it told is seen. Who writes is told so.
    pub(super) fn ended(&mut self, now: Timestamp) -> Vec<Action> {
        let is_in_a_turn = self.is_busy();
        self.over = Some(Over { kept: Draft::default() });
        (self.pager, self.paged, self.picker) = (None, None, None);
        let mut actions = self.write_pressed(now);
        self.switches(false);
        self.take_untaken_back();
        self.prompts.clear();
        if let Some(cut_off) = self.prompts.cut_off() {
            self.write_on(cut_off, now);
        }
        if self.composer.is_empty() && self.is_still(now) {
            actions.push(Action::Quit);
            return actions;
        }
        let draft = self.composer.draft();
        // Whether it holds a secret is found when it is kept.
        let kept = match (self.composer.is_empty(), keeps_whole(&draft)) {
            (true, _) => "",
            (false, true) => {
                "; what you wrote stands below, and goes into the history if no secret is in it"
            }
            (false, false) => {
                "; what you wrote stands below, and goes with this window: the history keeps no text so \
                 long, and no copied image"
            }
        };
        let ended = match (self.is_guest, is_in_a_turn) {
            (true, true) => "the heeler that had the session open ended in the middle of a turn",
            (true, false) => "the session was closed where it was open",
            (false, _) => "the session is closed",
        };
        let text = format!("{ended}{kept}. Enter or Ctrl-D leaves");
        self.transcript.note(Note::warning(text));
        actions.extend(self.keep_written());
        actions
    }

    /// A key after that: nothing is sent any more, so an Enter that ends what one writes is none of those
    /// that leave.
    pub(super) fn key_when_over(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        let leaves = match key.code {
            KeyCode::Enter => !self.guard.is_writing(now),
            _ => is_control(key, 'd') || is_control(key, 'c'),
        };
        if leaves {
            let mut actions = self.keep_written();
            actions.push(Action::Quit);
            return actions;
        }
        if key.code != KeyCode::Enter {
            self.composer.key(key);
        }
        self.guard.wrote(now);
        Vec::new()
    }

    /// Leaves when nobody writes.
    pub(super) fn leave_when_over(&self, now: Timestamp) -> Vec<Action> {
        let leaves = self.is_over() && self.composer.is_empty() && self.is_still(now);
        leaves.then_some(Action::Quit).into_iter().collect()
    }

    /// When that may be.
    pub(super) fn leaves_at(&self) -> Option<Timestamp> {
        let leaves = self.is_over() && self.composer.is_empty();
        self.last_key.filter(|_| leaves).map(|at| at.plus(STILL_MILLIS))
    }

    /// What was written here or said, and stands nowhere else: the window goes, and the history is to
    /// have it.
    pub fn unsaid(&mut self, now: Timestamp) -> Vec<Draft> {
        self.write_pressed(now);
        self.prompts.clear();
        let cut_off = self.prompts.cut_off().map(|CutOff(draft)| draft);
        let untaken = self.untaken().cloned().chain(cut_off);
        let mut drafts: Vec<Draft> = untaken.chain(self.composer.unsent()).collect();
        let known = self.composer.history().drafts();
        let kept = self.over.as_ref().map(|over| &over.kept);
        drafts.retain(|draft| {
            !draft.is_blank() && !known.contains(draft) && kept.is_none_or(|kept| kept != draft)
        });
        drafts
    }

    fn is_still(&self, now: Timestamp) -> bool {
        self.last_key.is_none_or(|at| now.since(at) >= STILL_MILLIS)
    }

    /// Keeps what is written for later sessions.
    fn keep_written(&mut self) -> Vec<Action> {
        let draft = self.composer.draft();
        let Some(over) = self.over.as_mut().filter(|over| over.kept != draft && !draft.is_blank())
        else {
            return Vec::new();
        };
        over.kept = draft.clone();
        vec![Action::Remember(draft)]
    }
}
