//! An answer, streamed or not, from bytes to events.
//!
//! A block's index is the item's place in the answer. What the provider calls done counts; deltas
//! only show it earlier.
//!
//! Invariant: pure; an answer gives the same reply whether it is streamed or not, however its bytes
//! are cut.

mod item;
mod known;
#[cfg(test)]
mod tests;
mod wire;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use heeler_core::{
    AcceptedAnswer, Block, ModelEvent, ProviderError, ProviderErrorKind, Reply, StopReason, Usage,
};
use serde_json::value::RawValue;

use self::item::{Growing, Kind};
use self::wire::WireUsage;
use super::{DIALECT, VENDOR, error};
use crate::dialect::Decode;
use crate::sse::{self, Event};
use crate::{failure, json};

/// The most items an answer may have.
const ITEMS_MAX: usize = 4096;
/// The most bytes of events an answer may have, or of an answer that is not streamed.
const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;

const CUT_OFF: &str =
    "OpenAI's answer ended without its end marker: the connection or a proxy cut it";

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct Decoder {
    parser: sse::Parser,
    answer: Answer,
}

/// The answer as far as it has arrived.
#[derive(Debug)]
struct Answer {
    items: BTreeMap<u32, Slot>,
    /// The places of the items that have ids, which may be the same.
    places: BTreeMap<String, BTreeSet<u32>>,
    /// Growing items with text that was not handed on.
    unpublished: BTreeSet<u32>,
    refused: bool,
    usage: Usage,
    provider_id: Option<String>,
    bytes: usize,
    bytes_max: usize,
    ended: bool,
    /// The provider goes on by itself, which is told as soon as it is known.
    is_kept: bool,
}

#[derive(Debug)]
enum Slot {
    Growing(Growing),
    Finished(Block),
}

impl Decoder {
    /// A decoder of an answer that has not begun.
    pub(super) fn new() -> Self {
        Self::with_limit(REPLY_BYTES_MAX)
    }

    fn with_limit(bytes_max: usize) -> Self {
        let answer = Answer {
            items: BTreeMap::new(),
            places: BTreeMap::new(),
            unpublished: BTreeSet::new(),
            refused: false,
            usage: Usage::default(),
            provider_id: None,
            bytes: 0,
            bytes_max,
            ended: false,
            is_kept: false,
        };
        Self { parser: sse::Parser::new(), answer }
    }

    /// A decoder of an answer that the provider keeps.
    pub(super) fn of_kept() -> Self {
        let mut decoder = Self::new();
        decoder.answer.is_kept = true;
        decoder
    }
}

impl Decode for Decoder {
    /// Reads a chunk of the body and appends what it brings to `out`, but for text that grew; on an
    /// error, what came before it.
    fn feed(&mut self, chunk: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let Self { parser, answer } = self;
        let mut result = Ok(());
        let parsed = parser.feed(chunk, |event: Event<'_>| {
            if result.is_ok() && !answer.ended {
                let data = &json::mended(event.data);
                result = answer.apply(Event { data, ..event }, out);
            }
        });
        result?;
        if answer.ended { Ok(()) } else { parsed.map_err(|error| unreadable(&error)) }
    }

    fn told(&self, text: &str) -> Result<(), ProviderError> {
        error::told(text)
    }

    /// Reads a whole answer that was not streamed.
    fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        self.answer.count_bytes(body.len())?;
        self.answer.document(body, out)
    }

    /// Appends to `out` the text that grew since the last time. What has to come after it, such as
    /// a block's end, brings it along.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.answer.publish(out);
    }

    /// Whether the answer is whole.
    fn is_finished(&self) -> bool {
        self.answer.ended
    }

    /// The event that tells the answer's end is the one that holds all of it.
    fn is_settled(&self) -> bool {
        false
    }

    /// What the end of the body means: an error unless the answer is whole.
    fn finish(&mut self, _: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        if self.answer.ended {
            return Ok(());
        }
        self.parser.left_over().iter().try_for_each(|left_over| error::told(left_over))?;
        if self.answer.bytes == 0 {
            return Err(failure::no_events(&VENDOR, &self.parser.stray()));
        }
        Err(format_error(CUT_OFF))
    }
}

impl Answer {
    fn count_bytes(&mut self, n: usize) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(n);
        if self.bytes > self.bytes_max {
            return Err(failure::too_long(self.bytes_max));
        }
        Ok(())
    }

    fn apply(
        &mut self,
        event: Event<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if event.kind.is_empty() {
            return error::told(event.data);
        }
        let kind = if event.kind == "message" {
            // Some gateways leave the event's name out.
            let named_in_data = serde_json::from_str::<wire::Kind<'_>>(event.data);
            named_in_data.map_or(Cow::Borrowed(""), |data| data.kind)
        } else {
            Cow::Borrowed(event.kind)
        };
        self.count_bytes(event.data.len())?;
        let applied = match &*kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(event.data, Kind::Text)
            }
            "response.reasoning_text.delta" => self.delta(event.data, Kind::Thinking),
            "response.reasoning_summary_text.delta" => self.summary_delta(event.data),
            "response.function_call_arguments.delta" => self.delta(event.data, Kind::Call),
            "response.output_item.added" => self.item_added(event.data, out),
            "response.output_item.done" => self.item_done(event.data, out),
            "response.created" => self.created(event.data, out),
            "response.completed" | "response.incomplete" => return self.ended(event.data, out),
            "response.failed" | "response.cancelled" => return Err(self.failed(event.data, out)),
            "error" => return Err(error::from_event(event.data)),
            // So do gateways that call it nothing.
            "" => return error::told(event.data),
            _ => Ok(()),
        };
        applied.map_err(|error| unreadable(&format!("a bad `{kind}` event: {error}")))
    }

    fn created(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        let event: wire::ResponseEvent<'_> = serde_json::from_str(data)?;
        self.provider_id = serde_json::from_str::<wire::Begun>(event.response.get())?.id;
        if let (true, Some(id)) = (self.is_kept, &self.provider_id) {
            let answer = AcceptedAnswer { dialect: DIALECT.into(), id: id.clone() };
            out.push_back(ModelEvent::Accepted(answer));
        }
        Ok(())
    }

    fn item_added(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        let wire::ItemEvent { output_index, item } = serde_json::from_str(data)?;
        // Its end tells all of it.
        let Some(block) = output_index else { return Ok(()) };
        let mut growing = Growing::start(item)?;
        self.publish(out);
        match self.items.get_mut(&block) {
            Some(Slot::Growing(early)) if early.is_early => growing.go_on(early),
            Some(_) => return Err(Unreadable(format!("item {block} began twice"))),
            None => self.make_room()?,
        }
        if let Some(name) = growing.called() {
            let name = name.to_owned();
            out.push_back(ModelEvent::ToolUseStarted { block, name });
        }
        self.name(item, block);
        self.items.insert(block, Slot::Growing(growing));
        Ok(())
    }

    fn delta(&mut self, data: &str, kind: Kind) -> Result<(), Unreadable> {
        let delta: wire::Delta<'_> = serde_json::from_str(data)?;
        let Some(index) = delta.output_index else { return Ok(()) };
        if let Some(growing) = self.growing(index, kind)? {
            growing.push(kind, &delta.delta);
        }
        Ok(())
    }

    fn summary_delta(&mut self, data: &str) -> Result<(), Unreadable> {
        let delta: wire::Delta<'_> = serde_json::from_str(data)?;
        let Some(index) = delta.output_index else { return Ok(()) };
        if let Some(growing) = self.growing(index, Kind::Thinking)? {
            growing.push_summary(delta.summary_index.unwrap_or_default(), &delta.delta);
        }
        Ok(())
    }

    /// The growing item at an index, which is about to grow, and may begin so; `None` for one that is
    /// whole already, which counts, and for a call that nobody named: its end tells all of it.
    fn growing(&mut self, index: u32, kind: Kind) -> Result<Option<&mut Growing>, Unreadable> {
        if kind != Kind::Call && !self.items.contains_key(&index) {
            self.make_room()?;
            self.items.insert(index, Slot::Growing(Growing::early(kind)));
        }
        match self.items.get_mut(&index) {
            Some(Slot::Growing(growing)) => {
                self.unpublished.insert(index);
                Ok(Some(growing))
            }
            Some(Slot::Finished(_)) | None => Ok(None),
        }
    }

    fn item_done(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        let wire::ItemEvent { output_index, item } = serde_json::from_str(data)?;
        let index = match output_index {
            Some(index) => index,
            None => self.place_of(item)?,
        };
        if matches!(self.items.get(&index), Some(Slot::Finished(_))) {
            return Err(Unreadable(format!("item {index} ended twice")));
        }
        self.publish(out);
        self.finish_item(index, item, out)
    }

    /// The item is whole.
    fn finish_item(
        &mut self,
        index: u32,
        raw: &RawValue,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        if !self.items.contains_key(&index) {
            self.make_room()?;
        }
        let content = item::block(raw).map_err(|error| Unreadable(error.to_string()))?;
        self.refused |= matches!(content, Block::Text(_)) && item::is_refusal(raw);
        self.name(raw, index);
        let was = self.items.insert(index, Slot::Finished(content.clone()));
        tell_rest(was, index, &content, out);
        out.push_back(ModelEvent::BlockFinished { block: index, content });
        Ok(())
    }

    fn make_room(&self) -> Result<(), Unreadable> {
        if self.items.len() >= ITEMS_MAX {
            return Err(Unreadable(format!("more than {ITEMS_MAX} items")));
        }
        Ok(())
    }

    /// The end of a stream.
    fn ended(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let event = serde_json::from_str::<wire::ResponseEvent<'_>>(data);
        let event = event.map_err(|error| unreadable(&format!("a bad last event: {error}")))?;
        self.publish(out);
        self.whole(event.response.get(), out)
    }

    /// An answer that is not streamed.
    fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let body = String::from_utf8_lossy(body);
        let body = json::mended(&body);
        match serde_json::from_str::<wire::Response<'_>>(&body) {
            Ok(response) if response.status.is_some() || response.output.is_some() => {
                self.whole(&body, out)
            }
            Err(error) if error.is_eof() => Err(format_error(CUT_OFF)),
            _ => Err(error::from_body(&body)),
        }
    }

    /// Takes the whole answer in: what of it came before stays as it came.
    fn whole(&mut self, raw: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let response = serde_json::from_str::<wire::Response<'_>>(raw);
        let response = response.map_err(|error| unreadable(&error))?;
        self.count_tokens(response.usage, out);
        self.provider_id = response.id.or_else(|| self.provider_id.take());
        let reason = response.incomplete_details.and_then(|details| details.reason);
        let cut = match response.status.as_deref() {
            Some("completed") | None => None,
            Some("incomplete") => Some(stop_reason(reason)),
            Some("failed" | "cancelled") => return Err(error::from_response(raw)),
            Some(other) => {
                return Err(unreadable(&format!("the answer is not whole, but `{other}`")));
            }
        };
        let output = response.output.unwrap_or_default();
        let places = self.known_places(&output);
        for (index, (item, place)) in (0..).zip(output.into_iter().zip(places)) {
            let place = place.unwrap_or_else(|| self.free_place(index));
            if !matches!(self.items.get(&place), Some(Slot::Finished(_))) {
                self.finish_item(place, item, out)
                    .map_err(|error| unreadable(&format!("a bad item {index}: {error}")))?;
            }
        }
        self.end(cut, out);
        Ok(())
    }

    fn end(&mut self, cut: Option<StopReason>, out: &mut VecDeque<ModelEvent>) {
        if cut.is_some() {
            self.doubt_last_call();
        }
        let mut blocks = Vec::new();
        for (block, slot) in std::mem::take(&mut self.items) {
            match slot {
                Slot::Finished(content) => blocks.push(content),
                Slot::Growing(growing) => {
                    let Some(content) = growing.cut() else { continue };
                    out.push_back(ModelEvent::BlockFinished { block, content: content.clone() });
                    blocks.push(content);
                }
            }
        }
        blocks.retain(|block| !says_nothing(block));
        // Kept as long as the session, so without room for more.
        blocks.shrink_to_fit();
        let has_calls = blocks.iter().any(|block| block.as_tool_use().is_some());
        let stop = match cut {
            Some(stop) => stop,
            None if has_calls => StopReason::ToolUse,
            None if self.refused => StopReason::Refusal,
            None => StopReason::EndTurn,
        };
        self.ended = true;
        let (usage, provider_id) = (self.usage, self.provider_id.take());
        out.push_back(ModelEvent::Finished(Reply { blocks, stop, usage, provider_id }));
    }

    /// An answer that was cut right after a call began may call it done with no input. The model
    /// never wrote that, so the call must not run.
    fn doubt_last_call(&mut self) {
        if let Some((_, Slot::Finished(Block::ToolUse(call)))) = self.items.iter_mut().next_back()
            && call.input.get() == "{}"
            && call.invalid.is_none()
        {
            Arc::make_mut(call).invalid = Some(crate::input::CUT.to_owned());
        }
    }

    /// What a failed answer says; what it cost is told first.
    fn failed(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> ProviderError {
        let Ok(event) = serde_json::from_str::<wire::ResponseEvent<'_>>(data) else {
            return error::from_event(data);
        };
        self.publish(out);
        if let Ok(response) = serde_json::from_str::<wire::Response<'_>>(event.response.get()) {
            self.count_tokens(response.usage, out);
        }
        error::from_response(event.response.get())
    }

    /// Hands on what grew, one event a block.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        while let Some(block) = self.unpublished.pop_first() {
            let Some(Slot::Growing(growing)) = self.items.get_mut(&block) else { continue };
            let text = growing.text[growing.published_bytes..].to_owned();
            growing.published_bytes = growing.text.len();
            if text.is_empty() {
                continue;
            }
            out.push_back(match growing.kind {
                Kind::Thinking => ModelEvent::ThinkingDelta { block, text },
                Kind::Call => ModelEvent::ToolInputDelta { block, text },
                Kind::Text | Kind::Opaque => ModelEvent::TextDelta { block, text },
            });
        }
    }

    fn count_tokens(&mut self, usage: Option<WireUsage>, out: &mut VecDeque<ModelEvent>) {
        let Some(usage) = usage else { return };
        let input = usage.input_tokens_details.unwrap_or_default();
        let cache_read = input.cached_tokens.unwrap_or_default();
        let cache_write = input.cache_write_tokens.unwrap_or_default();
        let all = usage.input_tokens.unwrap_or_default();
        let output = usage.output_tokens_details.unwrap_or_default();
        self.usage = Usage {
            input: all.saturating_sub(cache_read).saturating_sub(cache_write),
            output: usage.output_tokens.unwrap_or_default(),
            cache_write,
            cache_read,
            reasoning: output.reasoning_tokens.unwrap_or_default(),
            charged: None,
            is_estimated: false,
        };
        out.push_back(ModelEvent::Usage(self.usage));
    }
}

/// Tells what of a whole item was not told while it grew: all of it where nothing streams.
fn tell_rest(was: Option<Slot>, block: u32, content: &Block, out: &mut VecDeque<ModelEvent>) {
    let told = match &was {
        Some(Slot::Growing(growing)) => &growing.text[..growing.published_bytes],
        _ => "",
    };
    let rest =
        |whole: &str| whole.strip_prefix(told).filter(|rest| !rest.is_empty()).map(str::to_owned);
    match content {
        Block::Text(whole) => {
            out.extend(rest(&whole.text).map(|text| ModelEvent::TextDelta { block, text }));
        }
        Block::Thinking(whole) => {
            out.extend(rest(&whole.text).map(|text| ModelEvent::ThinkingDelta { block, text }));
        }
        Block::ToolUse(call) => {
            if was.is_none() {
                out.push_back(ModelEvent::ToolUseStarted { block, name: call.name.clone() });
            }
            let rest = rest(call.input.get()).filter(|_| call.invalid.is_none());
            out.extend(rest.map(|text| ModelEvent::ToolInputDelta { block, text }));
        }
        _ => {}
    }
}

/// Whether a block brings neither anything to show nor anything to send back.
fn says_nothing(block: &Block) -> bool {
    match block {
        Block::Thinking(thinking) => thinking.text.is_empty() && thinking.raw.is_none(),
        block => block.is_empty(),
    }
}

/// Why an answer is not whole.
fn stop_reason(reason: Option<String>) -> StopReason {
    match reason.as_deref() {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::ContentFilter,
        _ => StopReason::Other(reason.unwrap_or_else(|| "incomplete".to_owned())),
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
    failure::unreadable("OpenAI", why)
}

fn format_error(message: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Format, message)
}
