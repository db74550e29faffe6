//! Reasoning that a provider could not verify: it is sent no more, and no turn ends with it.

use std::sync::Arc;

use heeler_core::{CompactionCause, Message, ProviderErrorKind};

use super::Ledger;
use crate::check::undo::Replaced;
use crate::check::{Checked, Invariant, ensure, reasoning};

/// What was asked for with reasoning that could not be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Answer,
    Summary(Option<CompactionCause>),
}

impl Ledger {
    /// The model's answer failed so: without the reasoning, if there is any, it may be asked for again.
    pub(super) fn answer_refused(&mut self, kind: ProviderErrorKind) {
        if !self.can_be_refused(kind) {
            return;
        }
        self.refused = Some(Refused::Answer);
        if let Some(turn) = &mut self.turn {
            turn.attempt_failed = false;
        }
    }

    /// A summary failed so.
    pub(super) fn summary_refused(&mut self, kind: Option<ProviderErrorKind>) {
        if kind.is_some_and(|kind| self.can_be_refused(kind)) {
            let cause = self.compaction.as_ref().map(|compaction| compaction.cause);
            self.refused = Some(Refused::Summary(cause));
        }
    }

    fn can_be_refused(&self, kind: ProviderErrorKind) -> bool {
        kind == ProviderErrorKind::RefusedReasoning && reasoning::blocks(&self.log) > 0
    }

    /// The conversation is said to go on without its reasoning.
    pub(super) fn reasoning_left_out(&mut self, messages: &[Arc<Message>], blocks: u32) -> Checked {
        let refused = self.refused.take();
        ensure(refused.is_some(), Invariant::RefusedReasoningIsGone, || {
            "reasoning is left out that nobody refused".into()
        })?;
        let left = reasoning::without(&self.log);
        let is_whole = left == messages && blocks as usize == reasoning::blocks(&self.log);
        ensure(is_whole, Invariant::RefusedReasoningIsGone, || {
            format!("{blocks} blocks are left out of {:?}, and there is {messages:?}", self.log)
        })?;
        self.compactions += 1;
        self.log = left;
        self.replaced = self.replaced.take().map(Replaced::without_reasoning);
        // A summary that was refused for what is gone now was not tried in vain.
        if let Some(turn) = &mut self.turn
            && refused == Some(Refused::Summary(Some(CompactionCause::Automatic)))
        {
            turn.compaction_tried = false;
            turn.compaction_failures = turn.compaction_failures.saturating_sub(1);
        }
        Ok(())
    }

    /// What was refused went with the record that says so.
    pub(super) fn refused_is_gone(&self) -> Checked {
        ensure(self.refused.is_none(), Invariant::RefusedReasoningIsGone, || {
            "reasoning was refused, and stays".into()
        })
    }
}
