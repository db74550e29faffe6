//! A streamed answer, from bytes to events.
//!
//! Invariant: pure; text that grows is handed on when somebody asks for it, one event a block,
//! however many deltas brought it.

mod block;
mod opaque;
mod plain;
mod refusal;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use heeler_core::{
    Block, ModelEvent, ProviderError, ProviderErrorKind, Reply, StopReason, Usage, push_text,
};
use serde_json::value::RawValue;

use self::block::{Content, End, Growing};
use self::plain::PlainDeltas;
use self::wire::WireUsage;
use super::{VENDOR, call_fields, error, server_call};
use crate::sse::{self, Event};
use crate::{failure, json};

/// The most blocks an answer may have.
const BLOCKS_MAX: usize = 4096;
/// The most bytes of events an answer may have, keep-alives aside.
const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Decodes one streamed answer.
#[derive(Debug)]
pub struct Decoder {
    parser: sse::Parser,
    answer: Answer,
}

/// The answer as far as it has arrived.
#[derive(Debug)]
struct Answer {
    blocks: BTreeMap<u32, Slot>,
    /// Growing blocks with text that was not handed on.
    unpublished: Vec<u32>,
    /// Text that came for blocks of another kind.
    stray: String,
    stop: Option<StopReason>,
    /// What the provider says of its refusal.
    refusal: Option<Block>,
    usage: Usage,
    provider_id: Option<String>,
    /// Fields of calls that have no place in them, by their blocks.
    call_fields: BTreeMap<u32, call_fields::Fields>,
    /// Where the provider runs code of this answer.
    container: Option<String>,
    bytes: usize,
    bytes_max: usize,
    ended: bool,
    /// Where text is put together that comes in many deltas; kept for its memory.
    texts: Vec<u8>,
}

#[derive(Debug)]
enum Slot {
    Growing(Growing),
    Finished(Block),
}

impl Decoder {
    /// A decoder of an answer that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(REPLY_BYTES_MAX)
    }

    pub(crate) fn with_limit(bytes_max: usize) -> Self {
        let answer = Answer {
            blocks: BTreeMap::new(),
            unpublished: Vec::new(),
            stray: String::new(),
            stop: None,
            refusal: None,
            usage: Usage::default(),
            provider_id: None,
            call_fields: BTreeMap::new(),
            container: None,
            bytes: 0,
            bytes_max,
            ended: false,
            texts: Vec::new(),
        };
        Self { parser: sse::Parser::new(), answer }
    }

    /// Reads a chunk of the body and appends what it brings to `out`, but for text that grew; on an
    /// error, what came before it. Blocks are named by their index on the wire.
    ///
    /// # Errors
    /// When the answer cannot be understood, or tells of a failure itself.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let Self { parser, answer } = self;
        let mut result = Ok(());
        let parsed = parser.feed(chunk, Reader { answer, out, result: &mut result });
        result?;
        if answer.ended { Ok(()) } else { parsed.map_err(|error| unreadable(&error)) }
    }

    /// Appends to `out` the text that grew since the last time. What has to come after it, such as
    /// a block's end, brings it along.
    pub fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.answer.publish(out);
    }

    /// Whether the answer's end marker has arrived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.answer.ended
    }

    /// Reads an answer that is one document, as a gateway without streams gives it; what it brings
    /// is what the same answer brings streamed.
    ///
    /// # Errors
    /// When the answer cannot be understood, or tells of a failure itself.
    pub fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        self.answer.document(&json::mended(&String::from_utf8_lossy(body)), out)
    }

    /// Whether the answer told why it stopped: only its end marker is to come.
    pub(crate) fn is_settled(&self) -> bool {
        self.answer.stop.is_some()
    }

    /// What the end of the body means: an error unless the answer's end marker came before it, or
    /// why it stopped, which is said when every block is there.
    ///
    /// # Errors
    /// When the answer is not whole.
    pub fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        if self.answer.ended {
            return Ok(());
        }
        if self.is_settled() {
            return self.answer.message_stop(out).map_err(|error| unreadable(&error));
        }
        self.parser.left_over().iter().try_for_each(|left_over| error::told(left_over))?;
        if self.answer.bytes == 0 {
            return Err(failure::no_events(&VENDOR, &self.parser.stray()));
        }
        Err(ProviderError::new(
            ProviderErrorKind::Format,
            "Anthropic's answer ended without its end marker: the connection or a proxy cut it",
        ))
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Takes the events of one chunk.
struct Reader<'a> {
    answer: &'a mut Answer,
    out: &'a mut VecDeque<ModelEvent>,
    result: &'a mut Result<(), ProviderError>,
}

impl sse::Reader for Reader<'_> {
    fn event(&mut self, event: Event<'_>) {
        if self.result.is_ok() && !self.answer.ended {
            let data = &json::mended(event.data);
            *self.result = self.answer.apply(Event { data, ..event }, self.out);
        }
    }

    fn skim(&mut self, bytes: &[u8]) -> usize {
        let is_over = self.result.is_err() || self.answer.ended;
        if is_over { 0 } else { self.answer.plain_deltas(bytes).unwrap_or(0) }
    }
}

impl Answer {
    /// Takes in the deltas that `bytes` begin with and says how long they are, unless there is
    /// anything about them that the parser has to judge.
    fn plain_deltas(&mut self, bytes: &[u8]) -> Option<usize> {
        let bytes_max = self.bytes_max.checked_sub(self.bytes)?;
        let mut texts = std::mem::take(&mut self.texts);
        let taken = PlainDeltas::read(bytes, bytes_max, &mut texts).and_then(|deltas| {
            let pushed = self.growing(Some(deltas.index)).ok()?.push(deltas.kind, deltas.text);
            pushed.then_some((deltas.data_bytes, deltas.event_bytes))
        });
        self.texts = texts;
        let (data_bytes, event_bytes) = taken?;
        self.bytes += data_bytes;
        Some(event_bytes)
    }

    fn apply(
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

    fn document(
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
            let whole = self.start(index, block, out).and_then(|()| {
                self.publish(out);
                self.finish_block(index, End::Stopped, out)
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
        let index = start.index.unwrap_or_else(|| self.next());
        self.start(index, start.content_block, out)
    }

    /// The place behind all blocks.
    fn next(&self) -> u32 {
        self.blocks.last_key_value().map_or(0, |(last, _)| last.saturating_add(1))
    }

    /// The place of the last block that still grows.
    fn last_growing(&self) -> u32 {
        let mut blocks = self.blocks.iter().rev();
        let growing = blocks.find(|(_, slot)| matches!(slot, Slot::Growing(_)));
        growing.map_or(0, |(index, _)| *index)
    }

    fn start(
        &mut self,
        index: u32,
        block: &RawValue,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        if self.blocks.contains_key(&index) {
            return Err(Unreadable(format!("block {index} began twice")));
        }
        if self.blocks.len() == BLOCKS_MAX {
            return Err(Unreadable(format!("more than {BLOCKS_MAX} blocks")));
        }
        self.publish(out);
        let block = Growing::start(block)?;
        if let Content::Call(call) = &block.content {
            let name = call.name.clone();
            out.push_back(ModelEvent::ToolUseStarted { block: index, name });
            if !call.fields.is_empty() {
                self.call_fields.insert(index, call.fields.clone());
            }
        }
        if block.published().is_some_and(|text| !text.is_empty()) {
            self.unpublished.push(index);
        }
        self.blocks.insert(index, Slot::Growing(block));
        Ok(())
    }

    fn block_delta(&mut self, data: &str) -> Result<(), Unreadable> {
        let known = serde_json::from_str::<wire::BlockDelta<'_>>(data);
        if let Ok(wire::BlockDelta { index, delta }) = &known
            && is_known(&delta.kind.0)
        {
            if let Some(stray) = self.growing(*index)?.apply(delta) {
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
        self.growing(unknown.index)?.apply_unknown(unknown.delta);
        Ok(())
    }

    /// The growing block at an index, which is about to grow; the last one where none is told.
    fn growing(&mut self, index: Option<u32>) -> Result<&mut Growing, Unreadable> {
        let index = index.unwrap_or_else(|| self.last_growing());
        match self.blocks.get_mut(&index) {
            Some(Slot::Growing(block)) => {
                if !self.unpublished.contains(&index) {
                    self.unpublished.push(index);
                }
                Ok(block)
            }
            Some(Slot::Finished(_)) => Err(Unreadable(format!("block {index} grew after its end"))),
            None => Err(Unreadable(format!("block {index} grew before its start"))),
        }
    }

    fn block_stop(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        let index = serde_json::from_str::<wire::BlockStop>(data)?.index;
        let index = index.unwrap_or_else(|| self.last_growing());
        self.publish(out);
        self.finish_block(index, End::Stopped, out)
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

    fn message_stop(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        self.publish(out);
        let cut = matches!(
            self.stop,
            Some(StopReason::MaxTokens | StopReason::Refusal | StopReason::ContentFilter)
        );
        if cut {
            self.doubt_last_call();
        }
        let end = if cut { End::Cut } else { End::Stopped };
        let indexes: Vec<u32> = self.blocks.keys().copied().collect();
        for index in indexes {
            self.finish_block(index, end, out)?;
        }
        let stray = Block::text(std::mem::take(&mut self.stray));
        let stray = (!stray.is_empty()).then(|| self.append(stray, out));
        let refusal = self.refusal.take().filter(|_| self.stop == Some(StopReason::Refusal));
        // It stands where the answer would.
        refusal.map(|refusal| self.append(refusal, out));
        let mut blocks = Vec::new();
        for (index, slot) in std::mem::take(&mut self.blocks) {
            let Slot::Finished(block) = slot else { continue };
            if !says_nothing(&block) {
                // Words that have lost their place stand where a model has them: before its calls.
                let calls = blocks.iter().position(|block: &Block| block.as_tool_use().is_some());
                let at = calls.filter(|_| stray == Some(index)).unwrap_or(blocks.len());
                blocks.insert(at, block);
            }
            if let Some(fields) = self.call_fields.remove(&index) {
                let behind = call_fields::block(&fields, self.container.as_deref());
                blocks.push(behind.map_err(|error| Unreadable(error.to_string()))?);
            }
        }
        // Kept as long as the session, so without room for more.
        blocks.shrink_to_fit();
        let stop = self.stop.take().unwrap_or_else(|| default_stop(&blocks));
        let provider_id = self.provider_id.take();
        self.ended = true;
        out.push_back(ModelEvent::Finished(Reply { blocks, stop, usage: self.usage, provider_id }));
        Ok(())
    }

    /// Tells a text behind all blocks, and says where it stands.
    fn append(&mut self, content: Block, out: &mut VecDeque<ModelEvent>) -> u32 {
        let block = self.next();
        let text = content.as_text().unwrap_or_default().to_owned();
        out.push_back(ModelEvent::TextDelta { block, text });
        out.push_back(ModelEvent::BlockFinished { block, content: content.clone() });
        self.blocks.insert(block, Slot::Finished(content));
        block
    }

    /// A reply that was cut right after a call began ends that block in good order, with the input
    /// `{}`. The model never wrote that input, so the call must not run; one of the provider's own
    /// tools, which would be run with the next request, is left out.
    fn doubt_last_call(&mut self) {
        let Some(mut last) = self.blocks.last_entry() else { return };
        match last.get_mut() {
            Slot::Finished(Block::ToolUse(call))
                if call.input.get() == "{}" && call.invalid.is_none() =>
            {
                Arc::make_mut(call).invalid = Some(crate::input::CUT.to_owned());
            }
            Slot::Finished(Block::Opaque(opaque)) if server_call::is_one(opaque) => {
                last.remove();
            }
            Slot::Finished(_) | Slot::Growing(_) => {}
        }
    }

    fn finish_block(
        &mut self,
        index: u32,
        end: End,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        match self.blocks.remove(&index) {
            Some(Slot::Growing(block)) => {
                let content = block.finish(end).map_err(|error| Unreadable(error.to_string()))?;
                if let Some(content) = content {
                    self.blocks.insert(index, Slot::Finished(content.clone()));
                    out.push_back(ModelEvent::BlockFinished { block: index, content });
                }
            }
            Some(finished) => {
                self.blocks.insert(index, finished);
            }
            // A stop without a start changes nothing.
            None => {}
        }
        Ok(())
    }

    /// Hands on what grew, one event a block.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        // Nearly always it is one.
        if self.unpublished.len() > 1 {
            heeler_core::sort(&mut self.unpublished);
        }
        for index in self.unpublished.drain(..) {
            let Some(Slot::Growing(growing)) = self.blocks.get_mut(&index) else { continue };
            let Some(text) = growing.published() else { continue };
            let (text, length) = (text[growing.published_bytes..].to_owned(), text.len());
            growing.published_bytes = length;
            if text.is_empty() {
                continue;
            }
            out.push_back(match growing.content {
                Content::Thinking(_) => ModelEvent::ThinkingDelta { block: index, text },
                Content::Call(_) => ModelEvent::ToolInputDelta { block: index, text },
                _ => ModelEvent::TextDelta { block: index, text },
            });
        }
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

/// Whether a block brings neither anything to show nor anything to send back.
fn says_nothing(block: &Block) -> bool {
    match block {
        Block::Thinking(thinking) => thinking.text.is_empty() && thinking.signature.is_empty(),
        block => block.is_empty(),
    }
}

fn stop_reason(reason: &str) -> StopReason {
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

/// What is wrong with an event.
struct Unreadable(String);

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

fn unreadable(why: &impl std::fmt::Display) -> ProviderError {
    failure::unreadable("Anthropic", why)
}
