//! The tokio driver of the turn machine and the tool call pipeline.
//!
//! A [`Session`] is a handle to a task that owns one session: it performs what
//! `heeler_turn::State::pending` asks for, writes each record before anybody sees its effect, and
//! tells watchers. Everything it needs is handed in with [`Parts`].
//!
//! Invariant: names no vendor, no terminal, no concrete tool; prints nothing; reads neither the
//! environment nor the home folder; holds the one loop there is.

// For the simulator alone.
#[doc(hidden)]
pub mod bugs;
mod clock;
mod debug;
mod distant;
mod draft;
mod driver;
mod hooks;
mod images;
mod log;
mod parts;
mod pipeline;
mod registry;
mod replay;
mod session;
mod sync;
mod toolset;

pub use clock::{OsEntropy, SystemClock};
#[doc(hidden)]
pub use distant::Distant;
pub use driver::{BACKGROUND_MAX, Fallback};
#[doc(hidden)]
pub use driver::{Command, Watched};
pub use heeler_turn::replay::Divergence;
pub use heeler_turn::state::BackgroundWork;
pub use images::ImageDoor;
pub use log::{Cursor, Seen};
pub use parts::Parts;
#[doc(hidden)]
pub use pipeline::CANCEL_GRACE_MILLIS;
pub use registry::{
    SearchPatternError, TOOL_SEARCH, ToolFound, ToolMoment, ToolQuery, ToolRegistry, ToolSearch,
};
pub use replay::{ReplayError, ReplayModel, Replayed, replay};
#[doc(hidden)]
pub use session::TurnEnd;
pub use session::{DecideError, OpenError, Session, SessionError, Turn};
#[doc(hidden)]
pub use toolset::is_tool_name;
pub use toolset::{DuplicateTool, Toolset, ToolsetError};
