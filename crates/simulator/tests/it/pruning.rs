//! How many summaries a long session is spared because its old results are cut short first.

use std::collections::BTreeMap;

use expect_test::expect;
use heeler_core::{
    Block, CallPlan, CallPlanned, Compacted, CompactionStarted, Effect, EffectKind, Entry,
    EpochStarted, Facts, Few, Input, ModelReplied, ModelStarted, Opened, RawJson, Record, Reply,
    Settings, StopReason, Timestamp, ToolOutput, ToolUse, Usage,
};
use heeler_simulator::{Bug, turn_on};
use heeler_turn::State;
use heeler_turn::bugs::Bug as MachineBug;

/// What a session that mends a program calls, again and again: the tool, and the characters of its
/// input and of its result.
const CALLS: [(&str, usize, usize); 6] = [
    ("Grep", 60, 3_000),
    ("Read", 80, 13_000),
    ("Read", 80, 13_000),
    ("Edit", 900, 300),
    ("Bash", 120, 8_000),
    ("Bash", 90, 1_200),
];
/// Model calls before the user says the next thing.
const ROUNDS: u32 = 30;
const TURNS: u32 = 20;

struct Session {
    state: State,
    counts: BTreeMap<&'static str, u64>,
    rounds: u32,
}

impl Session {
    fn write(&mut self, record: Record) {
        let name = match &record {
            Record::Compacted(_) => "summaries",
            Record::Trimmed(_) => "cuts",
            Record::Pruned(_) => "prunings",
            _ => "",
        };
        *self.counts.entry(name).or_default() += 1;
        let entry = Entry { seq: self.state.seq + 1, at: Timestamp(1), record };
        self.state.apply(&entry);
        assert_eq!(self.state.misfits, 0);
    }

    /// What the request that is due costs, by what the machine holds it to be.
    fn usage(&self, output: u64) -> Usage {
        Usage { input: self.state.estimate(), output, ..Usage::default() }
    }

    fn perform(&mut self, effect: Effect) {
        match effect.kind {
            EffectKind::StartEpoch { cause } => {
                let epoch = self.state.epoch.as_ref().map_or(0, |epoch| epoch.number) + 1;
                self.write(Record::EpochStarted(Box::new(EpochStarted {
                    epoch,
                    cause,
                    system: "You mend programs. ".repeat(200),
                    tools: Vec::new(),
                    provider_tools: Vec::new(),
                    model: "m".into(),
                    system_hash: String::new(),
                    tools_hash: String::new(),
                })));
            }
            EffectKind::CallModel { turn, round, attempt, reserve } => {
                let epoch = self.state.epoch.as_ref().map_or(0, |epoch| epoch.number);
                let up_to = self.state.seq;
                let started = ModelStarted { turn, round, attempt, epoch, up_to, reserve };
                self.write(Record::ModelStarted(started));
                let reply = self.reply(round);
                let replied = ModelReplied { turn, round, attempt, reply, cost: None };
                self.write(Record::ModelReplied(Box::new(replied)));
            }
            EffectKind::PlanCall { call, answered_before, .. } => {
                let facts = Facts::default();
                let plan =
                    CallPlan::Ready { facts, input: None, notes: Few::default(), hook: None };
                let planned = CallPlanned { call, answered_before, plan };
                self.write(Record::CallPlanned(Box::new(planned)));
            }
            EffectKind::RunCall { call, .. } => {
                self.write(Record::CallStarted { call });
                let (_, _, chars) = CALLS[self.rounds as usize % CALLS.len()];
                let output = Box::new(ToolOutput::text("a line of it\n".repeat(chars / 13)));
                self.write(Record::CallFinished { call, output, millis: 1, inner_calls: 0 });
            }
            EffectKind::Compact { cut, cause, focus, started } => {
                if !started {
                    let started = CompactionStarted { cut, cause, focus };
                    return self.write(Record::CompactionStarted(started));
                }
                let summary = "What was done, and why. ".repeat(150);
                let (usage, cost) = (self.usage(900), None);
                let compacted = Compacted { summary, usage, cost, kept: None };
                let record = self.state.judge_summary(compacted);
                self.write(record);
            }
            EffectKind::Trim(trimmed) => self.write(Record::Trimmed(trimmed)),
            EffectKind::Prune(pruned) => self.write(Record::Pruned(pruned)),
            EffectKind::FinishTurn { turn, outcome } => {
                self.write(Record::TurnFinished { turn, outcome });
            }
            EffectKind::AskPermission { .. } | EffectKind::Wake { .. } => panic!("nobody is asked"),
        }
    }

    fn reply(&mut self, round: u32) -> Reply {
        self.rounds += 1;
        let mut blocks =
            vec![Block::text("I look at what this does before I change it. ".repeat(5))];
        let mut stop = StopReason::EndTurn;
        if !round.is_multiple_of(ROUNDS) {
            let (name, chars, _) = CALLS[self.rounds as usize % CALLS.len()];
            let input = serde_json::json!({ "file_path": "src/lib.rs", "more": "x".repeat(chars) });
            blocks.push(Block::from(ToolUse {
                id: format!("c{}", self.rounds),
                name: name.into(),
                input: RawJson::from_value(&input),
                invalid: None,
                cache: None,
            }));
            stop = StopReason::ToolUse;
        }
        Reply { blocks, stop, usage: self.usage(200), provider_id: None }
    }
}

/// A session of 600 rounds in a window of so many tokens, in figures.
fn play(context_limit: u64) -> String {
    let mut session = Session { state: State::new(), counts: BTreeMap::new(), rounds: 0 };
    session.write(Record::Opened(Opened { incarnation: 1, build: String::new() }));
    let mut settings = Settings::default();
    settings.estimate.context_limit = Some(context_limit);
    settings.limits.rounds = 0;
    settings.limits.tokens = 0;
    settings.limits.cost = 0;
    settings.limits.calls = 0;
    session.write(Record::SettingsChanged(Box::new(settings)));
    for turn in 0..TURNS {
        let input = Input::text(format!("Step {turn}: {}", "mend this as well. ".repeat(10)));
        session.write(Record::Input(Box::new(input)));
        while let Some(effect) = session.state.pending().into_iter().next() {
            session.perform(effect);
        }
    }
    let count = |name| session.counts.get(name).copied().unwrap_or_default();
    let (summaries, prunings, cuts) = (count("summaries"), count("prunings"), count("cuts"));
    format!("{summaries} summaries, {prunings} prunings, {cuts} cuts")
}

#[test]
fn a_long_session_is_spared_most_of_its_summaries() {
    let mut told = String::new();
    for context_limit in [60_000, 100_000, 180_000] {
        let with = play(context_limit);
        assert!(turn_on(Some(Bug::Machine(MachineBug::NeedlessSummary))));
        let without = play(context_limit);
        turn_on(None);
        told += &format!("{context_limit} tokens: {with}; without pruning {without}\n");
    }
    expect![[r#"
        60000 tokens: 5 summaries, 20 prunings, 0 cuts; without pruning 19 summaries, 0 prunings, 0 cuts
        100000 tokens: 2 summaries, 12 prunings, 0 cuts; without pruning 11 summaries, 0 prunings, 0 cuts
        180000 tokens: 1 summaries, 6 prunings, 0 cuts; without pruning 5 summaries, 0 prunings, 0 cuts
    "#]].assert_eq(&told);
}
