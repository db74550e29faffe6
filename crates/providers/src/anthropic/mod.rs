//! Anthropic's Messages: `encode` and `decode` are the pure dialect, this file is what others see.

mod call_fields;
mod decode;
mod encode;
mod error;
mod server_call;
mod settings;
pub mod tools;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use heeler_core::{EventStream, ModelEvent, ModelRequest, Provider, ProviderError, ToolDefinition};

// Whoever counts what they execute needs them, and nobody else: `Anthropic` is both.
#[doc(hidden)]
pub use self::decode::Decoder;
#[doc(hidden)]
pub use self::encode::Encoder;
pub use self::settings::{AnthropicSettings, BASE_URL_DEFAULT, Key};
use crate::dialect::{Decode, Dialect, Link};
use crate::endpoint::{SettingsError, Vendor};
use crate::transport::Refusal;

/// The name that provider items of this dialect carry.
pub const DIALECT: &str = "anthropic";

/// What a request tells the model of a tool, byte for byte: name, description and `input_schema`, or
/// what the tool is declared as in this dialect.
///
/// ```
/// use heeler_core::{RawJson, ToolDefinition};
///
/// let clock = ToolDefinition::new("clock", "Tells the time", RawJson::parse(r#"{"type":"object"}"#)?);
/// assert_eq!(
///     heeler_providers::anthropic::definition(&clock),
///     r#"{"name":"clock","description":"Tells the time","input_schema":{"type":"object"}}"#
/// );
/// # Ok::<(), heeler_core::RawJsonError>(())
/// ```
#[must_use]
pub fn definition(tool: &ToolDefinition) -> String {
    match &tool.raw {
        Some(raw) if raw.provider == DIALECT => raw.json.get().to_owned(),
        _ => String::from_utf8_lossy(&encode::definition(tool)).into_owned(),
    }
}

/// The body that [`Anthropic`] sends for this request, byte for byte: to look at, or to compare.
///
/// # Errors
/// When the request cannot be sent; the same that sending it would tell.
pub fn request_body(request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
    Ok(Encoder::default().encode(request)?.concat())
}

/// What messages call it, and what they send people to.
const VENDOR: Vendor = Vendor {
    name: "Anthropic",
    keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    base_url: "ANTHROPIC_BASE_URL",
};

/// Answers requests through Anthropic's Messages, or a gateway that speaks them.
#[derive(Debug)]
pub struct Anthropic(Arc<Link<Messages>>);

impl Anthropic {
    /// A provider with these settings. Nothing is opened yet.
    ///
    /// # Errors
    /// When the address or a header cannot be used.
    pub fn new(settings: &AnthropicSettings) -> Result<Self, SettingsError> {
        let (target, secrets) = (settings.target()?, settings.secrets());
        Ok(Self(Link::new(Messages::default(), target, secrets, settings.idle_timeout)))
    }
}

impl Provider for Anthropic {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.0.stream(request)
    }

    fn prewarm(&self) {
        self.0.prewarm();
    }
}

/// The wire format.
#[derive(Debug, Default)]
struct Messages(Encoder);

impl Dialect for Messages {
    fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError> {
        self.0.encode(request)
    }

    fn decoder(&self, _: &ModelRequest) -> Box<dyn Decode> {
        Box::new(Decoder::new())
    }

    fn vendor(&self) -> &Vendor {
        &VENDOR
    }

    fn refused(&self, _: &ModelRequest, refusal: &Refusal) -> ProviderError {
        error::from_refusal(refusal)
    }
}

impl Decode for Decoder {
    fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        self.feed(bytes, out)
    }

    fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        self.document(body, out)
    }

    fn told(&self, text: &str) -> Result<(), ProviderError> {
        error::told(text)
    }

    fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.publish(out);
    }

    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn is_settled(&self) -> bool {
        self.is_settled()
    }

    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        self.finish(out)
    }
}
