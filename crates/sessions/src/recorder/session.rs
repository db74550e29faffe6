//! Events on their way into a session.

use super::{MemoryRecorder, Recorder};
use crate::{RecordedEvent, Session};

/// Gathers events for a session's log, from as many runs at once as there are.
///
/// The session stays its owner's: events are in it once they were moved there. Numbers are given
/// with the move and go on after the session's last event, also when the session was stored and
/// read again, by another process even. Each run's first event holds the history it began with:
/// of a session that lives long, old events may be taken out, as long as the last one stays.
///
/// ```
/// use heeler_core::Timestamp;
/// use heeler_sessions::{Recorder, RecordedEvent, RecordedEventKind, Session, SessionRecorder, TurnId};
///
/// let mut session = Session::new("chat-7");
/// let recorder = SessionRecorder::new();
/// // A client is given the recorder, and runs; then, before the session is stored:
/// # recorder.record(&RecordedEvent::new(TurnId(1), 0, Timestamp(0), RecordedEventKind::ModelRequest));
/// recorder.move_into(&mut session);
/// assert_eq!(session.events[0].seq, 1);
/// ```
#[derive(Debug, Default)]
pub struct SessionRecorder {
    waiting: MemoryRecorder,
}

impl SessionRecorder {
    /// A recorder without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the events since the last move to the end of the session's.
    ///
    /// No more than [`MEMORY_EVENTS_MAX`](crate::MEMORY_EVENTS_MAX) wait for a move; of more, the
    /// oldest are gone.
    pub fn move_into(&self, session: &mut Session) {
        session.add_events(self.waiting.take());
    }
}

impl Recorder for SessionRecorder {
    fn record(&self, event: &RecordedEvent) {
        self.waiting.record(event);
    }

    fn is_immediate(&self) -> bool {
        self.waiting.is_immediate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::event;

    #[test]
    fn numbers_go_on_after_the_last_event_also_after_a_restart() {
        let mut session = Session::new("a");
        let recorder = SessionRecorder::new();
        recorder.record(&event(ModelRequest));
        recorder.move_into(&mut session);
        recorder.move_into(&mut session);

        let stored = serde_json::to_string(&session).unwrap();
        let mut read: Session = serde_json::from_str(&stored).unwrap();
        let recorder = SessionRecorder::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| recorder.record(&event(ModelRequest))));
            }
        });
        recorder.move_into(&mut read);
        let seqs: Vec<u64> = read.events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=201).collect::<Vec<u64>>());
        assert!(recorder.is_immediate());
    }
}
