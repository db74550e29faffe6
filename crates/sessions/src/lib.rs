//! What a run did, recorded; sessions as plain data, and where they are kept.
//!
//! A [`Recorder`] is told of each [`RunEvent`]. A [`Session`] is a conversation as a value that its
//! caller owns: history, typed state, events.
//!
//! This is not the journal: the engine's promise of a store, `heeler_core::SessionStore`, appends
//! records that an agent's life can be folded from; what is here keeps whole values for programs
//! that hold their history themselves.
//!
//! Invariant: nothing here changes, delays or fails a run.

mod event;
mod recorder;
#[cfg(test)]
mod samples;
mod session;

pub use event::{RunEvent, RunEventKind, TurnId, TurnIdError};
pub use recorder::{
    FanOutRecorder, JsonLinesRecorder, MEMORY_EVENTS_MAX, MemoryRecorder, QUEUE_EVENTS_MAX,
    QueuedRecorder, Recorder, SessionRecorder,
};
pub use session::{Session, SessionVersion, StateError, StateErrorKind};
