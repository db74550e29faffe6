//! The one door of the scenarios: a script in, what was pending and what was said out.
//!
//! After each line the play performs what a driver does at once (epochs, planning, the records
//! that start an effect, the end of a turn) and shows what then stands. The rest is said by lines:
//!
//! ```text
//! set KEY=VALUE...            settings, see `settings`
//! user TEXT, large N          an input; one of so many characters
//! picture TEXT                an input with an image after it
//! steer ID TEXT, unsteer ID   queues an input, takes it back
//! reply PART | PART ...       the model answers: a text, `call NAME ARGUMENT`, `broken NAME [WHY]`,
//!                             `think TEXT`, `stop REASON`, `cost N`, `used N`, `read N`;
//!                             `call NAME#ID` names the wire id, `call NAME#` leaves it empty
//! accepted ID                 the provider writes the answer by itself, under this id
//! lost KIND [MILLIS]          the attempt fails; it is due again after so long
//! late KIND                   the attempt before this one fails
//! done I TEXT, error I TEXT, handled I TEXT, long I N      call I of the batch ends
//! allow I, session I RULE, deny I [WHY], stop I [WHY]      somebody decides about call I
//! leave I MODE                somebody asked by call I leaves plan mode for this one
//! edit I ARGUMENT             somebody lets call I run with another input
//! grant RULE, interrupt, wall, tick MILLIS
//! hook EVENT WISH [I]         hooks of that moment, of call I, say this; see `toolbox::hook`
//! crash [MILLIS]              a new process opens the session after so long
//! name MILLIS                 somebody names the session after so long
//! hole                        a record is missing
//! compact, summary TEXT, verbose N, no summary [KIND]      compaction; a summary of N characters
//! undo                                                     what it replaced stands again
//! hold, step, go              stops performing by itself; performs one effect; goes on
//! measure                     shows estimate and limit
//! ```

mod render;
mod settings;

use expect_test::Expect;
use heeler_core::{
    AcceptedAnswer, Block, CallId, CallPlan, CallPlanned, Compacted, CompactionCause,
    CompactionFailed, CompactionStarted, Cost, Decision, Effect, EffectId, EffectKind, Entry,
    EpochStarted, FactsChanged, ForUser, HookAnswered, Image, Input, InputOrigin, InterruptCause,
    ModelAccepted, ModelFailed, ModelReplied, ModelStarted, Opened, PermissionAsked,
    PermissionDecided, PermissionId, ProviderErrorKind, RawJson, Record, Reply, Rule, RuleEffect,
    Seq, Settings, SteeringId, SteeringQueued, StopReason, Thinking, Timestamp, ToolOutput,
    ToolUse, Usage,
};
use heeler_turn::State;
use heeler_turn::state::{Announcer, CallStatus};

use crate::{checker, decided, toolbox};

/// More steps than the machine ever takes without an outcome.
const STEPS_MAX: u32 = 50;

/// Plays a script and compares what it showed and where it ended.
#[track_caller]
pub(crate) fn check(script: &str, expected: Expect) {
    expected.assert_eq(&Play::of(script).transcript());
}

/// As [`check`], but shows of the beginning, which other scenarios have too, only where it led.
#[track_caller]
pub(crate) fn check_after(beginning: &str, script: &str, expected: Expect) {
    let mut play = Play::of(beginning);
    let shown_before = play.shown().len();
    script.lines().map(str::trim).for_each(|line| play.line(line));
    expected.assert_eq(&play.transcript()[shown_before..]);
}

/// A session driven by a script.
pub(crate) struct Play {
    /// The session.
    pub(crate) state: State,
    now: u64,
    settings: Settings,
    flying: Vec<EffectId>,
    holds: bool,
    wire_ids: u32,
    shown: String,
    /// The request and the batch that were last due, so that a late outcome can be said.
    last: (u32, u32, u32),
}

impl Play {
    /// Plays a whole script.
    pub(crate) fn of(script: &str) -> Self {
        let mut play = Self {
            state: State::new(),
            now: 0,
            settings: settings::of_tests(),
            flying: Vec::new(),
            holds: false,
            wire_ids: 0,
            shown: String::new(),
            last: (1, 1, 1),
        };
        play.write(Record::Opened(Opened { incarnation: 1, build: "test".into() }));
        play.write(Record::SettingsChanged(Box::new(play.settings.clone())));
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            play.line(line);
        }
        play
    }

    /// What was shown so far.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    fn transcript(&self) -> String {
        let request: Vec<_> = self.state.history.request().iter().map(|m| &*m.message).collect();
        let open_end = !self.state.pending().is_empty();
        assert_eq!(checker::faults(&request, open_end), [""; 0]);
        let mut text = format!("{}---\n", self.shown);
        for message in self.state.history.messages() {
            text.push_str(&format!("{}\n", render::message(message)));
        }
        if self.state.misfits != 0 {
            text.push_str(&format!("misfits: {}\n", self.state.misfits));
        }
        text
    }

    /// Plays one line.
    pub(crate) fn line(&mut self, line: &str) {
        self.shown.push_str(&format!("{line}\n"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "hold" => self.holds = true,
            "go" => self.holds = false,
            "step" => {
                let effect = self.new_effects().into_iter().next().expect("nothing to step");
                self.start(&effect);
            }
            "measure" => {
                let (estimate, limit) = (self.state.estimate(), self.state.context_limit());
                let over = if self.state.needs_compaction() { ", over" } else { "" };
                self.shown.push_str(&format!("    {estimate} of {limit}{over}\n"));
                return;
            }
            "tick" => {
                // Less than nothing where somebody sets the clock back.
                self.now = self.now.saturating_add_signed(rest.parse().expect("milliseconds"));
                self.write(Record::TimePassed);
            }
            "undo" => match self.state.undo_compaction() {
                Ok(record) => self.write(record),
                Err(why) => self.shown.push_str(&format!("    no: {why}\n")),
            },
            "name" => {
                self.now += rest.parse::<u64>().expect("milliseconds");
                self.write(Record::Named { name: "it".parse().ok() });
            }
            "hole" => self.write_at(self.state.seq + 2, Record::TimePassed),
            "crash" => {
                self.flying.clear();
                self.now += rest.parse::<u64>().unwrap_or(0);
                let incarnation = self.state.incarnation + 1;
                self.write(Record::Opened(Opened { incarnation, build: "test".into() }));
            }
            _ => {
                let record = self.record(word, rest);
                let foretold = foretell(&self.state, &record);
                self.write(record);
                self.settle();
                self.assert_foretold(&foretold);
            }
        }
        self.settle();
        self.shown.push_str(&format!("  > {}\n", render::effects(&self.state)));
    }

    fn record(&mut self, word: &str, rest: &str) -> Record {
        let (first, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "set" => {
                settings::change(&mut self.settings, rest);
                Record::SettingsChanged(Box::new(self.settings.clone()))
            }
            "user" => Record::Input(Box::new(Input::text(rest))),
            "picture" => {
                let image = Block::from(Image::from_bytes("image/png", b""));
                let blocks = vec![Block::text(rest), image];
                Record::Input(Box::new(Input { blocks, origin: InputOrigin::default() }))
            }
            "large" => {
                Record::Input(Box::new(Input::text("y".repeat(rest.parse().expect("a length")))))
            }
            "steer" => Record::SteeringQueued(Box::new(SteeringQueued::said(
                SteeringId(first.into()),
                Input::text(tail),
            ))),
            "unsteer" => Record::SteeringTakenBack { id: SteeringId(rest.into()) },
            "reply" => self.reply(rest),
            "accepted" => {
                let (turn, round, attempt) = self.last;
                let answer = AcceptedAnswer { dialect: "d".into(), id: rest.into() };
                Record::ModelAccepted(Box::new(ModelAccepted { turn, round, attempt, answer }))
            }
            "lost" => self.lost(first, tail, 0),
            "late" => self.lost(first, tail, 1),
            "done" => self.finished(first, ToolOutput::text(tail)),
            "error" => self.finished(first, ToolOutput::error(tail)),
            "played" => self.played(first, tail.parse().expect("a number")),
            "long" => self.finished(first, ToolOutput::text("x".repeat(tail.parse().unwrap()))),
            "begun" => self.finished(first, ToolOutput::background(tail)),
            "landed" => Record::SteeringQueued(Box::new(SteeringQueued::of_background(
                first.parse().expect("a call"),
                Input::text(tail),
            ))),
            "shown" => {
                let of = SteeringQueued::of_background(first.parse().unwrap(), Input::text("said"));
                let for_user = ForUser { text: tail.into(), ..ForUser::default() };
                Record::SteeringQueued(Box::new(of.with_for_user(Some(for_user))))
            }
            "wakes" => {
                self.settings.background_wakes = true;
                Record::SettingsChanged(Box::new(self.settings.clone()))
            }
            "handled" => {
                let output = ToolOutput { response_handled: true, ..ToolOutput::text(tail) };
                self.finished(first, output)
            }
            "allow" => self.decided(first, Decision::Once),
            "session" => self.decided(first, Decision::Session { rule: allow_rule(tail) }),
            "leave" => {
                let mode = tail.parse().expect("a mode");
                self.decided(first, Decision::LeavePlan { mode })
            }
            "edit" => {
                let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
                let name = calls.into_iter().find(|call| call.id == self.id(first));
                let name = name.map_or("none", |call| call.name.as_str());
                self.decided(first, Decision::Edited { input: toolbox::input(name, tail) })
            }
            "deny" => self.decided(first, Decision::Deny { reason: some(tail) }),
            "stop" => self.decided(first, Decision::DenyAndStop { reason: some(tail) }),
            "hook" => {
                let (wish, index) = tail.split_once(' ').unwrap_or((tail, ""));
                Record::HookAnswered(Box::new(HookAnswered {
                    event: first.parse().expect("an event"),
                    call: some(index).map(|index| self.id(&index)),
                    verdict: toolbox::hook(wish),
                    context: Vec::new(),
                }))
            }
            "touches" | "touched" => {
                let (name, argument) = tail.split_once(' ').expect("a tool and its argument");
                let facts = toolbox::facts(name, argument).expect("a tool");
                let ends_allowance = word == "touches";
                let changed = FactsChanged { call: self.id(first), facts, ends_allowance };
                Record::FactsChanged(Box::new(changed))
            }
            "grant" => Record::RuleGranted(Box::new(allow_rule(rest))),
            "interrupt" => Record::Interrupted { cause: InterruptCause::Cancelled },
            "wall" => Record::Interrupted { cause: InterruptCause::WallTime },
            "compact" => {
                let focus: Option<Box<str>> = some(rest).map(Into::into);
                let cut = self.state.compaction_cut(focus.as_deref()).expect("nothing to compact");
                let (cut, cause) = (cut as u64, CompactionCause::Manual);
                Record::CompactionStarted(CompactionStarted { cut, cause, focus })
            }
            "summary" => self.summary(rest.into()),
            "verbose" => self.summary("z".repeat(rest.parse().expect("a length"))),
            "no" => {
                let kind = rest.strip_prefix("summary ");
                let kind = kind.map(|kind| serde_json::from_value(kind.into()).expect("a kind"));
                let failed =
                    CompactionFailed { kind, ..CompactionFailed::because("no summary came") };
                Record::CompactionFailed(Box::new(failed))
            }
            _ => panic!("`{word}` is no line of a script"),
        }
    }

    fn summary(&self, summary: String) -> Record {
        let usage = Usage { input: 10, output: 5, ..Usage::default() };
        self.state.judge_summary(Compacted { summary, usage, cost: None, kept: None })
    }

    fn reply(&mut self, parts: &str) -> Record {
        let (turn, round, attempt) = self.last;
        let mut reply = Reply {
            blocks: Vec::new(),
            stop: StopReason::EndTurn,
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            provider_id: None,
        };
        let mut cost = None;
        for part in parts.split(" | ").filter(|part| !part.is_empty()) {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            match word {
                "call" => reply.blocks.push(self.call(rest, false)),
                "broken" => reply.blocks.push(self.call(rest, true)),
                "think" => reply.blocks.push(Block::from(Thinking {
                    text: rest.into(),
                    signature: "signed".into(),
                    raw: None,
                })),
                "stop" => {
                    reply.stop = serde_json::from_value(rest.into())
                        .unwrap_or_else(|_| StopReason::Other(rest.into()))
                }
                "cost" => cost = Some(Cost(rest.parse().unwrap())),
                "used" => reply.usage.output = rest.parse().unwrap(),
                "read" => reply.usage.input = rest.parse().unwrap(),
                _ => reply.blocks.push(Block::text(part)),
            }
        }
        Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt, reply, cost }))
    }

    fn call(&mut self, text: &str, broken: bool) -> Block {
        let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
        let (name, id) = match name.split_once('#') {
            Some((name, id)) => (name, id.to_owned()),
            None => {
                self.wire_ids += 1;
                (name, format!("w{}", self.wire_ids))
            }
        };
        let input = if broken { RawJson::empty_object() } else { toolbox::input(name, argument) };
        let why = if argument.is_empty() { "its input was cut off" } else { argument };
        let invalid = broken.then(|| why.to_owned());
        Block::from(ToolUse { id, name: name.into(), input, invalid, cache: None })
    }

    fn lost(&self, kind: &str, wait: &str, attempts_ago: u32) -> Record {
        let (turn, round, attempt) = self.last;
        let kind: ProviderErrorKind = serde_json::from_value(kind.into()).expect("a kind");
        let wait: Option<u64> = some(wait).map(|millis| millis.parse().expect("milliseconds"));
        Record::ModelFailed(Box::new(ModelFailed {
            turn,
            round,
            attempt: attempt - attempts_ago,
            kind,
            message: "it did not work".into(),
            retry_at: wait.map(|millis| Timestamp(self.now + millis)),
            usage: Usage::default(),
            cost: None,
        }))
    }

    fn finished(&self, index: &str, output: ToolOutput) -> Record {
        let output = Box::new(output);
        Record::CallFinished { call: self.id(index), output, millis: 0, inner_calls: 0 }
    }

    /// A call that played so many within it.
    fn played(&self, index: &str, inner_calls: u32) -> Record {
        let output = Box::new(ToolOutput::text("played"));
        Record::CallFinished { call: self.id(index), output, millis: 0, inner_calls }
    }

    fn decided(&self, index: &str, decision: Decision) -> Record {
        let call = self.id(index);
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let asks = calls.into_iter().find(|asks| asks.id == call);
        let id = asks.map_or(PermissionId::first(call), |asks| asks.permission_id());
        Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by: "person".into() }))
    }

    fn id(&self, index: &str) -> CallId {
        let (turn, round, _) = self.last;
        CallId { turn, round, index: index.parse().expect("an index") }
    }

    /// Starts what is due, the last of each step first.
    pub(crate) fn start_backwards(&mut self) {
        loop {
            let new = self.new_effects();
            if new.is_empty() {
                return;
            }
            new.iter().rev().for_each(|effect| self.start(effect));
        }
    }

    /// Whether a call would run was known before the reply was whole.
    fn assert_foretold(&self, foretold: &[(CallId, bool)]) {
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        for call in calls.filter(|call| call.status != CallStatus::Unplanned) {
            let runs = matches!(call.status, CallStatus::Ready { .. } | CallStatus::Started { .. });
            if let Some((id, would_run)) = foretold.iter().find(|(id, _)| *id == call.id) {
                assert_eq!(runs, *would_run, "{id}:\n{}", self.shown);
            }
        }
    }

    /// Writes one record.
    pub(crate) fn write(&mut self, record: Record) {
        self.write_at(self.state.seq + 1, record);
    }

    fn write_at(&mut self, seq: Seq, record: Record) {
        let entry = Entry { seq, at: Timestamp(self.now), record };
        decided::check(&self.state, &entry);
        let mut out = Announcer::collecting();
        self.state.apply_announcing(&entry, &mut out);
        for event in out.into_events() {
            if let Some(line) = render::event(&event) {
                self.shown.push_str(&format!("    {line}\n"));
            }
        }
    }

    fn new_effects(&mut self) -> Vec<Effect> {
        let pending = self.state.pending();
        self.flying.retain(|id| pending.iter().any(|effect| effect.id == *id));
        pending.into_iter().filter(|effect| !self.flying.contains(&effect.id)).collect()
    }

    fn settle(&mut self) {
        for _ in 0..STEPS_MAX {
            let new = self.new_effects();
            if self.holds || new.is_empty() {
                return;
            }
            new.iter().for_each(|effect| self.start(effect));
        }
        panic!("the machine goes on by itself for ever:\n{}", self.shown);
    }

    fn start(&mut self, effect: &Effect) {
        self.flying.push(effect.id);
        if let EffectId::Model(turn, round, attempt) = effect.id {
            self.last = (turn, round, attempt);
        }
        if let Some(record) = first_record(&self.state, effect) {
            self.write(record);
        }
    }
}

/// What the machine says of a reply's calls before the reply is written.
fn foretell(state: &State, record: &Record) -> Vec<(CallId, bool)> {
    let Record::ModelReplied(replied) = record else { return Vec::new() };
    // What stops a reply stops its calls, and is known last.
    if matches!(replied.reply.stop, StopReason::Refusal | StopReason::Interrupted) {
        return Vec::new();
    }
    let (turn, round) = (replied.turn, replied.round);
    let said = replied.reply.blocks.iter().filter_map(Block::as_tool_use);
    (0..)
        .zip(said)
        .filter_map(|(index, said)| {
            // A call that a hook has its say about is never begun early.
            let CallPlan::Ready { facts, input, hook: None, .. } =
                toolbox::plan(&said.name, &said.input)
            else {
                return None;
            };
            let input = input.as_ref().unwrap_or(&said.input);
            let would_run =
                said.invalid.is_none() && state.would_run(index, &said.name, input, &facts);
            Some((CallId { turn, round, index }, would_run))
        })
        .collect()
}

/// The record that stands in the journal before an effect is visible.
pub(crate) fn first_record(state: &State, effect: &Effect) -> Option<Record> {
    let epoch = state.epoch.as_ref().map_or(0, |epoch| epoch.number);
    Some(match &effect.kind {
        EffectKind::StartEpoch { cause } => Record::EpochStarted(Box::new(EpochStarted {
            epoch: epoch.saturating_add(1),
            cause: *cause,
            system: "You help.".into(),
            tools: Vec::new(),
            provider_tools: Vec::new(),
            model: state.settings.model.name.clone(),
            system_hash: String::new(),
            tools_hash: String::new(),
        })),
        EffectKind::CallModel { turn, round, attempt, reserve } => {
            Record::ModelStarted(ModelStarted {
                turn: *turn,
                round: *round,
                attempt: *attempt,
                epoch,
                up_to: state.seq,
                reserve: *reserve,
            })
        }
        EffectKind::PlanCall { call, answered_before, name, input } => {
            let plan = toolbox::plan(name, input);
            let (call, answered_before) = (*call, *answered_before);
            Record::CallPlanned(Box::new(CallPlanned { call, answered_before, plan }))
        }
        EffectKind::AskPermission { id, reason, asked: false, .. } => {
            Record::PermissionAsked(Box::new(PermissionAsked { id: *id, reason: reason.clone() }))
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
        EffectKind::AskPermission { .. } | EffectKind::Compact { .. } | EffectKind::Wake { .. } => {
            return None;
        }
    })
}

fn allow_rule(text: &str) -> Rule {
    Rule::parse(text, RuleEffect::Allow, "person").expect("a rule")
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
