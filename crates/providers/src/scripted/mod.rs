//! The scripted model: a provider without a network that plays a script.
//!
//! It checks every request for a valid history and a stable prefix before it answers; a request
//! that does not pass ends as an `InvalidRequest` error that says what is wrong, which is never
//! retried.

mod convert;
mod play;
#[cfg(test)]
mod same_over_http;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream;
use heeler_core::{Clock, EventStream, ModelRequest, Provider, ProviderError, ProviderErrorKind};
use heeler_script::{Mismatch, Player, RequestView, Script};

use convert::Views;

/// The most requests that are kept for [`Scripted::requests`]; older ones are dropped.
pub const REQUESTS_KEPT_MAX: usize = 4_096;

/// A provider that plays a script.
///
/// One value is one model with one script; clones share it.
#[derive(Clone)]
pub struct Scripted {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
}

struct Shared {
    state: Mutex<State>,
    streams_open: AtomicUsize,
}

struct State {
    player: Player,
    views: Views,
    requests: Vec<RequestView>,
    mismatches: Vec<Mismatch>,
}

impl Scripted {
    /// A model that plays `script`; delays pass on `clock`.
    #[must_use]
    pub fn from_script(script: Script, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            player: Player::new(script),
            views: Views::default(),
            requests: Vec::new(),
            mismatches: Vec::new(),
        };
        let shared = Shared { state: Mutex::new(state), streams_open: AtomicUsize::new(0) };
        Self { shared: Arc::new(shared), clock }
    }

    /// The requests so far, refused ones included; the newest [`REQUESTS_KEPT_MAX`] of them.
    #[must_use]
    pub fn requests(&self) -> Vec<RequestView> {
        self.shared.state().requests.clone()
    }

    /// What was wrong with requests so far; the newest [`REQUESTS_KEPT_MAX`] of them.
    #[must_use]
    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.shared.state().mismatches.clone()
    }

    /// How many replies of the script, in order, were not given yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.shared.state().player.remaining()
    }

    /// How many streams are neither at their end nor dropped.
    #[must_use]
    pub fn streams_open(&self) -> usize {
        self.shared.streams_open.load(Ordering::SeqCst)
    }
}

impl Provider for Scripted {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let reply = self.shared.state().answer(&request);
        match reply {
            Ok(reply) => {
                let open = OpenStream::new(Arc::clone(&self.shared));
                play::play(reply, Arc::clone(&self.clock), open)
            }
            Err(mismatch) => {
                let kind = ProviderErrorKind::InvalidRequest;
                let error = ProviderError::new(kind, mismatch.to_string());
                Box::pin(stream::iter([Err(error)]))
            }
        }
    }
}

impl Shared {
    /// The state; a panic elsewhere has not left it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn answer(&mut self, request: &ModelRequest) -> Result<heeler_script::Reply, Mismatch> {
        let view = self.views.request(request);
        let reply = self.player.answer(&view);
        keep(&mut self.requests, view);
        if let Err(mismatch) = &reply {
            keep(&mut self.mismatches, mismatch.clone());
        }
        reply
    }
}

/// Appends to a list of bounded length.
fn keep<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= REQUESTS_KEPT_MAX {
        // Half at a time, so that a long run does not move the list for every request.
        list.drain(..REQUESTS_KEPT_MAX / 2);
    }
    list.push(item);
}

/// Counts as an open stream for as long as it lives.
struct OpenStream(Arc<Shared>);

impl OpenStream {
    fn new(shared: Arc<Shared>) -> Self {
        shared.streams_open.fetch_add(1, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams_open.fetch_sub(1, Ordering::SeqCst);
    }
}
