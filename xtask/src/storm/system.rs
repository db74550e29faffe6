//! Real processes, which the rest of the house starts through its launcher only.
#![expect(
    clippy::disallowed_methods,
    reason = "the storm strikes the shipped program from outside"
)]

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::signal::unix::{SignalKind, signal};

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

/// Lets a storm's signals strike although this process ignores them, as what a script starts in the
/// background does: its programs would inherit that, and lose a strike before they listen.
///
/// A signal that is caught is back at its default in whatever is started; nothing is done about it
/// here, as before.
pub(super) fn catch_ignored_signals() -> Result<()> {
    // Where the system does not tell, nothing counts as ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        if ignores(&status, kind) {
            // The handler stays when its listener goes.
            drop(signal(kind).context("cannot catch a signal")?);
        }
    }
    Ok(())
}

/// Whether a process's status names the signal among those it ignores.
fn ignores(status: &str, kind: SignalKind) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_counts_from_one() {
        let ignored = |status: &str| {
            [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| ignores(status, kind))
        };
        assert_eq!(ignored(""), [false, false]);
        assert_eq!(ignored("SigIgn:\t0000000000001000\n"), [false, false]);
        assert_eq!(ignored("SigBlk:\t0\nSigIgn:\t0000000000000006\n"), [true, false]);
        assert_eq!(ignored("SigIgn:\t0000000000004002\n"), [true, true]);
    }
}
