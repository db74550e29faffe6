//! Real processes, which the rest of the house starts through its launcher only.
#![expect(
    clippy::disallowed_methods,
    reason = "the storm strikes the shipped program from outside"
)]

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

/// How long one look at the world lasts.
pub(super) const POLL: Duration = Duration::from_millis(1);

/// A program to run.
pub(super) fn program(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Waits for one poll, where there is no pipe to wait at.
pub(super) fn pause() {
    std::thread::sleep(POLL);
}
