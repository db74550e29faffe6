//! Model requests: pure functions of the state.

use std::sync::Arc;

use heeler_core::{ModelRequest, RequestMessages};

use crate::state::State;
use crate::{compact, words};

impl State {
    /// The request of the model call that was started last. `None` before the first epoch.
    #[must_use]
    pub fn request(&self, output_max: u64) -> Option<ModelRequest> {
        self.request_of(self.history.request().clone(), output_max)
    }

    /// The request that asks for a summary of the first `cut` messages: the conversation's own
    /// prefix, so that it is read from the cache, and one instruction, which ends with what it is to
    /// look at above all.
    ///
    /// # Errors
    /// Words for the user when there is nothing to send, or more than fits: settings may have
    /// changed since the compaction began.
    pub fn summary_request(
        &self,
        cut: usize,
        focus: Option<&str>,
        output_max: u64,
    ) -> Result<ModelRequest, &'static str> {
        if self.estimate_summary(cut, focus) > self.context_limit() {
            return Err(words::SUMMARY_DOES_NOT_FIT);
        }
        let messages = self.history.head_and(cut, &compact::instruction(focus));
        self.request_of(messages, output_max).ok_or(words::NO_PROMPT)
    }

    /// How many estimated tokens such a request has room for beyond what it says.
    #[must_use]
    pub fn summary_room(&self, cut: usize, focus: Option<&str>) -> u64 {
        self.context_limit().saturating_sub(self.estimate_summary(cut, focus))
    }

    fn request_of(&self, messages: RequestMessages, output_max: u64) -> Option<ModelRequest> {
        let epoch = self.epoch.as_ref()?;
        Some(ModelRequest {
            model: Arc::clone(&epoch.model),
            system: Arc::clone(&epoch.system),
            tools: Arc::clone(&epoch.tools),
            provider_tools: Arc::clone(&epoch.provider_tools),
            stable: messages.len(),
            messages,
            output_max,
            parameters: self.settings.model.parameters.clone(),
            epoch: epoch.number,
        })
    }
}
