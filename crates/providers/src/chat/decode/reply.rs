//! What a whole answer is: its blocks in order, and why the model stopped.

use std::collections::VecDeque;
use std::sync::Arc;

use heeler_core::{Block, ModelEvent, Opaque, ProviderItem, Reply, StopReason, Thinking};

use super::super::extras::{CALL_MEMBER, REASONING_MEMBER};
use super::calls::End;
use super::{Answer, EXTRAS, REFUSAL, TEXT, THINKING, finish, place};

impl Answer {
    /// Ends the answer.
    pub(super) fn end(&mut self, out: &mut VecDeque<ModelEvent>) {
        let is_cut = matches!(
            self.stop,
            Some(StopReason::MaxTokens | StopReason::Refusal | StopReason::ContentFilter)
        );
        self.calls.forget_repeated();
        self.publish(out);
        // Only the last call can be the one that was cut; another one is whole or broken.
        let last = self.calls.len();
        for (nth, (at, call)) in (1..).zip(self.calls.iter_mut()) {
            let end = if is_cut && nth == last { End::Cut } else { End::Stopped };
            finish(at, call, end, out);
        }
        if self.quirks.reasoning_back && !self.thinking.text.is_empty() {
            let text = serde_json::Value::from(self.thinking.text.as_str()).to_string();
            self.reasoning.add(REASONING_MEMBER, &text);
        }
        let (stop, has_refusal) = (self.stop.take(), !self.refusal.text.is_empty());
        let (mut blocks, mut has_call) = (Vec::new(), false);
        for (block, content) in self.blocks() {
            if let Block::ToolUse(_) = content {
                has_call = true;
            } else {
                out.push_back(ModelEvent::BlockFinished { block, content: content.clone() });
            }
            blocks.push(content);
        }
        // Kept as long as the session, so without room for more.
        blocks.shrink_to_fit();
        // Some say `stop` where the model calls, and `tool_calls` where it does not.
        let stop = match stop.unwrap_or(StopReason::EndTurn) {
            StopReason::EndTurn | StopReason::ToolUse if has_call => StopReason::ToolUse,
            StopReason::EndTurn | StopReason::ToolUse if has_refusal => StopReason::Refusal,
            StopReason::ToolUse => StopReason::EndTurn,
            stop => stop,
        };
        let (usage, provider_id) = (self.usage.unwrap_or_default(), self.provider_id.take());
        self.is_whole = true;
        out.push_back(ModelEvent::Finished(Reply { blocks, stop, usage, provider_id }));
    }

    /// The reply's blocks, with their places.
    fn blocks(&mut self) -> Vec<(u32, Block)> {
        let mut blocks = Vec::new();
        let text = std::mem::take(&mut self.thinking).text;
        let raw = self.reasoning.raw(None);
        let raw = raw.map(|raw| Box::new(ProviderItem::new(self.quirks.dialect, raw)));
        if !text.is_empty() || raw.is_some() {
            let thinking = Thinking { text, signature: String::new(), raw };
            blocks.push((THINKING, Block::from(thinking)));
        }
        for (place, growing) in [(TEXT, &mut self.text), (REFUSAL, &mut self.refusal)] {
            let text = Block::text(std::mem::take(growing).text);
            if !text.is_empty() {
                blocks.push((place, text));
            }
        }
        let provider = self.quirks.dialect;
        let opaque = |raw| Block::Opaque(Arc::new(Opaque { provider: provider.to_owned(), raw }));
        blocks.extend(self.extras.raw(None).map(|raw| (EXTRAS, opaque(raw))));
        for (at, call) in self.calls.iter_mut() {
            if let Some(finished) = call.finished.take() {
                blocks.push((place(at), Block::ToolUse(finished)));
            }
            let added = call.extras.raw(Some(CALL_MEMBER));
            blocks.extend(added.map(|raw| (place(at) + 1, opaque(raw))));
        }
        blocks
    }
}
