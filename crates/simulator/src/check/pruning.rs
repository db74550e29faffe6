//! Which results may be cut short, and when that has to come before a summary: what the
//! documentation says, said a second time.

use std::sync::Arc;

use heeler_core::{Block, Changed, Message, Settings, ToolResult};

use super::context::{Context, limit};
use super::{Checked, Invariant, Violation, ensure};

/// The least that stays of an old result's text, in characters.
const LEAST_CHARS: usize = 256;
/// The most characters of the words in the place of what is gone.
const MARKER_CHARS: usize = 128;

impl Context {
    /// Results were cut short; gives the conversation as it is now.
    pub(super) fn pruned(
        &self,
        before: &[Arc<Message>],
        changed: &[Changed],
        waiting_chars: u64,
        overflows: u32,
        settings: &Settings,
    ) -> Result<Vec<Arc<Message>>, Violation> {
        let mut after = before.to_vec();
        let tail = before.len().saturating_sub(settings.compaction.keep_tail as usize);
        for Changed { at, message } in changed {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            ensure(at < tail, Invariant::PruningSparesTheTail, || {
                format!("message {at} of {} is cut short", before.len())
            })?;
            let is_cut = before[at] != *message && is_cut_short(&before[at], message);
            ensure(is_cut, Invariant::PruningSparesTheTail, || {
                format!("message {at} became something else: {message:?}")
            })?;
            after[at] = Arc::clone(message);
        }
        let (was, is) =
            (self.due(before, waiting_chars, settings), self.due(&after, waiting_chars, settings));
        let fits = limit(settings);
        ensure(was > fits || overflows > 0, Invariant::PruningIsEnough, || {
            format!("{was} tokens fit, and were cut short to {is}")
        })?;
        let goal = fits / 2;
        ensure(is <= goal && is < was, Invariant::PruningIsEnough, || {
            format!("{was} tokens were cut short to {is}, and {goal} are wanted")
        })?;
        Ok(after)
    }

    /// A summary that nobody asked for: shorter old results would not have been enough.
    pub(super) fn needs_summary(
        &self,
        log: &[Arc<Message>],
        waiting_chars: u64,
        overflows: u32,
        settings: &Settings,
    ) -> Checked {
        if overflows > 0 {
            return Ok(());
        }
        let tail = log.len().saturating_sub(settings.compaction.keep_tail as usize);
        let gone: usize = log[..tail].iter().flat_map(|m| &m.blocks).map(least_gone).sum();
        let chars_per_token = u64::from(settings.estimate.chars_per_token.max(1));
        let now = self.due(log, waiting_chars, settings);
        // What is learned of the estimate counts for what is gone as for the rest.
        let then = now.saturating_sub(self.calibrated(gone as u64 / chars_per_token));
        let goal = limit(settings) / 2;
        ensure(then + 2 > goal, Invariant::PruningComesFirst, || {
            format!("a summary is asked for, and {then} of {now} tokens would be left without")
        })
    }
}

/// How many characters of a result surely go when all that can go does.
fn least_gone(block: &Block) -> usize {
    let Block::ToolResult(result) = block else { return 0 };
    let texts = result.content.iter().filter_map(Block::as_text);
    texts.map(|text| text.chars().count().saturating_sub(LEAST_CHARS + MARKER_CHARS)).sum()
}

/// The same message, but for texts of results that lost their middle and say how much.
fn is_cut_short(was: &Message, is: &Message) -> bool {
    let same = |(was, is): (&Block, &Block)| match (was, is) {
        (Block::ToolResult(was), Block::ToolResult(is)) => is_result_cut(was, is),
        (was, is) => was == is,
    };
    was.role == is.role
        && was.blocks.len() == is.blocks.len()
        && was.blocks.iter().zip(&is.blocks).all(same)
}

fn is_result_cut(was: &ToolResult, is: &ToolResult) -> bool {
    let part = |(was, is): (&Block, &Block)| match (was.as_text(), is.as_text()) {
        (Some(was), Some(is)) => was == is || lost_its_middle(was, is),
        _ => false,
    };
    was.tool_use_id == is.tool_use_id
        && was.is_error == is.is_error
        && was.content.len() == is.content.len()
        && was.content.iter().zip(&is.content).all(part)
}

fn lost_its_middle(was: &str, is: &str) -> bool {
    let Some((head, rest)) = is.split_once("\n[") else { return false };
    let Some((words, tail)) = rest.split_once("]\n") else { return false };
    let Some((number, words)) = words.split_once(' ') else { return false };
    let left = head.chars().count() + tail.chars().count();
    let gone = number.parse::<usize>().unwrap_or_default();
    was.starts_with(head)
        && was.ends_with(tail)
        && was.chars().count() == left + gone
        && words.contains("make the call again")
        && is.chars().count() < was.chars().count()
}
