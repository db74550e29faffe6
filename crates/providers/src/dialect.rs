//! What joins a pure dialect with the transport: a request goes out in the dialect's bytes, what
//! comes back is decoded as it arrives.
//!
//! Invariant: one request each, never a retry; no message shows a key.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use heeler_core::{
    BoxFuture, EventStream, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind,
};
use heeler_http::Target;
use tokio::time::Instant;

use crate::Secret;
use crate::endpoint::Vendor;
use crate::failure::too_long;
use crate::transport::page::BYTE_ORDER_MARK;
use crate::transport::{Answer, Failure, Refusal, Transport, lull, page};

/// So many bytes of an answer, and a chunk more, are decoded at most before what they bring is
/// handed on. Four times as much takes new pages for longer texts, which cost more than events.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// The longest answer of a server that does not stream.
const DOCUMENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most text, thinking and input of calls an answer may bring. It is more than ten times what
/// any model writes, and whoever watches and keeps an answer holds each byte several times.
const TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The most bytes of an answer that bring none of these: images and the like, signatures, signs of
/// life.
const SILENT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// A vendor's wire format, without a connection.
pub(crate) trait Dialect: fmt::Debug + Send + Sync + 'static {
    /// The body, as chunks that share the messages' bytes.
    fn encode(&self, request: &ModelRequest) -> Result<Vec<Bytes>, ProviderError>;

    /// What reads the answer to this request.
    fn decoder(&self, request: &ModelRequest) -> Box<dyn Decode>;

    /// Whose key and address messages name.
    fn vendor(&self) -> &Vendor;

    /// What an answer to this request means whose status is no success.
    fn refused(&self, request: &ModelRequest, refusal: &Refusal) -> ProviderError;
}

/// Reads one answer, whatever pieces it comes in.
pub(crate) trait Decode: Send + 'static {
    /// Takes the next bytes; what they bring is added to `out`.
    fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError>;

    /// Takes a whole answer that came as one JSON document, from a server that does not stream.
    fn document(
        &mut self,
        body: &[u8],
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError>;

    /// The failure that is told in what is no answer; anything else there counts for nothing.
    fn told(&self, text: &str) -> Result<(), ProviderError>;

    /// Adds what was held back in the hope of more: no more bytes are there at the moment.
    fn publish(&mut self, out: &mut VecDeque<ModelEvent>);

    /// Whether the answer is whole: nothing more of it is read.
    fn is_finished(&self) -> bool;

    /// Whether every part of the answer has come, and only what marks its end may be missing.
    fn is_settled(&self) -> bool;

    /// The connection ended, in good order or not: an error, unless every part that the answer
    /// needs has come.
    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError>;
}

/// A dialect and the server it is spoken with. What reads answers knows no more than that it is
/// one, so that a program has it once.
#[derive(Debug)]
pub(crate) struct Link<D: ?Sized> {
    target: Arc<Target>,
    secrets: Vec<Secret>,
    transport: Transport,
    dialect: D,
}

type AnyLink = Link<dyn Dialect>;

impl<D: Dialect> Link<D> {
    /// Nothing is opened yet. No message shows one of the `secrets`.
    pub(crate) fn new(
        dialect: D,
        target: Target,
        secrets: Vec<Secret>,
        idle_timeout: Duration,
    ) -> Arc<Self> {
        let transport = Transport::new(idle_timeout);
        Arc::new(Self { target: Arc::new(target), secrets, transport, dialect })
    }

    pub(crate) fn dialect(&self) -> &D {
        &self.dialect
    }

    /// As [`heeler_core::Provider::stream`] promises.
    pub(crate) fn stream(self: &Arc<Self>, request: ModelRequest) -> EventStream {
        self.begin(None, request)
    }

    /// As [`heeler_core::Provider::resume`]: reads the answer to this request that is told at the
    /// target.
    pub(crate) fn fetch(self: &Arc<Self>, target: Target, request: ModelRequest) -> EventStream {
        self.begin(Some(Arc::new(target)), request)
    }

    fn begin(self: &Arc<Self>, told_at: Option<Arc<Target>>, request: ModelRequest) -> EventStream {
        let link: Arc<AnyLink> = Arc::<Self>::clone(self);
        let request = Box::new(request);
        Box::pin(futures::stream::unfold(Step::Send { link, told_at, request }, Step::next))
    }

    /// Posts nothing to the target, and does not wait for what comes of it.
    pub(crate) fn notify(self: &Arc<Self>, target: Target) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let link = Arc::clone(self);
        let telling: BoxFuture<()> = Box::pin(async move {
            if let Ok(answer) = link.transport.post(&Arc::new(target), Vec::new()).await {
                answer.end().await;
            }
        });
        runtime.spawn(telling);
    }

    /// As [`heeler_core::Provider::prewarm`].
    pub(crate) fn prewarm(&self) {
        self.transport.prewarm(Arc::clone(&self.target));
    }
}

impl AnyLink {
    async fn send(
        self: Arc<Self>,
        told_at: Option<&Arc<Target>>,
        request: &ModelRequest,
    ) -> Result<Box<Reading>, ProviderError> {
        let answer = match told_at {
            Some(target) => self.transport.get(target).await,
            None => self.transport.post(&self.target, self.dialect.encode(request)?).await,
        };
        let asked = told_at.unwrap_or(&self.target);
        let answer = answer.map_err(|failure| self.explain(request, failure, asked))?;
        let decoder = self.dialect.decoder(request);
        let ready = VecDeque::new();
        Ok(Box::new(Reading {
            link: self,
            answer,
            decoder,
            form: Form::Unknown,
            sizes: Sizes::default(),
            ready,
            failed: None,
        }))
    }

    fn explain(&self, request: &ModelRequest, failure: Failure, asked: &Target) -> ProviderError {
        self.without_key(match failure {
            Failure::Unreachable(error) => error,
            Failure::Refused(refusal) => {
                let mut error = match &refusal.page {
                    // A dialect knows what redirects mean.
                    Some(title) if !(300..400).contains(&refusal.head.status()) => {
                        page::refused(self.dialect.vendor(), asked, &refusal, title)
                    }
                    _ => self.dialect.refused(request, &refusal),
                };
                if of_address(refusal.head.status()) {
                    let _ = write!(error.message, "\nThe request went to {}", asked.address());
                }
                error
            }
        })
    }

    /// A server or proxy may echo the key; no message shows it.
    fn without_key(&self, mut error: ProviderError) -> ProviderError {
        for secret in &self.secrets {
            error.message = secret.hide_in(&error.message);
        }
        error
    }
}

/// Whether a refusal with this status may be due to the address that was asked.
fn of_address(status: u16) -> bool {
    matches!(status, 300..400 | 404 | 405 | 410)
}

/// How far an answer is.
enum Step {
    /// The request is sent, unless its answer is told somewhere already.
    Send {
        link: Arc<AnyLink>,
        told_at: Option<Arc<Target>>,
        request: Box<ModelRequest>,
    },
    Read(Box<Reading>),
    Done,
}

struct Reading {
    link: Arc<AnyLink>,
    answer: Answer,
    decoder: Box<dyn Decode>,
    form: Form,
    sizes: Sizes,
    ready: VecDeque<ModelEvent>,
    /// What ended the answer, told after the events that came before it.
    failed: Option<ProviderError>,
}

/// Why reading stopped before the answer's end.
enum Stopped {
    /// The connection broke, or nothing came for too long.
    Connection(ProviderError),
    /// The answer itself is bad, or tells of a failure.
    Answer(ProviderError),
}

/// How much an answer has brought.
#[derive(Default)]
struct Sizes {
    text_bytes: usize,
    silent_bytes: usize,
}

/// What an answer is, as its first byte tells.
enum Form {
    Unknown,
    Stream,
    Document(Vec<u8>),
}

impl Step {
    async fn next(self) -> Option<(Result<ModelEvent, ProviderError>, Self)> {
        let reading = match self {
            Self::Done => return None,
            Self::Send { link, told_at, request } => {
                match link.send(told_at.as_ref(), &request).await {
                    Ok(reading) => reading,
                    Err(error) => return Some((Err(error), Self::Done)),
                }
            }
            Self::Read(reading) => reading,
        };
        Some(reading.next().await)
    }
}

impl Reading {
    async fn next(mut self: Box<Self>) -> (Result<ModelEvent, ProviderError>, Step) {
        let since = Instant::now();
        loop {
            if let Some(event) = self.ready.pop_front() {
                if self.ready.is_empty() && self.decoder.is_finished() {
                    self.answer.end().await;
                    return (Ok(event), Step::Done);
                }
                return (Ok(event), Step::Read(self));
            }
            if let Some(error) = self.failed.take() {
                return (Err(self.link.without_key(error)), Step::Done);
            }
            let mut read_bytes = 0;
            self.failed = self.read(&mut read_bytes).await.err();
            self.decoder.publish(&mut self.ready);
            if self.failed.is_none() {
                let limit = self.link.transport.lull_max(self.decoder.is_settled());
                let is_lull = self.ready.is_empty() && since.elapsed() >= limit;
                let sized = self.sizes.add(&self.ready, read_bytes);
                self.failed = sized.err();
                if is_lull && self.failed.is_none() {
                    self.failed = self.broken_off(lull(limit)).err();
                }
            }
        }
    }

    /// Waits for bytes, and decodes what lies ready behind them, too.
    async fn read(&mut self, read_bytes: &mut usize) -> Result<(), ProviderError> {
        match self.read_on(read_bytes).await {
            Ok(()) => Ok(()),
            Err(Stopped::Answer(error)) => Err(error),
            Err(Stopped::Connection(error)) => self.broken_off(error),
        }
    }

    /// What it means that nothing more will come: an answer that is there is paid for, and is not
    /// thrown away for how its connection ended. Neither is what the server told of its failure.
    fn broken_off(&mut self, error: ProviderError) -> Result<(), ProviderError> {
        let ended = self.form.end(self.decoder.as_mut(), &mut self.ready);
        ended.map_err(|told| if told.kind == ProviderErrorKind::Format { error } else { told })
    }

    async fn read_on(&mut self, read_bytes: &mut usize) -> Result<(), Stopped> {
        let Self { answer, decoder, form, ready, .. } = self;
        if decoder.is_settled() {
            answer.expect_end();
        }
        let mut read = answer.next().await.map_err(Stopped::Connection)?;
        loop {
            let Some(bytes) = read else {
                return form.end(decoder.as_mut(), ready).map_err(Stopped::Answer);
            };
            form.feed(bytes, DOCUMENT_BYTES_MAX, decoder.as_mut(), ready)
                .map_err(Stopped::Answer)?;
            *read_bytes += bytes.len();
            if decoder.is_finished() || *read_bytes >= AT_ONCE_BYTES_MAX {
                return Ok(());
            }
            match answer.ready().await.map_err(Stopped::Connection)? {
                Some(more) => read = more,
                None => return Ok(()),
            }
        }
    }
}

impl Sizes {
    /// Adds what was read, and the events it brought.
    fn add(
        &mut self,
        events: &VecDeque<ModelEvent>,
        read_bytes: usize,
    ) -> Result<(), ProviderError> {
        let length = |event: &ModelEvent| match event {
            ModelEvent::TextDelta { text, .. }
            | ModelEvent::ThinkingDelta { text, .. }
            | ModelEvent::ToolInputDelta { text, .. } => text.len(),
            _ => 0,
        };
        match events.iter().map(length).sum::<usize>() {
            0 => self.silent_bytes += read_bytes,
            text_bytes => self.text_bytes += text_bytes,
        }
        match self {
            Self { text_bytes: TEXT_BYTES_MAX.., .. } => Err(too_long(TEXT_BYTES_MAX)),
            Self { silent_bytes: SILENT_BYTES_MAX.., .. } => Err(too_long(SILENT_BYTES_MAX)),
            Self { .. } => Ok(()),
        }
    }
}

impl Form {
    fn feed(
        &mut self,
        bytes: &[u8],
        document_bytes_max: usize,
        decoder: &mut dyn Decode,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let mut bytes = bytes;
        if let Self::Unknown = self {
            let says = |byte: &u8| !byte.is_ascii_whitespace() && !BYTE_ORDER_MARK.contains(byte);
            let begins = bytes.iter().position(says).map(|at| &bytes[at..]);
            match begins {
                // No line of a stream begins so.
                Some([b'{' | b'[', ..]) => {
                    *self = Self::Document(Vec::new());
                    bytes = begins.unwrap_or(bytes);
                }
                Some(_) => *self = Self::Stream,
                None => {}
            }
        }
        let Self::Document(document) = self else { return decoder.feed(bytes, out) };
        if document.len() + bytes.len() > document_bytes_max {
            return Err(too_long(document_bytes_max));
        }
        document.extend_from_slice(bytes);
        Ok(())
    }

    fn end(
        &mut self,
        decoder: &mut dyn Decode,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        match self {
            Self::Document(document) => {
                let document = std::mem::take(document);
                decoder.document(&document, out).or_else(|error| match error.kind {
                    // It may be lines, one of which says why there is no more.
                    ProviderErrorKind::Format => {
                        decoder.told(&String::from_utf8_lossy(&document)).and(Err(error))
                    }
                    _ => Err(error),
                })
            }
            Self::Unknown | Self::Stream => decoder.finish(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::Decoder;

    #[test]
    fn a_document_has_a_limit_and_a_stream_has_none_here() {
        let feed = |chunks: &[&[u8]]| {
            let (mut form, mut decoder) = (Form::Unknown, Decoder::new());
            let mut fed =
                chunks.iter().map(|chunk| form.feed(chunk, 8, &mut decoder, &mut VecDeque::new()));
            fed.find_map(Result::err).map(|error| error.message)
        };
        assert_eq!(feed(&[b" ", b"{\"a\"", b":12}"]), None);
        let too_long = Some(too_long(8).message);
        assert_eq!(feed(&[b" ", b"{\"a\"", b":123}"]), too_long);
        assert_eq!(feed(&[b"event: ping\ndata: {}\n\n"]), None);
    }

    #[test]
    fn a_document_may_begin_with_a_byte_order_mark_or_a_list() {
        for chunks in
            [[b"\xef\xbb\xbf".as_slice(), b" {}"], [b"\xef\xbb\xbf{", b"}"], [b" [", b"]"]]
        {
            let (mut form, mut decoder) = (Form::Unknown, Decoder::new());
            for chunk in chunks {
                form.feed(chunk, 8, &mut decoder, &mut VecDeque::new()).unwrap();
            }
            let Form::Document(document) = form else { panic!("no document: {chunks:?}") };
            assert!([b"{}", b"[]"].contains(&document.as_slice().try_into().unwrap()));
        }
    }

    #[test]
    fn what_an_answer_brings_has_a_limit_and_so_has_what_brings_nothing() {
        let text = |length| ModelEvent::TextDelta { block: 0, text: "x".repeat(length) };
        let (none, some) = (VecDeque::new(), VecDeque::from([text(TEXT_BYTES_MAX - 1)]));
        let mut sizes = Sizes::default();
        assert_eq!(sizes.add(&none, SILENT_BYTES_MAX - 1), Ok(()));
        // What its own form takes beside a text is counted by the decoders.
        assert_eq!(sizes.add(&some, SILENT_BYTES_MAX), Ok(()));
        assert_eq!(sizes.add(&VecDeque::from([text(1)]), 50), Err(too_long(TEXT_BYTES_MAX)));
        let mut sizes = Sizes::default();
        assert_eq!(sizes.add(&none, SILENT_BYTES_MAX), Err(too_long(SILENT_BYTES_MAX)));
    }
}
