//! The pure turn machine: records in, effects out.
//!
//! [`State`] is a fold over a session's journal. [`State::apply`] takes one record,
//! [`State::pending`] says what there is to perform. A driver performs, writes what came of it and
//! applies that; nothing else moves a session. Read in this order: `state`, `pending`, then the
//! parts they lean on.
//!
//! Invariant: no I/O, no clock, no runtime, nothing async. The same records give the same state
//! and the same effects, always.

// For the simulator alone.
#[doc(hidden)]
pub mod bugs;
pub mod calibration;
pub mod checkpoint;
pub mod chosen;
pub mod compact;
pub mod estimate;
pub mod fit;
pub mod fork;
pub mod history;
mod items;
mod keep;
pub mod limits;
pub mod pending;
mod prune;
pub mod replay;
pub mod request;
pub mod retry;
pub mod schedule;
pub mod state;
mod touched;
pub mod trim;
pub mod verdict;
pub mod words;

pub use calibration::Calibration;
pub use estimate::{Breakdown, CharacterEstimate, TokenEstimate};
pub use history::History;
pub use state::State;
