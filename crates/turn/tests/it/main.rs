//! The turn machine through its public API: scenarios one can read, and properties that hold for
//! all runs.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a script or a run that is wrong")]

mod accepted;
mod background;
mod calls;
mod checker;
mod compaction;
mod context;
mod crash;
mod decided;
mod denial;
mod door;
mod edited;
mod fit;
mod format;
mod given;
mod history;
mod hooks;
mod interrupt;
mod items;
mod limits;
mod line_rules;
mod looked;
mod misfits;
mod permission;
mod plan;
mod properties;
mod reasoning;
mod repeats;
mod replies;
mod requests;
mod retry;
mod steering;
mod toolbox;
mod touches;
mod undo;
