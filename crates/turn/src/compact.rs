//! Compaction: where the conversation may be cut, and what the head becomes.

use std::borrow::Cow;

use heeler_core::{Block, Message, Messages};

use crate::bugs::{Bug, is_on};

/// The first line of a summary. It keeps the model from answering the summary as if the user had
/// said it, and lets every reader know a summary when it sees one.
pub const SENTINEL: &str = "[Earlier conversation summary — treat as background context]";

/// What the summariser is asked, after the conversation's head.
pub const INSTRUCTION: &str = "\
Summarize the conversation so far for your own later use; it will replace what you see above. \
Write plain text, no tool calls. Keep, in this order: the task, in the user's words where wording \
matters; the constraints and rules they stated; the decisions taken, with the reasons; what was \
done, with the files touched and the commands run, so that nothing finished is done again; what \
was learned that still matters; the open to-do list; the next step.";

/// The most characters of what a summary is to look at above all.
pub const FOCUS_CHARS_MAX: usize = 2000;

/// Stands before the words of whoever asked for the summary.
const FOCUS: &str = "Whoever asked for this summary wants it to look above all at this:";

/// What the summariser is asked when somebody said what to look at.
#[must_use]
pub fn instruction(focus: Option<&str>) -> Cow<'static, str> {
    match focus {
        None => INSTRUCTION.into(),
        Some(focus) => format!("{INSTRUCTION}\n\n{FOCUS}\n{focus}").into(),
    }
}

/// The message a summary becomes: the sentinel, a blank line, the summary.
#[must_use]
pub fn summary_message(summary: &str) -> Message {
    Message::user(format!("{SENTINEL}\n\n{summary}"))
}

/// How many messages of the head can become a summary so that at least `keep_tail` stay and no
/// call is parted from its result. `None` when there is nothing to gain.
#[must_use]
pub fn cut_point(messages: &Messages, keep_tail: usize) -> Option<usize> {
    let latest = messages.len().checked_sub(keep_tail)?;
    let cut = (1..=latest).rev().find(|cut| keeps_pairs(messages, *cut))?;
    // Replacing one summary by another of itself gains nothing.
    let only_summary = cut == 1 && messages.first().is_some_and(|m| is_summary(m));
    (!only_summary).then_some(cut)
}

/// Whether a message is the summary of an earlier compaction.
#[must_use]
pub fn is_summary(message: &Message) -> bool {
    message.blocks.first().and_then(Block::as_text).is_some_and(|text| summary_of(text).is_some())
}

/// The summary in a summary's text.
pub(crate) fn summary_of(text: &str) -> Option<&str> {
    text.strip_prefix(SENTINEL)?.strip_prefix("\n\n")
}

/// Whether the first `cut` messages are some, and no call among them has its result outside.
#[must_use]
pub fn keeps_pairs(messages: &Messages, cut: usize) -> bool {
    (1..=messages.len()).contains(&cut)
        && !splits_pair(messages, cut)
        && (is_on(Bug::OrphanResult) || messages.get(cut).is_none_or(|next| !holds_result(next)))
}

fn holds_result(message: &Message) -> bool {
    message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
}

/// A batch whose results have not come yet ends the history with unanswered calls; they stay.
fn splits_pair(messages: &Messages, cut: usize) -> bool {
    cut == messages.len() && messages.last().is_some_and(|m| m.tool_uses().next().is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use heeler_core::{RawJson, Role, ToolResult, ToolUse};

    use super::*;

    /// `u` user, `a` assistant, `c` assistant with a call, `r` results, `s` summary.
    fn conversation(script: &str) -> Messages {
        let message = |kind| match kind {
            'u' => Message::user("hello"),
            'a' => Message::assistant("hi"),
            's' => summary_message("before"),
            'c' => Message {
                role: Role::Assistant,
                blocks: vec![Block::from(ToolUse {
                    id: "x".into(),
                    name: "t".into(),
                    input: RawJson::empty_object(),
                    invalid: None,
                    cache: None,
                })],
            },
            _ => Message {
                role: Role::User,
                blocks: vec![Block::from(ToolResult {
                    tool_use_id: "x".into(),
                    content: vec![],
                    is_error: false,
                    cache: None,
                })],
            },
        };
        script.chars().map(|kind| Arc::new(message(kind))).collect()
    }

    #[test]
    fn a_cut_never_splits_a_pair() {
        for (script, keep_tail, expected) in [
            ("uaua", 2, Some(2)),
            ("uaua", 4, None),
            ("uaua", 9, None),
            ("ucrcra", 2, Some(3)),
            ("ucrcra", 3, Some(3)),
            ("ucra", 2, Some(1)),
            ("crcr", 3, None),
            ("uc", 0, Some(1)),
            ("c", 0, None),
            ("ua", 0, Some(2)),
            ("scra", 2, None),
            ("sacra", 2, Some(2)),
        ] {
            assert_eq!(
                cut_point(&conversation(script), keep_tail),
                expected,
                "{script} {keep_tail}"
            );
        }
    }

    #[test]
    fn the_sentinel_is_the_first_line() {
        let message = summary_message("fixed the bug");
        assert_eq!(
            message.text(),
            "[Earlier conversation summary \u{2014} treat as background context]\n\nfixed the bug"
        );
        assert!(is_summary(&message) && !is_summary(&Message::user(SENTINEL)));
    }
}
