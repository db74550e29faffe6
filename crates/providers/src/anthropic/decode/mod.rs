//! A streamed answer, from bytes to events.
//!
//! Invariant: pure; text that grows is handed on when somebody asks for it, one event a block,
//! however many deltas brought it.

mod answer;
mod block;
mod blocks;
mod opaque;
mod plain;
mod refusal;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::VecDeque;

use heeler_core::{ModelEvent, ProviderError, ProviderErrorKind};

use self::answer::Answer;
use super::{VENDOR, error};
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

impl Decoder {
    /// A decoder of an answer that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(REPLY_BYTES_MAX)
    }

    pub(crate) fn with_limit(bytes_max: usize) -> Self {
        Self { parser: sse::Parser::new(), answer: Answer::new(bytes_max) }
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
        self.answer.blocks.publish(out);
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
