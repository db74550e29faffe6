//! A session in two processes: the owner opens a door, others come in by it, watch, and have a say.
//!
//! [`serve`] is the owner's side. [`attach`] is the other's: it gives a [`Session`] that looks like
//! any other, so whatever shows one shows this one too. What happened stands in the journal, which
//! both read; through the door come only what is not written there (text as it is streamed, progress)
//! and what the other wishes. `docs/design/010-attach.md` says why.
//!
//! Read in this order: `wire` (what is said), `owner`, `guest`, `again`, then what both need.
//!
//! Invariant: nothing is decided here and no journal is written: the owner's session does both.
//!
//! [`Session`]: heeler_engine::Session

mod again;
mod door;
mod guest;
mod lines;
mod live;
mod owner;
mod presence;
mod questions;
mod wire;
mod wishes;

pub use guest::{AttachError, Attached, GuestQuestion, attach};
pub use owner::{GUESTS_MAX, serve};
pub use presence::{Presence, presences};
pub use questions::Questions;
pub use wire::OwnerKind;
