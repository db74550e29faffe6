//! The promise of a recorder, and the recorders there are.

mod fan_out;
mod json_lines;
mod memory;
mod queue;
mod session;

use std::sync::Arc;

pub use fan_out::FanOutRecorder;
pub use json_lines::JsonLinesRecorder;
pub use memory::{MEMORY_EVENTS_MAX, MemoryRecorder};
pub use queue::{QUEUE_EVENTS_MAX, QueuedRecorder};
pub use session::SessionRecorder;

use crate::RecordedEvent;

/// Is told what happens in a run.
///
/// It is called from several threads at once, since calls run side by side: the start of each comes
/// before its end, else they come in any order. It numbers the events it is given, from 1 and
/// rising, whatever number they carry. Recording is for those who look on: it returns at once, has
/// no error to give back, and neither changes nor fails a run; what it cannot keep, it drops.
///
/// ```
/// use heeler_sessions::{Recorder, RecordedEvent};
///
/// /// Prints the name of what happens.
/// struct Printer;
///
/// impl Recorder for Printer {
///     fn record(&self, event: &RecordedEvent) {
///         println!("{} {}", event.turn, event.kind.name());
///     }
/// }
/// ```
pub trait Recorder: Send + Sync + 'static {
    /// Takes note of an event. A panic is caught by whoever calls.
    fn record(&self, event: &RecordedEvent);

    /// Whether it only ever pushes into memory or into a queue of its own, and so can be called in
    /// the middle of a run. Any other is called from a [`QueuedRecorder`]'s thread.
    fn is_immediate(&self) -> bool {
        false
    }
}

impl<R: Recorder + ?Sized> Recorder for Arc<R> {
    fn record(&self, event: &RecordedEvent) {
        (**self).record(event);
    }

    fn is_immediate(&self) -> bool {
        (**self).is_immediate()
    }
}
