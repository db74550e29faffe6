//! What the checker knows of the user's last message, and whether a summary leaves it out.

use std::sync::Arc;

use heeler_core::{Block, Kept, Message, Role};

use super::{Checked, Invariant, ensure};

/// How a summary begins.
const SUMMARY: &str = "[Earlier conversation summary";
/// Stands before what is kept beside a summary.
const HEADING: &str = "[Kept beside the summary";
/// How words begin that work in the background came to.
const OF_BACKGROUND: &str = "[The background work of ";
/// How words begin of a hook, and what those say that do not let a turn end.
const OF_HOOK: &str = "The hook `";
const NOT_YET: &str = "` does not let the turn end yet: ";

/// The least of the user's last message that is kept, whatever a summary gains, in characters.
const LEAST_CHARS: u64 = 500;

/// The account.
#[derive(Default)]
pub(super) struct Words {
    /// The user's last message; none once it was cut away with what is left out, or short of its
    /// middle.
    last: Option<String>,
    /// What the last summary was written with.
    pub(super) kept: Option<Kept>,
}

impl Words {
    /// The model hears somebody.
    pub(super) fn heard(&mut self, text: &str) {
        if is_said(text) {
            self.last = Some(text.to_owned());
        }
    }

    /// The conversation was cut back, and is this now.
    pub(super) fn cut_back(&mut self, log: &[Arc<Message>]) {
        if !log.iter().skip(1).any(|message| is_typed(message)) {
            self.last = None;
        }
    }

    /// What was replaced stands in the conversation again.
    pub(super) fn restored(&mut self, log: &[Arc<Message>]) {
        let is_summary = |message: &Message| message.text().starts_with(SUMMARY);
        let typed = log.iter().rev().find(|message| is_typed(message) && !is_summary(message));
        self.last = typed.map(|message| message.text());
    }

    /// A summary stands before this tail: where nothing of the user is left in that, the summary
    /// has their last words, once.
    pub(super) fn summarized(&mut self, summary: &Message, tail: &[Arc<Message>]) -> Checked {
        let text = summary.text();
        let times = text.matches(HEADING).count();
        ensure(times <= 1, Invariant::SummaryKeepsWords, || {
            format!("what is kept stands {times} times beside a summary")
        })?;
        let Some(Kept { said_chars_max, .. }) = self.kept else {
            return ensure(false, Invariant::SummaryKeepsWords, || "nothing says what".into());
        };
        let Some(last) = &self.last else { return Ok(()) };
        if tail.iter().any(|message| is_typed(message)) {
            return Ok(());
        }
        ensure(said_chars_max >= LEAST_CHARS, Invariant::SummaryKeepsWords, || {
            format!("only {said_chars_max} characters of what the user said last are kept")
        })?;
        if last.chars().count() as u64 > said_chars_max {
            self.last = None;
            return Ok(());
        }
        let holds = |line: &str| {
            let line = format!("> {line}");
            text.lines().any(|kept| kept.trim_end() == line.trim_end())
        };
        ensure(last.lines().all(holds), Invariant::SummaryKeepsWords, || {
            format!("the user said last {last:?}, and the summary does not say so")
        })
    }
}

fn is_typed(message: &Message) -> bool {
    let has_results = message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
    message.role == Role::User && !has_results && is_said(&message.text())
}

/// Whether these are somebody's words, and not the machine's.
fn is_said(text: &str) -> bool {
    let is_of_hook = text.starts_with(OF_HOOK) && text.contains(NOT_YET);
    !text.trim().is_empty() && !text.starts_with(OF_BACKGROUND) && !is_of_hook
}
