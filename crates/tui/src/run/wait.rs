//! What the loop waits for.

use std::future::{pending, poll_fn};
use std::io;
use std::sync::Arc;
use std::task::Poll;

use crossterm::event::Event as TerminalEvent;
use futures::StreamExt as _;
use heeler_core::{BoxFuture, Timestamp};
use heeler_engine::Seen;
use tokio::sync::{Notify, mpsc};

use super::{Done, Running};
use crate::app::Happened;
use crate::composer::FoundFiles;
use crate::host::Asking;

/// What is listened to beside keys, the session and tasks.
pub(super) struct Sources {
    pub(super) questions: mpsc::Receiver<Asking>,
    pub(super) shutdown: BoxFuture<()>,
    pub(super) continued: Arc<Notify>,
    pub(super) found: mpsc::Receiver<FoundFiles>,
    /// More code has colours.
    pub(super) colored: Arc<Notify>,
}

/// When the loop is woken though nothing happens.
pub(super) enum Tick {
    At(Timestamp),
    /// The terminal has taken what was drawn.
    WhenShown,
    Never,
}

/// What woke the loop.
pub(super) enum Woken {
    Terminal(Option<io::Result<TerminalEvent>>),
    Session(Option<Seen>),
    Asked(Box<Asking>),
    Done(Done),
    TurnEnded(Option<Happened>),
    Found(FoundFiles),
    Ticked,
    Continued,
    ShutDown,
}

impl Running {
    /// Waits for whatever comes first.
    pub(super) async fn wait(&mut self, sources: &mut Sources, tick: Tick) -> Woken {
        let Sources { questions, shutdown, continued, found, colored } = sources;
        let clock = Arc::clone(&self.clock);
        let screen = &self.screen;
        let ticks = async move {
            match tick {
                Tick::At(due) => clock.sleep_until(due).await,
                Tick::WhenShown => screen.out().idle().await,
                Tick::Never => pending().await,
            }
        };
        let keys = &mut self.keys;
        let key = async move {
            match keys {
                Some(keys) => keys.next().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            event = key => Woken::Terminal(event),
            () = shutdown => Woken::ShutDown,
            () = continued.notified() => Woken::Continued,
            Some(asking) = questions.recv() => Woken::Asked(Box::new(asking)),
            Some(done) = self.tasks.next(), if !self.tasks.is_empty() => Woken::Done(done),
            Some(done) = self.written.next(), if !self.written.is_empty() => Woken::Done(done),
            seen = self.cursor.next(), if !self.switching.is_closed => Woken::Session(seen),
            Some(said) = self.turns.next(), if !self.turns.is_empty() => Woken::TurnEnded(said),
            Some(found) = found.recv() => Woken::Found(found),
            () = colored.notified() => Woken::Ticked,
            () = ticks => Woken::Ticked,
        }
    }

    /// What the terminal has that is there already, if anything.
    pub(super) async fn terminal_has(&mut self) -> Option<Woken> {
        let keys = self.keys.as_mut()?;
        // By this task's own waker: the stream keeps the first that it is asked with.
        match poll_fn(|cx| Poll::Ready(keys.poll_next_unpin(cx))).await {
            Poll::Ready(event) => Some(Woken::Terminal(event)),
            Poll::Pending => None,
        }
    }
}
