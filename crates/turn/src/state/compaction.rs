//! What compactions do to the state.

use heeler_core::{Compacted, CompactionCause, CompactionStarted, EpochCause, Event};

use serde::{Deserialize, Serialize};

use super::{Announcer, State};
use crate::bugs::{Bug, is_on};
use crate::compact;

/// A compaction that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// How many messages become the summary.
    pub cut: usize,
    /// Why.
    pub cause: CompactionCause,
    /// Processes that died in it.
    pub deaths: u32,
}

impl State {
    pub(super) fn on_compaction_started(
        &mut self,
        started: CompactionStarted,
        out: &mut Announcer,
    ) {
        let cut = usize::try_from(started.cut).unwrap_or(usize::MAX);
        if self.compaction.is_some() || !compact::keeps_pairs(self.history.messages(), cut) {
            self.misfits += 1;
            return;
        }
        self.compactions += 1;
        self.compaction = Some(Compaction { cut, cause: started.cause, deaths: 0 });
        self.announce_compaction(out);
    }

    pub(super) fn announce_compaction(&self, out: &mut Announcer) {
        if let Some(Compaction { cause, .. }) = self.compaction {
            let tokens_before = self.estimate();
            out.say(|| Event::CompactionStarted { cause, tokens_before });
        }
    }

    pub(super) fn on_compacted(&mut self, compacted: &Compacted, out: &mut Announcer) {
        self.spend(&compacted.usage, compacted.cost, out);
        if is_on(Bug::CalibratedBySummary) {
            let estimated = self.estimate_uncalibrated();
            self.calibration.learn(estimated, &compacted.usage);
        }
        let Some(Compaction { cut, .. }) = self.compaction.take() else {
            self.misfits += 1;
            return;
        };
        let summary = compact::summary_message(&compacted.summary);
        let message = self.history.replace_head(cut, summary);
        self.epoch_due = Some(EpochCause::Compaction);
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
            turn.overflowed = false;
        }
        let tokens_after = self.estimate();
        out.say(|| Event::Compacted { cut: cut as u64, message, tokens_after });
    }

    pub(super) fn on_compaction_failed(&mut self, error: &str, out: &mut Announcer) {
        self.compaction = None;
        if let Some(turn) = &mut self.turn {
            turn.compaction_tried = true;
        }
        out.say(|| Event::CompactionFailed { error: error.to_owned() });
    }
}
