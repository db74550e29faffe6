//! The event log: one shared log, one cursor a reader; the loop never waits for a reader.
//!
//! A snapshot and a cursor are taken together, so a reader that folds what it sees always arrives
//! at the same view as one that was there from the start. What a slow reader has not seen yet is
//! merged while it waits ([`backlog`]); one too far behind is given a new snapshot instead.

mod backlog;
mod delivery;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{Envelope, View};
use tokio::sync::Notify;

use backlog::{Backlog, Bounds, Read};

/// What a reader sees next.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The next event. Those of the main agent, folded with [`View::apply`], are the view.
    Event(Arc<Envelope>),
    /// The reader fell too far behind: this is the view now, and events go on from here.
    Resync(Box<View>),
}

/// A reader's place in the log.
///
/// Who keeps up sees each event. Who falls behind finds the deltas of a block joined, and of
/// progress, heartbeats and usage only the latest; every other event is seen as it was, in order.
pub struct Cursor {
    log: Arc<EventLog>,
    reader: u64,
}

pub(crate) struct EventLog {
    inner: Mutex<Inner>,
    grown: Notify,
}

struct Inner {
    view: View,
    backlog: Backlog,
    closed: bool,
}

impl EventLog {
    /// A log whose watchers begin with `view`.
    pub(crate) fn new(view: View) -> Arc<Self> {
        Self::with_bounds(view, Bounds::default())
    }

    fn with_bounds(view: View, bounds: Bounds) -> Arc<Self> {
        let inner = Inner { view, backlog: Backlog::new(bounds), closed: false };
        Arc::new(Self { inner: Mutex::new(inner), grown: Notify::new() })
    }

    /// Takes a snapshot and a place to read on from, in one step.
    pub(crate) fn subscribe(self: &Arc<Self>) -> (View, Cursor) {
        let mut inner = self.lock();
        let reader = inner.backlog.join();
        (inner.view.clone(), Cursor { log: Arc::clone(self), reader })
    }

    /// Adds events, in order.
    pub(crate) fn publish(&self, envelopes: impl IntoIterator<Item = Envelope>) {
        let mut inner = self.lock();
        for envelope in envelopes {
            // The view is the main agent's; a child's events are about another conversation.
            if envelope.agent.is_main() {
                inner.view.apply(&envelope.event);
            }
            inner.backlog.push(envelope);
        }
        drop(inner);
        self.grown.notify_waiters();
    }

    /// Whether anybody watches.
    pub(crate) fn has_readers(&self) -> bool {
        self.lock().backlog.has_readers()
    }

    /// No event follows.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.grown.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while the lock was held can only have come from a watcher's allocation; the log
        // itself is whole between statements.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cursor {
    /// What comes next; `None` once the session is closed and everything was seen.
    pub async fn next(&mut self) -> Option<Seen> {
        loop {
            // Registered before looking, so that nothing published in between is missed.
            let log = Arc::clone(&self.log);
            let grown = log.grown.notified();
            // Looked up first: what was published before the end must not be missed for it.
            let closed = log.lock().closed;
            match self.try_next() {
                Some(seen) => return Some(seen),
                None if closed => return None,
                None => grown.await,
            }
        }
    }

    /// What comes next, if it is there already.
    pub fn try_next(&mut self) -> Option<Seen> {
        let mut inner = self.log.lock();
        match inner.backlog.read(self.reader) {
            Read::Event(envelope) => Some(Seen::Event(envelope)),
            Read::Behind => Some(Seen::Resync(Box::new(inner.view.clone()))),
            Read::Nothing => None,
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.log.lock().backlog.leave(self.reader);
    }
}
