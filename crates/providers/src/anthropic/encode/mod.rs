//! A request as bytes: `head`, the messages, `tail`.
//!
//! The head (model, system, tools), each message and each stretch of messages are encoded once and
//! kept; what changes from request to request stands in the tail, after the messages.
//!
//! Invariant: within an epoch, request n+1 starts with the bytes of request n up to its tail,
//! cache markers left out; but for calls of the provider's own tools at the end of request n, which
//! are taken out when a user speaks instead of it.

mod head;
#[cfg(test)]
mod incremental;
mod json;
mod markers;
mod message;
mod tail;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use heeler_core::{
    CacheMarker, Encoded, ModelRequest, ProviderError, ProviderItem, RequestMessage,
    RequestMessages, ToolDefinition,
};

use self::json::marker_text;
use self::markers::Markers;
use super::{DIALECT, server_call};

/// What the bytes of an answer are remembered under that nothing goes on with.
const OVER: &str = "anthropic, over";

/// Encodes requests, and keeps the last head: it stays the same for a whole epoch.
#[derive(Debug, Default)]
pub struct Encoder {
    last_head: Mutex<Option<Head>>,
}

#[derive(Debug)]
struct Head {
    model: Arc<str>,
    system: Arc<str>,
    tools: Arc<[ToolDefinition]>,
    provider_tools: Arc<[ProviderItem]>,
    markers: HeadMarkers,
    bytes: Bytes,
}

/// The markers of a request's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HeadMarkers {
    system: Option<CacheMarker>,
    tools: Option<CacheMarker>,
}

/// What a request says of one tool.
pub(super) fn definition(tool: &ToolDefinition) -> Vec<u8> {
    let mut out = Vec::new();
    head::definition(&mut out, tool, tool.cache);
    out
}

impl Encoder {
    /// The request's body as chunks that share the messages' bytes.
    ///
    /// # Errors
    /// When the request cannot be sent.
    pub fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError> {
        let tail = tail::encode(request)?;
        let markers = Markers::choose(request)?;
        let messages = &request.messages;
        // Each with a comma before it, one of them with a marker, between head and tail.
        let n_items = messages.stretches().count() + messages.recent().len();
        let mut chunks = Chunks(Vec::with_capacity(2 * n_items + 4));
        chunks.0.push(self.head(request, markers.head)?);
        let mut at = 0;
        for stretch in messages.stretches() {
            let length = stretch.messages().len();
            if stretch.is_marked() || markers.marks_within(at..at + length) {
                chunks.messages(&markers, messages, at, stretch.messages());
            } else {
                chunks.item(stretch.joined(DIALECT, b',', |message| {
                    let place = stretch.messages().iter().position(|m| std::ptr::eq(&**m, message));
                    encoded(message, place.and_then(|place| messages.get(at + place + 1)))
                }));
            }
            at += length;
        }
        chunks.messages(&markers, messages, at, messages.recent());
        chunks.0.push(tail);
        Ok(chunks.0)
    }

    fn head(&self, request: &ModelRequest, markers: HeadMarkers) -> Result<Bytes, ProviderError> {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = &*last
            && head.markers == markers
            && head.model == request.model
            && head.system == request.system
            && head.tools == request.tools
            && head.provider_tools == request.provider_tools
        {
            return Ok(head.bytes.clone());
        }
        let bytes = Bytes::from(head::encode(request, markers)?);
        *last = Some(Head {
            model: Arc::clone(&request.model),
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            provider_tools: Arc::clone(&request.provider_tools),
            markers,
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }
}

/// A body's chunks so far: the head, then items of the list of messages.
struct Chunks(Vec<Bytes>);

impl Chunks {
    /// Adds messages one by one; the first is the conversation's at `at`.
    fn messages(
        &mut self,
        markers: &Markers,
        all: &RequestMessages,
        at: usize,
        messages: &[Arc<RequestMessage>],
    ) {
        for (index, message) in (at..).zip(messages) {
            let encoded = encoded(message, all.get(index + 1));
            match (markers.stable.filter(|(at, _)| *at == index), encoded.marker_at) {
                (Some((_, marker)), Some(at)) => {
                    self.item(encoded.bytes.slice(..at));
                    self.0.push(Bytes::from_static(marker_text(marker)));
                    self.0.push(encoded.bytes.slice(at..));
                }
                _ => self.item(encoded.bytes),
            }
        }
    }

    /// Adds the next item of the list, if it is one.
    fn item(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        if self.0.len() > 1 {
            self.0.push(Bytes::from_static(b","));
        }
        self.0.push(bytes);
    }
}

/// The message's bytes in front of `next`, encoded the first time they are asked for.
fn encoded(message: &RequestMessage, next: Option<&Arc<RequestMessage>>) -> Encoded {
    if server_call::is_over(&message.message, next.map(|next| &*next.message)) {
        message.encoded(OVER, |message| message::encode(&server_call::answered(message)))
    } else {
        message.encoded(DIALECT, message::encode_unfinished)
    }
}
