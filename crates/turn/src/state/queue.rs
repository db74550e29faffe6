//! What people say: inputs that begin turns, and inputs that wait for the next safe point.

use heeler_core::{
    Event, ForUser, Input, InputOrigin, Message, Role, Seq, SteeringId, SteeringQueued, TurnOutcome,
};

use serde::{Deserialize, Serialize};

use super::{Announcer, Phase, State, Turn, announce_messages};
use crate::words;

/// An input that waits for the next safe point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedInput {
    /// The record that queued it.
    pub seq: Seq,
    /// Its name.
    pub id: SteeringId,
    /// What is said.
    pub input: Input,
    /// It is what work in the background came to: data, and nobody's words.
    pub is_background: bool,
}

impl State {
    /// What was said elsewhere stands before all that is said here.
    pub(super) fn on_history_given(&mut self, messages: &[Message], out: &mut Announcer) {
        if !self.history.is_empty() || self.turns > 0 {
            self.misfits += 1;
            return;
        }
        let appended = self.history.push_given(messages);
        announce_messages(appended, out);
    }

    /// An input starts a turn; while one runs it waits like steering.
    pub(super) fn on_input(&mut self, input: &Input, out: &mut Announcer) {
        if self.turn.is_some() {
            let mut id = SteeringId(format!("input-{}", self.seq));
            while self.steering_seen.contains(&id) {
                id.0.push('+');
            }
            self.on_steering_queued(&SteeringQueued::said(id, input.clone()), out);
            return;
        }
        self.begin_turn(input.origin.clone(), out);
        self.append_user(input.blocks.clone(), out);
        self.end_without_words();
    }

    pub(super) fn begin_turn(&mut self, origin: InputOrigin, out: &mut Announcer) {
        self.turns = self.turns.saturating_add(1);
        self.turn = Some(Turn::new(self.turns, origin));
        out.say(|| Event::TurnStarted { turn: self.turns });
    }

    /// What waits becomes the input of a new turn. It is delivered at once: a turn that ends
    /// before its first request would otherwise leave it waiting, and open itself for ever. What
    /// work in the background came to goes with it, and waits alone unless it shall wake somebody.
    pub(super) fn begin_turn_from_queue(&mut self, out: &mut Announcer) {
        if !self.steering.iter().any(|queued| self.begins_turn(queued)) {
            return;
        }
        let Some(origin) = self.steering.first().map(|queued| queued.input.origin.clone()) else {
            return;
        };
        self.begin_turn(origin, out);
        let queued = std::mem::take(&mut self.steering);
        self.deliver(queued, out);
        self.end_without_words();
    }

    /// Says queued inputs to the model.
    pub(super) fn deliver(&mut self, queued: Vec<QueuedInput>, out: &mut Announcer) {
        for queued in queued {
            out.say(|| Event::SteeringDelivered { id: queued.id });
            // Whoever spoke is answered, not whoever once began some work.
            let is_said = !queued.is_background && !queued.input.origin.is_unknown();
            if let Some(turn) = self.turn.as_mut().filter(|_| is_said) {
                turn.origin = queued.input.origin;
            }
            self.append_user(queued.input.blocks, out);
        }
    }

    /// A model is not asked to answer itself, nor nobody.
    pub(super) fn end_without_words(&mut self) {
        let last = self.history.messages().last();
        if last.is_some_and(|message| message.role == Role::User) {
            return;
        }
        if let Some(turn) = &mut self.turn {
            let message = words::NOTHING_SAID.into();
            turn.phase = Phase::Ending(TurnOutcome::Failed { message });
        }
    }

    /// Whether something was said by this id, whatever became of it.
    #[must_use]
    pub fn knows_steering(&self, id: &SteeringId) -> bool {
        self.steering_seen.contains(id)
    }

    pub(super) fn on_steering_queued(&mut self, queued: &SteeringQueued, out: &mut Announcer) {
        if self.steering_seen.contains(&queued.id) {
            return;
        }
        // What was told as lost or cancelled does not come after all.
        if let Some(call) = queued.background
            && !self.end_background(call)
        {
            self.misfits += 1;
            return;
        }
        if let (Some(call), Some(for_user)) = (queued.background, queued.for_user.as_deref()) {
            let ForUser { text, media, items } = for_user.clone();
            out.say(|| Event::ToolText { call, text, media, items });
        }
        self.join_queue(queued, out);
        if self.turn.is_none() {
            self.begin_turn_from_queue(out);
        }
        // A turn with the same people does not say it once more, one that this began neither.
        let turn = self.turn.as_mut().filter(|turn| turn.origin == queued.input.origin);
        if let (Some(turn), Some(for_user)) = (turn, &queued.for_user) {
            turn.told.add(&for_user.text, &for_user.media);
        }
    }

    pub(super) fn join_queue(&mut self, queued: &SteeringQueued, out: &mut Announcer) {
        self.steering_seen.insert_mut(queued.id.clone());
        out.say(|| Event::SteeringQueued { id: queued.id.clone() });
        self.steering.push(QueuedInput {
            seq: self.seq,
            id: queued.id.clone(),
            input: queued.input.clone(),
            is_background: queued.background.is_some(),
        });
    }
}
