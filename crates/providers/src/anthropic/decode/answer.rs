//! An answer as far as it has arrived: what each event does to it.

use std::collections::VecDeque;

use heeler_core::{Block, ModelEvent, ProviderError, Reply, StopReason, Usage, push_text};

use super::super::error;
use super::block::End;
use super::blocks::Blocks;
use super::plain::PlainDeltas;
use super::wire::{self, WireUsage};
use super::{Unreadable, refusal, unreadable};
use crate::failure;
use crate::sse::Event;

/// The answer as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) blocks: Blocks,
    /// Text that came for blocks of another kind.
    stray: String,
    pub(super) stop: Option<StopReason>,
    /// What the provider says of its refusal.
    refusal: Option<Block>,
    usage: Usage,
    provider_id: Option<String>,
    /// Where the provider runs code of this answer.
    container: Option<String>,
    pub(super) bytes: usize,
    bytes_max: usize,
    pub(super) ended: bool,
    /// Where text is put together that comes in many deltas; kept for its memory.
    texts: Vec<u8>,
}

impl Answer {
    /// One that has not begun and may have this many bytes of events.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }

    /// Takes in the deltas that `bytes` begin with and says how long they are, unless there is
    /// anything about them that the parser has to judge.
    pub(super) fn plain_deltas(&mut self, bytes: &[u8]) -> Option<usize> {
        let bytes_max = self.bytes_max.checked_sub(self.bytes)?;
        let mut texts = std::mem::take(&mut self.texts);
        let taken = PlainDeltas::read(bytes, bytes_max, &mut texts).and_then(|deltas| {
            let pushed =
                self.blocks.growing(Some(deltas.index)).ok()?.push(deltas.kind, deltas.text);
            pushed.then_some((deltas.data_bytes, deltas.event_bytes))
        });
        self.texts = texts;
        let (data_bytes, event_bytes) = taken?;
        self.bytes += data_bytes;
        Some(event_bytes)
    }

    pub(super) fn apply(
        &mut self,
        event: Event<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if event.kind.is_empty() {
            return error::told(event.data);
        }
        let named_in_data;
        let kind = if event.kind == "message" {
            // Some gateways leave the event's name out.
            named_in_data = serde_json::from_str::<wire::Kind<'_>>(event.data);
            named_in_data.as_ref().map_or("", |data| &data.kind.0)
        } else {
            event.kind
        };
        if kind == "ping" {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(event.data.len());
        if self.bytes > self.bytes_max {
            return Err(failure::too_long(self.bytes_max));
        }
        let applied = match kind {
            "content_block_delta" => self.block_delta(event.data),
            "content_block_start" => self.block_start(event.data, out),
            "content_block_stop" => self.block_stop(event.data, out),
            "message_start" => self.message_start(event.data, out),
            "message_delta" => self.message_delta(event.data, out),
            "message_stop" => self.message_stop(out),
            "error" => return Err(error::from_event(event.data)),
            // So do gateways that call it nothing.
            "" => return error::told(event.data),
            _ => Ok(()),
        };
        applied.map_err(|error| unreadable(&format!("a bad `{kind}` event: {error}")))
    }

    pub(super) fn document(
        &mut self,
        body: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let read = match serde_json::from_str::<wire::Document<'_>>(body) {
            Ok(read) => read,
            Err(bad) => return error::told(body).and(Err(unreadable(&bad))),
        };
        self.provider_id = read.id.map(|id| id.0.into_owned());
        self.container = read.container.map(|container| container.id.0.into_owned());
        self.stop = read.stop_reason.map(|reason| stop_reason(&reason.0));
        self.refusal = read.stop_details.and_then(refusal::note);
        for (index, block) in (0..).zip(read.content) {
            let whole = self.blocks.start(index, block, out).and_then(|()| {
                self.blocks.publish(out);
                self.blocks.finish(index, End::Stopped, out)
            });
            whole.map_err(|error| unreadable(&format!("a bad block {index}: {error}")))?;
        }
        self.count(read.usage, out);
        self.message_stop(out).map_err(|error| unreadable(&error))
    }

    fn message_start(
        &mut self,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        let start: wire::MessageStart<'_> = serde_json::from_str(data)?;
        self.provider_id = start.message.id.map(|id| id.0.into_owned());
        self.container = start.message.container.map(|container| container.id.0.into_owned());
        self.count(start.message.usage, out);
        Ok(())
    }

    fn block_start(
        &mut self,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        let start: wire::BlockStart<'_> = serde_json::from_str(data)?;
        let index = start.index.unwrap_or_else(|| self.blocks.next());
        self.blocks.start(index, start.content_block, out)
    }

    fn block_delta(&mut self, data: &str) -> Result<(), Unreadable> {
        let known = serde_json::from_str::<wire::BlockDelta<'_>>(data);
        if let Ok(wire::BlockDelta { index, delta }) = &known
            && is_known(&delta.kind.0)
        {
            if let Some(stray) = self.blocks.growing(*index)?.apply(delta) {
                push_text(&mut self.stray, stray);
            }
            return Ok(());
        }
        let unknown: wire::UnknownDelta<'_> = serde_json::from_str(data)?;
        let kind = unknown.delta.get(&wire::Str("type".into())).map(|raw| raw.get());
        let kind = kind.and_then(|raw| serde_json::from_str::<wire::Str<'_>>(raw).ok());
        if let (Some(kind), Err(error)) = (kind, known)
            && is_known(&kind.0)
        {
            return Err(error.into());
        }
        self.blocks.growing(unknown.index)?.apply_unknown(unknown.delta);
        Ok(())
    }

    fn block_stop(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        let index = serde_json::from_str::<wire::BlockStop>(data)?.index;
        let index = index.unwrap_or_else(|| self.blocks.last_growing());
        self.blocks.publish(out);
        self.blocks.finish(index, End::Stopped, out)
    }

    fn message_delta(
        &mut self,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        let change: wire::MessageDelta<'_> = serde_json::from_str(data)?;
        if let Some(change) = change.delta {
            let wire::MessageChange { stop_reason: reason, stop_details, container } = change;
            self.refusal = stop_details.and_then(refusal::note).or(self.refusal.take());
            self.stop = reason.map(|reason| stop_reason(&reason.0)).or(self.stop.take());
            let container = container.map(|container| container.id.0.into_owned());
            self.container = container.or(self.container.take());
        }
        self.count(change.usage, out);
        Ok(())
    }

    pub(super) fn message_stop(
        &mut self,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        self.blocks.publish(out);
        let cut = matches!(
            self.stop,
            Some(StopReason::MaxTokens | StopReason::Refusal | StopReason::ContentFilter)
        );
        if cut {
            self.blocks.doubt_last_call();
        }
        let end = if cut { End::Cut } else { End::Stopped };
        self.blocks.finish_all(end, out)?;
        let stray = Block::text(std::mem::take(&mut self.stray));
        let stray = (!stray.is_empty()).then(|| self.blocks.append(stray, out));
        let refusal = self.refusal.take().filter(|_| self.stop == Some(StopReason::Refusal));
        // It stands where the answer would.
        refusal.map(|refusal| self.blocks.append(refusal, out));
        let blocks = self.blocks.take(stray, self.container.as_deref())?;
        let stop = self.stop.take().unwrap_or_else(|| default_stop(&blocks));
        let provider_id = self.provider_id.take();
        self.ended = true;
        out.push_back(ModelEvent::Finished(Reply { blocks, stop, usage: self.usage, provider_id }));
        Ok(())
    }

    fn count(&mut self, usage: Option<WireUsage>, out: &mut VecDeque<ModelEvent>) {
        let Some(usage) = usage else { return };
        let set = |counter: &mut u64, value: Option<u64>| *counter = value.unwrap_or(*counter);
        set(&mut self.usage.input, usage.input_tokens);
        set(&mut self.usage.output, usage.output_tokens);
        set(&mut self.usage.cache_write, usage.cache_creation_input_tokens);
        set(&mut self.usage.cache_read, usage.cache_read_input_tokens);
        let details = usage.output_tokens_details.unwrap_or_default();
        set(&mut self.usage.reasoning, details.thinking_tokens);
        out.push_back(ModelEvent::Usage(self.usage));
    }
}

fn is_known(delta: &str) -> bool {
    matches!(
        delta,
        "text_delta"
            | "input_json_delta"
            | "thinking_delta"
            | "signature_delta"
            | "citations_delta"
    )
}

pub(super) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::Pause,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// The reason of an answer that gives none, as some gateways' do.
fn default_stop(blocks: &[Block]) -> StopReason {
    if blocks.iter().any(|block| block.as_tool_use().is_some()) {
        StopReason::ToolUse
    } else {
        StopReason::EndTurn
    }
}
