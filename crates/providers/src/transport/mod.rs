//! Requests over HTTP: bodies of exact size, answers as bytes.
//!
//! Invariant: knows no dialect, and never retries.

mod patience;
mod pieces;
mod retry_after;

use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use heeler_core::{ProviderError, ProviderErrorKind};
use reqwest::header::{CONTENT_LENGTH, DATE, HeaderMap};
use reqwest::{Client, Response, Url};
use tokio::sync::OnceCell;

use patience::Patience;
use pieces::Pieces;

/// How long reaching the provider may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an idle connection is probed for by the operating system.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// The most bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// How long the body of a refusal may take; its status is told anyway.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an answer that has been used may keep somebody waiting for its end, which nearly always
/// lies in the same packet as its last event.
const END_PATIENCE: Duration = Duration::from_millis(5);
/// How long the end of an answer is waited for in the background.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends requests. The TLS client is built with the first one, or by [`Transport::prewarm`].
#[derive(Debug)]
pub(crate) struct Transport {
    client: OnceCell<Client>,
    idle_timeout: Duration,
}

/// An answer with status 200. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    patience: Patience,
}

/// An answer with any other status.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// At most [`REFUSAL_BYTES_MAX`] of the body.
    pub(crate) body: Vec<u8>,
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
        Self { client: OnceCell::new(), idle_timeout }
    }

    /// Posts the chunks as one body and waits for the answer to begin.
    pub(crate) async fn post(
        self: Arc<Self>,
        url: Url,
        headers: HeaderMap,
        chunks: Vec<Bytes>,
    ) -> Result<Answer, Failure> {
        let client = Arc::clone(&self).client().await.map_err(Failure::Unreachable)?;
        let pieces = Pieces::of(chunks);
        let length = pieces.length();
        // With its length told, the client sends the stream as a plain body, not in HTTP's chunks.
        let request = client
            .post(url.clone())
            .headers(headers)
            .header(CONTENT_LENGTH, length)
            .body(reqwest::Body::wrap_stream(pieces));
        let response = match tokio::time::timeout(self.idle_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Failure::Unreachable(unreachable(&url, error))),
            Err(_) => return Err(Failure::Unreachable(silent(self.idle_timeout))),
        };
        let mut answer = Answer { response, patience: Patience::new(self.idle_timeout) };
        if answer.response.status() == reqwest::StatusCode::OK {
            return Ok(answer);
        }
        let status = answer.response.status().as_u16();
        let headers = std::mem::take(answer.response.headers_mut());
        let retry_after = retry_after::wait(&headers, now(&headers));
        let patience = self.idle_timeout.min(REFUSAL_TIMEOUT);
        let body = answer.read_at_most(REFUSAL_BYTES_MAX, patience).await;
        Err(Failure::Refused(Refusal { status, headers, body, retry_after }))
    }

    /// Builds the client and, where a TLS handshake is worth it, opens a connection to `url`.
    /// Outside a runtime it does nothing.
    pub(crate) fn prewarm(self: Arc<Self>, url: Url) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let Ok(client) = self.client().await else { return };
            if url.scheme() == "https" {
                // Only the connection is wanted; whatever the answer is, it goes to the pool.
                let _ = client.head(url).timeout(CONNECT_TIMEOUT).send().await;
            }
        });
    }

    /// The client. Building it takes milliseconds and reads files, so another thread does; whoever
    /// asks in the meantime waits here instead of in a thread of its own.
    async fn client(self: Arc<Self>) -> Result<Client, ProviderError> {
        let building = || async {
            let built = tokio::task::spawn_blocking(build).await;
            built.unwrap_or_else(|error| Err(error.to_string()))
        };
        // A failure is not kept: it may be of a runtime that ended, or of what has been put right.
        let built = self.client.get_or_try_init(building).await;
        built.cloned().map_err(|error| {
            network(format!("the HTTP client could not be set up: {error}. Check proxy settings"))
        })
    }
}

impl Answer {
    /// The next bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ProviderError> {
        match self.patience.wait(self.response.chunk()).await {
            Some(read) => read.map_err(|error| broken(&error)),
            None => Err(silent(self.patience.limit())),
        }
    }

    /// As [`Answer::next`], without waiting for the network: `None` when nothing is there yet.
    ///
    /// The client's own task hands over one chunk at a time and holds back the next until it has
    /// run again, so it is given one chance to.
    pub(crate) async fn ready(&mut self) -> Result<Option<Option<Bytes>>, ProviderError> {
        let mut reading = pin!(self.response.chunk());
        let mut gave_way = false;
        let read = poll_fn(|context| match reading.as_mut().poll(context) {
            Poll::Ready(read) => Poll::Ready(Some(read)),
            Poll::Pending if gave_way => Poll::Ready(None),
            Poll::Pending => {
                gave_way = true;
                // Not the runtime's own way to yield, which asks the system for news first.
                context.waker().wake_by_ref();
                Poll::Pending
            }
        });
        read.await.transpose().map_err(|error| broken(&error))
    }

    /// Takes the end of a used answer, so that its connection serves the next request: without it
    /// that one would open another. An end that is late is waited for in the background.
    pub(crate) async fn end(mut self) {
        let rest = tokio::time::timeout(END_PATIENCE, self.response.chunk());
        match rest.await {
            // The client's own task has to run once before the connection is to be had again.
            Ok(Ok(None)) => tokio::task::yield_now().await,
            Ok(Err(_)) => {}
            Ok(Ok(Some(_))) | Err(_) => self.drain(),
        }
    }

    fn drain(mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            self.read_at_most(REFUSAL_BYTES_MAX, DRAIN_TIMEOUT).await;
        });
    }

    /// Reads until the end, an error, `bytes_max`, or the end of patience.
    async fn read_at_most(&mut self, bytes_max: usize, patience: Duration) -> Vec<u8> {
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

fn build() -> Result<Client, String> {
    // Where the program has chosen another already, that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("heeler/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(KEEPALIVE)
        // A redirect would carry the key to another host.
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| root_cause(&error))
}

/// The server's time, which its dates are meant in; ours when it tells none.
fn now(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(SystemTime::now)
}

fn unreachable(url: &Url, error: reqwest::Error) -> ProviderError {
    let host = url.host_str().unwrap_or_default();
    let why = root_cause(&error.without_url());
    network(format!("{host} could not be reached: {why}. Check the network, proxy and base URL"))
}

fn broken(error: &reqwest::Error) -> ProviderError {
    let why = root_cause(error);
    network(format!("the connection broke in the middle of the answer: {why}"))
}

fn silent(after: Duration) -> ProviderError {
    let seconds = after.as_secs_f32();
    network(format!("the provider sent nothing for {seconds} s; the connection was closed"))
}

fn network(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, message)
}

fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_thousand_that_ask_at_once_take_one_thread() {
        let threads = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&threads);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(move || {
                counted.fetch_add(1, Ordering::SeqCst);
            })
            .build()
            .unwrap();
        let transport = Arc::new(Transport::new(Duration::from_secs(1)));
        let asked = (0..1000).map(|_| Arc::clone(&transport).client());
        let clients = runtime.block_on(futures::future::join_all(asked));
        assert!(clients.iter().all(Result::is_ok));
        assert_eq!(threads.load(Ordering::SeqCst), 1);
    }
}
