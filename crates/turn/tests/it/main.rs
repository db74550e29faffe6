//! The turn machine through its public API: scenarios one can read, and properties that hold for
//! all runs.

mod calls;
mod checker;
mod compaction;
mod crash;
mod door;
mod history;
mod interrupt;
mod limits;
mod permission;
mod properties;
mod replies;
mod retry;
mod steering;
mod toolbox;
