//! Putting back what a summary, a cut or a pruning replaced.
//!
//! Only the last of them can be taken back: what it replaced is kept beside the conversation and in
//! checkpoints, and that is at most one window full.

use std::ops::Range;
use std::sync::Arc;

use heeler_core::{EpochCause, Event, Message, Messages, Record};
use serde::{Deserialize, Serialize};

use super::{Announcer, Phase, State, Turn};
use crate::bugs::{Bug, is_on};
use crate::{estimate, items, words};

/// What stood at the head of the conversation.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Replaced {
    messages: Messages,
    /// How many messages stand there now.
    by: usize,
}

impl Replaced {
    fn leave_items_out(&mut self, among: Range<usize>) {
        let left = |(at, message): (usize, &Arc<Message>)| match among.contains(&at) {
            true => items::noted(message, &mut 0),
            false => Arc::clone(message),
        };
        self.messages = self.messages.iter().enumerate().map(left).collect();
    }
}

impl State {
    /// Keeps the first `head` messages, which become `by` others.
    pub(super) fn keep_replaced(&mut self, head: usize, by: usize) {
        let messages = self.history.messages().iter().take(head).cloned().collect();
        self.replaced = Some(Replaced { messages, by });
    }

    /// Leaves out reasoning that was refused, and out of what may be put back: it would be refused again.
    /// Says how many blocks the conversation had.
    pub(super) fn leave_reasoning_out(&mut self) -> u32 {
        let blocks = items::leave_reasoning_out(&mut self.history);
        if let Some(replaced) = &mut self.replaced
            && blocks > 0
            && !is_on(Bug::ReturningReasoning)
        {
            let left = |message| items::unreasoned(message, &mut 0);
            replaced.messages = replaced.messages.iter().map(left).collect();
        }
        blocks
    }

    /// Leaves out images and documents that were refused, and out of what may be put back those that would
    /// be among them. Says how many the conversation had.
    pub(super) fn leave_items_out(&mut self) -> u32 {
        let (items, from) = items::leave_out(&mut self.history);
        if let Some(replaced) = self.replaced.as_mut().filter(|_| items > 0) {
            let from = match from {
                None => 0,
                // It was said after what is there now.
                Some(from) if from >= replaced.by => usize::MAX,
                Some(_) => items::last_answer(&replaced.messages),
            };
            replaced.leave_items_out(from..usize::MAX);
        }
        items
    }

    /// The same of the first `cut` messages, which alone were sent: what may be put back was, where it
    /// stands at the same places.
    pub(super) fn leave_items_of_head_out(&mut self, cut: usize) -> u32 {
        let items = items::leave_out_of_head(&mut self.history, cut);
        if let Some(replaced) = self.replaced.as_mut()
            && items > 0
            && replaced.by == replaced.messages.len()
        {
            replaced.leave_items_out(0..cut);
        }
        items
    }

    /// The record that puts back what the last summary, cut or pruning replaced, or words for a
    /// person that say why it cannot be.
    ///
    /// # Errors
    /// When nothing is left to put back, a summary is being made, or it would not fit.
    pub fn undo_compaction(&self) -> Result<Record, String> {
        let Some(replaced) = self.replaced.as_ref().filter(|_| self.compaction.is_none()) else {
            return Err(words::NOTHING_TO_BRING_BACK.to_owned());
        };
        let weigh =
            |message: &Arc<Message>| estimate::weigh_message(self.estimate.as_ref(), message);
        let back: u64 = replaced.messages.iter().map(weigh).sum();
        let gone = self.history.weight_of_head(replaced.by);
        let tokens = self.tokens(self.weight() - gone + back + self.weight_waiting());
        let limit = self.context_limit();
        match tokens <= limit || is_on(Bug::BurstingUndo) {
            true => Ok(Record::Restored),
            false => Err(words::cannot_bring_back(tokens, limit)),
        }
    }

    /// Whether it fits was decided before the record was written.
    pub(super) fn on_restored(&mut self, out: &mut Announcer) {
        if self.compaction.is_some() || self.replaced.is_none() {
            self.misfits += 1;
            return;
        }
        let Some(Replaced { messages, by }) = self.replaced.take() else { return };
        let tokens_before = self.estimate();
        let since = self.history.messages().iter().skip(by);
        let since = since.take(if is_on(Bug::ForgetfulUndo) { 0 } else { usize::MAX });
        let all: Vec<Arc<Message>> = messages.iter().chain(since).cloned().collect();
        let nothing_since = all.len() == messages.len();
        self.history.replace_all(all);
        // Without the summary, a turn that nobody said anything for has nothing to answer.
        let asks = |turn: &Turn| matches!(turn.phase, Phase::Model { .. });
        if nothing_since && self.turn.as_ref().is_some_and(asks) {
            self.end_without_words();
        }
        self.compactions += 1;
        self.epoch_due = Some(EpochCause::Compaction);
        let tokens_after = self.estimate();
        out.say(|| Event::Restored {
            messages: self.history.messages().iter().cloned().collect(),
            tokens_before,
            tokens_after,
        });
    }
}
