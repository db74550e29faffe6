//! What the server has seen, shared with the test that watches it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heeler_script::RequestView;
use tokio::sync::watch;

/// How long a test waits for the server before it fails.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The request as the checks see it, when it could be parsed.
    pub view: Option<RequestView>,
    /// Why it was refused.
    pub refused: Option<String>,
}

impl Recorded {
    /// The first header of this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What has happened so far, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// Requests that came.
    pub requests: usize,
    /// Streams sent as far as the script says, whole or cut.
    pub finished: usize,
    /// Streams that fell silent because the script says so.
    pub stalled: usize,
    /// Streams whose reader went away before their end.
    pub abandoned: usize,
    /// Connections that were opened.
    pub connections: usize,
    /// Connections that are open now.
    pub connections_open: usize,
}

pub(super) struct Log {
    state: Mutex<State>,
    changed: Condvar,
    version: watch::Sender<u64>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) requests: Vec<Recorded>,
    pub(super) status: Status,
}

impl Default for Log {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), version: watch::Sender::new(0) }
    }
}

impl Log {
    pub(super) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state())
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
        self.version.send_modify(|version| *version += 1);
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Status)) {
        self.change(|state| change(&mut state.status));
    }

    pub(super) fn wait_until(&self, holds: impl Fn(Status) -> bool) -> bool {
        let waits = |state: &mut State| !holds(state.status);
        let waited = self.changed.wait_timeout_while(self.state(), WAIT_MAX, waits);
        let (_state, result) = waited.unwrap_or_else(PoisonError::into_inner);
        !result.timed_out()
    }

    pub(super) async fn until(&self, holds: impl Fn(Status) -> bool) {
        let mut version = self.version.subscribe();
        while !self.read(|state| holds(state.status)) {
            // The sender lives as long as `self`.
            if version.changed().await.is_err() {
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
