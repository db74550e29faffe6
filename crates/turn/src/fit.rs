//! Whether the next request fits, and what is done so that it does.
//!
//! Where it is enough that bulky old results are cut short, that is all. Else a summary by the model
//! comes first, when it is worth its price and has not failed before;
//! then the conversation is cut back without a model, which always fits unless what was said last
//! is too large by itself. Each of them is bounded, so no request is tried for ever.

use heeler_core::{Pruned, Trimmed};

use crate::bugs::{Bug, is_on};
use crate::state::{State, Turn};
use crate::{compact, limits, prune, trim};

/// A compaction must gain one part in so many of the conversation.
pub const GAIN_PARTS: u64 = 10;
/// Where pruning is to be enough, it leaves at most one part in so many of what fits.
pub const PRUNED_PARTS: u64 = 2;
/// After so many automatic compactions in a row that gave nothing, a turn tries no more.
pub const COMPACTION_FAILURES_MAX: u32 = 2;
/// How often a provider may say that one request is too long before the turn ends.
pub const OVERFLOWS_MAX: u32 = 3;

/// What the next request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Nothing.
    Fits,
    /// Shorter old results.
    Prune(Pruned),
    /// A summary of so many messages.
    Compact(usize),
    /// A shorter conversation, without a model.
    Trim(Trimmed),
    /// It cannot be made to fit.
    Never,
}

/// The least number of tokens that a compaction of so many has to gain.
#[must_use]
pub fn gain_min(tokens: u64) -> u64 {
    (tokens / GAIN_PARTS).max(1)
}

impl State {
    /// Where a compaction would cut: as late as its own request fits, and leaving the tail that the
    /// settings keep.
    #[must_use]
    pub fn compaction_cut(&self, focus: Option<&str>) -> Option<usize> {
        let keep_tail = self.settings.compaction.keep_tail as usize;
        let latest = self.history.len().checked_sub(keep_tail)?;
        // Of half a million messages each is weighed twenty times, not half a million times: a
        // shorter head never weighs more.
        let (mut cut, mut too_late) = (0, latest + 1);
        while too_late - cut > 1 {
            let middle = usize::midpoint(cut, too_late);
            match self.estimate_summary(middle, focus) > self.context_limit() {
                true => too_late = middle,
                false => cut = middle,
            }
        }
        compact::cut_point(self.history.messages(), self.history.len() - cut)
    }

    pub(crate) fn fit(&self, turn: &Turn) -> Fit {
        let (tokens, limit) = (self.estimate_due(), self.context_limit());
        let is_due = turn.overflowed || tokens > limit;
        if !self.settings.compaction.automatic || !is_due {
            return Fit::Fits;
        }
        // Less than what fits, so that the next result does not bring the same again. A provider
        // that does not take what should fit counts otherwise than we do.
        let bounds = match turn.overflowed {
            true => (limit.min(tokens / 2), limit.min(tokens - gain_min(tokens).min(tokens))),
            false => (limit / 4 * 3, limit),
        };
        let keep_tail = self.settings.compaction.keep_tail as usize;
        // What is pruned is read anew, so it has to last for a while.
        let goal = bounds.0.min(limit / PRUNED_PARTS);
        let tokens_of = |how: &Pruned| self.estimate_pruned(how);
        if let Some(how) = prune::plan(self.history.messages(), keep_tail, goal, tokens_of) {
            return Fit::Prune(how);
        }
        if let Some(cut) = self.worthwhile_cut(turn, tokens) {
            return Fit::Compact(cut);
        }
        let tokens_of = |how: &Trimmed| self.estimate_trimmed(how);
        match trim::plan(self.history.messages(), keep_tail, bounds, tokens_of) {
            Some(how) => Fit::Trim(how),
            None if is_on(Bug::OversizedRequest) => Fit::Fits,
            None => Fit::Never,
        }
    }

    /// A compaction that may be tried once more, gains something, and can be paid.
    fn worthwhile_cut(&self, turn: &Turn, tokens: u64) -> Option<usize> {
        let is_spent = turn.compaction_tried || turn.compaction_failures >= COMPACTION_FAILURES_MAX;
        if is_spent && !is_on(Bug::EndlessCompaction) {
            return None;
        }
        let cut = self.compaction_cut(None)?;
        let gains = self.estimate_head(cut) >= gain_min(tokens);
        (gains && limits::reserve_summary(self, turn, cut).is_ok()).then_some(cut)
    }
}
