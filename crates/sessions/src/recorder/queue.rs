//! A bounded queue and a thread behind it, so that who records never waits.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::Recorder;
use crate::RecordedEvent;

/// How many events wait in a queue; those that come while it is full are dropped and counted.
pub const QUEUE_EVENTS_MAX: usize = 1_024;

/// Calls a recorder from a thread of its own, so that a slow one delays nobody.
///
/// No more than [`QUEUE_EVENTS_MAX`] events wait; those that come meanwhile are dropped and counted.
/// Dropping it waits until the events that wait were recorded.
///
/// ```
/// use heeler_sessions::{QueuedRecorder, Recorder, RecordedEvent};
///
/// struct Slow;
/// impl Recorder for Slow {
///     fn record(&self, _: &RecordedEvent) { /* asks a server */ }
/// }
///
/// let recorder = QueuedRecorder::new(Slow)?;
/// assert!(recorder.is_immediate());
/// recorder.flush()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct QueuedRecorder {
    queue: Queue,
}

impl QueuedRecorder {
    /// Starts the thread that calls `recorder`.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn new(recorder: impl Recorder) -> io::Result<Self> {
        Ok(Self { queue: Queue::start(Calls(recorder))? })
    }

    /// Waits until all that was recorded before has reached the recorder. It blocks: not for the
    /// middle of a run.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn flush(&self) -> io::Result<()> {
        self.queue.flush()
    }

    /// How many events were dropped because the queue was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// How many events the recorder panicked at.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.queue.failed()
    }
}

impl Recorder for QueuedRecorder {
    fn record(&self, event: &RecordedEvent) {
        self.queue.push(event.clone());
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

struct Calls<R>(R);

impl<R: Recorder> Sink for Calls<R> {
    fn take(&mut self, event: RecordedEvent) -> io::Result<()> {
        self.0.record(&event);
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the thread does with what it takes out of the queue.
pub(super) trait Sink: Send + 'static {
    fn take(&mut self, event: RecordedEvent) -> io::Result<()>;
    /// Nothing more waits, or somebody wants to know that all is done.
    fn settle(&mut self) -> io::Result<()>;
}

/// A queue with its thread.
pub(super) struct Queue {
    /// None only while it is dropped.
    sender: Option<SyncSender<Item>>,
    thread: Option<JoinHandle<()>>,
    losses: Arc<Losses>,
}

#[derive(Default)]
struct Losses {
    dropped: AtomicU64,
    failed: AtomicU64,
}

enum Item {
    Event(RecordedEvent),
    Flush(SyncSender<io::Result<()>>),
}

impl Queue {
    pub(super) fn start(sink: impl Sink) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE_EVENTS_MAX);
        let losses = Arc::new(Losses::default());
        let counted = Arc::clone(&losses);
        let thread = Builder::new()
            .name("heeler-recorder".to_owned())
            .spawn(move || serve(&receiver, sink, &counted))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), losses })
    }

    pub(super) fn push(&self, event: RecordedEvent) {
        let is_taken =
            self.sender.as_ref().is_some_and(|sender| sender.try_send(Item::Event(event)).is_ok());
        if !is_taken {
            self.losses.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn flush(&self) -> io::Result<()> {
        let gone = || io::Error::other("the recorder's thread is gone");
        let (sender, answer) = sync_channel(1);
        self.sender
            .as_ref()
            .and_then(|queue| queue.send(Item::Flush(sender)).ok())
            .ok_or_else(gone)?;
        answer.recv().map_err(|_| gone())?
    }

    pub(super) fn dropped(&self) -> u64 {
        self.losses.dropped.load(Ordering::Relaxed)
    }

    pub(super) fn failed(&self) -> u64 {
        self.losses.failed.load(Ordering::Relaxed)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The thread ends when it has taken all that waits.
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(receiver: &Receiver<Item>, mut sink: impl Sink, losses: &Losses) {
    let settle = |sink: &mut _| guarded(|| Sink::settle(sink));
    while let Ok(item) = receiver.recv() {
        let mut next = Some(item);
        while let Some(item) = next {
            match item {
                Item::Event(event) => {
                    if guarded(|| sink.take(event)).is_err() {
                        losses.failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Item::Flush(answer) => {
                    // Who asked may have gone.
                    let _ = answer.send(settle(&mut sink));
                }
            }
            next = receiver.try_recv().ok();
        }
        // What cannot be written out now may be with the next, or when it is asked for.
        let _ = settle(&mut sink);
    }
}

/// A panic of what is recorded to is a failure like any other.
fn guarded(act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(io::Error::other("it panicked")))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel, sync_channel};
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::MemoryRecorder;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::event;

    /// Says that it was called, and waits until it may go on.
    struct Gated {
        called: SyncSender<()>,
        gate: Mutex<Receiver<()>>,
        heard: Arc<MemoryRecorder>,
    }

    impl Recorder for Gated {
        fn record(&self, event: &RecordedEvent) {
            let _ = self.called.send(());
            let _ = self.gate.lock().unwrap_or_else(PoisonError::into_inner).recv();
            assert_ne!(event.iteration, 666, "a recorder that panics");
            self.heard.record(event);
        }
    }

    #[test]
    fn a_recorder_that_hangs_delays_nobody_and_what_is_lost_is_counted() {
        let (called, was_called) = sync_channel(QUEUE_EVENTS_MAX + 2);
        let (open, gate) = channel();
        let heard = Arc::new(MemoryRecorder::new());
        let gated = Gated { called, gate: gate.into(), heard: heard.clone() };
        let recorder = QueuedRecorder::new(gated).unwrap();
        // Dropped before the recorder, which waits for its thread, also when a check below fails.
        let open = open;
        assert!(recorder.is_immediate());

        recorder.record(&event(ModelRequest));
        was_called.recv().unwrap();
        // One is with the recorder, 1,024 wait, three are too many.
        for _ in 0..1_024 + 3 {
            recorder.record(&event(ModelRequest));
        }
        assert_eq!((recorder.dropped(), heard.events().len()), (3, 0));

        drop(open);
        recorder.flush().unwrap();
        assert_eq!(heard.events().len(), 1_025);
        drop(recorder);
        assert_eq!(heard.events().len(), 1_025);
    }

    #[test]
    fn what_waits_is_recorded_when_it_is_dropped_and_a_panic_is_counted() {
        let (called, was_called) = sync_channel(8);
        let (open, gate) = channel();
        let heard = Arc::new(MemoryRecorder::new());
        let gated = Gated { called, gate: gate.into(), heard: heard.clone() };
        let recorder = QueuedRecorder::new(gated).unwrap();
        // Dropped before the recorder, which waits for its thread, also when a check below fails.
        let open = open;
        recorder.record(&RecordedEvent { iteration: 666, ..event(ModelRequest) });
        was_called.recv().unwrap();
        recorder.record(&event(ModelRequest));
        drop(open);
        recorder.flush().unwrap();
        assert_eq!((recorder.failed(), recorder.dropped()), (1, 0));
        recorder.record(&event(ModelRequest));
        drop(recorder);
        assert_eq!(heard.events().len(), 2);
    }
}
