//! What handles ask of the session's task.

use heeler_core::{
    Block, CallId, CompactionCause, CompactionStarted, Decision, Durability, EffectId, Event,
    Input, InterruptCause, PermissionDecided, PermissionId, Record, Role, Seq, SessionName,
    Settings, SteeringId, StoreError, TurnOutcome, View,
};
use heeler_turn::State;
use heeler_turn::state::Phase;
use tokio::sync::oneshot;

use super::open::add_own_rules;
use super::prompts::Steer;
use super::{Driver, QueuedTurn, Waiting};
use crate::bugs::{Bug, is_on};
use crate::session::TurnEnd;
use crate::{Cursor, DecideError, Toolset};

/// The most turns that wait for the end of the running one.
const TURNS_WAITING_MAX: usize = 256;

/// One wish; `done` is answered once it is written, or at once when it changes nothing.
#[doc(hidden)]
pub enum Command {
    Turn {
        input: Option<Input>,
        done: oneshot::Sender<TurnEnd>,
    },
    Steer {
        id: SteeringId,
        input: Input,
        done: oneshot::Sender<bool>,
    },
    TakeBack {
        id: SteeringId,
        done: oneshot::Sender<bool>,
    },
    CancelBackground {
        call: CallId,
        done: oneshot::Sender<bool>,
    },
    AwaitBackground {
        call: CallId,
        done: oneshot::Sender<()>,
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
    /// As that, and begins nothing that waits.
    Halt {
        done: oneshot::Sender<()>,
    },
    /// As cancelling, and takes back what waits to be said; tells whether there was anything of it.
    Stop {
        done: oneshot::Sender<bool>,
    },
    Compact {
        focus: Option<Box<str>>,
        done: oneshot::Sender<bool>,
    },
    UndoCompaction {
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
    Rename {
        name: Option<SessionName>,
        done: oneshot::Sender<()>,
    },
    State {
        done: oneshot::Sender<Box<State>>,
    },
    Watch {
        done: oneshot::Sender<Watched>,
    },
    Close {
        done: oneshot::Sender<()>,
    },
}

/// What is true of a session after one of its records, and where its events go on from there.
#[doc(hidden)]
pub struct Watched {
    pub seq: Seq,
    pub view: View,
    /// Whether its turn was left by an earlier process, and nobody goes on with it yet.
    pub is_left: bool,
    pub cursor: Cursor,
}

impl Driver {
    /// Carries a command out. `false` when the session is to be closed.
    ///
    /// Answers go unheard when whoever asked is gone; that is theirs to decide.
    pub(super) async fn obey(&mut self, command: Command) -> Result<bool, StoreError> {
        let command = match self.is_halted {
            true => begins_nothing(command),
            false => Some(command),
        };
        let Some(command) = command else { return Ok(true) };
        match command {
            Command::Turn { input, done } => self.start_turn(input, done),
            Command::Steer { id, input, done } => {
                self.activate();
                if is_on(Bug::UnwrittenSteer) && self.stream.is_some() {
                    let _ = done.send(true);
                    return Ok(true);
                }
                self.steer(Steer { id, input, done }).await?;
            }
            Command::TakeBack { id, done } => {
                let waits = self
                    .state
                    .steering
                    .iter()
                    .any(|queued| queued.id == id && !queued.is_background);
                if waits {
                    let record = Record::SteeringTakenBack { id: id.clone() };
                    self.write(vec![record], Durability::Written).await?;
                }
                let _ = done.send(self.unsay(|said| *said == id) || waits);
            }
            Command::CancelBackground { call, done } => {
                let _ = done.send(self.cancel_background(call).await?);
            }
            Command::AwaitBackground { call, done } => self.await_background(call, done),
            Command::Decide { id, decision, by, done } => {
                let answer = self.decide(id, decision, by).await?;
                let _ = done.send(answer);
            }
            Command::Cancel { done } => {
                self.cancel().await?;
                let _ = done.send(());
            }
            Command::Halt { done } => {
                self.halt().await?;
                self.is_halted = !is_on(Bug::RestlessHalt);
                drop(self.prompts.take_out(|_| true));
                for turn in self.queue.drain(..) {
                    let _ = turn.done.send(TurnOutcome::Cancelled.into());
                }
                self.refuse_compaction();
                for done in self.undo_waiting.drain(..) {
                    let _ = done.send(false);
                }
                let _ = done.send(());
            }
            Command::Stop { done } => {
                let waited = self.take_all_back().await?;
                let ran = self.cancel().await?;
                let _ = done.send(waited || ran);
            }
            Command::Compact { focus, done } => {
                self.activate();
                self.compaction_wanted.push((focus, done));
            }
            Command::UndoCompaction { done } => {
                self.activate();
                self.undo_waiting.push(done);
            }
            Command::SetSystem { system, done } => {
                self.parts.system = system;
                let _ = done.send(());
            }
            Command::SetTools { tools, done } => {
                self.parts.tools = tools;
                let _ = done.send(());
            }
            Command::SetSettings { settings, done } => {
                self.set_settings(*settings).await?;
                let _ = done.send(());
            }
            Command::Rename { name, done } => {
                self.write(vec![Record::Named { name }], Durability::Synced).await?;
                let _ = done.send(());
            }
            Command::State { done } => {
                let _ = done.send(Box::new(self.state.clone()));
            }
            Command::Watch { done } => {
                // Records are told by this task alone, so none comes between.
                let (view, cursor) = self.log.subscribe();
                let is_left = self.state.turn.is_some() && !self.is_active;
                let _ = done.send(Watched { seq: self.state.seq, view, is_left, cursor });
            }
            Command::Close { done } => {
                self.closing = Some(done);
                self.stop().await?;
                // Everything written so far outlives a loss of power, too.
                if !is_on(Bug::UnsyncedClose) {
                    let lease = std::sync::Arc::clone(&self.lease);
                    self.parts.store.append(lease, [].into(), Durability::Synced).await?;
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn start_turn(&mut self, input: Option<Input>, done: oneshot::Sender<TurnEnd>) {
        if done.is_closed() {
            return;
        }
        self.activate();
        let running = self.state.turn.as_ref().map(|turn| turn.number);
        match (input, running) {
            // What was said before the session waits for an answer; no more words are needed.
            (None, None) if self.is_given_unanswered() => {
                let input = Input { blocks: Vec::new(), origin: self.parts.origin.clone() };
                self.queue.push_back(QueuedTurn { input, done });
            }
            (None, None) => {
                let last = self.state.last_outcome.clone().unwrap_or(TurnOutcome::Done);
                let _ = done.send(last.into());
            }
            (None, Some(turn)) => self.waiting.push(Waiting { turn, done }),
            (Some(input), _) => match refusal(&input, self.queue.len()) {
                Some(message) => {
                    let _ = done.send(TurnOutcome::Failed { message }.into());
                }
                None => self.queue.push_back(QueuedTurn { input, done }),
            },
        }
    }

    fn is_given_unanswered(&self) -> bool {
        let last = self.state.history.messages().last();
        self.state.turns == 0 && last.is_some_and(|message| message.role == Role::User)
    }

    /// Begins the turn that waits first, once none runs.
    pub(super) async fn begin_queued_turn(&mut self) -> Result<(), StoreError> {
        while self.state.turn.is_none() && !self.prompts.is_hearing() {
            if Box::pin(self.begin_heard()).await? {
                continue;
            }
            let Some(turn) = self.queue.pop_front() else { break };
            let forgotten =
                is_on(Bug::LostInput) && self.state.last_outcome == Some(TurnOutcome::Cancelled);
            if turn.done.is_closed() || forgotten {
                continue;
            }
            Box::pin(self.begin_turn(turn)).await?;
        }
        Ok(())
    }

    /// Whether there was anything to cancel.
    async fn cancel(&mut self) -> Result<bool, StoreError> {
        let was_heard = self.cancel_heard_turn();
        let ran = self.state.turn.is_some() || self.state.compaction.is_some();
        self.interrupt(InterruptCause::Cancelled).await?;
        self.settle().await?;
        Ok(was_heard || ran)
    }

    /// Takes back what waits to be said, the newest first: whoever said it writes on with it, and puts
    /// each before what is written. What work in the background came to is nobody's words. Tells whether
    /// anything waited.
    async fn take_all_back(&mut self) -> Result<bool, StoreError> {
        let was_heard = self.unsay(|_| true);
        let said = self.state.steering.iter().rev().filter(|queued| !queued.is_background);
        let records = said.map(|queued| Record::SteeringTakenBack { id: queued.id.clone() });
        let records: Vec<Record> = records.collect();
        let waited = !records.is_empty();
        self.write(records, Durability::Written).await?;
        Ok(was_heard || waited)
    }

    /// A turn whose input is still heard is none yet: it leaves no trace. Tells whether there is one.
    fn cancel_heard_turn(&mut self) -> bool {
        let Some(turn) = self.prompts.give_up() else { return false };
        self.is_settled = false;
        let text = "cancelled before the input was taken in, so nothing of it was kept";
        self.show(Event::Notice { text: text.into() });
        let _ = turn.done.send(TurnOutcome::Cancelled.into());
        true
    }

    async fn set_settings(&mut self, settings: Settings) -> Result<(), StoreError> {
        let (chosen, answering) = self.models_under(settings.model.clone());
        self.parts.settings = Settings { model: chosen, ..settings };
        add_own_rules(&mut self.parts, &self.lease.id);
        let new = Settings { model: answering, ..self.parts.settings.clone() };
        let old = &self.state.settings;
        let outdates_summary = new.model != old.model || new.estimate != old.estimate;
        let record = Record::SettingsChanged(Box::new(new));
        self.write(vec![record], Durability::Written).await?;
        if outdates_summary {
            // It may not fit any more, or be another model's to give: it begins anew, once it has told what
            // it used so far.
            let summaries =
                self.running.iter().filter(|(id, _)| matches!(id, EffectId::Compact(_)));
            summaries.for_each(|(_, task)| task.cancel.cancel());
        }
        Ok(())
    }

    async fn decide(
        &mut self,
        id: PermissionId,
        decision: Decision,
        by: String,
    ) -> Result<Result<(), DecideError>, StoreError> {
        let decision = match self.state.open_permission(id) {
            Some(open) => match self.reading().decision(&open, decision) {
                Ok(decision) => decision,
                Err(why) => return Ok(Err(DecideError::Unusable(id, why))),
            },
            None if is_on(Bug::DecidedTwice) => decision,
            None => return Ok(Err(DecideError::NotOpen(id))),
        };
        let durability = match decision {
            Decision::Always { .. } => Durability::Synced,
            _ => Durability::Written,
        };
        self.grant_beside(&decision);
        let record = Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by }));
        self.write(vec![record], durability).await?;
        Ok(Ok(()))
    }

    /// Whether no model call, batch or compaction is in the way of what changes the conversation.
    fn may_change_history(&self) -> bool {
        let is_free = match &self.state.turn {
            None => true,
            Some(turn) => matches!(turn.phase, Phase::Model { started: false, .. }),
        };
        is_free && (self.state.compaction.is_none() || is_on(Bug::DoubledSummary))
    }

    /// Puts back what the last compaction replaced, if somebody waits for that and it fits.
    pub(super) async fn undo_compaction_if_wanted(&mut self) -> Result<(), StoreError> {
        if self.undo_waiting.is_empty() || !self.may_change_history() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.undo_waiting);
        let worked = match self.state.undo_compaction() {
            Ok(record) => {
                self.write(vec![record], Durability::Written).await?;
                true
            }
            Err(text) => {
                self.show(Event::Notice { text });
                false
            }
        };
        for done in waiting {
            let _ = done.send(worked);
        }
        Ok(())
    }

    /// Begins the compaction that somebody wants, once nothing is in its way.
    pub(super) async fn begin_wanted_compaction(&mut self) -> Result<(), StoreError> {
        if self.compaction_wanted.is_empty() || !self.may_change_history() {
            return Ok(());
        }
        // One summary serves all who want one, and looks at what the last of them wants.
        let focus = self.compaction_wanted.iter().rev().find_map(|(focus, _)| focus.clone());
        let Some(cut) = self.state.compaction_cut(focus.as_deref()) else {
            let tail = self.state.settings.compaction.keep_tail;
            let stay = match tail {
                1 => "message stays".to_owned(),
                tail => format!("{tail} messages stay"),
            };
            let text = format!("there is too little to summarize: the newest {stay}");
            self.show(Event::Notice { text });
            self.refuse_compaction();
            return Ok(());
        };
        let (cut, cause) = (cut as u64, CompactionCause::Manual);
        let started = CompactionStarted { cut, cause, focus };
        self.write(vec![Record::CompactionStarted(started)], Durability::Written).await?;
        if self.state.compaction.is_none() {
            self.refuse_compaction();
        }
        self.compaction_waiting.extend(self.compaction_wanted.drain(..).map(|(_, done)| done));
        Ok(())
    }
}

/// What is left of a command for a session that was halted: what would begin, stop or change the course
/// of something is answered at once.
fn begins_nothing(command: Command) -> Option<Command> {
    match command {
        Command::Turn { done, .. } => {
            let _ = done.send(TurnOutcome::Cancelled.into());
        }
        // Whoever said it hears that the session is closed to it: the words stay theirs.
        Command::Steer { .. } => {}
        Command::Cancel { done } | Command::Halt { done } => {
            let _ = done.send(());
        }
        Command::Stop { done }
        | Command::Compact { done, .. }
        | Command::UndoCompaction { done } => {
            let _ = done.send(false);
        }
        other => return Some(other),
    }
    None
}

/// Whether there is nothing in it that a model could answer.
pub(super) fn says_nothing(input: &Input) -> bool {
    input.blocks.iter().all(|block| match block {
        Block::Text(text) => text.raw.is_none() && text.text.trim().is_empty(),
        block => block.is_empty(),
    })
}

/// Why an input cannot become a turn, in words for the user.
fn refusal(input: &Input, turns_waiting: usize) -> Option<String> {
    if says_nothing(input) {
        return Some("the input is empty, so no turn was started; say something".into());
    }
    (turns_waiting >= TURNS_WAITING_MAX).then(|| {
        format!("{TURNS_WAITING_MAX} turns wait already, so this one was not started; try later")
    })
}
