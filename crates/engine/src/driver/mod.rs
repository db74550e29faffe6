//! The task that owns a session: performs what is pending, writes before it shows, one loop.
//!
//! Each step: ask the state what is pending, abort what is gone, write the records that start
//! what is new in one append, apply them, tell watchers, and only then act. What comes back from
//! effects and commands goes the same way.

mod again;
mod ask;
mod background;
mod checkpoint;
mod clean_up;
mod commands;
mod eager;
mod ending;
mod fallback;
mod held;
mod hooks;
mod look;
mod open;
mod outbound;
mod perform;
mod prompts;
mod question;
mod running;
mod stream;
mod summarize;
mod write;
mod wrong;

use std::collections::VecDeque;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::OptionFuture;
use heeler_core::{
    AgentPath, BoxFuture, CallId, Durability, Effect, EffectId, EffectKind, Envelope, Event, Input,
    InterruptCause, Lease, Outcome, Permission, Record, Seq, StoreError, Timestamp, panic_text,
};
use heeler_turn::State;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinError, JoinSet};

pub use background::BACKGROUND_MAX;
use background::Desk;
use checkpoint::Checkpoints;
pub use commands::{Command, Watched};
use eager::EagerCalls;
pub use fallback::Fallback;
use fallback::Fallbacks;
use outbound::Messenger;
use perform::Spawned;
use prompts::Prompts;
pub(crate) use question::{Question, Used};
use running::Running;
use stream::ModelStream;
use write::Unwritten;

use crate::bugs::{Bug, is_on};
use crate::images::ImageDoor;
use crate::log::EventLog;
use crate::pipeline::Room;
use crate::session::TurnEnd;
use crate::{Parts, Toolset};

/// How many steps of answers that are always there are taken in before others have their turn.
const STEPS_IN_A_ROW: u32 = 256;

/// Owns a session.
pub(crate) struct Driver {
    parts: Parts,
    workspace: String,
    lease: Arc<Lease>,
    state: State,
    /// The number of the last record that cannot be read; those that follow leave room for it.
    lost_up_to: Seq,
    /// What the state has and the journal does not yet.
    unwritten: Unwritten,
    log: Arc<EventLog>,
    commands: mpsc::Receiver<Box<Command>>,
    /// Spawned effects; each ends in the records it came to.
    tasks: JoinSet<Outcome>,
    running: Running<Spawned>,
    /// What calls came to that were done before they needed a task. Like those of tasks these are taken
    /// in when no command is there: a cancel or an input comes before the next call.
    done_at_once: VecDeque<Outcome>,
    /// The answer that is being streamed.
    stream: Option<ModelStream>,
    /// How many steps of answers were taken in.
    steps: u32,
    /// Calls of the running batch that were started while it was streamed.
    eager: EagerCalls,
    /// What the calls within the calls of a round share: the round, its turn and limit before it.
    inner_room: Option<((u32, u32, u32), Arc<Room>)>,
    /// Calls that were looked up since the loop was woken last: nothing that ran since was waited for.
    just_planned: Vec<CallId>,
    /// What calls are told may run; made anew when it changes, not with each call.
    permission: Option<Arc<Permission>>,
    /// Who waits for the end of which turn.
    waiting: Vec<Waiting>,
    /// Turns that wait for the end of the running one, in order.
    queue: VecDeque<QueuedTurn>,
    /// Inputs that hooks hear, or whose images are looked at.
    prompts: Prompts,
    /// The tools the running calls were offered and judged as; new ones come with a request.
    tools: Toolset,
    /// What the images of inputs and results pass.
    images: ImageDoor,
    /// When watchers were last told something.
    seen_at: Timestamp,
    /// Sounds once nothing may have been seen for a heartbeat; kept, since what is seen is much more
    /// than what is due.
    alarm: Option<BoxFuture<()>>,
    /// Who closes the session.
    closing: Option<oneshot::Sender<()>>,
    /// Who wants a compaction that has not begun, and what its summary is to look at above all.
    compaction_wanted: Vec<(Option<Box<str>>, oneshot::Sender<bool>)>,
    /// Who waits for the end of the one that runs.
    compaction_waiting: Vec<oneshot::Sender<bool>>,
    /// Who wants back what the last compaction replaced.
    undo_waiting: Vec<oneshot::Sender<bool>>,
    /// Nothing runs before somebody wants the session to go on.
    is_active: bool,
    /// Nothing begins any more in this process.
    is_halted: bool,
    /// What opening found; told once the session goes on, when whoever opened it watches.
    notice: Option<String>,
    checkpoints: Checkpoints,
    /// Takes messages to the user.
    messenger: Option<Messenger>,
    /// Work that goes on after its calls.
    desk: Desk,
    /// Which models failed lately.
    fallbacks: Fallbacks,
    /// Everything pending was started; a delta changes nothing about that.
    is_settled: bool,
}

/// Who drops the other half of `done` does not want the turn any more.
struct Waiting {
    turn: u32,
    done: oneshot::Sender<TurnEnd>,
}

/// A turn whose input nobody has seen yet.
struct QueuedTurn {
    input: Input,
    done: oneshot::Sender<TurnEnd>,
}

/// How a task ended.
type Joined = Result<(Id, Outcome), JoinError>;

/// What woke the loop.
enum Woken {
    Command(Option<Box<Command>>),
    Task(Joined),
    DoneAtOnce,
    Heard(prompts::Answer),
    Background(Box<background::Ended>),
    Stream(stream::Step),
    TurnDropped,
    Alarm,
}

impl Driver {
    pub(crate) fn log(&self) -> Arc<EventLog> {
        Arc::clone(&self.log)
    }

    /// Runs until the session is closed, its journal cannot be written, or something crashes.
    async fn run_to_the_end(mut self: Box<Self>) {
        match AssertUnwindSafe(self.run_until_closed()).catch_unwind().await {
            Ok(Ok(())) => Box::pin(self.tell_hooks_of_the_end()).await,
            Ok(Err(error)) => self.break_off_unwritten(&error),
            Err(panic) => self.break_off_crashed(panic_text(panic.as_ref())),
        }
        self.stream = None;
        self.eager = EagerCalls::default();
        if is_on(Bug::LeakedTask) {
            self.tasks.detach_all();
        }
        // A call on its last step must not overlap with whoever owns the session next.
        self.tasks.shutdown().await;
        self.checkpoints.finish().await;
        if let Some(messenger) = self.messenger.take() {
            messenger.finish(&self.parts.clock).await;
        }
        let (log, closing) = (self.log(), self.closing.take());
        // Gives the lease back, before anybody is told of the end.
        drop(self);
        log.close();
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    /// What comes once a turn or less is in a box of its own: a future is as large as the largest that
    /// it waits for, and this one is kept as long as the session.
    async fn run_until_closed(&mut self) -> Result<(), StoreError> {
        loop {
            self.settle().await?;
            let woken = self.wait().await;
            self.just_planned.clear();
            let goes_on = match woken {
                Woken::Command(Some(command)) => Box::pin(self.obey(*command)).await?,
                Woken::Command(None) => {
                    Box::pin(self.stop()).await?;
                    false
                }
                Woken::Task(joined) => {
                    self.finish_task(joined).await?;
                    true
                }
                Woken::DoneAtOnce => {
                    if let Some(outcome) = self.done_at_once.pop_front() {
                        self.take_outcome(outcome).await?;
                        // Where nothing ever waits, others have their turn all the same.
                        tokio::task::consume_budget().await;
                    }
                    true
                }
                Woken::Stream(step) => {
                    self.take_step(step).await?;
                    self.steps = self.steps.wrapping_add(1);
                    // What never waits would keep others from a thread that they share, and be deaf itself.
                    if self.steps.is_multiple_of(STEPS_IN_A_ROW) {
                        tokio::task::yield_now().await;
                    }
                    true
                }
                Woken::Heard(answer) => {
                    Box::pin(self.take_heard(answer)).await?;
                    true
                }
                Woken::Background(ended) => {
                    Box::pin(self.take_background(ended)).await?;
                    true
                }
                Woken::TurnDropped => {
                    self.interrupt(InterruptCause::Cancelled).await?;
                    true
                }
                Woken::Alarm => {
                    self.heartbeat();
                    true
                }
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    async fn wait(&mut self) -> Woken {
        let turn = self.running_turn();
        let is_deaf = is_on(Bug::UnheardCommand) && self.stream.is_some();
        let beats = self.is_active && turn.is_some() && self.parts.heartbeat_millis != 0;
        self.alarm = match self.alarm.take().filter(|_| beats) {
            None if beats => Some(self.parts.clock.sleep_until(self.heartbeat_at())),
            alarm => alarm,
        };
        let alarm: OptionFuture<_> = self.alarm.as_mut().into();
        let waiting = self.waiting.iter_mut().find(|waiting| Some(waiting.turn) == turn);
        let dropped: OptionFuture<_> = waiting.map(|waiting| waiting.done.closed()).into();
        tokio::select! {
            // What is rare comes first and a stream last: it alone may always be ready.
            biased;
            Some(()) = dropped => Woken::TurnDropped,
            command = self.commands.recv(), if !is_deaf => Woken::Command(command),
            () = ready(()), if !self.done_at_once.is_empty() => Woken::DoneAtOnce,
            Some(joined) = self.tasks.join_next_with_id() => Woken::Task(joined),
            Some(()) = alarm => Woken::Alarm,
            Some(answer) = prompts::next(&mut self.prompts) => Woken::Heard(answer),
            Some(ended) = self.desk.next() => Woken::Background(ended),
            Some(step) = stream::next(&mut self.stream, &self.log) => Woken::Stream(step),
        }
    }

    /// Starts and aborts effects until nothing is left to do at once.
    async fn settle(&mut self) -> Result<(), StoreError> {
        if self.is_active
            && let Some(text) = self.notice.take()
        {
            self.show(Event::Notice { text });
        }
        while self.is_active && !self.is_settled {
            if !self.desk.is_idle() {
                Box::pin(self.take_all_background()).await?;
            }
            if self.prompts.has_waiting() {
                Box::pin(self.hear_next()).await?;
            }
            self.begin_queued_turn().await?;
            self.undo_compaction_if_wanted().await?;
            self.begin_wanted_compaction().await?;
            let pending = match is_on(Bug::WidenedConcurrency) {
                true => self.pending_without_limit(),
                false => self.state.pending(),
            };
            self.abort_what_is_gone(&pending);
            if self.is_out_of_time(&pending) {
                self.interrupt(InterruptCause::WallTime).await?;
                continue;
            }
            let new: Vec<Effect> =
                pending.into_iter().filter(|effect| !self.is_running(effect.id)).collect();
            self.is_settled = new.is_empty();
            self.start(new).await?;
        }
        self.flush(Durability::Written).await
    }

    /// Lets effects run from here on, if any may.
    fn activate(&mut self) {
        self.is_active = !self.is_halted;
        self.is_settled = false;
    }

    /// Stops what runs, for good. What an earlier process left and nobody resumed stays as it is;
    /// what waits for the end of the turn is left to the next process.
    async fn stop(&mut self) -> Result<(), StoreError> {
        self.halt().await?;
        self.desk.close();
        Ok(())
    }

    /// Ends what runs, and begins nothing more.
    async fn halt(&mut self) -> Result<(), StoreError> {
        self.take_last_background().await?;
        if self.is_active {
            loop {
                self.interrupt(InterruptCause::Cancelled).await?;
                let mut ending = self.state.pending();
                // Before anything more is written: nothing asks or works on in the meantime.
                self.abort_what_is_gone(&ending);
                ending.retain(|effect| matches!(effect.kind, EffectKind::FinishTurn { .. }));
                self.start(ending).await?;
                // What waits to be answered begins a turn, which is the next process's.
                let turn = self.running_turn();
                // What was over before its call was. A turn that it begins is nobody's.
                self.take_all_background().await?;
                if self.running_turn() == turn {
                    break;
                }
            }
        }
        self.is_active = false;
        self.queue.extend(self.prompts.give_up());
        self.abort_what_is_gone(&[]);
        Ok(())
    }

    fn running_turn(&self) -> Option<u32> {
        self.state.turn.as_ref().map(|turn| turn.number)
    }

    fn is_running(&self, id: EffectId) -> bool {
        self.running.contains(id)
            || self.done_at_once.iter().any(|outcome| outcome.effect == id)
            || self.stream.as_ref().is_some_and(|s| s.id == id)
    }

    fn abort_what_is_gone(&mut self, pending: &[Effect]) {
        let is_pending = |id: EffectId| pending.iter().any(|effect| effect.id == id);
        if self.stream.as_ref().is_some_and(|stream| !is_pending(stream.id)) {
            self.stream = None;
        }
        self.running.keep(|id| is_pending(id) || is_on(Bug::StaleOutcome));
        self.done_at_once.retain(|outcome| is_pending(outcome.effect));
        self.drop_unwanted_eager_calls();
    }

    /// Publishes what is not journalled.
    fn show(&mut self, event: Event) {
        self.seen_at = self.parts.clock.now();
        self.log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
    }

    /// When watchers are due a word, if they are told nothing until then.
    fn heartbeat_at(&self) -> Timestamp {
        self.seen_at.plus(self.parts.heartbeat_millis)
    }

    fn heartbeat(&mut self) {
        self.alarm = None;
        let is_due = self.parts.clock.now() >= self.heartbeat_at();
        if let Some(turn) = self.state.turn.as_ref().filter(|_| is_due) {
            self.show(Event::Heartbeat { turn: turn.number, round: turn.round });
        }
    }

    async fn finish_task(&mut self, joined: Joined) -> Result<(), StoreError> {
        let Some((effect, ended)) = self.accept(joined) else { return Ok(()) };
        self.is_settled = false;
        match ended {
            Ok(outcome) => self.take_outcome(outcome).await,
            Err(error) if error.is_panic() => {
                let panic = error.into_panic();
                self.take_outcome(perform::panicked(effect, panic_text(panic.as_ref()))).await
            }
            Err(_) => Ok(()),
        }
    }

    /// The effect whose task this was, and how it ended; none if it was stopped before.
    fn accept(&mut self, joined: Joined) -> Option<(EffectId, Result<Outcome, JoinError>)> {
        let (task, ended) = match joined {
            Ok((task, outcome)) => (task, Ok(outcome)),
            Err(error) => (error.id(), Err(error)),
        };
        Some((self.running.finish(task)?, ended))
    }

    async fn take_outcome(&mut self, outcome: Outcome) -> Result<(), StoreError> {
        let wall_time = matches!(outcome.effect, EffectId::WallTime(_));
        if wall_time {
            return self.interrupt(InterruptCause::WallTime).await;
        }
        let saved = outcome.records.iter().any(|record| {
            matches!(record, Record::PermissionDecided(decided)
                if matches!(decided.decision, heeler_core::Decision::Always { .. }))
        });
        let ends = outcome.records.iter().any(|r| matches!(r, Record::TurnFinished { .. }));
        let durability = if saved || ends { Durability::Synced } else { Durability::Written };
        // Nobody waits for more than the next step of the turn. What a summary came to is waited for.
        let may_wait =
            matches!(outcome.effect, EffectId::Run(_) | EffectId::Plan(..) | EffectId::Ask(_));
        let mut records = Vec::with_capacity(outcome.records.len());
        let mut notice = None;
        for record in outcome.records {
            match record {
                Record::Compacted(compacted) => records.push(self.state.judge_summary(*compacted)),
                Record::CompactionFailed(failed) => {
                    notice = self.fail_summary(failed, &mut records);
                }
                other => records.push(other),
            }
        }
        self.hold(records);
        if may_wait && durability == Durability::Written {
            return Ok(());
        }
        self.flush(durability).await?;
        if let Some(text) = notice {
            self.show(Event::Notice { text });
        }
        Ok(())
    }
}
