//! The checker's own account of how much the conversation has grown to, and how far estimates are
//! off.

use std::sync::Arc;

use heeler_core::{EpochStarted, Message, Usage};

use super::request;

/// How far estimates are off: the documented moving average, kept a second time.
#[derive(Default)]
pub(super) struct Context {
    /// Characters of the system prompt and the tools.
    head: u64,
    samples: u64,
    /// Real tokens for each estimated one, in millionths; meaningless before the first sample.
    ratio: u64,
}

impl Context {
    pub(super) fn epoch(&mut self, epoch: &EpochStarted) {
        self.head = request::weigh_head(&epoch.system, &epoch.tools);
    }

    /// Another divisor: what was learned is about the old one.
    pub(super) fn forget(&mut self) {
        (self.samples, self.ratio) = (0, 0);
    }

    /// A model's own call came back.
    pub(super) fn learn(&mut self, log: &[Arc<Message>], chars_per_token: u32, usage: &Usage) {
        let estimated = self.estimate(log, chars_per_token);
        let real = usage.input + usage.cache_read + usage.cache_write;
        // 0.05 to 20, both inclusive, to the millionth.
        let (twenty_times, twentieth) = (estimated * 20, real * 20);
        let is_believed = real <= twenty_times && estimated <= twentieth;
        if estimated < 64 || real < 32 || !is_believed {
            return;
        }
        let sample = real * 1_000_000 / estimated;
        self.samples += 1;
        self.ratio = if self.samples == 1 { sample } else { (self.ratio * 3 + sample).div_ceil(4) };
    }

    /// What was learned: the ratio in millionths and from how many calls.
    pub(super) fn learned(&self) -> (u64, u64) {
        if self.samples == 0 { (1_000_000, 0) } else { (self.ratio, self.samples) }
    }

    /// What so many estimated tokens really are.
    pub(super) fn calibrated(&self, estimated: u64) -> u64 {
        (estimated * self.learned().0).div_ceil(1_000_000)
    }

    /// Estimated tokens of a conversation, before any calibration.
    fn estimate(&self, log: &[Arc<Message>], chars_per_token: u32) -> u64 {
        let said: u64 = log.iter().map(|message| request::weigh_message(message)).sum();
        (self.head + said) / u64::from(chars_per_token.max(1))
    }
}
