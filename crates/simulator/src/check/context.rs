//! The checker's own account of how much the conversation has grown to, and how far estimates are
//! off.

use std::sync::Arc;

use heeler_core::{Block, EpochStarted, Message, Role, Settings, Usage};

use super::{Checked, Invariant, ensure, request};

/// How the end of a turn begins whose request cannot be made to fit.
pub(super) const CANNOT_FIT: &str = "the next request has about";
/// Characters of the message that stands for what was left out, without anything of it.
const NOTE_CHARS: u64 = 110;
/// The limit when nobody says one.
const LIMIT_DEFAULT: u64 = 180_000;

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
        // Nothing is learned from an estimate.
        if usage.is_estimated || estimated < 64 || real < 32 || !is_believed {
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

    /// A compaction that nobody asked for leaves a tenth less than there was.
    pub(super) fn gains(
        &self,
        before: &[Arc<Message>],
        after: &[Arc<Message>],
        settings: &Settings,
    ) -> Checked {
        let divisor = settings.estimate.chars_per_token;
        let tokens = |log| self.calibrated(self.estimate(log, divisor));
        let (before, after) = (tokens(before), tokens(after));
        ensure(after + (before / 10).max(1) <= before, Invariant::CompactionGains, || {
            format!("{before} tokens became {after}")
        })
    }

    /// A conversation is cut back when it has to be, and what was said last stays.
    pub(super) fn cut_back(
        &self,
        before: &[Arc<Message>],
        after: &[Arc<Message>],
        waiting_chars: u64,
        overflows: u32,
        settings: &Settings,
    ) -> Checked {
        let broken =
            |what: &'static str| ensure(false, Invariant::TrimKeepsTheLast, || what.into());
        let Some((note, tail)) = after.split_first() else { return broken("nothing is left") };
        if !note.text().starts_with("[Earlier conversation summary") {
            return broken("nothing says that something is gone");
        }
        let Some(from) = before.len().checked_sub(tail.len()) else {
            return broken("there is more than before");
        };
        if !before[from..].iter().zip(tail).all(|(was, is)| is_shortened(was, is)) {
            return broken("more than long results changed");
        }
        let is_typed = |message: &Arc<Message>| message.role == Role::User && !has_results(message);
        if before.last().is_some_and(is_typed) && before.last() != after.last() {
            return broken("what was said last is gone");
        }
        let tokens = |log: &[Arc<Message>]| self.due(log, waiting_chars, settings);
        let (was, is, limit) = (tokens(before), tokens(after), limit(settings));
        ensure(was > limit || overflows > 0, Invariant::TrimKeepsTheLast, || {
            format!("{was} tokens fit, and were cut to {is}")
        })?;
        ensure(is <= limit && is < was, Invariant::FitsTheWindow, || {
            format!("{was} tokens were cut to {is}, and {limit} fit")
        })
    }

    /// A turn that ends because nothing fits: neither does the least that could be sent.
    pub(super) fn cannot_fit(
        &self,
        log: &[Arc<Message>],
        waiting_chars: u64,
        settings: &Settings,
    ) -> Checked {
        let last = log.last().filter(|last| last.role == Role::User && !has_results(last));
        let last: Vec<Arc<Message>> = last.cloned().into_iter().collect();
        let tokens = self.due(&last, waiting_chars + NOTE_CHARS, settings);
        ensure(tokens > limit(settings), Invariant::OutcomeIsTrue, || {
            format!("the turn ends because nothing fits, and {tokens} would")
        })
    }

    pub(super) fn due(&self, log: &[Arc<Message>], more_chars: u64, settings: &Settings) -> u64 {
        let said: u64 = log.iter().map(|message| request::weigh_message(message)).sum();
        let divisor = u64::from(settings.estimate.chars_per_token.max(1));
        self.calibrated((self.head + said + more_chars) / divisor)
    }
}

/// The most tokens a request may have.
pub(super) fn limit(settings: &Settings) -> u64 {
    settings.estimate.context_limit.unwrap_or(LIMIT_DEFAULT)
}

pub(super) fn has_results(message: &Message) -> bool {
    message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
}

/// The same message, but for texts of results that became shorter.
fn is_shortened(was: &Message, is: &Message) -> bool {
    let same = |(was, is): (&Block, &Block)| match (was, is) {
        (Block::ToolResult(was), Block::ToolResult(is)) => {
            let chars = |result: &heeler_core::ToolResult| {
                let texts = result.content.iter().filter_map(Block::as_text);
                texts.map(|text| text.chars().count()).sum::<usize>()
            };
            was.tool_use_id == is.tool_use_id
                && was.is_error == is.is_error
                && (was.content == is.content || chars(is) < chars(was))
        }
        (was, is) => was == is,
    };
    was.role == is.role
        && was.blocks.len() == is.blocks.len()
        && was.blocks.iter().zip(&is.blocks).all(same)
}
