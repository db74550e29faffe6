//! Drives the shipped turn machine through faults, in virtual time: the proof of what it promises.
//!
//! One seed is one run: a session with its processes, its model, its tools and its people. The
//! machine is the shipped one ([`heeler_turn::State`]), never a copy; what is checked is checked a
//! second time, by other code. Read in this order: `drive` (the loop), `scene`, `model`, `tools`,
//! `store` (what happens), `check` (what must hold), `run` (many runs), `shrink`.
//!
//! Invariant: no clock, no thread, no chance but the seed's.

mod chance;
mod check;
mod drive;
mod matrix;
mod model;
mod run;
mod scene;
mod shrink;
mod store;
mod tools;

pub use check::{Invariant, Violation};
pub use heeler_turn::bugs::{Bug, turn_on};
pub use matrix::Matrix;
pub use run::{Broken, Totals, run};
pub use shrink::shrink;
