//! Stops a turn when a person or the system asks, and the process when they insist.

use std::io;
use std::sync::mpsc::SendError;
use std::time::Duration;

use heeler_core::SessionId;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::END_PATIENCE;
use super::finish::goes_on;
use crate::exit::Exit;
use crate::say::say_within;

/// SIGINT, SIGTERM and SIGHUP. The first asks for the end of the turn, the second ends the
/// process: the journal is whole at any moment. A SIGHUP that was ignored when we started, as under
/// `nohup`, stays ignored.
pub(super) struct Signals {
    first: mpsc::Receiver<()>,
    came: bool,
}

impl Signals {
    /// Listens from here on, on a thread of its own: the one that prints may be stuck at a full
    /// pipe that nobody reads. Who insists is told how this session goes on.
    pub(super) fn listen(session: SessionId) -> io::Result<Self> {
        let (sender, first) = mpsc::channel(1);
        let (gives, given) = std::sync::mpsc::channel::<(Runtime, Listeners)>();
        // Not waited for: it takes longer to be there than all that it is given takes to be made.
        let obey = move || {
            if let Ok((runtime, listeners)) = given.recv() {
                runtime.block_on(listeners.obey(sender, &session));
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(obey)?;
        gives.send(Listeners::in_runtime()?).map_err(|SendError((runtime, _))| {
            runtime.shutdown_background();
            io::Error::other("the thread for them is gone")
        })?;
        Ok(Self { first, came: false })
    }

    /// Resolves once, at the first signal.
    pub(super) async fn first(&mut self) {
        if self.first.recv().await.is_none() {
            std::future::pending().await
        }
        self.came = true;
    }

    /// Whether the first signal was waited for and came.
    pub(super) fn came(&self) -> bool {
        self.came
    }
}

/// How long a word to a person is waited for before the next signal is.
const WORD_PATIENCE: Duration = Duration::from_millis(100);

struct Listeners {
    interrupt: Signal,
    terminate: Signal,
    /// `None` when a hang-up is nothing to us.
    hang_up: Option<Signal>,
}

impl Listeners {
    /// With the runtime that hears them. One that is dropped where another runs panics, so what is not
    /// given away is shut down.
    fn in_runtime() -> io::Result<(Runtime, Self)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let inside = runtime.enter();
        let listeners = Self::new();
        drop(inside);
        match listeners {
            Ok(listeners) => Ok((runtime, listeners)),
            Err(error) => {
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: match is_ignored(SignalKind::hangup()) {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
        })
    }

    async fn obey(mut self, first: mpsc::Sender<()>, session: &SessionId) {
        self.next().await;
        let word = match first.send(()).await {
            Ok(()) => "heeler: stopping; once more to stop at once",
            // Nobody listens any more when the turn has ended. What is done then, such as with a stage,
            // is done to its end.
            Err(_) => "heeler: this is the end of the run already; once more to stop at once",
        };
        // Who does not read it holds up neither the end nor the next signal.
        say_within(WORD_PATIENCE, word);
        self.next().await;
        // The last word, which nobody says later.
        say_within(END_PATIENCE, format_args!("heeler: {}", goes_on(session)));
        std::process::exit(Exit::Cancelled as i32);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = received(self.hang_up.as_mut()) => {}
        }
    }
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether the process ignores a signal, which whoever started it must have wished. Where the
/// system does not tell in a file, asking would need unsafe code; there nothing counts as ignored.
fn is_ignored(signal: SignalKind) -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

/// Whether a process's status names the signal among those it ignores.
fn ignores(status: &str, signal: SignalKind) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let bit = u32::try_from(signal.as_raw_value() - 1).unwrap_or(u32::MAX);
    mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_counts_from_one() {
        for (status, hang_up, interrupt) in [
            ("Name:\theeler\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n", true, false),
            ("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001002\n", false, true),
            ("SigIgn:\tffffffffffffffff\n", true, true),
            ("SigIgn:\t?\n", false, false),
            ("", false, false),
        ] {
            assert_eq!(ignores(status, SignalKind::hangup()), hang_up, "{status}");
            assert_eq!(ignores(status, SignalKind::interrupt()), interrupt, "{status}");
        }
    }
}
