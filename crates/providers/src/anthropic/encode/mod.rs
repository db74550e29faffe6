//! A request as bytes: `head`, the messages, `tail`.
//!
//! The head (model, system, tools), each message and each stretch of messages are encoded once and
//! kept; what changes from request to request stands in the tail, after the messages.
//!
//! Invariant: within an epoch, request n+1 starts with the bytes of request n up to its tail,
//! cache markers left out.

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
    CacheMarker, Encoded, ModelRequest, ProviderError, RequestMessage, ToolDefinition,
};

use self::json::{marker_text, string};
use self::markers::Markers;
use self::message::OwnMarkers;
use super::DIALECT;

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
    markers: HeadMarkers,
    bytes: Bytes,
}

/// The markers of a request's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HeadMarkers {
    system: Option<CacheMarker>,
    tools: Option<CacheMarker>,
}

impl Encoder {
    /// The request's body as chunks that share the messages' bytes.
    ///
    /// # Errors
    /// When the request cannot be sent.
    pub fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError> {
        let tail = tail::encode(request)?;
        let markers = Markers::choose(request);
        let mut chunks = Chunks(vec![self.head(request, markers.head)]);
        let mut at = 0;
        for stretch in request.messages.stretches() {
            let length = stretch.messages().len();
            if stretch.is_marked() || markers.marks_within(at..at + length) {
                chunks.messages(&markers, at, stretch.messages());
            } else {
                chunks.item(stretch.joined(DIALECT, b',', encoded));
            }
            at += length;
        }
        chunks.messages(&markers, at, request.messages.recent());
        chunks.0.push(tail);
        Ok(chunks.0)
    }

    fn head(&self, request: &ModelRequest, markers: HeadMarkers) -> Bytes {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = &*last
            && head.markers == markers
            && head.model == request.model
            && head.system == request.system
            && head.tools == request.tools
        {
            return head.bytes.clone();
        }
        let bytes = Bytes::from(encode_head(request, markers));
        *last = Some(Head {
            model: Arc::clone(&request.model),
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            markers,
            bytes: bytes.clone(),
        });
        bytes
    }
}

/// A body's chunks so far: the head, then items of the list of messages.
struct Chunks(Vec<Bytes>);

impl Chunks {
    /// Adds messages one by one; the first is the conversation's at `at`.
    fn messages(&mut self, markers: &Markers, at: usize, messages: &[Arc<RequestMessage>]) {
        for (index, message) in (at..).zip(messages) {
            let encoded = if markers.own_left_out(index) {
                let (bytes, marker_at) = message::encode(&message.message, OwnMarkers::LeftOut);
                Encoded { dialect: DIALECT, bytes: bytes.into(), marker_at }
            } else {
                encoded(message)
            };
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

    /// Adds the next item of the list, unless it is empty.
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

/// The message's bytes, encoded the first time they are asked for.
fn encoded(message: &RequestMessage) -> Encoded {
    message.encoded(DIALECT, |message| message::encode(message, OwnMarkers::Written))
}

fn encode_head(request: &ModelRequest, markers: HeadMarkers) -> Vec<u8> {
    let mut out = br#"{"model":"#.to_vec();
    string(&mut out, &request.model);
    if !request.system.is_empty() {
        out.extend_from_slice(br#","system":[{"type":"text","text":"#);
        string(&mut out, &request.system);
        out.extend_from_slice(markers.system.map_or(b"", marker_text));
        out.extend_from_slice(b"}]");
    }
    if let Some((last, before)) = request.tools.split_last() {
        out.extend_from_slice(br#","tools":["#);
        for tool in before {
            encode_tool(&mut out, tool, None);
            out.push(b',');
        }
        encode_tool(&mut out, last, markers.tools);
        out.push(b']');
    }
    out.extend_from_slice(br#","messages":["#);
    out
}

fn encode_tool(out: &mut Vec<u8>, tool: &ToolDefinition, marker: Option<CacheMarker>) {
    out.extend_from_slice(br#"{"name":"#);
    string(out, &tool.name);
    out.extend_from_slice(br#","description":"#);
    string(out, &tool.description);
    out.extend_from_slice(br#","input_schema":"#);
    out.extend_from_slice(tool.input_schema.get().as_bytes());
    out.extend_from_slice(marker.map_or(b"", marker_text));
    out.push(b'}');
}
