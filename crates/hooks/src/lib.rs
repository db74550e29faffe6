//! Hooks that are commands: JSON on stdin, exit codes and JSON back, as people know them.
//!
//! [`CommandHooks`] keeps the promise `heeler_core::Hooks` with the commands of settings files.
//! Read in this order: `hook` with `matcher` and `condition` (which of them), `told` (what they read),
//! `process` (how they run), `answer` (what they mean).
//!
//! Invariants: every process has a time limit, and everything it started is gone when its answer is
//! read; whatever a command does, there is an outcome; one that guards calls and gives no answer
//! that can be heeded is broken, never silent.

mod answer;
mod command_hooks;
mod compatible;
mod condition;
mod hook;
mod matcher;
mod name;
mod process;
mod told;

pub use command_hooks::CommandHooks;
pub use hook::{AskedHook, HookCommand};
pub use process::{HOOK_OUTPUT_BYTES_MAX, HOOK_TIMEOUT_MILLIS_DEFAULT, HOOK_TIMEOUT_MILLIS_MAX};
