//! The engine's parts where threads meet, tried in every order of their steps.
//!
//! The files are the engine's own. They take their lock from `crate::sync`, which in this crate is
//! loom's: a model runs again and again until every interleaving that matters was seen. Each model
//! is a function here and a test in `tests`, which also breaks the order of two steps on purpose to
//! see the model notice.

#![expect(clippy::unwrap_used, reason = "a model that cannot go on has failed")]

pub mod handover;
pub mod models;
pub mod sync;

#[path = "../../crates/engine/src/driver/held.rs"]
mod held;
#[expect(dead_code, reason = "a model needs less than the engine")]
#[path = "../../crates/engine/src/log/mod.rs"]
mod log;

#[expect(dead_code, reason = "a model needs less than the engine")]
#[path = "../../crates/engine/src/driver/running.rs"]
mod running;

pub use log::{Cursor, Seen};
