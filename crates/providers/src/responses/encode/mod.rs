//! A request as bytes: `head`, the conversation as input items, `tail`.
//!
//! The head (model, instructions, tools), each message and each stretch of messages are encoded
//! once and kept; what changes from request to request stands in the tail, after the input. The
//! provider caches prefixes by itself, so cache markers are left out.
//!
//! Invariant: within an epoch, request n+1 starts with the bytes of request n up to its tail.

mod head;
mod message;
mod tail;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use heeler_core::{
    Encoded, ModelRequest, ProviderError, ProviderErrorKind, ProviderItem, RequestMessage,
    ToolDefinition,
};

use super::DIALECT;

/// What messages' bytes without their reasoning are remembered under.
const WITHOUT_REASONING: &str = "openai-responses, without reasoning";

/// What the provider does with an answer beside telling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Keeping {
    /// Nothing.
    #[default]
    Forgets,
    /// Writes it to its end whoever reads it, and keeps it for a while.
    Keeps,
}

/// Whether reasoning goes back to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reasoning {
    Sent,
    /// The model does not reason, and refuses what another one reasoned.
    LeftOut,
}

/// Encodes requests, and keeps the last head: it stays the same for a whole epoch.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    last_head: Mutex<Option<Head>>,
    /// The last model that turned out not to reason. One is enough: few are asked, and each tells again.
    unreasoning: Mutex<Option<Arc<str>>>,
}

#[derive(Debug)]
struct Head {
    model: Arc<str>,
    system: Arc<str>,
    tools: Arc<[ToolDefinition]>,
    provider_tools: Arc<[ProviderItem]>,
    bytes: Bytes,
}

impl Encoder {
    /// The request's body as chunks that share the messages' bytes.
    pub(super) fn encode(
        &self,
        request: &ModelRequest,
        keeping: Keeping,
    ) -> Result<Vec<Bytes>, ProviderError> {
        let reasoning = self.reasoning(&request.model);
        let tail = tail::encode(request, keeping, reasoning)?;
        let mut chunks = Chunks(vec![self.head(request)?]);
        let encoded = |message: &RequestMessage| encoded(message, reasoning);
        for stretch in request.messages.stretches() {
            chunks.items(stretch.joined(reasoning.kept_under(), b',', encoded));
        }
        for message in request.messages.recent() {
            chunks.items(encoded(message).bytes);
        }
        chunks.0.push(tail);
        Ok(chunks.0)
    }

    /// From now on this model is asked for no reasoning, and sent none.
    pub(super) fn leave_reasoning_out(&self, model: &Arc<str>) {
        *self.unreasoning.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(model));
    }

    fn reasoning(&self, model: &str) -> Reasoning {
        let told = self.unreasoning.lock().unwrap_or_else(PoisonError::into_inner);
        let may_reason = tail::may_reason(model) && told.as_deref() != Some(model);
        if may_reason { Reasoning::Sent } else { Reasoning::LeftOut }
    }

    fn head(&self, request: &ModelRequest) -> Result<Bytes, ProviderError> {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = &*last
            && head.model == request.model
            && head.system == request.system
            && head.tools == request.tools
            && head.provider_tools == request.provider_tools
        {
            return Ok(head.bytes.clone());
        }
        let bytes = Bytes::from(head::encode(request)?);
        *last = Some(Head {
            model: Arc::clone(&request.model),
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            provider_tools: Arc::clone(&request.provider_tools),
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }
}

impl Reasoning {
    /// What messages' bytes are remembered under.
    fn kept_under(self) -> &'static str {
        match self {
            Self::Sent => DIALECT,
            Self::LeftOut => WITHOUT_REASONING,
        }
    }
}

/// A body's chunks so far: the head, then input items.
struct Chunks(Vec<Bytes>);

impl Chunks {
    /// Adds the next items.
    fn items(&mut self, bytes: Bytes) {
        if self.0.len() > 1 {
            self.0.push(Bytes::from_static(b","));
        }
        self.0.push(bytes);
    }
}

/// The message's items, encoded the first time they are asked for.
fn encoded(message: &RequestMessage, reasoning: Reasoning) -> Encoded {
    let name = reasoning.kept_under();
    message.encoded(name, |message| (message::encode(message, reasoning), None))
}

fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
