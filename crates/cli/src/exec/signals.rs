//! Waits for a turn, prints what is seen of it, and stops it when a person or the system asks.

use anyhow::Result;
use heeler_core::TurnOutcome;
use heeler_engine::{Cursor, Session, Turn};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Printer;
use crate::exit::Exit;

/// The outcome of a turn, once everything seen of it is printed. The first signal cancels the
/// turn, the second ends the process: the journal is whole at any moment.
pub(super) async fn until_done(
    session: &Session,
    turn: Turn,
    cursor: &mut Cursor,
    printer: &mut dyn Printer,
) -> Result<TurnOutcome> {
    let mut signals = Signals::new()?;
    let mut turn = turn;
    let mut cancelled = false;
    let outcome = loop {
        // What is ready is printed at once; shown when nothing more waits behind it.
        while let Some(seen) = cursor.try_next() {
            printer.print(&seen)?;
        }
        printer.flush()?;
        tokio::select! {
            biased;
            () = signals.next() => {
                if cancelled {
                    std::process::exit(Exit::Cancelled as i32);
                }
                cancelled = true;
                eprintln!("heeler: stopping; once more to stop at once");
                let session = session.clone();
                tokio::spawn(async move { session.cancel().await });
            }
            seen = cursor.next() => match seen {
                Some(seen) => printer.print(&seen)?,
                None => break turn.await,
            },
            outcome = &mut turn => break outcome,
        }
    };
    while let Some(seen) = cursor.try_next() {
        printer.print(&seen)?;
    }
    printer.flush()?;
    Ok(outcome)
}

/// SIGINT, SIGTERM and SIGHUP.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
