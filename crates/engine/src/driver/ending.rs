//! How a session ends that nobody closed: its journal fails, something crashes, its runtime is gone.

use std::sync::Arc;

use heeler_core::{Event, FinalAnswer, StoreError, StoreErrorKind, TurnOutcome};

use super::Driver;
use crate::log::EventLog;

/// Ends the log of a session whose task ends in whatever way: nobody waits for an event that never comes.
struct Ending(Arc<EventLog>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.close_abruptly();
    }
}

impl Driver {
    /// Runs until the session has ended, in whatever way.
    pub(crate) fn run(self: Box<Self>) -> impl Future<Output = ()> + Send + use<> {
        // Made before the first step, which may never come, and dropped last.
        let ending = Ending(self.log());
        async move {
            let _ending = ending;
            self.run_to_the_end().await;
        }
    }

    /// The journal cannot be written.
    pub(super) fn break_off_unwritten(&mut self, error: &StoreError) {
        // A journal that is gone cannot be continued, and one that somebody else changed may have lost
        // anything; either error says what to do instead.
        let next = match error.kind() {
            StoreErrorKind::NotFound | StoreErrorKind::Conflict => "",
            _ => ". Nothing that was written is lost; fix the cause and continue the session",
        };
        self.break_off(|what| {
            format!("the session's journal could not be written, so the {what} here: {error}{next}")
        });
    }

    /// Something that is called here panicked, in a tool, a store or a clock that was handed in, or in us:
    /// the state may have lost what it was in the middle of.
    pub(super) fn break_off_crashed(&mut self, panic: &str) {
        tracing::error!(session = %self.lease.id, panic, "a session crashed");
        self.break_off(|what| {
            format!(
                "the session crashed, so the {what} here: {panic}. Nothing that was written is lost; fix \
                 the cause and continue the session"
            )
        });
    }

    /// Nothing more may happen. Watchers and waiters are told; the journal stands where it stood, and the
    /// next process goes on from there.
    fn break_off(&mut self, message: impl FnOnce(&str) -> String) {
        self.stream = None;
        for (_, task) in self.running.iter() {
            task.cancel.cancel();
        }
        // A turn whose very beginning could not be written ends like any other.
        let running = self.unwritten.turn().or(self.running_turn());
        let running = running.or(self.waiting.first().map(|waiting| waiting.turn));
        let what = if running.is_some() { "turn stopped" } else { "session ended" };
        let message = message(what);
        self.log.break_off(message.clone());
        let outcome = TurnOutcome::Failed { message };
        if let Some(turn) = running {
            let answer = FinalAnswer::default();
            self.show(Event::TurnFinished { turn, outcome: outcome.clone(), answer });
        }
        self.tell_outcome(u32::MAX, &outcome);
        self.queue.extend(self.prompts.give_up());
        for queued in self.queue.drain(..) {
            let _ = queued.done.send(outcome.clone().into());
        }
    }
}
