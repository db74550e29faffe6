//! Anthropic's Messages: `encode` and `decode` are the pure dialect, this file joins them with the
//! transport.

mod decode;
mod encode;
mod error;
mod settings;

use std::collections::VecDeque;
use std::sync::Arc;

use heeler_core::{EventStream, ModelEvent, ModelRequest, Provider, ProviderError};
use heeler_http::Target;

// Whoever counts what they execute needs them, and nobody else: `Anthropic` is both.
#[doc(hidden)]
pub use self::decode::Decoder;
#[doc(hidden)]
pub use self::encode::Encoder;
pub use self::settings::{
    AnthropicSettings, BASE_URL_DEFAULT, IDLE_TIMEOUT_DEFAULT, Key, SettingsError,
};
use crate::Secret;
use crate::transport::{Answer, Failure, Transport};

/// So many bytes of an answer, and a chunk more, are decoded at most before what they bring is
/// handed on. Four times as much takes new pages for longer texts, which cost more than events.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// The name that provider items of this dialect carry.
pub const DIALECT: &str = "anthropic";

/// The body that [`Anthropic`] sends for this request, byte for byte: to look at, or to compare.
///
/// # Errors
/// When the request cannot be sent; the same that sending it would tell.
pub fn request_body(request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
    Ok(Encoder::default().encode(request)?.concat())
}

/// Answers requests through Anthropic's Messages, or a gateway that speaks them.
#[derive(Debug)]
pub struct Anthropic {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: Arc<Target>,
    secrets: Vec<Secret>,
    transport: Arc<Transport>,
    encoder: Encoder,
}

impl Anthropic {
    /// A provider with these settings. Nothing is opened yet.
    ///
    /// # Errors
    /// When the address or a header cannot be used.
    pub fn new(settings: &AnthropicSettings) -> Result<Self, SettingsError> {
        let inner = Inner {
            target: Arc::new(settings.target()?),
            secrets: settings.secrets(),
            transport: Arc::new(Transport::new(settings.idle_timeout)),
            encoder: Encoder::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }
}

impl Provider for Anthropic {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let start = Step::Send { inner: Arc::clone(&self.inner), request: Box::new(request) };
        Box::pin(futures::stream::unfold(start, Step::next))
    }

    fn prewarm(&self) {
        Arc::clone(&self.inner.transport).prewarm(Arc::clone(&self.inner.target));
    }
}

/// How far an answer is.
enum Step {
    Send { inner: Arc<Inner>, request: Box<ModelRequest> },
    Read(Box<Reading>),
    Done,
}

struct Reading {
    inner: Arc<Inner>,
    answer: Answer,
    decoder: Decoder,
    ready: VecDeque<ModelEvent>,
    /// What ended the answer, told after the events that came before it.
    failed: Option<ProviderError>,
}

impl Step {
    async fn next(self) -> Option<(Result<ModelEvent, ProviderError>, Self)> {
        let reading = match self {
            Self::Done => return None,
            Self::Send { inner, request } => match inner.send(&request).await {
                Ok(reading) => reading,
                Err(error) => return Some((Err(error), Self::Done)),
            },
            Self::Read(reading) => reading,
        };
        Some(reading.next().await)
    }
}

impl Inner {
    async fn send(self: Arc<Self>, request: &ModelRequest) -> Result<Box<Reading>, ProviderError> {
        let chunks = self.encoder.encode(request)?;
        let sent = Arc::clone(&self.transport).post(&self.target, chunks);
        let answer = sent.await.map_err(|failure| self.explain(failure))?;
        let (decoder, ready) = (Decoder::new(), VecDeque::new());
        Ok(Box::new(Reading { inner: self, answer, decoder, ready, failed: None }))
    }

    fn explain(&self, failure: Failure) -> ProviderError {
        let error = match failure {
            Failure::Unreachable(error) => error,
            Failure::Refused(refusal) => error::from_refusal(error::Refusal {
                status: refusal.head.status(),
                body: &refusal.body,
                request_id: refusal.head.header("request-id"),
                retry_after: refusal.retry_after,
            }),
        };
        self.without_key(error)
    }

    /// A server or proxy may echo the key; no message shows it.
    fn without_key(&self, mut error: ProviderError) -> ProviderError {
        for secret in &self.secrets {
            error.message = secret.hide_in(&error.message);
        }
        error
    }
}

impl Reading {
    async fn next(mut self: Box<Self>) -> (Result<ModelEvent, ProviderError>, Step) {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if self.ready.is_empty() && self.decoder.is_finished() {
                    self.answer.end().await;
                    return (Ok(event), Step::Done);
                }
                return (Ok(event), Step::Read(self));
            }
            if let Some(error) = self.failed.take() {
                return (Err(self.inner.without_key(error)), Step::Done);
            }
            self.failed = self.read().await.err();
            self.decoder.publish(&mut self.ready);
        }
    }

    /// Waits for bytes, and decodes what lies ready behind them, too.
    async fn read(&mut self) -> Result<(), ProviderError> {
        let Self { answer, decoder, ready, .. } = self;
        let mut read_bytes = 0;
        let mut read = answer.next().await?;
        loop {
            let Some(bytes) = read else { return decoder.finish() };
            decoder.feed(bytes, ready)?;
            read_bytes += bytes.len();
            if decoder.is_finished() || read_bytes >= AT_ONCE_BYTES_MAX {
                return Ok(());
            }
            match answer.ready().await? {
                Some(more) => read = more,
                None => return Ok(()),
            }
        }
    }
}
