//! A window that opens its session again at once, as for another model: whoever is attached stays.

use std::pin::pin;
use std::time::Duration;

use heeler_core::{AgentPath, Envelope, Event, SessionId, StoreError};
use heeler_engine::Command;
use heeler_store::FileStore;
use rustix::process::{Pid, test_kill_process};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep, timeout_at};

use crate::guest::{AttachError, Hello, Mirror, Unwelcome, greet};
use crate::lines::Lines;
use crate::wire::OwnerKind;
use crate::wishes::written;

/// How long an owner that lives may take to open its session again.
const AGAIN_WITHIN: Duration = Duration::from_secs(3);
/// How long until it is tried again.
const AGAIN_EVERY: Duration = Duration::from_millis(50);
/// The most commands that wait for it meanwhile.
const HELD_MAX: usize = 256;

/// Where the session is, and who has it open.
pub(crate) struct Place {
    pub(crate) store: FileStore,
    pub(crate) id: SessionId,
    pub(crate) owner: OwnerKind,
    pub(crate) process: Option<Pid>,
}

type Greeted = (Hello, Lines<OwnedReadHalf>, OwnedWriteHalf);

impl Mirror {
    /// Goes in again where the owner opens its session anew, and does then what was asked for meanwhile;
    /// `None` when the session is closed, or nobody watches here any more. `idle` is the model of one that
    /// was left without a turn.
    pub(crate) async fn enter_again(
        &mut self,
        idle: Option<String>,
    ) -> Result<Option<Lines<OwnedReadHalf>>, StoreError> {
        let Place { store, id, owner, process } = &self.place;
        // No other kind does so, and nobody in the middle of a turn.
        let Some(before) = idle.filter(|_| *owner == OwnerKind::Window) else { return Ok(None) };
        let (store, id, process) = (store.clone(), id.clone(), *process);
        let until = Instant::now() + AGAIN_WITHIN;
        let mut entering = pin!(timeout_at(until, greeted(&store, &id, process)));
        let mut held = Vec::new();
        let (hello, lines, write) = loop {
            let command = tokio::select! {
                entered = &mut entering => match entered {
                    Ok(Some(greeted)) => break greeted,
                    Ok(None) | Err(_) => return Ok(None),
                },
                command = self.distant.command(), if held.len() < HELD_MAX => command,
            };
            match command {
                None => return Ok(None),
                Some(Command::Close { done }) => {
                    let _ = done.send(());
                    return Ok(None);
                }
                Some(command @ Command::State { .. }) => self.take(command),
                Some(command) => held.push(command),
            }
        };
        (self.place.owner, self.place.process) = (hello.owner, hello.process);
        self.wishes = written(write);
        self.read_to(hello.seq)?;
        self.catch_up(&hello.draft);
        let model = &self.state.settings.model.name;
        if *model != before {
            let event = Event::Notice { text: format!("{model} answers from here on") };
            self.distant.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
        }
        held.into_iter().for_each(|command| self.take(command));
        Ok(Some(lines))
    }
}

/// Goes in once the door is open; `None` when it never is: its owner is gone.
async fn greeted(store: &FileStore, id: &SessionId, process: Option<Pid>) -> Option<Greeted> {
    loop {
        match greet(store, id).await {
            Ok(greeted) => return Some(greeted),
            Err(Unwelcome::Other(AttachError::Version(_))) => return None,
            Err(_) if process.is_some_and(|process| test_kill_process(process).is_err()) => {
                return None;
            }
            // One door may be about to close, and the next not be there yet.
            Err(_) => sleep(AGAIN_EVERY).await,
        }
    }
}
