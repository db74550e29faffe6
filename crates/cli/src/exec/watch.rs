//! Waits for a turn and prints what is seen of it.

use anyhow::Result;
use heeler_core::TurnOutcome;
use heeler_engine::{Cursor, Session, Turn};

use super::Printer;
use super::signals::Signals;

/// The outcome of a turn, once everything seen of it is printed. The first signal cancels it.
pub(super) async fn until_done(
    session: &Session,
    turn: Turn,
    cursor: &mut Cursor,
    signals: &mut Signals,
    printer: &mut dyn Printer,
) -> Result<TurnOutcome> {
    let mut turn = turn;
    let outcome = loop {
        // What is ready is printed at once; shown when nothing more waits behind it.
        while let Some(seen) = cursor.try_next() {
            printer.print(&seen)?;
        }
        printer.flush()?;
        tokio::select! {
            biased;
            () = signals.first() => {
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
