//! Requests over HTTP: bodies of exact size, answers as bytes.
//!
//! Invariant: knows no dialect, and never retries.

pub(crate) mod page;
mod patience;
pub(crate) mod retry_after;

use std::error::Error;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use heeler_core::{BoxFuture, ProviderError, ProviderErrorKind};
use heeler_http::{Client, Head, Options, Target};

use patience::Patience;

use crate::failure::clean;

/// The most bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// How long the body of a refusal may take; its status is told anyway.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);
/// The statuses whose body is an answer. It is 200 but for a few gateways.
const STATUSES_OK: Range<u16> = 200..300;
/// The most white space before the first bytes that tell a page from an answer.
const BLANK_BYTES_MAX: usize = 64 * 1024;
/// How long an answer that has been used may keep somebody waiting for its end, which nearly always
/// lies in the same packet as its last event.
const END_PATIENCE: Duration = Duration::from_millis(5);
/// How many times as long as for silence somebody waits for more than signs of life. A model may
/// think for half an hour and longer, of which some providers show nothing.
const LULL_OF_SILENCES: u32 = 12;
/// How long somebody waits for the end of an answer of which all else has come.
const SETTLED_PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of an answer is waited for in the background.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends requests. TLS is set up with the first one that needs it, or by [`Transport::prewarm`].
#[derive(Debug)]
pub(crate) struct Transport {
    client: Client,
    idle_timeout: Duration,
}

/// An answer with a status of success. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Answer {
    answer: heeler_http::Answer,
    patience: Patience,
    /// Its first bytes were looked at, and are still to be read.
    is_peeked: bool,
}

/// An answer with any other status.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) head: Head,
    /// At most [`REFUSAL_BYTES_MAX`] of the body; nothing of a page for people.
    pub(crate) body: Vec<u8>,
    /// The title of that page, if the body was one.
    pub(crate) page: Option<String>,
    pub(crate) retry_after: Option<Duration>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    Unreachable(ProviderError),
    Refused(Refusal),
}

impl Transport {
    /// A transport that gives up when nothing arrives for `idle_timeout`.
    pub(crate) fn new(idle_timeout: Duration) -> Self {
        Self { client: Client::new(Options::default()), idle_timeout }
    }

    /// How long an answer may bring nothing but signs of life; not for long when all else of it has
    /// come.
    pub(crate) fn lull_max(&self, is_settled: bool) -> Duration {
        let lull = self.idle_timeout.saturating_mul(LULL_OF_SILENCES);
        if is_settled { lull.min(SETTLED_PATIENCE) } else { lull }
    }

    /// Posts the chunks as one body and waits for the answer to begin.
    pub(crate) async fn post(
        &self,
        target: &Arc<Target>,
        chunks: Vec<Bytes>,
    ) -> Result<Answer, Failure> {
        self.begun(target, self.client.post(target, chunks)).await
    }

    /// Asks for what is at the address and waits for the answer to begin.
    pub(crate) async fn get(&self, target: &Arc<Target>) -> Result<Answer, Failure> {
        self.begun(target, self.client.get(target)).await
    }

    async fn begun(
        &self,
        target: &Target,
        sent: impl Future<Output = Result<heeler_http::Answer, heeler_http::Error>>,
    ) -> Result<Answer, Failure> {
        let sent = tokio::time::timeout(self.idle_timeout, sent).await;
        let answer = match sent {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) if error.is_broken() => {
                return Err(Failure::Unreachable(unanswered(target, &error)));
            }
            Ok(Err(error)) => return Err(Failure::Unreachable(unreachable(target, &error))),
            Err(_) => return Err(Failure::Unreachable(silent(self.idle_timeout))),
        };
        let coding = coding(answer.head()).map(str::to_owned);
        let patience = Patience::new(self.idle_timeout);
        let mut answer = Answer { answer, patience, is_peeked: false };
        if STATUSES_OK.contains(&answer.answer.head().status()) {
            if let Some(coding) = coding {
                return Err(Failure::Unreachable(coded(target, &coding)));
            }
            return match answer.is_page().await {
                Ok(false) => Ok(answer),
                Ok(true) => Err(Failure::Unreachable(for_people(target))),
                Err(error) => Err(Failure::Unreachable(error)),
            };
        }
        let head = answer.answer.head().clone();
        let retry_after = retry_after::wait(&head, now(&head));
        let patience = self.idle_timeout.min(REFUSAL_TIMEOUT);
        let body = match coding {
            // The status and the head say enough.
            Some(_) => None,
            None => Some(answer.read_at_most(REFUSAL_BYTES_MAX, patience).await),
        };
        let is_page = page::is_page(&head, body.as_deref());
        let body = body.unwrap_or_default();
        let page = is_page.then(|| page::title(&body));
        let body = if is_page { Vec::new() } else { body };
        Err(Failure::Refused(Refusal { head, body, page, retry_after }))
    }

    /// Sets TLS up and, where a handshake is worth it, opens a connection for the first request.
    /// Outside a runtime it does nothing.
    pub(crate) fn prewarm(&self, target: Arc<Target>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let client = self.client.clone();
        let warming: BoxFuture<()> = Box::pin(async move {
            // The first request meets the same failure, and tells it.
            if client.prepare().await.is_ok() && target.origin().starts_with("https:") {
                let _ = client.warm(&target).await;
            }
        });
        runtime.spawn(warming);
    }
}

impl Answer {
    /// Whether this is a page for people, as a proxy or a wrong address gives it. Some servers call
    /// everything HTML, so its first bytes count, too.
    async fn is_page(&mut self) -> Result<bool, ProviderError> {
        if !page::is_html(self.answer.head()) {
            return Ok(false);
        }
        let mut looked_at = 0;
        while let Some(bytes) = self.next().await? {
            looked_at += bytes.len();
            // White space says nothing yet, and no dialect misses it.
            let says = |it: &&u8| !it.is_ascii_whitespace() && !page::BYTE_ORDER_MARK.contains(it);
            let first = bytes.iter().find(says).copied();
            if first.is_some() || looked_at > BLANK_BYTES_MAX {
                self.is_peeked = true;
                return Ok(first == Some(b'<'));
            }
        }
        Ok(false)
    }

    /// Nothing but the end is to come: from now on it is waited for a few seconds only.
    pub(crate) fn expect_end(&mut self) {
        self.patience.shorten(SETTLED_PATIENCE);
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, ProviderError> {
        if std::mem::take(&mut self.is_peeked) {
            return Ok(Some(self.answer.bytes()));
        }
        match self.patience.wait(self.answer.next()).await {
            Some(read) => read.map_err(|error| broken(&error)),
            None => Err(silent(self.patience.limit())),
        }
    }

    /// As [`Answer::next`], without waiting for the network: `None` when nothing is there yet.
    pub(crate) async fn ready(&mut self) -> Result<Option<Option<&[u8]>>, ProviderError> {
        if std::mem::take(&mut self.is_peeked) {
            return Ok(Some(Some(self.answer.bytes())));
        }
        let answer = &mut self.answer;
        match poll_fn(|context| Poll::Ready(answer.poll_next(context))).await {
            Poll::Pending => Ok(None),
            Poll::Ready(Ok(more)) => Ok(Some(more.then(|| self.answer.bytes()))),
            Poll::Ready(Err(error)) => Err(broken(&error)),
        }
    }

    /// Takes the end of a used answer, so that its connection serves the next request: without it
    /// that one would open another. An end that is late is waited for in the background.
    pub(crate) async fn end(mut self) {
        let more = match self.ready().await {
            Ok(Some(None)) | Err(_) => return,
            Ok(Some(Some(_))) => true,
            Ok(None) => {
                let rest = tokio::time::timeout(END_PATIENCE, self.answer.next()).await;
                rest.map_or(true, |read| read.is_ok_and(|more| more.is_some()))
            }
        };
        if more {
            self.drain();
        }
    }

    fn drain(mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let draining: BoxFuture<()> = Box::pin(async move {
            self.read_at_most(REFUSAL_BYTES_MAX, DRAIN_TIMEOUT).await;
        });
        runtime.spawn(draining);
    }

    /// Reads until the end, an error, `bytes_max`, or the end of patience.
    pub(crate) async fn read_at_most(&mut self, bytes_max: usize, patience: Duration) -> Vec<u8> {
        let mut body = Vec::new();
        let deadline = tokio::time::Instant::now() + patience;
        while body.len() < bytes_max
            && let Ok(Ok(Some(bytes))) = tokio::time::timeout_at(deadline, self.next()).await
        {
            let room = bytes_max - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        body
    }
}

/// The server's time, which its dates are meant in; ours when it tells none.
fn now(head: &Head) -> SystemTime {
    let date = head.header("date");
    date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(SystemTime::now)
}

fn unreachable(target: &Target, error: &heeler_http::Error) -> ProviderError {
    let (host, why) = (target.host(), root_cause(error));
    let message = match (error.proxy(), is_refused(error)) {
        (Some(proxy), true) => format!(
            "{host} could not be reached through the proxy {proxy}: {why}. Nothing listens there: \
             start the proxy, correct HTTPS_PROXY or HTTP_PROXY, or set NO_PROXY"
        ),
        (Some(proxy), false) => format!(
            "{host} could not be reached through the proxy {proxy}: {why}. Check the network and \
             the proxy"
        ),
        (None, true) => format!(
            "{} could not be reached: {why}. Nothing listens there: start the server if it is \
             yours, or correct the base URL",
            target.origin()
        ),
        // Whatever else is advised would lead away from it.
        (None, false) if error.says_next_step() => format!("{host} could not be reached: {error}"),
        (None, false) => {
            format!("{host} could not be reached: {why}. Check the network, proxy and base URL")
        }
    };
    match error.is_lasting() {
        true => ProviderError::new(ProviderErrorKind::InvalidRequest, message),
        false => network(message),
    }
}

fn unanswered(target: &Target, error: &heeler_http::Error) -> ProviderError {
    let (host, why) = (target.host(), root_cause(error));
    network(format!(
        "{host} was reached, but the connection broke before its answer: {why}. Try again; if it \
         stays so, look at the server and at proxies before it"
    ))
}

/// How the body is packed, though nobody asked for it.
fn coding(head: &Head) -> Option<&str> {
    head.header("content-encoding").filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"))
}

fn coded(target: &Target, coding: &str) -> ProviderError {
    let (host, coding) = (target.host(), clean(coding));
    let message = format!(
        "{host} packed its answer as `{coding}`, which was not asked for and is not read. \
         Check the proxy and base URL"
    );
    // The same request is answered the same way.
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}

fn for_people(target: &Target) -> ProviderError {
    let address = target.address();
    let message = format!(
        "{address} answered with a page for people, not as a model does. Check the proxy and base URL"
    );
    // The same request is answered the same way.
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}

fn broken(error: &heeler_http::Error) -> ProviderError {
    let why = root_cause(error);
    network(format!("the connection broke in the middle of the answer: {why}"))
}

fn silent(after: Duration) -> ProviderError {
    let seconds = after.as_secs_f32();
    network(format!("the provider sent nothing for {seconds} s; the connection was closed"))
}

/// What it means that an answer brought nothing but signs of life.
pub(crate) fn lull(after: Duration) -> ProviderError {
    let seconds = after.as_secs_f32();
    network(format!(
        "the provider sent signs of life and nothing else for {seconds} s; the connection was closed"
    ))
}

fn network(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, message)
}

fn root_cause(error: &heeler_http::Error) -> String {
    innermost(error).to_string()
}

fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

/// Whether the machine is there, and nobody on it at this port.
fn is_refused(error: &heeler_http::Error) -> bool {
    let cause = innermost(error).downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::ConnectionRefused)
}
