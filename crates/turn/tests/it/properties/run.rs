//! A driver that does all a driver may do, in any order, with every fault in between.

use heeler_core::{
    AcceptedAnswer, CallId, CompactionCause, CompactionStarted, Decision, Effect, EffectId,
    EffectKind, Entry, Facts, FactsChanged, HookAnswered, HookEvent, Input, InterruptCause, Mode,
    ModelAccepted, ModelFailed, ModelReplied, Opened, PermissionDecided, PermissionReason,
    ProviderErrorKind, Record, Reserve, Settings, SteeringId, SteeringQueued, StopReason,
    Timestamp, TurnOutcome, Usage, WakeCause,
};
use heeler_core::{Block, Compacted, CompactionFailed, Cost, Image};
use heeler_turn::state::Announcer;
use heeler_turn::{State, limits};

use super::Dice;
use super::watch::Watch;
use super::world::{self, World};
use crate::{door, toolbox};

/// More steps than any turn takes without new faults.
const STEPS_MAX: usize = 3000;

/// A session and everything around it.
pub(super) struct Run {
    pub(super) world: World,
    pub(super) state: State,
    pub(super) journal: Vec<Entry>,
    pub(super) watch: Watch,
    pub(super) now: u64,
    /// Effects that were started, with what a model call may use.
    flying: Vec<(EffectId, Reserve)>,
    /// Settings as the last record said.
    settings: Settings,
    pub(super) said: u32,
}

impl Run {
    /// A new session in its first process.
    pub(super) fn new(world: World) -> Self {
        let settings = world.settings.clone();
        let mut run = Self::over(world, State::new());
        run.open();
        run.write(Record::SettingsChanged(Box::new(settings)));
        run
    }

    /// A driver over a state that came from somewhere.
    pub(super) fn over(world: World, state: State) -> Self {
        Self {
            settings: state.settings.clone(),
            now: state.now.millis(),
            watch: Watch::from(&state),
            world,
            state,
            journal: Vec::new(),
            flying: Vec::new(),
            said: 0,
        }
    }

    /// Everything the dice say, then everything that is still due.
    pub(super) fn play(&mut self, dice: &mut Dice) {
        while !dice.is_used_up() {
            self.step(dice);
        }
        self.finish();
    }

    /// Performs what is due, without faults, until nothing is.
    pub(super) fn finish(&mut self) {
        self.finish_by(&mut Dice::new(Vec::new()));
    }

    /// As `finish`, in the order the dice say.
    pub(super) fn finish_by(&mut self, order: &mut Dice) {
        for _ in 0..STEPS_MAX {
            if self.state.pending().is_empty() {
                return;
            }
            self.work(order);
        }
        panic!("the machine never comes to rest");
    }

    /// Says something new and waits for its end.
    pub(super) fn one_more_turn(&mut self) {
        self.input();
        self.finish();
    }

    pub(super) fn open(&mut self) {
        self.flying.clear();
        let incarnation = self.state.incarnation.saturating_add(1);
        self.write(Record::Opened(Opened { incarnation, build: "test".into() }));
    }

    /// One thing that may happen.
    pub(super) fn step(&mut self, dice: &mut Dice) {
        self.now += dice.pick(&[0, 1, 300]);
        match dice.below(40) {
            1 => self.open(),
            2 if self.state.turn.is_some() || self.state.compaction.is_some() => {
                self.interrupt(dice);
            }
            3 | 4 => self.steer(String::new()),
            5 => self.take_back(dice),
            6 => self.input(),
            7 => self.change_settings(dice),
            8 => self.write(Record::TimePassed),
            9 => self.compact(),
            10 => self.write(Record::RuleGranted(Box::new(world::rule(dice)))),
            11 => self.steer("again".into()),
            12 => self.heard(HookEvent::UserPromptSubmit, None, "deny"),
            13 => self.accept(),
            _ => self.work(dice),
        }
    }

    /// The provider of the call that flies writes the answer by itself from here on.
    fn accept(&mut self) {
        self.abort_what_is_gone();
        let model = self.flying.iter().find(|(id, _)| matches!(id, EffectId::Model(..)));
        if let Some((EffectId::Model(turn, round, attempt), _)) = model.copied() {
            let answer = AcceptedAnswer { dialect: "d".into(), id: format!("{turn}.{round}") };
            let accepted = ModelAccepted { turn, round, attempt, answer };
            self.write(Record::ModelAccepted(Box::new(accepted)));
        }
    }

    fn interrupt(&mut self, dice: &mut Dice) {
        // A cancelled stream is kept as far as it came.
        self.abort_what_is_gone();
        let model = self.flying.iter().find(|(id, _)| matches!(id, EffectId::Model(..)));
        if let Some((EffectId::Model(turn, round, attempt), _)) = model.copied()
            && dice.below(2) == 1
        {
            let mut reply = self.world.reply(turn, round);
            reply.stop = StopReason::Interrupted;
            let replied = ModelReplied { turn, round, attempt, reply, cost: None };
            self.write(Record::ModelReplied(Box::new(replied)));
        }
        let cause = dice.pick(&[InterruptCause::Cancelled, InterruptCause::WallTime]);
        self.write(Record::Interrupted { cause });
    }

    pub(super) fn input(&mut self) {
        self.said += 1;
        let text = format!("[said {}]", self.said);
        let mut input = Input::text(text);
        if self.said.is_multiple_of(3) {
            input.blocks.push(Block::from(Image::from_bytes("image/png", b"")));
        }
        self.write(Record::Input(Box::new(input)));
    }

    fn heard(&mut self, event: HookEvent, call: Option<CallId>, wish: &str) {
        let (verdict, context) = (toolbox::hook(wish), Vec::new());
        self.write(Record::HookAnswered(Box::new(HookAnswered { event, call, verdict, context })));
    }

    fn steer(&mut self, id: String) {
        self.said += 1;
        let id = if id.is_empty() { format!("s{}", self.said) } else { id };
        let input = Input::text(format!("[said {}]", self.said));
        self.write(Record::SteeringQueued(Box::new(SteeringQueued::said(SteeringId(id), input))));
    }

    fn take_back(&mut self, dice: &mut Dice) {
        if let Some(n) = self.state.steering.len().checked_sub(1) {
            let id = self.state.steering[dice.below(n + 1)].id.clone();
            self.write(Record::SteeringTakenBack { id });
        }
    }

    fn change_settings(&mut self, dice: &mut Dice) {
        let settings = &mut self.settings;
        match dice.below(7) {
            0 => settings.model.name = dice.pick(&["test/model", "test/other"]).into(),
            1 => settings.limits.rounds = dice.pick(&[0, 2]),
            2 => settings.policy.mode = dice.pick(&[Mode::Bypass, Mode::Plan, Mode::Ask]),
            3 => settings.policy.rules.push(world::rule(dice)),
            4 => settings.estimate.chars_per_token = dice.pick(&[4, 1, 3]),
            5 => settings.policy.interactive = dice.below(2) == 0,
            _ => {
                let limits = settings.limits;
                self.settings.limits.calls = dice.pick(&[0, 3]);
                let changed = self.settings.limits;
                assert!(limits == changed || limits.calls != changed.calls);
                return self.write(Record::LimitsChanged(changed));
            }
        }
        self.write(Record::SettingsChanged(Box::new(self.settings.clone())));
    }

    fn compact(&mut self) {
        if let (Some(cut), None) = (self.state.compaction_cut(None), &self.state.compaction) {
            let (cut, cause) = (cut as u64, CompactionCause::Manual);
            self.write(Record::CompactionStarted(CompactionStarted { cut, cause, focus: None }));
        }
    }

    /// Starts one effect, or ends one that was started.
    pub(super) fn work(&mut self, dice: &mut Dice) {
        let pending = self.abort_what_is_gone();
        if pending.is_empty() {
            return self.input();
        }
        let effect = &pending[dice.below(pending.len())];
        let flies = self.flying.iter().find(|(id, _)| *id == effect.id).copied();
        match flies {
            Some((_, reserve)) => self.end(effect, reserve, dice),
            None if self.touches_something_else(effect, dice) => {}
            None => self.start(effect),
        }
    }

    /// Now and then a call that is about to start does not touch what it was judged by.
    fn touches_something_else(&mut self, effect: &Effect, dice: &mut Dice) -> bool {
        let EffectKind::RunCall { call, .. } = &effect.kind else { return false };
        if self.world.calm || dice.below(10) != 9 {
            return false;
        }
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let judged = calls.into_iter().find(|it| it.id == *call).map(|it| it.facts.clone());
        let other = toolbox::facts(dice.pick(&["note", "read", "write", "bash"]), "b").unwrap();
        let facts = Facts { accesses: other.accesses, ..judged.unwrap_or_default() };
        let changed = FactsChanged { call: *call, facts, ends_allowance: true };
        self.write(Record::FactsChanged(Box::new(changed)));
        true
    }

    fn abort_what_is_gone(&mut self) -> Vec<Effect> {
        let pending = self.state.pending();
        self.flying.retain(|(id, _)| pending.iter().any(|effect| effect.id == *id));
        pending
    }

    fn start(&mut self, effect: &Effect) {
        let reserve = match &effect.kind {
            EffectKind::CallModel { reserve, .. } => *reserve,
            EffectKind::Compact { cut, cause: CompactionCause::Automatic, .. } => {
                let cut = usize::try_from(*cut).unwrap();
                let reserve = |turn| limits::reserve_summary(&self.state, turn, cut).ok();
                self.state.turn.as_ref().and_then(reserve).unwrap_or_default()
            }
            _ => Reserve::default(),
        };
        if let EffectKind::FinishTurn { turn, outcome: TurnOutcome::Done } = effect.kind
            && self
                .state
                .turn
                .as_ref()
                .is_some_and(|running| self.world.refuses_end(turn, running.ends_refused))
        {
            return self.heard(HookEvent::Stop, None, "deny");
        }
        self.flying.push((effect.id, reserve));
        if let Some(record) = door::first_record(&self.state, effect) {
            self.write(record);
        }
    }

    fn end(&mut self, effect: &Effect, reserve: Reserve, dice: &mut Dice) {
        let usage = if self.world.calm { all(reserve) } else { used(reserve, dice) };
        let cost = usage.cost(self.settings.model.prices.as_ref());
        let record = match &effect.kind {
            EffectKind::CallModel { turn, round, attempt, .. } => {
                self.answered(*turn, *round, *attempt, usage, cost, dice)
            }
            EffectKind::RunCall { call, name, input, .. } => {
                let output = Box::new(self.world.output(*call, name, input));
                if !self.world.calm && dice.below(12) == 11 {
                    self.heard(HookEvent::PostToolUse, Some(*call), "stop");
                }
                Record::CallFinished { call: *call, output, millis: 1, inner_calls: 0 }
            }
            EffectKind::AskPermission {
                id, reason: PermissionReason::LeavePlan { .. }, ..
            } => {
                let (decision, by) = (self.world.plan_decision(*id), "somebody".into());
                Record::PermissionDecided(Box::new(PermissionDecided { id: *id, decision, by }))
            }
            EffectKind::AskPermission { id, .. }
                if let Some(verdict) = self.world.permission_hook(id.call) =>
            {
                let (event, call) = (HookEvent::PermissionRequest, Some(id.call));
                let context = Vec::new();
                Record::HookAnswered(Box::new(HookAnswered { event, call, verdict, context }))
            }
            EffectKind::AskPermission { id, name, .. } => {
                let decision = match dice.below(9) {
                    8 if !self.world.calm => {
                        Decision::Deny { reason: Some("nobody answered".into()) }
                    }
                    _ => self.world.decision(*id, name),
                };
                let decided = PermissionDecided { id: *id, decision, by: "somebody".into() };
                Record::PermissionDecided(Box::new(decided))
            }
            EffectKind::Compact { .. } if dice.below(4) == 3 => {
                let error = "no luck".into();
                let kind = dice.pick(&[None, Some(ProviderErrorKind::Network)]);
                let stays_due = dice.below(4) == 3;
                let failed = CompactionFailed { error, usage, cost, kind, stays_due };
                Record::CompactionFailed(Box::new(failed))
            }
            EffectKind::Compact { .. } => {
                let summary = dice.pick(&["So far.", &"and so on ".repeat(50)]).to_owned();
                self.state.judge_summary(Compacted { summary, usage, cost, kept: None })
            }
            EffectKind::Wake { at, cause } => {
                self.now = self.now.max(at.millis());
                match cause {
                    WakeCause::Retry => Record::TimePassed,
                    WakeCause::WallTime => Record::Interrupted { cause: InterruptCause::WallTime },
                }
            }
            // Their first record is all there is to them; they are gone once it stands.
            other => panic!("{other:?} stands though its record was written"),
        };
        self.write(record);
    }

    fn answered(
        &mut self,
        turn: u32,
        round: u32,
        attempt: u32,
        usage: Usage,
        cost: Option<Cost>,
        dice: &mut Dice,
    ) -> Record {
        if dice.below(7) == 6 && !self.world.calm {
            let kind = dice.pick(&[
                ProviderErrorKind::Overloaded,
                ProviderErrorKind::ContextOverflow,
                ProviderErrorKind::RefusedItem,
                ProviderErrorKind::RefusedReasoning,
                ProviderErrorKind::Auth,
            ]);
            let retry_at = kind.is_transient().then_some(Timestamp(self.now + 1000));
            let message = "it failed".into();
            let failed = ModelFailed { turn, round, attempt, kind, message, retry_at, usage, cost };
            return Record::ModelFailed(Box::new(failed));
        }
        let mut reply = self.world.reply(turn, round);
        reply.usage = usage;
        Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt, reply, cost }))
    }

    pub(super) fn write(&mut self, record: Record) {
        let entry = Entry { seq: self.state.seq + 1, at: Timestamp(self.now), record };
        let misfits = self.state.misfits;
        self.watch.before(&self.state, &entry);
        let mut out = Announcer::collecting();
        self.state.apply_announcing(&entry, &mut out);
        self.watch.after(&self.state, &entry, &out.into_events());
        assert_eq!(self.state.misfits, misfits, "a driver's record is a misfit: {entry:?}");
        self.journal.push(entry);
    }
}

/// All that was reserved.
fn all(reserve: Reserve) -> Usage {
    Usage { input: reserve.input, output: reserve.output, ..Usage::default() }
}

/// At most what was reserved.
fn used(reserve: Reserve, dice: &mut Dice) -> Usage {
    let part = |n: u64, sixteenths: usize| n * sixteenths as u64 / 16;
    let sixteenths = dice.below(17);
    Usage {
        input: part(reserve.input, sixteenths),
        cache_write: reserve.input - part(reserve.input, sixteenths),
        output: part(reserve.output, 16 - sixteenths),
        ..Usage::default()
    }
}
