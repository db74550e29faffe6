//! Waits for a turn and prints what is seen of it.

use anyhow::Result;
use heeler_core::Event;
use heeler_engine::{Cursor, Seen, Session};
use heeler_tui::Outlet;

use super::Printer;
use super::ends::End;
use super::finish::Finish;
use super::signals::Signals;
use super::wanted::Wanted;

/// What is seen of a session, and who is told.
pub(super) struct Watch<'a> {
    pub(super) session: &'a Session,
    pub(super) cursor: Cursor,
    pub(super) signals: Signals,
    pub(super) printer: &'a mut dyn Printer,
    pub(super) wanted: Option<&'a mut Wanted>,
    /// The last turn that was seen to begin.
    pub(super) turn: &'a mut u32,
}

impl Watch<'_> {
    /// The outcome of a turn, or the answer to something said, once everything seen until then is
    /// printed. The first signal stops the turn, and nothing that waits begins.
    pub(super) async fn until_done<T>(&mut self, done: impl Future<Output = T>) -> Result<T> {
        let mut done = std::pin::pin!(done);
        let outcome = loop {
            self.print_ready()?;
            tokio::select! {
                biased;
                () = self.signals.first() => self.halt(),
                seen = self.cursor.next() => match seen {
                    Some(seen) => self.print(&seen)?,
                    None => break done.await,
                },
                outcome = &mut done => break outcome,
                // The next flush says why.
                () = broken(self.printer.outlet()) => {}
            }
        };
        self.print_ready()?;
        Ok(outcome)
    }

    /// The end of a turn, as a program that talks to the session is told.
    pub(super) async fn finish_of(&self, end: End) -> Finish {
        let End { turn, outcome, answer, spent } = end;
        let state = self.session.state().await.ok();
        let (view, _) = self.session.subscribe();
        let finish = Finish::of(self.session.id().clone(), outcome, state.as_ref(), &view);
        let finish = Finish { turn, answer, ..finish.having(spent) };
        match &self.wanted {
            Some(wanted) => finish.structured(wanted),
            None => finish,
        }
    }

    /// What is ready is printed at once; shown when nothing more waits behind it.
    pub(super) fn print_ready(&mut self) -> std::io::Result<()> {
        while let Some(seen) = self.cursor.try_next() {
            self.print(&seen)?;
        }
        self.printer.flush()
    }

    pub(super) fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        if self.wanted.as_mut().is_some_and(|wanted| wanted.sees(seen)) {
            self.cancel();
        }
        if let Seen::Event(envelope) = seen
            && let (Event::TurnStarted { turn, .. }, true) =
                (&envelope.event, envelope.agent.is_main())
        {
            *self.turn = *turn;
        }
        self.printer.print(seen)
    }

    /// Stops the running turn for good, in a task of its own, too.
    pub(super) fn halt(&mut self) {
        if let Some(wanted) = &mut self.wanted {
            wanted.stop();
        }
        let session = self.session.clone();
        tokio::spawn(async move { session.halt().await });
    }

    /// Stops the running turn, in a task of its own: what is seen of it goes on being printed.
    pub(super) fn cancel(&self) {
        let session = self.session.clone();
        tokio::spawn(async move { session.cancel().await });
    }
}

/// Resolves when nobody can be told anything any more.
pub(super) async fn broken(outlet: Option<&Outlet>) {
    match outlet {
        Some(outlet) => outlet.broken().await,
        None => std::future::pending().await,
    }
}
