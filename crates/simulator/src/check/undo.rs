//! What the checker knows of what was replaced last, and whether it comes back as it was.

use std::sync::Arc;

use heeler_core::{Message, Settings};

use super::context::{Context, limit};
use super::{Checked, Invariant, ensure, reasoning};

/// The conversation before the last summary, cut or pruning.
pub(super) struct Replaced {
    pub(super) before: Vec<Arc<Message>>,
    /// How long the conversation was right after it.
    pub(super) length: usize,
}

impl Replaced {
    /// What a provider refused is brought back by nobody.
    pub(super) fn without_reasoning(self) -> Self {
        Self { before: reasoning::without(&self.before), ..self }
    }

    /// What was there, and all that was said since.
    pub(super) fn with_later(&self, log: &[Arc<Message>]) -> Vec<Arc<Message>> {
        let since = log.iter().skip(self.length);
        self.before.iter().chain(since).cloned().collect()
    }
}

impl Context {
    /// Somebody wanted back what was replaced, and this is the conversation now.
    pub(super) fn restored(
        &self,
        replaced: Option<&Replaced>,
        (log, after): (&[Arc<Message>], &[Arc<Message>]),
        waiting_chars: u64,
        settings: &Settings,
    ) -> Checked {
        let expected = replaced.map(|replaced| replaced.with_later(log));
        ensure(expected.as_deref() == Some(after), Invariant::UndoBringsBack, || {
            format!("there are {} messages, expected {expected:?}", after.len())
        })?;
        let (tokens, fits) = (self.due(after, waiting_chars, settings), limit(settings));
        ensure(tokens <= fits, Invariant::FitsTheWindow, || {
            format!("{tokens} tokens were brought back, and {fits} fit")
        })
    }

    /// Somebody wanted back what was replaced, and did not get it: it does not fit.
    pub(super) fn cannot_restore(
        &self,
        replaced: Option<&Replaced>,
        log: &[Arc<Message>],
        waiting_chars: u64,
        settings: &Settings,
    ) -> Checked {
        let Some(replaced) = replaced else { return Ok(()) };
        let tokens = self.due(&replaced.with_later(log), waiting_chars, settings);
        ensure(tokens > limit(settings), Invariant::UndoBringsBack, || {
            format!("{tokens} tokens would fit, and are not brought back")
        })
    }
}
