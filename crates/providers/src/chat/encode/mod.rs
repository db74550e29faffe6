//! A request as bytes: `head`, the messages, `tail`.
//!
//! The head (model, tools, system prompt), each message and each stretch of messages are encoded
//! once and kept; what changes from request to request stands in the tail, after the messages.
//!
//! Invariant: within an epoch, request n+1 starts with the bytes of request n up to its tail.

mod call_id;
mod head;
mod message;
mod tail;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use heeler_core::{
    CacheMarker, Encoded, ModelRequest, ProviderError, ProviderErrorKind, ProviderItem,
    RequestMessage, ToolDefinition,
};

use super::Quirks;

/// Encodes requests, and keeps the last head: it stays the same for a whole epoch.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    last_head: Mutex<Option<Head>>,
}

#[derive(Debug)]
struct Head {
    model: Arc<str>,
    system: Arc<str>,
    system_cache: Option<CacheMarker>,
    tools: Arc<[ToolDefinition]>,
    provider_tools: Arc<[ProviderItem]>,
    bytes: Bytes,
}

/// What a request says of one tool.
pub(super) fn definition(tool: &ToolDefinition, quirks: &Quirks) -> Vec<u8> {
    let mut out = Vec::new();
    head::definition(&mut out, tool, quirks);
    out
}

impl Encoder {
    /// The request's body as chunks that share the messages' bytes.
    pub(super) fn encode(
        &self,
        request: &ModelRequest,
        quirks: &Quirks,
    ) -> Result<Vec<Bytes>, ProviderError> {
        let tail = tail::encode(request, quirks)?;
        let head = self.head(request, quirks)?;
        let mut chunks = Chunks { is_first: request.system.is_empty(), chunks: vec![head] };
        let encoded = |message: &RequestMessage| encoded(message, quirks);
        for stretch in request.messages.stretches() {
            chunks.item(stretch.joined(quirks.dialect, b',', encoded));
        }
        for message in request.messages.recent() {
            chunks.item(encoded(message).bytes);
        }
        chunks.chunks.push(tail);
        Ok(chunks.chunks)
    }

    fn head(&self, request: &ModelRequest, quirks: &Quirks) -> Result<Bytes, ProviderError> {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = &*last
            && head.system_cache == request.parameters.system_cache
            && head.model == request.model
            && head.system == request.system
            && head.tools == request.tools
            && head.provider_tools == request.provider_tools
        {
            return Ok(head.bytes.clone());
        }
        let bytes = Bytes::from(head::encode(request, quirks)?);
        *last = Some(Head {
            model: Arc::clone(&request.model),
            system: Arc::clone(&request.system),
            system_cache: request.parameters.system_cache,
            tools: Arc::clone(&request.tools),
            provider_tools: Arc::clone(&request.provider_tools),
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }
}

/// A body's chunks so far: the head, then items of the list of messages.
struct Chunks {
    is_first: bool,
    chunks: Vec<Bytes>,
}

impl Chunks {
    /// Adds the next item of the list.
    fn item(&mut self, bytes: Bytes) {
        if !self.is_first {
            self.chunks.push(Bytes::from_static(b","));
        }
        self.is_first = false;
        self.chunks.push(bytes);
    }
}

/// The message's bytes, encoded the first time they are asked for.
fn encoded(message: &RequestMessage, quirks: &Quirks) -> Encoded {
    message.encoded(quirks.dialect, |message| (message::encode(message, quirks), None))
}

/// What marks a part, with the comma before it; nothing where markers are not sent.
fn marker(marker: Option<CacheMarker>, quirks: &Quirks) -> &'static [u8] {
    match marker.filter(|_| quirks.takes_markers) {
        None => b"",
        Some(CacheMarker::FiveMinutes) => br#","cache_control":{"type":"ephemeral"}"#,
        Some(CacheMarker::OneHour) => br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    }
}

fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
