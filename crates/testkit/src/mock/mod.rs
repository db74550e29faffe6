//! A model server on real HTTP that plays a script over the Anthropic wire.
//!
//! It listens on a port of its own, on its own thread, and stops when it is dropped. Every request
//! is parsed and checked for a valid history and a stable prefix; one that does not pass is
//! answered with 400 and kept in [`MockServer::violations`].

mod body;
mod io;
mod log;
mod serve;
mod sse;
mod wire;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use heeler_script::{RequestView, Script};
use tokio::sync::oneshot;

use log::Log;
pub use log::{Recorded, Status};
pub use wire::{MARKERS_MAX, parse_request};

/// How a response is cut into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chunking {
    /// All at once.
    Whole,
    /// One server-sent event at a time.
    #[default]
    PerEvent,
    /// So many bytes at a time, whatever they are; 0 counts as 1.
    Bytes(usize),
}

/// A running server.
///
/// A caller on a tokio runtime of one thread waits with [`MockServer::until`], everybody else with
/// [`MockServer::wait_until`].
pub struct MockServer {
    url: String,
    log: Arc<Log>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How to start a server.
#[derive(Debug, Clone)]
pub struct Builder {
    script: Script,
    chunking: Chunking,
    headers: BTreeMap<String, String>,
}

impl Builder {
    /// Cuts responses this way.
    #[must_use]
    pub fn chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Sends this header with every response; a reply's own headers come later and win.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Starts the server.
    ///
    /// # Panics
    /// When this machine cannot open a port of its own: no test can go on from there.
    #[must_use]
    pub fn start(self) -> MockServer {
        self.try_start().unwrap_or_else(|error| panic!("the mock server cannot start: {error}"))
    }

    fn try_start(self) -> std::io::Result<MockServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let log = Arc::new(Log::default());
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let service = serve::Service::new(self.script, self.chunking, self.headers, &log);
        let thread = std::thread::Builder::new().name("mock-model".into()).spawn(move || {
            // Dropping the runtime closes every connection.
            runtime.block_on(serve::serve(listener, Arc::new(service), stopped));
        })?;
        Ok(MockServer { url, log, stop: Some(stop), thread: Some(thread) })
    }
}

impl MockServer {
    /// Starts a server that plays `script`, one event at a time.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self::builder(script).start()
    }

    /// A server with other settings.
    #[must_use]
    pub fn builder(script: Script) -> Builder {
        Builder { script, chunking: Chunking::default(), headers: BTreeMap::new() }
    }

    /// The base URL, without a path and without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The requests so far, refused ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.log.read(|state| state.requests.clone())
    }

    /// The requests so far that could be parsed, as the checks see them.
    #[must_use]
    pub fn views(&self) -> Vec<RequestView> {
        self.log.read(|state| state.requests.iter().filter_map(|r| r.view.clone()).collect())
    }

    /// Why requests were refused: not valid, not a continuation, not what the script expects, or
    /// after its end. Empty at the end of a good test.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.log.read(|state| state.requests.iter().filter_map(|r| r.refused.clone()).collect())
    }

    /// What has happened so far, in numbers.
    #[must_use]
    pub fn status(&self) -> Status {
        self.log.read(|state| state.status)
    }

    /// Blocks the thread until `holds`; false when it does not within half a minute.
    #[must_use]
    pub fn wait_until(&self, holds: impl Fn(Status) -> bool) -> bool {
        self.log.wait_until(holds)
    }

    /// Waits until `holds`.
    pub async fn until(&self, holds: impl Fn(Status) -> bool) {
        self.log.until(holds).await;
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server has already been printed by its own thread.
            let _ = thread.join();
        }
    }
}
