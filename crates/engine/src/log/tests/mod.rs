//! The log, proven from inside: what is merged, and that no speed of reading changes the view.

mod event;
mod limits;
mod merging;
mod promise;

use std::sync::Arc;

use heeler_core::{AgentPath, Envelope, Event, View};

use super::backlog::Bounds;
use super::{Cursor, EventLog, Seen};

impl EventLog {
    /// Merges now, however little waits.
    fn merge(&self) {
        self.lock().backlog.merge();
    }
}

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

/// Everything there is to see now.
fn drain(cursor: &mut Cursor) -> Vec<Seen> {
    std::iter::from_fn(|| cursor.try_next()).collect()
}

/// The events among what was seen.
fn events(seen: &[Seen]) -> Vec<Arc<Envelope>> {
    let event = |seen: &Seen| match seen {
        Seen::Event(envelope) => Some(Arc::clone(envelope)),
        Seen::Resync(_) => None,
    };
    seen.iter().filter_map(event).collect()
}
