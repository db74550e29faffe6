//! Watches a session record by record and knows the promises, not how they are kept.

use std::collections::{HashMap, HashSet};

use heeler_core::{
    Block, CallId, CallPlan, CallPlanned, Decision, Entry, Event, Facts, HookEvent, HookVerdict,
    Message, Mode, ModelStarted, Policy, RawJson, Record, Role, Rule, RuleEffect, SteeringId,
    Verdict, View,
};
use heeler_turn::State;
use heeler_turn::state::{CallStatus, Phase, Turn};
use heeler_turn::verdict::judge_heeding;

use crate::{checker, toolbox};

/// What was promised so far.
pub(super) struct Watch {
    /// Folds of the events, the first from the beginning.
    views: Vec<View>,
    /// The last request: its epoch, and who said what.
    request: Option<(u32, Vec<(Role, Block)>)>,
    /// What calls were looked up with.
    planned: HashMap<CallId, RawJson>,
    started: HashMap<CallId, u32>,
    running: Vec<(CallId, Facts)>,
    refused: HashSet<CallId>,
    finished: HashSet<CallId>,
    steering: HashMap<SteeringId, Steered>,
    heard: Vec<String>,
    turn: Spent,
    mode: Mode,
}

#[derive(Default)]
struct Steered {
    text: String,
    delivered: u32,
    taken_back: bool,
}

/// What the running turn used.
#[derive(Default)]
struct Spent {
    replies: u32,
    calls: u32,
    /// The highest limit in force since the turn began; none when there was none at a time.
    calls_max: Option<u32>,
    tokens: u64,
    cost: u64,
}

impl Spent {
    fn by(turn: &Turn) -> Self {
        Self {
            replies: turn.rounds_spent,
            calls: 0,
            calls_max: None,
            tokens: turn.tokens_spent,
            cost: turn.cost_spent.0,
        }
    }
}

impl Watch {
    pub(super) fn from(state: &State) -> Self {
        Self {
            views: vec![state.view()],
            request: None,
            planned: state
                .turn
                .iter()
                .flat_map(|turn| &turn.calls)
                .filter(|call| call.status != CallStatus::Unplanned)
                .map(|call| (call.id, call.input.clone()))
                .collect(),
            started: HashMap::new(),
            running: Vec::new(),
            refused: HashSet::new(),
            finished: HashSet::new(),
            steering: HashMap::new(),
            heard: Vec::new(),
            turn: state.turn.as_ref().map(Spent::by).unwrap_or_default(),
            mode: state.settings.policy.mode,
        }
    }

    /// What a record may not say, seen from the state before it.
    pub(super) fn before(&mut self, state: &State, entry: &Entry) {
        match &entry.record {
            Record::CallStarted { call } => self.call_starts(state, *call),
            Record::ModelStarted(started) => self.model_starts(state, started),
            Record::CallPlanned(planned) => {
                if let CallPlan::Ready { hook: Some(hook), .. } = &planned.plan
                    && blocks(hook)
                {
                    self.refused.insert(planned.call);
                }
                self.call_planned(state, planned);
            }
            Record::HookAnswered(answered) if answered.event == HookEvent::PermissionRequest => {
                self.refused.extend(answered.call.filter(|_| blocks(&answered.verdict)));
            }
            Record::PermissionDecided(decided) => {
                let denies = matches!(
                    decided.decision,
                    Decision::Deny { .. } | Decision::DenyAndStop { .. }
                );
                if denies {
                    self.refused.insert(decided.id.call);
                }
            }
            Record::SteeringQueued(queued) => {
                let steered = self.steering.entry(queued.id.clone()).or_default();
                if steered.text.is_empty() {
                    steered.text = queued.input.blocks[0].as_text().unwrap().to_owned();
                }
            }
            Record::Opened(_) | Record::Interrupted { .. } | Record::TurnFinished { .. } => {
                self.running.clear();
            }
            Record::CallFinished { call, .. } => self.running.retain(|(id, _)| id != call),
            _ => {}
        }
    }

    /// Remembers with which input a call may run, if it may.
    fn call_planned(&mut self, state: &State, planned: &CallPlanned) {
        let calls = state.turn.iter().flat_map(|turn| &turn.calls);
        let call = calls.into_iter().find(|call| call.id == planned.call);
        let changed = match &planned.plan {
            CallPlan::Ready { input, .. } => input.clone(),
            CallPlan::Invalid { .. } => return,
        };
        if let Some(call) = call.filter(|call| call.status == CallStatus::Unplanned) {
            self.planned.insert(call.id, changed.unwrap_or(call.input.clone()));
        }
    }

    fn call_starts(&mut self, state: &State, call: CallId) {
        let turn = state.turn.as_ref().unwrap();
        let input = &turn.calls[call.index as usize].input;
        assert_eq!(self.planned.get(&call), Some(input), "{call} runs with what nobody looked up");
        let name = &turn.calls[call.index as usize].name;
        let argument = toolbox::argument(&turn.calls[call.index as usize].input);
        let facts = toolbox::facts(name, &argument).expect("an unknown tool is never started");
        assert!(!self.refused.contains(&call), "{call} was denied and starts");
        let policy = &state.settings.policy;
        assert!(!is_denied(policy, &state.grants, name), "{call} is denied by a rule and starts");
        let judged = &turn.calls[call.index as usize];
        let (facts_now, hook) = (&judged.facts, judged.hook.as_ref());
        let judgement = judge_heeding(policy, &state.grants, name, facts_now, hook);
        assert!(!matches!(judgement.verdict, Verdict::Deny { .. }), "{call} is denied and starts");
        let starts = self.started.entry(call).or_default();
        *starts += 1;
        assert!(*starts == 1 || facts.replay_safe, "{call} starts twice");
        for (other, others) in &self.running {
            let shared = others
                .resources
                .iter()
                .any(|a| facts.resources.iter().any(|b| a.key == b.key && (a.write || b.write)));
            let alone = facts.exclusive || others.exclusive;
            assert!(!shared && !alone, "{call} starts beside {other}");
        }
        self.running.push((call, facts));
        let limits = &state.settings.limits;
        let at_once = self.running.len();
        assert!(limits.calls_at_once == 0 || at_once <= limits.calls_at_once as usize);
        self.turn.calls += u32::from(*starts == 1);
        let calls_max = self.turn.calls_max.unwrap_or(u32::MAX);
        assert!(self.turn.calls <= calls_max, "{call} is one call too many");
    }

    fn model_starts(&self, state: &State, started: &ModelStarted) {
        let limits = &state.settings.limits;
        // What is paid for already is read, also where the limit was lowered since.
        let has_room = limits.rounds == 0 || self.turn.replies < limits.rounds;
        assert!(has_room || state.resumes().is_some(), "one round too many");
        let reserve = started.reserve;
        let tokens = self.turn.tokens.saturating_add(reserve.input + reserve.output);
        assert!(limits.tokens == 0 || tokens <= limits.tokens, "the tokens do not suffice");
        if let (1.., Some(prices)) = (limits.cost, state.settings.model.prices) {
            let prices = prices.to_reserve(reserve.input);
            let input = reserve.input * prices.input.max(prices.cache_write);
            let cost = self.turn.cost.saturating_add(input + reserve.output * prices.output);
            assert!(cost <= limits.cost, "the money does not suffice");
        }
        assert_eq!(Some(started.epoch), state.epoch.as_ref().map(|epoch| epoch.number));
    }

    /// What must be true after a record.
    pub(super) fn after(&mut self, state: &State, entry: &Entry, events: &[Event]) {
        for event in events {
            self.views.iter_mut().for_each(|view| view.apply(event));
            self.see(event);
        }
        self.spend(state, &entry.record);
        self.turn.calls_max = match state.settings.limits.calls {
            0 => None,
            n if self.turn.calls == 0 && self.turn.replies == 0 => Some(n),
            n => self.turn.calls_max.map(|before| before.max(n)),
        };
        let view = state.view();
        for seen in &self.views {
            assert_eq!(*seen, view, "a fold of the events differs after {entry:?}");
        }
        if entry.seq.is_multiple_of(13) && self.views.len() < 3 {
            self.views.push(view);
        }
        let open_end = state.turn.as_ref().is_some_and(|turn| turn.phase == Phase::Calls);
        let faults = checker::history_faults(&state.history, open_end);
        assert_eq!(faults, [""; 0], "after {entry:?}");
        assert_eq!(state.estimate_uncalibrated(), checker::recount(state), "after {entry:?}");
        self.check_steering(state);
        self.check_mode(state, &entry.record);
        if let Record::ModelStarted(started) = &entry.record {
            self.check_request(state, started);
        }
    }

    fn see(&mut self, event: &Event) {
        match event {
            Event::CallStarted { call, .. } => {
                assert!(!self.finished.contains(call), "{call} starts after its end");
            }
            Event::CallFinished { call, .. } => {
                assert!(self.finished.insert(*call), "{call} ends twice");
            }
            Event::SteeringDelivered { id } => {
                // An input while a turn runs is queued under a name of the machine's own.
                if let Some(steered) = self.steering.get_mut(id) {
                    steered.delivered += 1;
                }
            }
            Event::SteeringTakenBack { id } => {
                if let Some(steered) = self.steering.get_mut(id) {
                    steered.taken_back = true;
                }
            }
            Event::TurnStarted { .. } => self.turn = Spent::default(),
            Event::Message { message } => {
                self.heard.extend(message.blocks.iter().filter_map(Block::as_text).map(Into::into));
            }
            _ => {}
        }
    }

    fn spend(&mut self, state: &State, record: &Record) {
        let (usage, cost) = match record {
            Record::ModelReplied(replied) => {
                self.turn.replies += 1;
                (replied.reply.usage, replied.cost)
            }
            Record::ModelFailed(failed) => (failed.usage, failed.cost),
            Record::Compacted(compacted) => (compacted.usage, compacted.cost),
            Record::CompactionFailed(failed) => (failed.usage, failed.cost),
            _ => return,
        };
        self.turn.tokens = self.turn.tokens.saturating_add(usage.total());
        self.turn.cost = self.turn.cost.saturating_add(cost.unwrap_or_default().0);
        let Some(turn) = &state.turn else { return };
        assert_eq!((turn.tokens_spent, turn.cost_spent.0), (self.turn.tokens, self.turn.cost));
    }

    /// Delivered once, or still waiting, or taken back.
    fn check_steering(&self, state: &State) {
        for (id, steered) in &self.steering {
            let waits = state.steering.iter().filter(|queued| queued.id == *id).count() as u32;
            let fates = waits + steered.delivered + u32::from(steered.taken_back);
            assert_eq!(fates, 1, "{id:?} waits {waits}, was delivered {}", steered.delivered);
            let heard = self.heard.iter().filter(|text| **text == steered.text).count() as u32;
            assert_eq!(heard, steered.delivered, "{id:?}");
        }
    }

    /// It changes only when somebody says so, and is then as they said.
    fn check_mode(&mut self, state: &State, record: &Record) {
        let now = state.settings.policy.mode;
        let said = match record {
            Record::SettingsChanged(settings) => settings.policy.mode,
            Record::PermissionDecided(decided) => match decided.decision {
                Decision::LeavePlan { mode } if self.mode == Mode::Plan => mode,
                _ => self.mode,
            },
            _ => self.mode,
        };
        assert_eq!(now, said, "after {record:?}");
        self.mode = now;
    }

    fn check_request(&mut self, state: &State, started: &ModelStarted) {
        let request = state.request(started.reserve.output).unwrap();
        let messages: Vec<&Message> = request.messages.iter().map(|m| &*m.message).collect();
        assert!(!messages.is_empty(), "a request without a message");
        assert_eq!(checker::faults(&messages, false), [""; 0]);
        let settings = &state.settings;
        let tokens = state.calibration.correct(checker::recount(state));
        let limit = settings.estimate.context_limit.unwrap_or(180_000);
        let fits = !settings.compaction.automatic || tokens <= limit;
        assert!(fits, "a request of {tokens} tokens, {limit} fit");
        let said: Vec<(Role, Block)> = messages
            .iter()
            .flat_map(|message| message.blocks.iter().map(|block| (message.role, block.clone())))
            .collect();
        if let Some((epoch, before)) = &self.request
            && *epoch == request.epoch
        {
            assert!(said.starts_with(before), "the prefix changed within epoch {epoch}");
        }
        self.request = Some((request.epoch, said));
    }
}

/// Whether a call may not run after this, whatever else is said.
fn blocks(hook: &HookVerdict) -> bool {
    !matches!(hook, HookVerdict::Continue | HookVerdict::Allow { .. } | HookVerdict::Ask { .. })
}

/// Whether a rule about all of a tool, or plan mode, denies it.
pub(super) fn is_denied(policy: &Policy, grants: &[Rule], name: &str) -> bool {
    let by_rule = policy
        .rules
        .iter()
        .chain(grants)
        .any(|rule| rule.effect == RuleEffect::Deny && rule.tool == name);
    let by_plan = policy.mode == heeler_core::Mode::Plan && ["write", "bash"].contains(&name);
    by_rule || by_plan
}
