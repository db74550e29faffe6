//! The conversation that got shorter, or long again: summaries, cuts, prunings, and their undoing.

use std::sync::Arc;

use heeler_core::{Block, Changed, CompactionCause, CompactionStarted, Message, ProviderErrorKind};

use super::Ledger;
use crate::check::undo::Replaced;
use crate::check::{Checked, Invariant, ensure};

impl Ledger {
    pub(super) fn compaction_started(&mut self, started: &CompactionStarted) -> Checked {
        if self.compaction.is_some() {
            return Ok(());
        }
        self.compaction = Some(started.clone());
        match &self.turn {
            Some(turn) if started.cause == CompactionCause::Automatic => {
                turn.may_compact()?;
                let (overflows, waiting) = (turn.overflows, self.waiting_chars());
                self.context.needs_summary(&self.log, waiting, overflows, &self.settings)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn compaction_failed(&mut self) {
        let compaction = self.compaction.take();
        let is_automatic = compaction.is_some_and(|c| c.cause == CompactionCause::Automatic);
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
            turn.compaction_failures += u32::from(is_automatic);
        }
    }

    /// Nothing else could be asked of the provider either, or this request alone failed.
    pub(super) fn summary_failed(&mut self, kind: Option<ProviderErrorKind>) {
        use ProviderErrorKind::{
            ContextOverflow, Format, InvalidRequest, RefusedItem, RefusedReasoning, Server,
        };
        let is_automatic =
            self.compaction.as_ref().is_some_and(|c| c.cause == CompactionCause::Automatic);
        let is_own = matches!(
            kind,
            None | Some(
                ContextOverflow | Format | InvalidRequest | RefusedItem | RefusedReasoning | Server
            )
        );
        if let Some(turn) = self.turn.as_mut().filter(|_| is_automatic && !is_own) {
            turn.cannot_ask = true;
        }
    }

    pub(super) fn trimmed(&mut self, messages: &[Arc<Message>]) -> Checked {
        let vain = self.turn.as_ref().is_some_and(|turn| turn.cannot_ask);
        ensure(!vain, Invariant::CompactionComesFirst, || {
            "the conversation is cut back for a model that cannot be asked".into()
        })?;
        self.compactions += 1;
        let overflows = self.turn.as_ref().map_or(0, |turn| turn.overflows);
        let waiting = self.waiting_chars();
        self.context.cut_back(&self.log, messages, waiting, overflows, &self.settings)?;
        self.replace(messages.to_vec());
        self.words.cut_back(&self.log);
        Ok(())
    }

    pub(super) fn pruned(&mut self, changed: &[Changed]) -> Checked {
        self.compactions += 1;
        let overflows = self.turn.as_ref().map_or(0, |turn| turn.overflows);
        let waiting = self.waiting_chars();
        let log = self.context.pruned(&self.log, changed, waiting, overflows, &self.settings)?;
        self.replace(log);
        Ok(())
    }

    /// The conversation is another from here on, for now.
    fn replace(&mut self, log: Vec<Arc<Message>>) {
        let length = log.len();
        let before = std::mem::replace(&mut self.log, log);
        self.replaced = Some(Replaced { before, length });
    }

    pub(super) fn restored(&mut self, messages: &[Arc<Message>]) -> Checked {
        self.compactions += 1;
        let (replaced, waiting) = (self.replaced.take(), self.waiting_chars());
        let both = (self.log.as_slice(), messages);
        self.context.restored(replaced.as_ref(), both, waiting, &self.settings)?;
        self.log = messages.to_vec();
        self.words.restored(&self.log);
        Ok(())
    }

    /// Nothing is brought back.
    pub(in crate::check) fn cannot_restore(&self) -> Checked {
        let waiting = self.waiting_chars();
        self.context.cannot_restore(self.replaced.as_ref(), &self.log, waiting, &self.settings)
    }

    pub(super) fn compacted(&mut self, cut: u64, message: &Arc<Message>) -> Checked {
        let expected = self.compaction.take();
        self.compactions += 1;
        ensure(
            expected.as_ref().map(|c| c.cut) == Some(cut),
            Invariant::CompactionKeepsTail,
            || format!("{cut} messages became a summary, expected {expected:?}"),
        )?;
        let cut = usize::try_from(cut).unwrap_or(usize::MAX);
        let tail = self.log.get(cut..).unwrap_or_default().to_vec();
        let open = tail.first().is_some_and(|first| {
            first.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
        });
        ensure(
            !open && message.text().contains("What was said."),
            Invariant::CompactionKeepsTail,
            || "the cut parts a call from its result, or the summary is lost".into(),
        )?;
        self.words.summarized(message, &tail)?;
        let log: Vec<_> = std::iter::once(Arc::clone(message)).chain(tail).collect();
        if expected.is_some_and(|c| c.cause == CompactionCause::Automatic) {
            self.context.gains(&self.log, &log, &self.settings)?;
        }
        self.replace(log);
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
            turn.compaction_failures = 0;
        }
        Ok(())
    }
}
