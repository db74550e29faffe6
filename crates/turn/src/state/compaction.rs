//! What compactions do to the state.

use heeler_core::{
    Changed, Compacted, CompactionCause, CompactionFailed, CompactionStarted, Cost, EpochCause,
    Event, ProviderErrorKind, Pruned, Record, Trimmed, TurnOutcome, Usage,
};

use serde::{Deserialize, Serialize};

use super::{Announcer, Phase, State};
use crate::bugs::{Bug, is_on};
use crate::keep::{self, Facts};
use crate::{compact, fit, prune, trim, words};

/// A compaction that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// How many messages become the summary.
    pub cut: usize,
    /// Why.
    pub cause: CompactionCause,
    /// What the summary is to look at above all.
    pub focus: Option<Box<str>>,
    /// Processes that died in it.
    pub deaths: u32,
}

impl State {
    pub(super) fn on_compaction_started(
        &mut self,
        started: &CompactionStarted,
        out: &mut Announcer,
    ) {
        let cut = usize::try_from(started.cut).unwrap_or(usize::MAX);
        if self.compaction.is_some() || !compact::keeps_pairs(self.history.messages(), cut) {
            self.misfits += 1;
            return;
        }
        self.compactions += 1;
        let (cause, focus) = (started.cause, started.focus.clone());
        self.compaction = Some(Compaction { cut, cause, focus, deaths: 0 });
        self.announce_compaction(out);
    }

    pub(super) fn announce_compaction(&self, out: &mut Announcer) {
        if let Some(Compaction { cause, .. }) = self.compaction {
            let tokens_before = self.estimate();
            out.say(|| Event::CompactionStarted { cause, tokens_before });
        }
    }

    /// The record of a summary that came: the summary and how much is kept beside it, or, where an
    /// automatic compaction would not gain enough by it, that it failed. Decided before it is
    /// written, so that a journal reads the same whatever is held enough later.
    #[must_use]
    pub fn judge_summary(&self, compacted: Compacted) -> Record {
        let Some(Compaction { cut, cause, .. }) = self.compaction else {
            return Record::Compacted(Box::new(compacted));
        };
        if keep::own_words(&compacted.summary).is_empty() {
            return gave_nothing(compacted, words::SUMMARY_SAYS_NOTHING.into());
        }
        let before = self.estimate();
        let after_most = match cause {
            CompactionCause::Automatic => before.saturating_sub(fit::gain_min(before)),
            CompactionCause::Manual => self.context_limit(),
        };
        let facts = self.facts(cut);
        let mut after = 0;
        for kept in keep::BOUNDS {
            let message = keep::message(&compacted.summary, &facts, &kept);
            after = self.estimate_summarized(cut, &message);
            if after <= after_most {
                return Record::Compacted(Box::new(Compacted { kept: Some(kept), ..compacted }));
            }
        }
        if cause == CompactionCause::Manual || is_on(Bug::WorthlessSummary) {
            let kept = keep::BOUNDS.last().copied();
            return Record::Compacted(Box::new(Compacted { kept, ..compacted }));
        }
        gave_nothing(compacted, words::summary_gains_too_little(before, after))
    }

    /// What is known of the first `cut` messages without a model.
    fn facts(&self, cut: usize) -> Facts {
        Facts::of(self.history.messages(), cut, self.values.get(keep::STEPS_KEY))
    }

    /// Nobody waits for the running one any more.
    pub(super) fn interrupt_compaction(&mut self, out: &mut Announcer) {
        if self.compaction.take().is_some() {
            out.say(|| Event::CompactionFailed { error: "interrupted".into() });
        }
    }

    pub(super) fn on_compacted(&mut self, compacted: &Compacted, out: &mut Announcer) {
        self.spend(&compacted.usage, compacted.cost, None, out);
        if is_on(Bug::CalibratedBySummary) {
            let estimated = self.estimate_uncalibrated();
            self.calibration.learn(estimated, &compacted.usage);
        }
        let Some(Compaction { cut, .. }) = self.compaction.take() else {
            self.misfits += 1;
            return;
        };
        let cut = match is_on(Bug::MovedCut) {
            true => self.compaction_cut(None).unwrap_or(cut),
            false => cut,
        };
        let summary = match &compacted.kept {
            None => compact::summary_message(&compacted.summary),
            Some(kept) => keep::message(&compacted.summary, &self.facts(cut), kept),
        };
        self.keep_replaced(cut, 1);
        let message = self.history.replace_head(cut, summary);
        if !is_on(Bug::UnchangedEpoch) {
            self.epoch_due = Some(EpochCause::Compaction);
        }
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
            turn.compaction_failures = 0;
            turn.overflowed = false;
        }
        let tokens_after = self.estimate();
        let cost = compacted.cost;
        out.say(|| Event::Compacted { cut: cut as u64, message, tokens_after, cost });
    }

    pub(super) fn on_compaction_failed(&mut self, failed: &CompactionFailed, out: &mut Announcer) {
        if (failed.usage, failed.cost.unwrap_or_default()) != (Usage::default(), Cost(0)) {
            self.spend(&failed.usage, failed.cost, None, out);
        }
        if failed.stays_due {
            return;
        }
        let cut = self.compaction.as_ref().map_or(0, |compaction| compaction.cut);
        let is_automatic = self.give_compaction_up(&failed.error, out);
        if let Some(kind) = failed.kind {
            self.mend_summary(kind, cut, is_automatic, out);
        }
        // The conversation is not cut back for a model that cannot be asked anything now.
        let ends = failed.kind.filter(|kind| is_automatic && cannot_answer(*kind));
        if let (Some(turn), Some(kind)) = (&mut self.turn, ends) {
            let message = failed.error.clone();
            turn.phase = Phase::Ending(TurnOutcome::ProviderFailed { kind, message });
        }
    }

    /// Without what the provider could not take in it, a summary may be asked for again.
    fn mend_summary(
        &mut self,
        kind: ProviderErrorKind,
        cut: usize,
        is_automatic: bool,
        out: &mut Announcer,
    ) {
        let left_out = match kind {
            ProviderErrorKind::RefusedReasoning => self.leave_reasoning_out(),
            ProviderErrorKind::RefusedItem => self.leave_items_of_head_out(cut),
            _ => 0,
        };
        if left_out == 0 {
            return;
        }
        if let Some(turn) = self.turn.as_mut().filter(|_| is_automatic) {
            turn.compaction_tried = false;
            turn.compaction_failures = turn.compaction_failures.saturating_sub(1);
        }
        self.tell_left_out(kind, left_out, out);
    }

    /// The compaction that runs gives nothing. Tells whether it was an automatic one.
    pub(super) fn give_compaction_up(&mut self, error: &str, out: &mut Announcer) -> bool {
        let compaction = self.compaction.take();
        let is_automatic = compaction.is_some_and(|c| c.cause == CompactionCause::Automatic);
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
            turn.compaction_failures =
                turn.compaction_failures.saturating_add(u32::from(is_automatic));
        }
        out.say(|| Event::CompactionFailed { error: error.to_owned() });
        is_automatic
    }

    pub(super) fn on_trimmed(&mut self, trimmed: &Trimmed, out: &mut Announcer) {
        let cut = usize::try_from(trimmed.cut).unwrap_or(usize::MAX);
        if self.compaction.is_some() || !compact::keeps_pairs(self.history.messages(), cut) {
            self.misfits += 1;
            return;
        }
        let tokens_before = self.estimate();
        let left = trim::apply(self.history.messages(), trimmed);
        self.keep_replaced(self.history.len(), left.len());
        self.history.replace_all(left);
        self.compactions += 1;
        self.epoch_due = Some(EpochCause::Compaction);
        if let Some(turn) = &mut self.turn {
            turn.overflowed = false;
        }
        let tokens_after = self.estimate();
        out.say(|| Event::Trimmed {
            messages: self.history.messages().iter().cloned().collect(),
            tokens_before,
            tokens_after,
        });
    }

    pub(super) fn on_pruned(&mut self, pruned: &Pruned, out: &mut Announcer) {
        let (changed, cut) = prune::apply(self.history.messages(), pruned);
        if self.compaction.is_some() || changed.is_empty() {
            self.misfits += 1;
            return;
        }
        let tokens_before = self.estimate();
        let head = changed.last().map_or(0, |(at, _)| at + 1);
        self.keep_replaced(head, head);
        self.history.replace_some(&changed);
        self.compactions += 1;
        self.epoch_due = Some(EpochCause::Compaction);
        if let Some(turn) = &mut self.turn {
            turn.overflowed = false;
        }
        let tokens_after = self.estimate();
        out.say(|| Event::Pruned {
            changed: changed
                .into_iter()
                .map(|(at, message)| Changed { at: at as u64, message })
                .collect(),
            results: cut.results,
            chars: cut.chars,
            items: cut.items,
            tokens_before,
            tokens_after,
        });
    }
}

/// What was paid for a summary that is not taken.
fn gave_nothing(Compacted { usage, cost, .. }: Compacted, error: String) -> Record {
    let failed = CompactionFailed { usage, cost, ..CompactionFailed::because(error) };
    Record::CompactionFailed(Box::new(failed))
}

/// Whether whatever is asked of the model fails for now, and not this request alone.
fn cannot_answer(kind: ProviderErrorKind) -> bool {
    matches!(
        kind,
        ProviderErrorKind::Auth
            | ProviderErrorKind::Billing
            | ProviderErrorKind::RateLimit
            | ProviderErrorKind::Overloaded
            | ProviderErrorKind::Network
            | ProviderErrorKind::UnknownModel
    )
}
