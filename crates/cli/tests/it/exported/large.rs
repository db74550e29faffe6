//! A session of ten megabytes: its page is loaded, and says how long that took.

use std::sync::Arc;
use std::time::Instant;

use heeler_core::{
    Block, CallId, CallPlan, CallPlanned, Durability, Entry, EpochCause, EpochStarted, Facts,
    Input, Mode, ModelReplied, ModelStarted, Opened, RawJson, Record, Reply, Reserve,
    SessionHeader, SessionStore as _, Settings, StopReason, Timestamp, ToolOutput, ToolUse,
    TurnOutcome, Usage,
};
use heeler_store::FileStore;

use super::browser::{self, Browser};
use super::exported;
use crate::support::World;

const TURNS: u32 = 250;
const RESULT_BYTES: usize = 40_000;

/// The records of a turn with one call of a long result.
fn turn(turn: u32) -> Vec<Record> {
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
    let result = line.repeat(RESULT_BYTES / line.len());
    let plan = CallPlan::Ready { facts: Facts::default(), input: None, notes: vec![], hook: None };
    vec![
        Record::Input(Box::new(Input::text(format!("question {turn}")))),
        started(1),
        replied(1, vec![Block::ToolUse(asked)], StopReason::ToolUse),
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

/// Stores a session of these turns in the world.
fn store(world: &World) -> String {
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
    let records = first.into_iter().chain((1..=TURNS).flat_map(turn));
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

#[test]
fn a_page_of_ten_megabytes_loads_and_is_whole() {
    if !browser::is_there() {
        return;
    }
    let world = World::new();
    let id = store(&world);
    let page = exported(&world, &id, "large.html");
    let bytes = std::fs::metadata(&page).unwrap().len();
    assert!(bytes > 10_000_000, "{bytes}");
    let mut browser = Browser::open();
    let began = Instant::now();
    browser.loads(&page);
    println!("{bytes} bytes loaded in {:?}", began.elapsed());
    // What is far away is not laid out before somebody goes there.
    let counted = browser.says(
        "[document.querySelectorAll('section.turn').length,
          document.querySelectorAll('details.call').length,
          document.querySelectorAll('details.call[open]').length,
          document.querySelector('#turn-250 .answer').textContent,
          getComputedStyle(document.querySelector('#turn-250')).contentVisibility,
          document.querySelector('#turn-250 pre + pre').textContent.length > 30000]",
    );
    assert_eq!(counted, serde_json::json!([250, 250, 0, "answer 250", "auto", true]));
}
