//! The event log: one shared log, one cursor a reader; the loop never waits for a reader.
//!
//! A snapshot and a cursor are taken together, so a reader that folds what it sees always arrives
//! at the same view as one that was there from the start. What a slow reader has not seen yet is
//! merged while it waits ([`backlog`]); one too far behind is given a new snapshot instead.

mod backlog;
mod delivery;
#[cfg(test)]
#[cfg(not(feature = "models"))]
mod tests;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use heeler_core::{AgentPath, Envelope, Event, FinalAnswer, TurnOutcome, View};

use crate::sync::{Mutex, MutexGuard, Order, PoisonError, is_reversed};
use backlog::{Backlog, Read};

pub(crate) use backlog::Bounds;

/// How a turn ends whose session is gone before it.
pub(crate) const CLOSED: &str = "the session was closed before the turn ended";
/// Why a session ended that said nothing.
const GONE: &str = "the session's task ended before the session was closed: its runtime was shut down, or it \
                    crashed";

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
}

struct Inner {
    view: View,
    backlog: Backlog,
    closed: bool,
    /// Why it was closed, when nobody wished it.
    broke: Option<String>,
    /// Readers that have seen everything, each with whom to wake when there is more.
    waiting: Vec<(u64, Waker)>,
}

impl EventLog {
    /// A log whose watchers begin with `view`.
    pub(crate) fn new(view: View) -> Arc<Self> {
        Self::with_bounds(view, Bounds::default())
    }

    /// The same, keeping so much for readers that are behind.
    pub(crate) fn with_bounds(view: View, bounds: Bounds) -> Arc<Self> {
        let backlog = Backlog::new(bounds);
        let inner = Inner { view, backlog, closed: false, broke: None, waiting: Vec::new() };
        Arc::new(Self { inner: Mutex::new(inner) })
    }

    /// Takes a snapshot and a place to read on from, in one step.
    pub(crate) fn subscribe(self: &Arc<Self>) -> (View, Cursor) {
        let mut inner = self.lock();
        let reader = inner.backlog.join();
        (inner.view.clone(), Cursor { log: Arc::clone(self), reader })
    }

    /// Adds events, in order.
    pub(crate) fn publish(&self, envelopes: impl IntoIterator<Item = Envelope>) {
        if is_reversed(Order::KeepThenWake) {
            wake(std::mem::take(&mut self.lock().waiting));
        }
        let mut inner = self.lock();
        for envelope in envelopes {
            // The view is the main agent's; a child's events are about another conversation.
            if envelope.agent.is_main() {
                inner.view.apply(&envelope.event);
            }
            inner.backlog.push(envelope);
        }
        if is_reversed(Order::KeepThenWake) {
            return;
        }
        let waiting = std::mem::take(&mut inner.waiting);
        // Whoever is woken may want the log at once.
        drop(inner);
        wake(waiting);
    }

    /// Looks at all text that was shown of the running attempt.
    pub(crate) fn with_draft<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        let inner = self.lock();
        look(inner.view.turn.as_ref().map_or("", |turn| &turn.draft))
    }

    /// Says why the session ends by itself.
    pub(crate) fn break_off(&self, why: String) {
        self.lock().broke = Some(why);
    }

    /// Why it did.
    pub(crate) fn broke(&self) -> Option<String> {
        self.lock().broke.clone()
    }

    /// No event follows.
    pub(crate) fn close(&self) {
        let waiting = {
            let mut inner = self.lock();
            inner.closed = true;
            std::mem::take(&mut inner.waiting)
        };
        wake(waiting);
    }

    /// No event follows, since what told them is gone without a word; nothing when it was closed before.
    pub(crate) fn close_abruptly(&self) {
        let (is_closed, turn) = {
            let mut inner = self.lock();
            if !inner.closed {
                inner.broke.get_or_insert_with(|| GONE.to_owned());
            }
            (inner.closed, inner.view.turn.as_ref().map(|turn| turn.turn))
        };
        if is_closed {
            return;
        }
        // As whoever waits for the turn is told.
        let outcome = TurnOutcome::Failed { message: CLOSED.to_owned() };
        self.publish(turn.map(|turn| Envelope {
            seq: None,
            agent: AgentPath::default(),
            event: Event::TurnFinished { turn, outcome, answer: FinalAnswer::default() },
        }));
        self.close();
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
        poll_fn(|context| self.poll_next(context)).await
    }

    /// What comes next, if it is there already.
    pub fn try_next(&mut self) -> Option<Seen> {
        self.log.lock().read(self.reader)
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Seen>> {
        let mut inner = self.log.lock();
        match inner.read(self.reader) {
            Some(Seen::Resync(_)) if is_reversed(Order::SnapshotThenLetGo) => {
                drop(inner);
                let view = self.log.lock().view.clone();
                Poll::Ready(Some(Seen::Resync(Box::new(view))))
            }
            Some(seen) => Poll::Ready(Some(seen)),
            None if inner.closed => Poll::Ready(None),
            None => {
                // In one step with looking, so that nothing published in between is missed.
                if is_reversed(Order::NoteThenLetGo) {
                    drop(inner);
                    inner = self.log.lock();
                }
                inner.wait(self.reader, context.waker());
                Poll::Pending
            }
        }
    }
}

impl Inner {
    fn read(&mut self, reader: u64) -> Option<Seen> {
        match self.backlog.read(reader) {
            Read::Event(envelope) => Some(Seen::Event(envelope)),
            Read::Behind => Some(Seen::Resync(Box::new(self.view.clone()))),
            Read::Nothing => None,
        }
    }

    fn wait(&mut self, reader: u64, waker: &Waker) {
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == reader) {
            Some((_, known)) => known.clone_from(waker),
            None => self.waiting.push((reader, waker.clone())),
        }
    }
}

fn wake(waiting: Vec<(u64, Waker)>) {
    for (_, waker) in waiting {
        waker.wake();
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut inner = self.log.lock();
        inner.backlog.leave(self.reader);
        inner.waiting.retain(|(waiting, _)| *waiting != self.reader);
    }
}
