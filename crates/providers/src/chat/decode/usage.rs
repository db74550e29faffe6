//! What an answer used, and why it ended.

use heeler_core::{Cost, StopReason, Usage};

use super::super::Quirks;
use super::wire::WireUsage;

impl WireUsage {
    /// The counters, which overlap on the wire, apart.
    pub(super) fn usage(&self, quirks: &Quirks) -> Usage {
        let prompt = self.prompt_tokens.unwrap_or_default();
        let details = self.prompt_tokens_details.unwrap_or_default();
        let cache_read = details.cached_tokens.or(self.prompt_cache_hit_tokens);
        let cache_read = cache_read.or(self.cached_tokens).unwrap_or_default().min(prompt);
        let cache_write = details.cache_write_tokens.unwrap_or_default().min(prompt - cache_read);
        let reasoning = self.completion_tokens_details.unwrap_or_default();
        let reasoning = reasoning.reasoning_tokens.unwrap_or_default();
        let mut output = self.completion_tokens.unwrap_or_default();
        // Some count reasoning beside the output (xAI, Gemini). The sum tells.
        let beside = prompt.saturating_add(output).saturating_add(reasoning);
        if reasoning > 0 && self.total_tokens == Some(beside) {
            output = output.saturating_add(reasoning);
        }
        let input = prompt - cache_read - cache_write;
        let charged = self.charged().filter(|_| quirks.charges_in_dollars).map(Cost::from_dollars);
        Usage { input, output, cache_write, cache_read, reasoning, charged, is_estimated: false }
    }

    /// What was paid. With one's own key for the provider behind OpenRouter, `cost` is only what
    /// OpenRouter takes; where the rest is not told, the sum is not known.
    fn charged(&self) -> Option<f64> {
        let charged = if self.is_byok { self.cost? + self.upstream_cost? } else { self.cost? };
        // Nobody is given money for asking: such a number says nothing, and not that it cost nothing.
        (charged.is_finite() && charged >= 0.0).then_some(charged)
    }
}

/// The reason in our terms.
pub(super) fn stop_reason(reason: &str) -> StopReason {
    // Gemini says which filter it was: `content_filter: RECITATION`.
    match reason.split(':').next().unwrap_or(reason) {
        // Together passes on which token it was.
        "stop" | "eos" | "eos_token" | "end_turn" => StopReason::EndTurn,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolUse,
        // The last two are Mistral's and GLM's for a full window.
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            StopReason::MaxTokens
        }
        "stop_sequence" => StopReason::StopSequence,
        // GLM's and OpenRouter's names come last.
        "content_filter" | "sensitive" => StopReason::ContentFilter,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other(reason.to_owned()),
    }
}
