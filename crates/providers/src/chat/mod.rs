//! OpenAI's Chat Completions, and what others make of them: `encode` and `decode` are the pure
//! dialect, `quirks` what servers differ in, this file is what others see.

mod decode;
mod encode;
mod error;
mod extras;
mod quirks;
mod settings;

use std::sync::Arc;

use bytes::Bytes;
use heeler_core::{EventStream, ModelRequest, Provider, ProviderError, ToolDefinition};

use self::decode::Decoder;
use self::encode::Encoder;
pub use self::quirks::{CallIds, OutputLimit, Quirks, Reasoning, SystemRole};
pub use self::settings::{BASE_URL_DEFAULT, ChatSettings};
use crate::dialect::{Decode, Dialect, Link};
use crate::endpoint::{SettingsError, Vendor};
use crate::transport::Refusal;

/// The name that OpenAI's own items carry in this dialect.
pub const DIALECT: &str = "openai-chat";

/// What a request to OpenAI tells the model of a tool, byte for byte: its function object, or what the
/// tool is declared as in this dialect.
///
/// ```
/// use heeler_core::{RawJson, ToolDefinition};
///
/// let clock = ToolDefinition::new("clock", "Tells the time", RawJson::parse(r#"{"type":"object"}"#)?);
/// assert_eq!(
///     heeler_providers::chat::definition(&clock),
///     concat!(
///         r#"{"type":"function","function":{"name":"clock","description":"Tells the time","#,
///         r#""parameters":{"type":"object","properties":{}}}}"#
///     )
/// );
/// # Ok::<(), heeler_core::RawJsonError>(())
/// ```
#[must_use]
pub fn definition(tool: &ToolDefinition) -> String {
    match &tool.raw {
        Some(raw) if raw.provider == DIALECT => raw.json.get().to_owned(),
        _ => {
            let json = encode::definition(tool, &Quirks::default());
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

/// The body that [`Chat`] sends for this request, byte for byte: to look at, or to compare.
///
/// # Errors
/// When the request cannot be sent; the same that sending it would tell.
pub fn request_body(request: &ModelRequest, quirks: &Quirks) -> Result<Vec<u8>, ProviderError> {
    Ok(Encoder::default().encode(request, quirks)?.concat())
}

/// What messages call OpenAI, and what they send people to.
const VENDOR: Vendor =
    Vendor { name: "OpenAI", keys: &["OPENAI_API_KEY"], base_url: "OPENAI_BASE_URL" };

/// Answers requests through Chat Completions: OpenAI's, or those of a server that speaks them.
#[derive(Debug)]
pub struct Chat(Arc<Link<Completions>>);

impl Chat {
    /// A provider with these settings. Nothing is opened yet.
    ///
    /// # Errors
    /// When the address or a header cannot be used.
    pub fn new(settings: &ChatSettings) -> Result<Self, SettingsError> {
        let (target, secrets) = (settings.target()?, settings.secrets());
        let dialect = Completions {
            encoder: Encoder::default(),
            quirks: settings.quirks.clone(),
            vendor: settings.vendor,
        };
        Ok(Self(Link::new(dialect, target, secrets, settings.idle_timeout)))
    }
}

impl Provider for Chat {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.0.stream(request)
    }

    fn prewarm(&self) {
        self.0.prewarm();
    }

    fn tells_cost(&self) -> bool {
        self.0.dialect().quirks.charges_in_dollars
    }
}

/// The wire format, as one server speaks it.
#[derive(Debug)]
struct Completions {
    encoder: Encoder,
    quirks: Quirks,
    vendor: Vendor,
}

impl Dialect for Completions {
    fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError> {
        self.encoder.encode(request, &self.quirks)
    }

    fn decoder(&self, _: &ModelRequest) -> Box<dyn Decode> {
        Box::new(Decoder::new(&self.quirks, self.vendor))
    }

    fn vendor(&self) -> &Vendor {
        &self.vendor
    }

    fn refused(&self, _: &ModelRequest, refusal: &Refusal) -> ProviderError {
        error::from_refusal(&self.vendor, refusal)
    }
}
