//! An answer, from bytes to events: a stream of chunks, or one JSON document from a server that did
//! not stream.
//!
//! Invariant: pure; both forms of an answer give the same reply, whatever pieces they come in. Text
//! that grows is handed on when somebody asks for it.

mod calls;
mod input;
mod reply;
#[cfg(test)]
mod tests;
mod usage;
mod wire;

use std::collections::VecDeque;

use heeler_core::{
    Block, ModelEvent, ProviderError, ProviderErrorKind, StopReason, Usage, push_text,
};

use serde_json::value::RawValue;

use self::calls::{Call, Calls, End};
use self::usage::stop_reason;
use self::wire::{Chunk, Delta, Part, WireUsage};
use super::error;
use super::extras::{DETAILS_MEMBER, Extras};
use super::quirks::Quirks;
use crate::dialect::Decode;
use crate::endpoint::Vendor;
use crate::sse::{self, Event};
use crate::{failure, json};

/// The most bytes of data an answer may have.
const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// What ends a stream.
const DONE: &str = "[DONE]";

/// The places of a reply's blocks. A call's second place is for what the server added to it.
const THINKING: u32 = 0;
const TEXT: u32 = 1;
const REFUSAL: u32 = 2;
const EXTRAS: u32 = 3;
const CALLS: u32 = 4;

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct Decoder {
    parser: sse::Parser,
    answer: Answer,
}

/// The answer as far as it has arrived.
#[derive(Debug)]
struct Answer {
    vendor: Vendor,
    quirks: Quirks,
    thinking: Growing,
    text: Growing,
    refusal: Growing,
    calls: Calls,
    /// What goes with the reasoning.
    reasoning: Extras,
    extras: Extras,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    provider_id: Option<String>,
    bytes: usize,
    bytes_max: usize,
    is_whole: bool,
}

/// A text that grows in public.
#[derive(Debug, Default)]
struct Growing {
    text: String,
    published_bytes: usize,
}

impl Decoder {
    pub(super) fn new(quirks: &Quirks, vendor: Vendor) -> Self {
        Self::with_limit(quirks, vendor, REPLY_BYTES_MAX)
    }

    fn with_limit(quirks: &Quirks, vendor: Vendor, bytes_max: usize) -> Self {
        let answer = Answer {
            vendor,
            quirks: quirks.clone(),
            thinking: Growing::default(),
            text: Growing::default(),
            refusal: Growing::default(),
            calls: Calls::default(),
            reasoning: Extras::default(),
            extras: Extras::default(),
            stop: None,
            usage: None,
            provider_id: None,
            bytes: 0,
            bytes_max,
            is_whole: false,
        };
        Self { parser: sse::Parser::new(), answer }
    }
}

impl Decode for Decoder {
    /// Reads a chunk of the body and appends what it brings to `out`, but for text that grew; on an
    /// error, what came before it.
    fn feed(&mut self, chunk: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let Self { parser, answer } = self;
        let mut result = Ok(());
        let parsed = parser.feed(chunk, |event: Event<'_>| {
            if result.is_ok() && !answer.is_whole {
                let data = &json::mended(event.data);
                result = answer.apply(Event { data, ..event }, out);
            }
        });
        result?;
        let is_whole = self.answer.is_whole;
        if is_whole { Ok(()) } else { parsed.map_err(|error| self.answer.unreadable(&error)) }
    }

    fn told(&self, text: &str) -> Result<(), ProviderError> {
        error::told(&self.answer.vendor, text)
    }

    /// Reads an answer that is one document; what it brings is what the same answer brings streamed.
    fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let answer = &mut self.answer;
        let text = String::from_utf8_lossy(body);
        answer.chunk(&json::mended(&text), out)?;
        if answer.stop.is_none() && answer.is_empty() {
            return Err(answer.unreadable(&"it has no choices"));
        }
        answer.end(out);
        Ok(())
    }

    /// Appends to `out` the text that grew since the last time.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.answer.publish(out);
    }

    /// Whether the answer's end has arrived.
    fn is_finished(&self) -> bool {
        self.answer.is_whole
    }

    /// The model stopped. What it used follows at once, from servers that tell it.
    fn is_settled(&self) -> bool {
        self.answer.stop.is_some()
    }

    /// What the end of the body means. An answer is whole once the model stopped: some servers leave
    /// the end marker out, and the usage, too.
    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let answer = &mut self.answer;
        if answer.is_whole {
            return Ok(());
        }
        if answer.stop.is_some() {
            answer.end(out);
            return Ok(());
        }
        let left_over = self.parser.left_over();
        left_over.iter().try_for_each(|left_over| error::told(&answer.vendor, left_over))?;
        if answer.bytes == 0 {
            return Err(failure::no_events(&answer.vendor, &self.parser.stray()));
        }
        let name = answer.vendor.name;
        Err(ProviderError::new(
            ProviderErrorKind::Format,
            format!(
                "{name}'s answer ended without its end marker: the connection or a proxy cut it"
            ),
        ))
    }
}

impl Answer {
    fn apply(
        &mut self,
        event: Event<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if event.kind.is_empty() {
            return error::told(&self.vendor, data);
        }
        if data == DONE {
            if self.stop.is_none() && self.is_empty() {
                return Err(self.unreadable(&"it ended before anything was said"));
            }
            self.end(out);
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > self.bytes_max {
            return Err(self.too_long());
        }
        if event.kind == "error" {
            return Err(error::in_stream(&self.vendor, data));
        }
        // Some servers say nothing in this way, too.
        if matches!(data, "" | "null") { Ok(()) } else { self.chunk(data, out) }
    }

    /// Takes in a chunk of a stream, or a whole answer, which is one chunk that brings everything.
    fn chunk(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        if data.starts_with('[') && json::first(data).starts_with('{') {
            // Gemini tells a failure so, with the status of an answer.
            return Err(error::in_stream(&self.vendor, data));
        }
        let read: Chunk<'_> = match serde_json::from_str(data) {
            Ok(read) => read,
            Err(bad) => return Err(self.unreadable(&bad)),
        };
        let groq = read.x_groq.unwrap_or_default();
        let is_error = read.object.0.is_some_and(|object| object.0 == "error");
        if is_error || tells(read.error) || tells(groq.error) {
            return Err(error::in_stream(&self.vendor, data));
        }
        if let Some(id) = read.id.0.filter(|id| self.provider_id.is_none() && !id.0.is_empty()) {
            self.provider_id = Some(id.0.into_owned());
        }
        // More than one answer is never asked for.
        let ours = |choice: &wire::Choice<'_>| choice.index.0.unwrap_or_default() == 0;
        for choice in read.choices.unwrap_or_default().into_iter().filter(ours) {
            if let Some(failed) = choice.error.filter(|failed| tells(Some(failed))) {
                return Err(error::in_stream(&self.vendor, failed.get()));
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.grow(delta, out).map_err(|bad| self.unreadable(&bad))?;
            }
            self.count(choice.usage, out);
            match choice.finish_reason.0.as_ref().map_or("", |reason| &reason.0) {
                "" => {}
                reason => match error::of_finish_reason(&self.vendor, reason) {
                    Some(error) => return Err(error),
                    None => self.stop = Some(stop_reason(reason)),
                },
            }
        }
        self.count(read.usage.or(groq.usage), out);
        Ok(())
    }

    fn grow(&mut self, delta: Delta<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), Unreadable> {
        // Some send both names.
        let reasoning = delta.reasoning_content.filter(|text| !text.0.is_empty());
        if let Some(text) = reasoning.or(delta.reasoning) {
            push_text(&mut self.thinking.text, &text.0);
        }
        if let Some(content) = delta.content {
            self.content(content.get())?;
        }
        if let Some(text) = delta.refusal {
            push_text(&mut self.refusal.text, &text.0);
        }
        for (name, raw) in &delta.others {
            let is_reasoning = name == DETAILS_MEMBER;
            let extras = if is_reasoning { &mut self.reasoning } else { &mut self.extras };
            extras.add(name, raw.get());
        }
        let old = delta.function_call.map(|function| wire::CallDelta {
            function: Some(function),
            ..wire::CallDelta::default()
        });
        self.calls.begin_list();
        for call in delta.tool_calls.into_iter().flatten().chain(old) {
            let grown = self.calls.grow(call)?;
            self.start_call(grown.at, out);
            if grown.is_new {
                self.finish_calls_before(grown.at, out);
            }
        }
        Ok(())
    }

    /// Content is a string, or parts of which some are reasoning (Mistral's). What some servers make
    /// of a text that looks like a value is that text.
    fn content(&mut self, raw: &str) -> Result<(), Unreadable> {
        match raw.as_bytes().first() {
            Some(b'"') => {
                let text: wire::Str<'_> = serde_json::from_str(raw)?;
                push_text(&mut self.text.text, &text.0);
            }
            Some(b'[') => {
                let parts: Vec<&RawValue> = serde_json::from_str(raw)?;
                parts.iter().try_for_each(|part| self.part(part.get()))?;
            }
            _ if serde_json::from_str::<Part<'_>>(raw).is_ok_and(|part| part.kind.is_some()) => {
                self.part(raw)?;
            }
            _ => push_text(&mut self.text.text, raw),
        }
        Ok(())
    }

    fn part(&mut self, raw: &str) -> Result<(), Unreadable> {
        if raw.starts_with('"') {
            return self.content(raw);
        }
        let part = serde_json::from_str::<Part<'_>>(raw).unwrap_or_default();
        match (part.kind.as_ref().map_or("", |kind| &kind.0), part.text, part.thinking) {
            ("text", Some(text), _) => push_text(&mut self.text.text, &text.0),
            ("thinking", _, Some(thinking)) => self.think(thinking.get())?,
            _ => self.extras.add("content", &format!("[{raw}]")),
        }
        Ok(())
    }

    fn think(&mut self, raw: &str) -> Result<(), Unreadable> {
        if raw.starts_with('"') {
            let text: wire::Str<'_> = serde_json::from_str(raw)?;
            push_text(&mut self.thinking.text, &text.0);
            return Ok(());
        }
        let parts: Vec<Part<'_>> = serde_json::from_str(raw).unwrap_or_default();
        for text in parts.into_iter().filter_map(|part| part.text) {
            push_text(&mut self.thinking.text, &text.0);
        }
        Ok(())
    }

    /// Tells that the call begins that just grew, as soon as that is known.
    fn start_call(&mut self, at: u32, out: &mut VecDeque<ModelEvent>) {
        if self.calls.begins(at) {
            self.publish(out);
            let name = self.calls.start(at);
            out.push_back(ModelEvent::ToolUseStarted { block: place(at), name });
        }
    }

    /// Ends the calls before one that begins, as far as their inputs are whole.
    fn finish_calls_before(&mut self, at: u32, out: &mut VecDeque<ModelEvent>) {
        self.publish(out);
        for (before, call) in self.calls.iter_mut() {
            // One that has a name and did not start may be an earlier one again.
            let is_own = call.is_started || call.name.is_empty();
            if before < at && is_own && call.finished.is_none() && call.input.is_whole() {
                finish(before, call, End::Stopped, out);
            }
        }
    }

    fn count(&mut self, usage: Option<WireUsage>, out: &mut VecDeque<ModelEvent>) {
        if let Some(usage) = usage {
            let usage = usage.usage(&self.quirks);
            self.usage = Some(usage);
            out.push_back(ModelEvent::Usage(usage));
        }
    }

    /// Hands on what grew, one event a block.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        if let Some(text) = self.thinking.more() {
            out.push_back(ModelEvent::ThinkingDelta { block: THINKING, text });
        }
        for (block, growing) in [(TEXT, &mut self.text), (REFUSAL, &mut self.refusal)] {
            if let Some(text) = growing.more() {
                out.push_back(ModelEvent::TextDelta { block, text });
            }
        }
        for (at, call) in self.calls.iter_mut() {
            let input = call.input.text();
            if call.is_started && call.published_bytes < input.len() {
                let text = input[call.published_bytes..].to_owned();
                call.published_bytes = input.len();
                out.push_back(ModelEvent::ToolInputDelta { block: place(at), text });
            }
        }
    }

    /// Whether nothing was said yet.
    fn is_empty(&self) -> bool {
        let texts = [&self.thinking, &self.text, &self.refusal];
        texts.iter().all(|growing| growing.text.is_empty())
            && self.calls.len() == 0
            && self.reasoning.is_empty()
            && self.extras.is_empty()
    }

    fn too_long(&self) -> ProviderError {
        failure::too_long(self.bytes_max)
    }

    fn unreadable(&self, why: &impl std::fmt::Display) -> ProviderError {
        failure::unreadable(self.vendor.name, why)
    }
}

impl Growing {
    /// What came since the last time.
    fn more(&mut self) -> Option<String> {
        let more = self.text[self.published_bytes..].to_owned();
        self.published_bytes = self.text.len();
        (!more.is_empty()).then_some(more)
    }
}

/// Whether what stands in the place of a failure is one.
fn tells(error: Option<&RawValue>) -> bool {
    error.is_some_and(|error| json::tells(&json::value_in(error.get())))
}

/// The place of a call's block.
fn place(call: u32) -> u32 {
    CALLS + 2 * call
}

fn finish(at: u32, call: &mut Call, end: End, out: &mut VecDeque<ModelEvent>) {
    if call.finished.is_none() {
        let content = Block::ToolUse(call.finish(end));
        out.push_back(ModelEvent::BlockFinished { block: place(at), content });
    }
}

/// What is wrong with a chunk.
#[derive(Debug)]
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
