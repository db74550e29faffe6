//! Events in memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Recorder;
use crate::RecordedEvent;

/// How many events a [`MemoryRecorder`] keeps; of more, the oldest go.
pub const MEMORY_EVENTS_MAX: usize = 100_000;

/// Keeps the last [`MEMORY_EVENTS_MAX`] events in memory.
///
/// ```
/// use heeler_core::Timestamp;
/// use heeler_sessions::{MemoryRecorder, Recorder, RecordedEvent, RecordedEventKind, TurnId};
///
/// let recorder = MemoryRecorder::new();
/// recorder.record(&RecordedEvent::new(TurnId(1), 0, Timestamp(0), RecordedEventKind::ModelRequest));
/// assert_eq!(recorder.events()[0].seq, 1);
/// ```
#[derive(Debug, Default)]
pub struct MemoryRecorder {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<RecordedEvent>,
    seq: u64,
}

impl MemoryRecorder {
    /// A recorder without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of the events, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<RecordedEvent> {
        self.kept().events.iter().cloned().collect()
    }

    /// Forgets the events; the next has the number 1 again.
    pub fn reset(&self) {
        *self.kept() = Kept::default();
    }

    /// Takes the events out; numbers go on.
    pub(super) fn take(&self) -> VecDeque<RecordedEvent> {
        std::mem::take(&mut self.kept().events)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics between two halves of a change.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for MemoryRecorder {
    fn record(&self, event: &RecordedEvent) {
        let mut kept = self.kept();
        kept.seq += 1;
        let event = event.numbered(kept.seq);
        if kept.events.len() == MEMORY_EVENTS_MAX {
            kept.events.pop_front();
        }
        kept.events.push_back(event);
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::event;

    fn seqs(recorder: &MemoryRecorder) -> Vec<u64> {
        recorder.events().iter().map(|event| event.seq).collect()
    }

    #[test]
    fn numbers_are_its_own_and_begin_again_after_a_reset() {
        let recorder = MemoryRecorder::new();
        recorder.record(&event(ModelRequest).numbered(9));
        recorder.record(&event(ModelRequest).numbered(9));
        let copy = recorder.events();
        assert_eq!(seqs(&recorder), [1, 2]);
        recorder.reset();
        recorder.record(&event(ModelRequest));
        assert_eq!((seqs(&recorder), copy.len()), (vec![1], 2));
        assert!(recorder.is_immediate());
    }

    #[test]
    fn a_hundred_thousand_events_are_kept_the_last_ones() {
        let recorder = MemoryRecorder::new();
        for _ in 0..=MEMORY_EVENTS_MAX {
            recorder.record(&event(ModelRequest));
        }
        let seqs = seqs(&recorder);
        assert_eq!((seqs.len(), seqs[0], seqs[99_999]), (100_000, 2, 100_001));
    }

    #[test]
    fn threads_that_record_at_once_lose_nothing_and_numbers_rise() {
        let recorder = MemoryRecorder::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| recorder.record(&event(ModelRequest))));
            }
        });
        assert_eq!(seqs(&recorder), (1..=2_000).collect::<Vec<u64>>());
    }
}
