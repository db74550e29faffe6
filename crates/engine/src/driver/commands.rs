//! What handles ask of the session's task.

use heeler_core::{
    CancellationToken, CompactionCause, CompactionStarted, Decision, Durability, Input,
    InterruptCause, PermissionDecided, PermissionId, Record, Settings, SteeringId, SteeringQueued,
    StoreError, TurnOutcome,
};
use heeler_turn::{State, compact};
use tokio::sync::oneshot;

use super::open::add_own_rules;
use super::{Driver, Waiting};
use crate::{DecideError, Toolset};

/// One wish; `done` is answered once it is written, or at once when it changes nothing.
pub(crate) enum Command {
    Turn {
        input: Option<Input>,
        cancel: CancellationToken,
        done: oneshot::Sender<TurnOutcome>,
    },
    Steer {
        id: SteeringId,
        input: Input,
        done: oneshot::Sender<()>,
    },
    TakeBack {
        id: SteeringId,
        done: oneshot::Sender<bool>,
    },
    Decide {
        id: PermissionId,
        decision: Decision,
        by: String,
        done: oneshot::Sender<Result<(), DecideError>>,
    },
    Cancel {
        done: oneshot::Sender<()>,
    },
    Compact {
        done: oneshot::Sender<bool>,
    },
    SetSystem {
        system: String,
        done: oneshot::Sender<()>,
    },
    SetTools {
        tools: Toolset,
        done: oneshot::Sender<()>,
    },
    SetSettings {
        settings: Box<Settings>,
        done: oneshot::Sender<()>,
    },
    State {
        done: oneshot::Sender<Box<State>>,
    },
    Close {
        done: oneshot::Sender<()>,
    },
}

impl Driver {
    /// Carries a command out. `false` when the session is to be closed.
    ///
    /// Answers go unheard when whoever asked is gone; that is theirs to decide.
    pub(super) async fn obey(&mut self, command: Command) -> Result<bool, StoreError> {
        match command {
            Command::Turn { input, cancel, done } => self.start_turn(input, cancel, done).await?,
            Command::Steer { id, input, done } => {
                self.activate();
                let queued = Record::SteeringQueued(SteeringQueued { id, input });
                self.write(vec![queued], Durability::Written).await?;
                let _ = done.send(());
            }
            Command::TakeBack { id, done } => {
                let waits = self.state.steering.iter().any(|queued| queued.id == id);
                if waits {
                    let record = Record::SteeringTakenBack { id };
                    self.write(vec![record], Durability::Written).await?;
                }
                let _ = done.send(waits);
            }
            Command::Decide { id, decision, by, done } => {
                let answer = self.decide(id, decision, by).await?;
                let _ = done.send(answer);
            }
            Command::Cancel { done } => {
                self.interrupt(InterruptCause::Cancelled).await?;
                self.settle().await?;
                let _ = done.send(());
            }
            Command::Compact { done } => self.compact(done).await?,
            Command::SetSystem { system, done } => {
                self.parts.system = system;
                let _ = done.send(());
            }
            Command::SetTools { tools, done } => {
                self.parts.tools = tools;
                let _ = done.send(());
            }
            Command::SetSettings { settings, done } => {
                self.parts.settings = *settings;
                add_own_rules(&mut self.parts, &self.lease.id);
                let record = Record::SettingsChanged(Box::new(self.parts.settings.clone()));
                self.write(vec![record], Durability::Written).await?;
                let _ = done.send(());
            }
            Command::State { done } => {
                let _ = done.send(Box::new(self.state.clone()));
            }
            Command::Close { done } => {
                self.stop().await?;
                // Everything written so far outlives a loss of power, too.
                let lease = std::sync::Arc::clone(&self.lease);
                self.parts.store.append(lease, Vec::new(), Durability::Synced).await?;
                self.tasks.shutdown().await;
                let _ = done.send(());
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn start_turn(
        &mut self,
        input: Option<Input>,
        cancel: CancellationToken,
        done: oneshot::Sender<TurnOutcome>,
    ) -> Result<(), StoreError> {
        self.activate();
        let running = self.state.turn.as_ref().map(|turn| turn.number);
        let turn = match (&input, running) {
            (None, None) => {
                let last = self.state.last_outcome.clone().unwrap_or(TurnOutcome::Done);
                let _ = done.send(last);
                return Ok(());
            }
            (None, Some(running)) => running,
            // What waits while a turn runs opens the one after it.
            (Some(_), _) => self.state.turns + 1,
        };
        self.waiting.push(Waiting { turn, cancel, done });
        match input {
            Some(input) => self.write(vec![Record::Input(input)], Durability::Written).await,
            None => Ok(()),
        }
    }

    async fn decide(
        &mut self,
        id: PermissionId,
        decision: Decision,
        by: String,
    ) -> Result<Result<(), DecideError>, StoreError> {
        if !self.state.view().permissions.iter().any(|open| open.id == id) {
            return Ok(Err(DecideError::NotOpen(id)));
        }
        let durability = match decision {
            Decision::Always { .. } => Durability::Synced,
            _ => Durability::Written,
        };
        let record = Record::PermissionDecided(PermissionDecided { id, decision, by });
        self.write(vec![record], durability).await?;
        Ok(Ok(()))
    }

    async fn compact(&mut self, done: oneshot::Sender<bool>) -> Result<(), StoreError> {
        self.activate();
        let keep_tail = self.state.settings.compaction.keep_tail as usize;
        let cut = compact::cut_point(self.state.history.messages(), keep_tail);
        match cut {
            Some(cut) if self.state.compaction.is_none() => {
                self.compaction_waiting.push(done);
                let cause = CompactionCause::Manual;
                let started = CompactionStarted { cut: cut as u64, cause };
                self.write(vec![Record::CompactionStarted(started)], Durability::Written).await
            }
            Some(_) => {
                self.compaction_waiting.push(done);
                Ok(())
            }
            None => {
                let _ = done.send(false);
                Ok(())
            }
        }
    }
}
