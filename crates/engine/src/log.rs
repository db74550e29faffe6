//! The event log: one shared log, one cursor a reader; the loop never waits for a reader.
//!
//! A snapshot and a cursor are taken together, so a reader that folds what it sees always arrives
//! at the same view as one that was there from the start. A reader too far behind is given a new
//! snapshot instead of what it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{Envelope, Event, View};
use tokio::sync::Notify;

/// The most bytes of events kept for slow readers.
const BACKLOG_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a reader sees next.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The next event.
    Event(Arc<Envelope>),
    /// The reader fell too far behind: this is the view now, and events go on from here.
    Resync(Box<View>),
}

/// A reader's place in the log.
pub struct Cursor {
    log: Arc<EventLog>,
    reader: u64,
}

#[derive(Default)]
pub(crate) struct EventLog {
    inner: Mutex<Inner>,
    grown: Notify,
}

#[derive(Default)]
struct Inner {
    view: View,
    events: VecDeque<(Arc<Envelope>, usize)>,
    /// The position of the first kept event.
    first: u64,
    bytes: usize,
    readers: Vec<(u64, u64)>,
    readers_made: u64,
    closed: bool,
}

impl EventLog {
    /// A log whose watchers begin with `view`.
    pub(crate) fn new(view: View) -> Arc<Self> {
        let inner = Inner { view, ..Inner::default() };
        Arc::new(Self { inner: Mutex::new(inner), grown: Notify::new() })
    }

    /// Takes a snapshot and a place to read on from, in one step.
    pub(crate) fn subscribe(self: &Arc<Self>) -> (View, Cursor) {
        let mut inner = self.lock();
        inner.readers_made += 1;
        let reader = inner.readers_made;
        let place = inner.end();
        inner.readers.push((reader, place));
        (inner.view.clone(), Cursor { log: Arc::clone(self), reader })
    }

    /// Adds events, in order.
    pub(crate) fn publish(&self, envelopes: impl IntoIterator<Item = Envelope>) {
        let mut inner = self.lock();
        for envelope in envelopes {
            inner.view.apply(&envelope.event);
            if inner.readers.is_empty() {
                continue;
            }
            let bytes = weigh(&envelope.event);
            inner.bytes += bytes;
            inner.events.push_back((Arc::new(envelope), bytes));
        }
        // The newest stays, however large: who keeps up is never sent away for one event.
        while inner.bytes > BACKLOG_BYTES_MAX && inner.events.len() > 1 {
            inner.drop_first();
        }
        drop(inner);
        self.grown.notify_waiters();
    }

    /// Whether anybody watches.
    pub(crate) fn has_readers(&self) -> bool {
        !self.lock().readers.is_empty()
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

impl Inner {
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn drop_first(&mut self) {
        if let Some((_, bytes)) = self.events.pop_front() {
            self.bytes -= bytes;
            self.first += 1;
        }
    }

    /// Forgets what every reader has seen.
    fn trim(&mut self) {
        let needed = self.readers.iter().map(|(_, place)| *place).min().unwrap_or(self.end());
        while self.first < needed && !self.events.is_empty() {
            self.drop_first();
        }
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
        let (first, end) = (inner.first, inner.end());
        let reader = self.reader;
        let at = inner.readers.iter().position(|(id, _)| *id == reader)?;
        let place = inner.readers[at].1;
        if place < first {
            inner.readers[at].1 = end;
            let view = inner.view.clone();
            inner.trim();
            return Some(Seen::Resync(Box::new(view)));
        }
        let index = usize::try_from(place - first).unwrap_or(usize::MAX);
        let envelope = Arc::clone(&inner.events.get(index)?.0);
        inner.readers[at].1 = place + 1;
        inner.trim();
        Some(Seen::Event(envelope))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut inner = self.log.lock();
        let reader = self.reader;
        inner.readers.retain(|(id, _)| *id != reader);
        inner.trim();
    }
}

/// About how many bytes an event keeps alive beyond what the session keeps anyway.
fn weigh(event: &Event) -> usize {
    let text = match event {
        Event::TextDelta { text, .. }
        | Event::ThinkingDelta { text, .. }
        | Event::ToolInputDelta { text, .. }
        | Event::CallProgress { text, .. }
        | Event::ToolText { text, .. }
        | Event::Notice { text } => text.len(),
        Event::PermissionRequested(open) => open.input.get().len(),
        Event::TurnFinished { answer, .. } => answer.len(),
        _ => 0,
    };
    text + size_of::<Envelope>()
}

#[cfg(test)]
mod tests {
    use heeler_core::AgentPath;

    use super::*;

    #[test]
    fn the_last_event_is_seen_however_close_the_end_follows() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
        runtime.unwrap().block_on(async {
            for round in 0..20_000 {
                let log = EventLog::new(View::default());
                let (_, mut cursor) = log.subscribe();
                let reader = tokio::spawn(async move {
                    let mut seen = 0;
                    while cursor.next().await.is_some() {
                        seen += 1;
                    }
                    seen
                });
                for _ in 0..round % 7 {
                    tokio::task::yield_now().await;
                }
                let event = Event::Notice { text: String::new() };
                log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
                log.close();
                assert_eq!(reader.await.unwrap(), 1, "round {round}");
            }
        });
    }
}
