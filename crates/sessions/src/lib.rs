//! What a run did, recorded; sessions as plain data, and where they are kept.
//!
//! A [`Recorder`] is told of each [`RecordedEvent`]. A [`Session`] is a conversation as a value that its
//! caller owns: history, typed state, events. A [`SessionStore`] keeps such values: in memory, in
//! files, and with the feature `postgres` in PostgreSQL. [`conformance`] checks any store.
//!
//! This is not the journal: the engine's promise of a store, `heeler_core::SessionStore`, appends
//! records that an agent's life is folded from; what is here keeps whole values for programs that
//! hold their history themselves.
//!
//! Invariant: recording changes, delays or fails no run; of two changes made at once none is lost.

pub mod conformance;
mod encoded;
mod error;
mod event;
mod file;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod recorder;
#[cfg(test)]
mod samples;
mod session;
mod store;

pub use encoded::SESSION_BYTES_MAX;
pub use error::{SessionError, SessionErrorKind, check_id};
pub use event::{RecordedEvent, RecordedEventKind, TurnId, TurnIdError};
pub use file::FileSessions;
pub use memory::MemorySessions;
#[cfg(feature = "postgres")]
pub use postgres::PostgresSessions;
pub use recorder::{
    FanOutRecorder, JsonLinesRecorder, MEMORY_EVENTS_MAX, MemoryRecorder, QUEUE_EVENTS_MAX,
    QueuedRecorder, Recorder, SessionRecorder,
};
pub use session::{Session, SessionVersion, StateError, StateErrorKind};
pub use store::{SessionStore, load_or_new, save};
/// What settings and TLS of [`PostgresSessions`] are made with.
#[cfg(feature = "postgres")]
pub use tokio_postgres;
