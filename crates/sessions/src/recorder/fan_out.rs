//! One event for several recorders.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Recorder;
use crate::RecordedEvent;

/// Hands each event to several recorders, in their order. Each numbers by itself, and one that
/// panics does not keep an event from the next.
///
/// ```
/// use std::sync::Arc;
/// use heeler_sessions::{FanOutRecorder, MemoryRecorder, SessionRecorder};
///
/// let (all, session) = (Arc::new(MemoryRecorder::new()), Arc::new(SessionRecorder::new()));
/// let both = FanOutRecorder::new(vec![all, session]);
/// ```
pub struct FanOutRecorder {
    recorders: Vec<Arc<dyn Recorder>>,
}

impl FanOutRecorder {
    /// Hands events to these.
    #[must_use]
    pub fn new(recorders: Vec<Arc<dyn Recorder>>) -> Self {
        Self { recorders }
    }
}

impl Recorder for FanOutRecorder {
    fn record(&self, event: &RecordedEvent) {
        for recorder in &self.recorders {
            // What its state is after a panic is its own affair; the next knows nothing of it.
            let _ = catch_unwind(AssertUnwindSafe(|| recorder.record(event)));
        }
    }

    /// Whether all of them are.
    fn is_immediate(&self) -> bool {
        self.recorders.iter().all(|recorder| recorder.is_immediate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryRecorder;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::event;

    struct Panics;

    impl Recorder for Panics {
        fn record(&self, _: &RecordedEvent) {
            panic!("a recorder's own affair");
        }
    }

    #[test]
    fn each_numbers_by_itself_and_a_panic_stops_no_other() {
        let (early, late) = (Arc::new(MemoryRecorder::new()), Arc::new(MemoryRecorder::new()));
        early.record(&event(ModelRequest));
        let recorder = FanOutRecorder::new(vec![early.clone(), Arc::new(Panics), late.clone()]);
        recorder.record(&event(ModelRequest));
        let seqs = |recorder: &MemoryRecorder| -> Vec<u64> {
            recorder.events().iter().map(|event| event.seq).collect()
        };
        assert_eq!((seqs(&early), seqs(&late)), (vec![1, 2], vec![1]));
        assert!(!recorder.is_immediate());
        assert!(FanOutRecorder::new(vec![early, late]).is_immediate());
    }
}
