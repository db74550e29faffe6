//! OpenAI's Responses: `encode` and `decode` are the pure dialect, this file is what others see.
//!
//! Nothing is kept at the provider: each request carries the whole conversation, and reasoning
//! travels encrypted in it.

mod decode;
mod encode;
mod error;
mod kept;
mod settings;
pub mod tools;

use std::sync::Arc;

use bytes::Bytes;
use heeler_core::{
    AcceptedAnswer, EventStream, ModelRequest, Provider, ProviderError, ProviderErrorKind,
};

use self::decode::Decoder;
use self::encode::{Encoder, Keeping};
pub use self::settings::{BASE_URL_DEFAULT, ResponsesSettings};
use crate::dialect::{Decode, Dialect, Link};
use crate::endpoint::{SettingsError, Vendor};
use crate::transport::Refusal;

/// The name that provider items of this dialect carry.
pub const DIALECT: &str = "openai-responses";

/// The body that [`Responses`] sends for this request, byte for byte: to look at, or to compare. In
/// the background it ends otherwise.
///
/// # Errors
/// When the request cannot be sent; the same that sending it would tell.
pub fn request_body(request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
    Ok(Encoder::default().encode(request, Keeping::Forgets)?.concat())
}

/// What messages call it, and what they send people to.
const VENDOR: Vendor =
    Vendor { name: "OpenAI", keys: &["OPENAI_API_KEY"], base_url: "OPENAI_BASE_URL" };

/// How a model that does not reason refuses to be asked for reasoning, where its name does not say so:
/// that of a deployment, or a gateway's.
const NO_REASONING: &str = "Encrypted content is not supported with this model";

/// Answers requests through OpenAI's Responses, or a gateway that speaks them.
#[derive(Debug)]
pub struct Responses {
    link: Arc<Link<Wire>>,
    settings: Arc<ResponsesSettings>,
}

impl Responses {
    /// A provider with these settings. Nothing is opened yet.
    ///
    /// # Errors
    /// When the address or a header cannot be used.
    pub fn new(settings: &ResponsesSettings) -> Result<Self, SettingsError> {
        let (target, secrets) = (settings.target()?, settings.secrets());
        let keeping = if settings.background { Keeping::Keeps } else { Keeping::Forgets };
        let wire = Wire { encoder: Encoder::default(), keeping };
        let link = Link::new(wire, target, secrets, settings.idle_timeout);
        Ok(Self { link, settings: Arc::new(settings.clone()) })
    }
}

impl Provider for Responses {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let answer = self.link.stream(request);
        match self.link.dialect().keeping {
            Keeping::Forgets => answer,
            Keeping::Keeps => kept::canceled_when_dropped(answer, self, None),
        }
    }

    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        if answer.dialect != DIALECT {
            return self.stream(request);
        }
        match self.settings.target_of(&answer.id, kept::STREAM) {
            Some(target) => {
                let told = kept::told_again(self.link.fetch(target, request));
                kept::canceled_when_dropped(told, self, Some(answer))
            }
            None => self.stream(request),
        }
    }

    fn prewarm(&self) {
        self.link.prewarm();
    }
}

/// The wire format.
#[derive(Debug)]
struct Wire {
    encoder: Encoder,
    keeping: Keeping,
}

impl Dialect for Wire {
    fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError> {
        self.encoder.encode(request, self.keeping)
    }

    fn decoder(&self, _: &ModelRequest) -> Box<dyn Decode> {
        Box::new(match self.keeping {
            Keeping::Forgets => Decoder::new(),
            Keeping::Keeps => Decoder::of_kept(),
        })
    }

    fn vendor(&self) -> &Vendor {
        &VENDOR
    }

    fn refused(&self, request: &ModelRequest, refusal: &Refusal) -> ProviderError {
        let mut error = error::from_refusal(refusal);
        if error.message.contains(NO_REASONING) {
            self.encoder.leave_reasoning_out(&request.model);
            // The same request is sent as another one from now on.
            error.kind = ProviderErrorKind::Server;
        }
        error
    }
}
