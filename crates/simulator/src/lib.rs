//! Drives the shipped turn machine, and the whole shipped engine, through faults in virtual time:
//! the proof of what they promise.
//!
//! One seed is one run: a session with its processes, its model, its tools and its people. There
//! are two simulations ([`Arm`]): `drive` has a loop of its own around the shipped machine
//! ([`heeler_turn::State`]) and is a thousand times faster; `live` runs the shipped
//! [`heeler_engine::Session`] on a runtime whose time is virtual. What is checked is checked a
//! second time, by other code. Read in this order: `drive` (the loop), `scene`, `model`, `tools`,
//! `people`, `store` (what happens), `check` (what must hold), `live` (the engine), `run` (many
//! runs), `shrink`.
//!
//! Invariant: no real clock, no thread, no chance but the seed's.

mod bug;
mod chance;
mod check;
mod drive;
mod live;
mod matrix;
mod model;
mod people;
mod run;
mod scene;
mod shrink;
mod store;
mod tools;

pub use bug::{Bug, turn_on};
pub use check::{Invariant, Violation};
pub use matrix::Matrix;
pub use run::{Arm, Broken, Totals, run};
pub use shrink::shrink;
