//! Starts effects: their first records in one append, then what they do.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use heeler_core::{
    Access, AgentPath, BoxFuture, CallId, CallPlan, CallPlanned, CancellationToken,
    CompactionFailed, CompactionStarted, Durability, Effect, EffectId, EffectKind, EpochCause,
    EpochStarted, IfCut, ImageSink, InnerCalls, InputOrigin, InterruptCause, Media, MediaScope,
    ModelStarted, Outcome, Permission, PermissionAsked, Progress, RESULT_CHARS_MAX, RawJson,
    Record, StoreError, Timestamp, Tool, ToolContext, ToolOutput, WakeCause, panic_text,
};
use sha2::{Digest, Sha256};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{AbortHandle, Id};

use super::Driver;
use super::ask::undecided;
use super::held::show_progress;
use super::look::Planned;
use super::running::Task;
use crate::bugs::{Bug, is_on};
use crate::pipeline::{self, Executed, Execution, Inner, Room};
use crate::toolset::short_hex;

/// What is run by a call.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) input: RawJson,
    pub(super) confined: bool,
}

/// A task of the driver's set.
pub(super) struct Spawned {
    pub(super) cancel: CancellationToken,
    pub(super) abort: AbortHandle,
}

impl Task for Spawned {
    type Id = Id;

    fn id(&self) -> Id {
        self.abort.id()
    }

    fn stop(&self) {
        self.cancel.cancel();
        if !is_on(Bug::LeakedTask) {
            self.abort.abort();
        }
    }
}

impl Driver {
    /// Writes what starting these effects means, in one append with what was held, and acts.
    /// What is nothing but its records is held in its turn.
    pub(super) async fn start(&mut self, mut effects: Vec<Effect>) -> Result<(), StoreError> {
        let asks = |effect: &Effect| {
            matches!(effect.kind, EffectKind::CallModel { .. } | EffectKind::StartEpoch { .. })
        };
        let calls_model = |effect: &Effect| matches!(effect.kind, EffectKind::CallModel { .. });
        if let Some(source) = self.parts.tool_source.as_ref().filter(|_| effects.iter().any(asks)) {
            self.parts.tools = source.toolset_at(&crate::ToolMoment {
                session: self.lease.id.clone(),
                state: self.state.values(),
                round: self.state.round(),
            });
        }
        if effects.iter().any(calls_model)
            && self.state.resumes().is_none()
            && let Some(cause) = self.changed_prefix()
        {
            // What a request may cost and whether it fits is asked again with the new prefix.
            self.hold(vec![self.epoch(cause)]);
            return Ok(());
        }
        let hooked: Vec<_> =
            effects.extract_if(.., |effect| self.waits_for_hooks(&effect.kind)).collect();
        let mut records = self.look_again(&mut effects);
        let Planned { mut effects, mut plans, looking } = self.plan_calls(effects);
        let mut durability = Durability::Written;
        for effect in &effects {
            records.extend(self.first_record(&effect.kind, &mut plans));
            durability = durability.max(durability_of(&effect.kind));
        }
        let runs = |effect: &&Effect| matches!(effect.kind, EffectKind::RunCall { .. });
        let is_alone = effects.iter().filter(runs).count() == 1
            && self.done_at_once.is_empty()
            && !self.running.iter().any(|(id, _)| matches!(id, EffectId::Run(_)));
        let is_early = |effect: &mut Effect| is_on(Bug::EarlyRun) && runs(&&*effect);
        let early: Vec<_> = effects.extract_if(.., is_early).collect();
        early.into_iter().for_each(|effect| self.act(effect, is_alone));
        self.hold(records);
        let are_done = effects.iter().all(|effect| is_its_records(&effect.kind))
            && looking.is_empty()
            && hooked.is_empty();
        if !are_done || durability > Durability::Written {
            self.flush(durability).await?;
        }
        for effect in effects {
            self.act(effect, is_alone);
        }
        self.go_on_looking(looking);
        for effect in hooked {
            self.act_with_hooks(effect);
        }
        Ok(())
    }

    /// The record that stands in the journal before an effect is visible.
    fn first_record(
        &self,
        kind: &EffectKind,
        plans: &mut BTreeMap<CallId, CallPlan>,
    ) -> Option<Record> {
        Some(match kind {
            EffectKind::StartEpoch { cause } => self.epoch(*cause),
            EffectKind::CallModel { turn, round, attempt, reserve } => {
                Record::ModelStarted(ModelStarted {
                    turn: *turn,
                    round: *round,
                    attempt: *attempt,
                    epoch: self.state.epoch.as_ref().map_or(0, |epoch| epoch.number),
                    up_to: self.state.seq,
                    reserve: *reserve,
                })
            }
            EffectKind::PlanCall { call, answered_before, .. } => {
                let (call, answered_before) = (*call, *answered_before);
                let plan = plans.remove(&call)?;
                Record::CallPlanned(Box::new(CallPlanned { call, answered_before, plan }))
            }
            EffectKind::AskPermission { id, reason, asked: false, .. } => {
                let (id, reason) = (*id, reason.clone());
                Record::PermissionAsked(Box::new(PermissionAsked { id, reason }))
            }
            EffectKind::RunCall { call, .. } => Record::CallStarted { call: *call },
            EffectKind::Compact { cut, cause, focus, started: false } => {
                let (cut, cause, focus) = (*cut, *cause, focus.clone());
                Record::CompactionStarted(CompactionStarted { cut, cause, focus })
            }
            EffectKind::Trim(trimmed) => Record::Trimmed(*trimmed),
            EffectKind::Prune(pruned) => Record::Pruned(*pruned),
            EffectKind::FinishTurn { turn, outcome } => {
                Record::TurnFinished { turn: *turn, outcome: outcome.clone() }
            }
            EffectKind::AskPermission { .. }
            | EffectKind::Compact { .. }
            | EffectKind::Wake { .. } => return None,
        })
    }

    /// Acts; `is_alone` when no other call runs.
    fn act(&mut self, effect: Effect, is_alone: bool) {
        let Effect { id, kind } = effect;
        match kind {
            EffectKind::CallModel { reserve, .. } => {
                self.tools = self.parts.tools.clone();
                self.start_stream(id, reserve.output);
            }
            EffectKind::AskPermission { id: request, .. } => {
                // It is open from the record on that was just written.
                if let Some(open) = self.state.open_permission(request) {
                    self.ask(id, open);
                }
            }
            EffectKind::RunCall { call, name, input, confined, .. } => {
                self.run_call(id, call, Run { name, input, confined }, is_alone);
            }
            EffectKind::Compact { cut, cause, focus, .. } => self.summarize(id, cut, cause, focus),
            EffectKind::Wake { at, cause } => self.wake(id, at, cause),
            // As `is_its_records` says.
            EffectKind::StartEpoch { .. }
            | EffectKind::PlanCall { .. }
            | EffectKind::Trim(_)
            | EffectKind::Prune(_)
            | EffectKind::FinishTurn { .. } => {}
        }
    }

    /// Spawns an effect; it is aborted when it disappears from the pending set.
    pub(super) fn spawn(
        &mut self,
        id: EffectId,
        cancel: CancellationToken,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        // Boxed, so that a program has one kind of task and not one for each kind of work.
        self.spawn_boxed(id, cancel, Box::pin(work));
    }

    fn spawn_boxed(&mut self, id: EffectId, cancel: CancellationToken, work: BoxFuture<Outcome>) {
        let abort = self.tasks.spawn(work);
        self.running.begin(id, Spawned { cancel, abort });
    }

    /// As [`spawn`](Self::spawn) for a call that runs alone: what is done at its first step needs no
    /// task, which among a thousand sessions finds nothing of its own in the cache any more. Where
    /// other threads could run that step, it is left to them.
    fn begin(&mut self, id: EffectId, cancel: CancellationToken, mut work: BoxFuture<Outcome>) {
        if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
            // If it is not done, the task asks again and is the one to be woken.
            let mut nobody = Context::from_waker(Waker::noop());
            let step = || work.as_mut().poll(&mut nobody);
            match catch_unwind(AssertUnwindSafe(step)) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(outcome)) => return self.done_at_once.push_back(outcome),
                Err(panic) => {
                    let outcome = panicked(id, panic_text(panic.as_ref()));
                    return self.done_at_once.push_back(outcome);
                }
            }
        }
        self.spawn_boxed(id, cancel, work);
    }

    fn run_call(&mut self, id: EffectId, call: CallId, run: Run, is_alone: bool) {
        if let Some(task) = self.eager.adopt(call, &run.name, &run.input) {
            self.running.begin(id, task);
            return;
        }
        let cancel = CancellationToken::new();
        let log = Arc::clone(&self.log);
        let progress = Progress::new(move |text| show_progress(&log, call, text));
        let execution = self.execution(call, run, cancel.clone(), progress);
        let work = finish_call(call, execution, std::future::ready(()));
        match is_alone {
            true => self.begin(id, cancel, Box::pin(work)),
            false => self.spawn(id, cancel, work),
        }
    }

    /// A call with all it is given.
    pub(super) fn execution(
        &mut self,
        call: CallId,
        run: Run,
        cancel: CancellationToken,
        progress: Progress,
    ) -> Box<Execution> {
        let Run { name, input, confined } = run;
        let origin = self.state.turn.as_ref().map(|turn| turn.origin.clone());
        let origin = origin.unwrap_or_default();
        let media = self.media(&origin);
        let context = ToolContext {
            session: self.lease.id.clone(),
            agent: AgentPath::default(),
            call,
            round: self.state.round(),
            origin,
            cancel,
            workspace: self.workspace.clone().into(),
            confined,
            reach: Arc::clone(&self.parts.reach),
            permission: self.permission(),
            result_chars_max: self.parts.result_chars_max,
            progress: pipeline::redacting(progress, &self.parts.secrets),
            images: ImageSink::default(),
            state: self.state.values(),
            background: self.desk.offer(call),
            inner_calls: InnerCalls::nowhere(),
            media,
            person: self.parts.person.clone(),
            clock: Arc::clone(&self.parts.clock),
        };
        let hooks = self.asker().filter(|_| self.is_hooked(&name));
        let accesses = if hooks.is_some() { self.accesses(call) } else { Vec::new() };
        let mut execution = Box::new(Execution {
            tools: self.tools.clone(),
            name,
            context,
            input,
            chars_max: self.parts.result_chars_max,
            timeout_millis: self.parts.call_timeout_millis,
            spill: self.parts.spill.clone(),
            images: self.images.clone(),
            hooks,
            accesses,
            secrets: Arc::clone(&self.parts.secrets),
        });
        execution.context.inner_calls = self.inner_calls(&execution);
        execution
    }

    /// What may run as things stand.
    fn permission(&mut self) -> Arc<Permission> {
        let (policy, grants) = (&self.state.settings.policy, &self.state.grants);
        let known = self.permission.take();
        let known = known.filter(|it| it.policy == *policy && it.grants == *grants);
        let made = known.unwrap_or_else(|| {
            let approvers = self.parts.approvers.clone();
            Arc::new(Permission { policy: policy.clone(), grants: grants.clone(), approvers })
        });
        Arc::clone(self.permission.insert(made))
    }

    /// What a call touches, as it was planned; nothing of one that is unknown.
    pub(super) fn accesses(&self, id: CallId) -> Vec<Access> {
        let mut calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        calls.find(|call| call.id == id).map(|call| call.facts.accesses.clone()).unwrap_or_default()
    }

    /// What plays the calls within a call, if there are any.
    fn inner_calls(&mut self, around: &Execution) -> InnerCalls {
        let tool = around.tools.get(&around.name);
        let has_none = |tool: &Arc<dyn Tool>| tool.inner_calls(&around.input).is_empty();
        if tool.is_none_or(|tool| pipeline::said_or(true, || has_none(tool))) {
            return InnerCalls::nowhere();
        }
        let asker = self.asker();
        let room = self.inner_room();
        let inner = Inner {
            is_hooked: Box::new(move |tool| asker.as_ref().is_some_and(|asker| asker.hears(tool))),
            room,
            // What they are cut to, nothing else has; the call around them is cut as the session says.
            around: Execution {
                hooks: None,
                spill: None,
                chars_max: RESULT_CHARS_MAX.max(around.chars_max),
                ..around.clone()
            },
        };
        inner.calls()
    }

    /// What the limit of calls leaves for calls within those of this round, which share it.
    fn inner_room(&mut self) -> Option<Arc<Room>> {
        let calls_max = self.state.settings.limits.calls;
        let turn = self.state.turn.as_ref().filter(|_| calls_max != 0)?;
        let of = (turn.number, turn.round, calls_max);
        let left = calls_max.saturating_sub(turn.calls_spent);
        let (_, room) = match self.inner_room.take() {
            Some(room) if room.0 == of => self.inner_room.insert(room),
            _ => self.inner_room.insert((of, Arc::new(Room::of(left)))),
        };
        Some(Arc::clone(room))
    }

    /// The media of what comes from here.
    pub(super) fn media(&self, origin: &InputOrigin) -> Option<Media> {
        let store = Arc::clone(self.parts.media.as_ref()?);
        let scope = MediaScope::of(self.lease.id.clone(), origin);
        Some(Media::new(store, scope, Arc::clone(&self.parts.clock)))
    }

    fn wake(&mut self, id: EffectId, at: Timestamp, cause: WakeCause) {
        let wait = self.parts.clock.sleep_until(at);
        self.spawn(id, CancellationToken::new(), async move {
            wait.await;
            let records = match cause {
                WakeCause::Retry => vec![Record::TimePassed],
                WakeCause::WallTime => {
                    vec![Record::Interrupted { cause: InterruptCause::WallTime }]
                }
            };
            Outcome { effect: id, records }
        });
    }

    /// The prefix as it is now, as a record.
    fn epoch(&self, cause: EpochCause) -> Record {
        let number = self.state.epoch.as_ref().map_or(0, |epoch| epoch.number);
        Record::EpochStarted(Box::new(EpochStarted {
            epoch: number.saturating_add(1),
            cause,
            system: self.parts.system.clone(),
            tools: self.parts.tools.definitions(),
            provider_tools: self.parts.tools.provider_tools().to_vec(),
            model: self.state.settings.model.name.clone(),
            system_hash: hash(&self.parts.system),
            tools_hash: self.parts.tools.hash().to_owned(),
        }))
    }

    /// Why the prefix as it is now differs from the epoch's, if it does.
    fn changed_prefix(&self) -> Option<EpochCause> {
        let epoch = self.state.epoch.as_ref()?;
        if *epoch.system != *self.parts.system {
            return Some(EpochCause::SystemPrompt);
        }
        (epoch.tools_hash != *self.parts.tools.hash()).then_some(EpochCause::Tools)
    }
}

/// Runs a call to its record, which is given once it is `wanted`.
pub(super) async fn finish_call(
    call: CallId,
    execution: Box<Execution>,
    wanted: impl Future<Output = ()>,
) -> Outcome {
    let background = execution.context.background.clone();
    let inner = execution.context.inner_calls.clone();
    let Executed { mut output, millis, heard } = pipeline::execute(execution, wanted).await;
    // Nothing is pending of which nobody can tell the end.
    output.is_background &= background.is_taken();
    // It becomes a part of nothing else, so what was shown of it is settled.
    output.state.iter_mut().for_each(|change| change.if_cut = IfCut::Holds);
    let inner_calls = inner.played();
    let record = Record::CallFinished { call, output: Box::new(output), millis, inner_calls };
    Outcome { effect: EffectId::Run(call), records: heard.into_iter().chain([record]).collect() }
}

/// Whether the records of an effect are all there is to it.
fn is_its_records(kind: &EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::StartEpoch { .. }
            | EffectKind::PlanCall { .. }
            | EffectKind::Trim(_)
            | EffectKind::Prune(_)
            | EffectKind::FinishTurn { .. }
    )
}

fn durability_of(kind: &EffectKind) -> Durability {
    match kind {
        EffectKind::RunCall { .. } if is_on(Bug::UnsyncedStart) => Durability::Written,
        EffectKind::RunCall { replay_safe: false, .. } | EffectKind::FinishTurn { .. } => {
            Durability::Synced
        }
        _ => Durability::Written,
    }
}

/// What an effect comes to whose own task panicked. What it calls is caught before, so this is a
/// defect of ours, and is told as one.
pub(super) fn panicked(effect: EffectId, text: &str) -> Outcome {
    tracing::error!(?effect, panic = text, "an effect panicked");
    let records = match effect {
        EffectId::Run(call) => {
            let output = Box::new(ToolOutput::error(format!("the call crashed: {text}")));
            vec![Record::CallFinished { call, output, millis: 0, inner_calls: 0 }]
        }
        EffectId::Ask(request) => vec![undecided(request)],
        EffectId::Compact(_) => {
            vec![Record::CompactionFailed(Box::new(CompactionFailed::because(text)))]
        }
        _ => vec![Record::Interrupted { cause: InterruptCause::Cancelled }],
    };
    Outcome { effect, records }
}

fn hash(text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    short_hex(hash)
}
