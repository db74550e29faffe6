//! Lets changes of a folder happen beside it, and applies what is chosen of them.
//!
//! A [`Stage`] shows a folder, its base, in which everything may be changed while the base stays as it
//! is: as an overlay over it where the system lets us mount one, else as a copy. [`Stage::changes`] says
//! what differs, and [`Stage::apply`] makes the base so, all of it or, after the death of the process,
//! the rest of it with the next [`recover`]. Read in this order: `sparse`, `entry`, `snapshot`,
//! `stage`, then `overlay` and `copy`, `opened` and `changes`, and `apply`.
//!
//! Invariant: the base changes through [`Stage::apply`] alone, and only where it still is what the stage
//! was made from.

mod apply;
mod changes;
mod copy;
mod entry;
mod gathered;
mod opened;
mod overlay;
mod quoted;
mod snapshot;
mod sparse;
mod stage;

pub use apply::{Applied, Conflict, Progress, Recovered, Why, recover};
pub use changes::{CHANGES_MAX, Change, Changes, Staying, Stays};
pub use entry::{Content, Entry};
pub use quoted::quoted;
pub use stage::{Form, Stage, StageError, Summary};
