//! What the next request weighs, in estimated tokens, and whether it fits.

use std::sync::Arc;

use heeler_core::{Block, Message, Pruned, Role, Trimmed, Usage};

use super::{QueuedInput, State};
use crate::estimate::{self, Breakdown, TokenEstimate};
use crate::{compact, limits, prune, trim};

impl State {
    /// Estimated tokens of the next request.
    #[must_use]
    pub fn estimate(&self) -> u64 {
        self.tokens(self.weight())
    }

    /// As [`State::estimate`], without what was learned from the provider's counts.
    #[must_use]
    pub fn estimate_uncalibrated(&self) -> u64 {
        self.estimate.tokens(self.weight())
    }

    /// What the next request and this answer to it used: what was told of it, and an estimate where that
    /// is nothing.
    #[must_use]
    pub fn usage(&self, told: Usage, answer: &[Block]) -> Usage {
        let written = || self.tokens(estimate::weigh_blocks(self.estimate.as_ref(), answer));
        estimate::fill_in(told, || self.estimate(), written)
    }

    /// The same of an answer that was stopped or broke off.
    #[must_use]
    pub fn usage_of_part(&self, told: Usage, part: &[Block]) -> Usage {
        let written = self.tokens(estimate::weigh_blocks(self.estimate.as_ref(), part));
        estimate::at_least_written(self.usage(told, part), written)
    }

    /// What estimates.
    #[must_use]
    pub fn estimator(&self) -> Arc<dyn TokenEstimate> {
        Arc::clone(&self.estimate)
    }

    /// Estimated tokens of the next request with all that waits to be delivered with it.
    #[must_use]
    pub fn estimate_due(&self) -> u64 {
        self.tokens(self.weight() + self.weight_waiting())
    }

    /// Estimated tokens of the request for a summary of the first `cut` messages.
    #[must_use]
    pub fn estimate_summary(&self, cut: usize, focus: Option<&str>) -> u64 {
        let (system, tools) = self.prefix_weight();
        let instruction = self.estimate.weigh(&compact::instruction(focus));
        self.tokens(system + tools + self.history.weight_of_head(cut) + instruction)
    }

    /// Estimated tokens of the first `cut` messages.
    pub(crate) fn estimate_head(&self, cut: usize) -> u64 {
        self.tokens(self.history.weight_of_head(cut))
    }

    /// As [`State::estimate_due`], with the conversation cut back.
    pub(crate) fn estimate_trimmed(&self, how: &Trimmed) -> u64 {
        let (system, tools) = self.prefix_weight();
        let left = trim::apply(self.history.messages(), how);
        let weigh =
            |message: &Arc<Message>| estimate::weigh_message(self.estimate.as_ref(), message);
        let left: u64 = left.iter().map(weigh).sum();
        self.tokens(system + tools + left + self.weight_waiting())
    }

    /// As [`State::estimate_due`], with old results cut short.
    pub(crate) fn estimate_pruned(&self, how: &Pruned) -> u64 {
        let weigh =
            |message: &Arc<Message>| estimate::weigh_message(self.estimate.as_ref(), message);
        let (changed, _) = prune::apply(self.history.messages(), how);
        let after: u64 = changed.iter().map(|(_, message)| weigh(message)).sum();
        let before = changed.iter().filter_map(|(at, _)| self.history.messages().get(*at));
        let before: u64 = before.map(weigh).sum();
        self.tokens(self.weight() - before + after + self.weight_waiting())
    }

    /// As [`State::estimate`], with a summary in the place of the first `cut` messages.
    pub(super) fn estimate_summarized(&self, cut: usize, summary: &Message) -> u64 {
        let summary = estimate::weigh_message(self.estimate.as_ref(), summary);
        self.tokens(self.weight() - self.history.weight_of_head(cut) + summary)
    }

    /// The one way a weight becomes tokens, whatever asks.
    pub(super) fn tokens(&self, weight: u64) -> u64 {
        self.calibration.correct(self.estimate.tokens(weight))
    }

    /// What the next request weighs.
    pub(super) fn weight(&self) -> u64 {
        let (system, tools) = self.prefix_weight();
        system + tools + self.history.weight()
    }

    /// What waits to be delivered weighs.
    pub(super) fn weight_waiting(&self) -> u64 {
        let weigh = |queued: &QueuedInput| {
            estimate::weigh_blocks(self.estimate.as_ref(), &queued.input.blocks)
        };
        self.steering.iter().map(weigh).sum()
    }

    /// Where the tokens of the next request are.
    #[must_use]
    pub fn breakdown(&self) -> Breakdown {
        let (system, tools) = self.prefix_weight();
        let last_user = self.history.messages().iter().rev().find(|m| m.role == Role::User);
        let of_kind = |results: bool| {
            let blocks: Vec<_> = last_user
                .iter()
                .flat_map(|message| &message.blocks)
                .filter(|b| matches!(b, Block::ToolResult(_)) == results)
                .cloned()
                .collect();
            self.tokens(estimate::weigh_blocks(self.estimate.as_ref(), &blocks))
        };
        Breakdown {
            system: self.tokens(system),
            tools: self.tokens(tools),
            messages: self.tokens(self.history.weight()),
            last_user_text: of_kind(false),
            last_user_results: of_kind(true),
        }
    }

    /// The most estimated tokens a request may have.
    #[must_use]
    pub fn context_limit(&self) -> u64 {
        limits::context_limit(&self.settings)
    }

    /// Whether the next request would not fit.
    #[must_use]
    pub fn needs_compaction(&self) -> bool {
        self.estimate_due() > self.context_limit()
    }

    /// What the system prompt and the tools weigh.
    pub(super) fn prefix_weight(&self) -> (u64, u64) {
        self.epoch.as_ref().map_or((0, 0), |epoch| (epoch.system_weight, epoch.tools_weight))
    }
}
