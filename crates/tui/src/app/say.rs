//! What is said: as a turn, to the one that runs, or to the one that an earlier process left.

use heeler_core::{SteeringId, Timestamp};

use super::{Action, App};
use crate::composer::{Draft, Submission};

/// An input that waits for the running turn.
pub(super) struct Queued {
    pub(super) id: SteeringId,
    pub(super) shown: String,
    pub(super) draft: Draft,
}

impl App {
    /// Whether a turn runs.
    pub(super) fn is_busy(&self) -> bool {
        self.transcript.running_since().is_some()
    }

    /// Says what was written: to the running turn, or as a turn of its own.
    pub(super) fn say(&mut self, submission: Submission, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.resumes() {
            // It is said to the turn that goes on with it.
            actions.push(self.resume(now));
        } else if !self.is_busy() {
            return vec![Action::Say(Box::new(submission))];
        }
        self.n_queued += 1;
        let id = SteeringId(format!("{}-{}", self.queue_name, self.n_queued));
        let (shown, draft) = (submission.shown.clone(), submission.draft.clone());
        self.queued.push(Queued { id: id.clone(), shown, draft });
        actions.push(Action::Steer(id, Box::new(submission)));
        actions
    }

    /// Whether there is a turn to go on with; one of a session that is being left is none.
    pub(super) fn resumes(&self) -> bool {
        self.is_unfinished && !self.is_switching
    }

    /// Goes on with the turn that an earlier process left. That it runs is known from here: it began
    /// long ago, and no event says it once more.
    pub(super) fn resume(&mut self, now: Timestamp) -> Action {
        self.is_unfinished = false;
        self.transcript.resumed(now);
        Action::Resume
    }

    pub(super) fn take_back(&mut self, id: &SteeringId) {
        let Some(at) = self.queued.iter().position(|queued| queued.id == *id) else { return };
        let queued = self.queued.remove(at);
        self.composer.take_back(queued.draft);
    }
}
