//! A handle to a session that another process owns: who makes one answers its commands and tells its
//! events.

use std::sync::Arc;

use heeler_core::{Envelope, SessionId, View};
use tokio::sync::mpsc;

use crate::Session;
use crate::driver::Command;
use crate::log::EventLog;

/// The other end of a [`Session`] without a driver. Dropping it ends the session for all who have a
/// handle: no event follows, and what they ask for is answered as by a closed one.
pub struct Distant {
    commands: mpsc::Receiver<Box<Command>>,
    log: Arc<EventLog>,
}

impl Distant {
    /// A handle whose watchers begin with `view`, and its other end.
    #[must_use]
    pub fn new(id: SessionId, view: View) -> (Session, Self) {
        let log = EventLog::new(view);
        let (session, commands) = Session::handle(id, Arc::clone(&log));
        (session, Self { commands, log })
    }

    /// What is asked for next; `None` once no handle is left. A command whose `done` is dropped is
    /// answered as by a closed session.
    pub async fn command(&mut self) -> Option<Command> {
        self.commands.recv().await.map(|command| *command)
    }

    /// Tells watchers what happened, in order.
    pub fn publish(&self, envelopes: impl IntoIterator<Item = Envelope>) {
        self.log.publish(envelopes);
    }

    /// What watchers know of now.
    #[must_use]
    pub fn view(&self) -> View {
        self.log.subscribe().0
    }
}

impl Drop for Distant {
    fn drop(&mut self) {
        self.log.close();
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::{Event, TurnOutcome, View};

    use super::*;
    use crate::Seen;

    #[tokio::test]
    async fn a_handle_of_a_distant_session_is_answered_by_its_other_end_and_ends_with_it() {
        let (session, mut distant) = Distant::new("s".parse().unwrap(), View::default());
        let (_, mut cursor) = session.subscribe();
        let asked = tokio::spawn({
            let session = session.clone();
            async move { session.compact(None).await }
        });
        let Some(Command::Compact { done, .. }) = distant.command().await else { unreachable!() };
        done.send(true).unwrap();
        assert_eq!(asked.await.unwrap(), Ok(true));
        let event = Event::TurnStarted { turn: 3 };
        distant.publish([Envelope { seq: Some(1), agent: Default::default(), event }]);
        assert!(matches!(cursor.next().await, Some(Seen::Event(_))));
        assert_eq!(distant.view().turn.map(|turn| turn.turn), Some(3));
        let turn = session.resume();
        drop(distant);
        assert!(cursor.next().await.is_none());
        assert!(matches!(turn.await, TurnOutcome::Failed { .. }));
        session.closed().await;
    }
}
