//! A stored session of many turns, written as its process would have written it.

use std::sync::Arc;

use heeler_core::{
    Block, CallId, CallPlan, CallPlanned, Durability, Entry, EpochCause, EpochStarted, Facts, Few,
    Input, Mode, ModelReplied, ModelStarted, Opened, RawJson, Record, Reply, Reserve,
    SessionHeader, SessionStore as _, Settings, StopReason, Timestamp, ToolOutput, ToolUse,
    TurnOutcome, Usage,
};
use heeler_store::FileStore;

use crate::support::World;

/// The records of a turn with one call of a long result.
fn turn(turn: u32, result_bytes: usize) -> Vec<Record> {
    let call = CallId { turn, round: 1, index: 0 };
    let input = RawJson::parse(&format!("{{\"file_path\":\"{turn}.txt\"}}")).unwrap();
    let asked = ToolUse {
        id: format!("call_{turn}"),
        name: "Read".into(),
        input,
        invalid: None,
        cache: None,
    };
    let started = |round| {
        Record::ModelStarted(ModelStarted {
            turn,
            round,
            attempt: 1,
            epoch: 1,
            up_to: 0,
            reserve: Reserve::default(),
        })
    };
    let replied = |round, blocks, stop| {
        let reply = Reply {
            blocks,
            stop,
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            provider_id: None,
        };
        Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt: 1, reply, cost: None }))
    };
    let line = "a line of <some> & other text, long enough to be one\n";
    let result = line.repeat(result_bytes / line.len());
    let plan =
        CallPlan::Ready { facts: Facts::default(), input: None, notes: Few::default(), hook: None };
    vec![
        Record::Input(Box::new(Input::text(format!("question {turn}")))),
        started(1),
        replied(1, vec![Block::from(asked)], StopReason::ToolUse),
        Record::CallPlanned(Box::new(CallPlanned { call, answered_before: 0, plan })),
        Record::CallStarted { call },
        Record::CallFinished {
            call,
            output: Box::new(ToolOutput::text(result)),
            millis: 5,
            inner_calls: 0,
        },
        started(2),
        replied(2, vec![Block::text(format!("answer {turn}"))], StopReason::EndTurn),
        Record::TurnFinished { turn, outcome: TurnOutcome::Done },
    ]
}

/// Stores a session of so many turns in the world, each with one call whose result is so long. Gives
/// its id.
pub(crate) fn store(world: &World, turns: u32, result_bytes: usize) -> String {
    let store = FileStore::open(world.path("home")).unwrap();
    let mut settings = Settings::default();
    settings.policy.mode = Mode::Bypass;
    let epoch = EpochStarted {
        epoch: 1,
        cause: EpochCause::First,
        system: "You help.".into(),
        tools: vec![],
        provider_tools: vec![],
        model: "a/b".into(),
        system_hash: String::new(),
        tools_hash: String::new(),
    };
    let first = [
        Record::Opened(Opened { incarnation: 1, build: "1".into() }),
        Record::SettingsChanged(Box::new(settings)),
        Record::EpochStarted(Box::new(epoch)),
    ];
    let records = first.into_iter().chain((1..=turns).flat_map(|n| turn(n, result_bytes)));
    let entries: Vec<Entry> = (1..)
        .zip(records)
        .map(|(seq, record)| Entry { seq, at: Timestamp(1_000 * seq), record })
        .collect();
    let id = "large".to_owned();
    let header = SessionHeader {
        id: id.parse().unwrap(),
        created: Timestamp(0),
        workspace: world.workspace().display().to_string(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        store.create(header).await.unwrap();
        let lease = Arc::new(store.lease(id.parse().unwrap()).await.unwrap());
        store.append(lease, entries.into(), Durability::Written).await.unwrap();
    });
    id
}
