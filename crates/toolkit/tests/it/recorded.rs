//! Recorded sessions as regression tests of an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{Input, Message, Provider, RawJson};
use heeler_engine::Parts;
use heeler_providers::scripted::Scripted;
use heeler_script::{BlockSpec, ReplySpec, Script};
use heeler_store::FileStore;
use heeler_testkit::{SeededEntropy, VirtualClock};
use heeler_toolkit::testing::{Recorded, RecordedError, recorded};
use heeler_toolkit::{Agent, Binding, Cassette, Client, Toolset, tool};
use serde_json::json;

use crate::door::MODEL;

const SYSTEM: &str = "Count what you are told to.";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct What {
    /// What to count.
    what: String,
}

/// Counts how often it ran.
fn count(ran: &Arc<AtomicUsize>) -> Binding {
    let ran = Arc::clone(ran);
    let count = tool("count", "Counts", move |_, what: What| {
        let n = ran.fetch_add(1, Ordering::SeqCst) + 1;
        async move { format!("{}: {n}", what.what) }
    });
    count.unwrap()
}

fn finish() -> Binding {
    tool("finish", "Ends it", |_, _: What| async { "the end" }).unwrap().terminal()
}

fn tools(ran: &Arc<AtomicUsize>) -> Toolset {
    Toolset::new([count(ran), finish()]).unwrap()
}

/// Failures that pass, two calls that ask for the same at once, a second turn, a tool that ends it.
fn replies() -> Vec<ReplySpec> {
    let twice = [
        BlockSpec::call("count", json!({"what": "sheep"})),
        BlockSpec::call("count", json!({"what": "sheep"})),
    ];
    let busy = || ReplySpec::error(529, "overloaded_error", "busy");
    vec![
        busy(),
        ReplySpec::blocks(twice),
        busy(),
        ReplySpec::text("Two."),
        ReplySpec::call("count", json!({"what": "goats"})),
        ReplySpec::call("finish", json!({"what": "all"})),
    ]
}

fn model() -> (Arc<VirtualClock>, Scripted) {
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    (clock.clone(), Scripted::from_script(Script::of(replies()), clock))
}

fn agent(provider: impl Provider, ran: &Arc<AtomicUsize>) -> Agent {
    Agent::new(Client::new(provider, MODEL).unwrap()).system(SYSTEM).tools(tools(ran))
}

/// A cassette of two steps of the agent.
async fn cassette(folder: &Path) -> PathBuf {
    let path = folder.join("session.jsonl");
    let (clock, model) = model();
    let client = Client::new(Cassette::record(&path, model).unwrap(), MODEL).unwrap();
    let client = client.with_time(clock, Arc::new(SeededEntropy::new(7)));
    let ran = Arc::default();
    let agent = Agent::new(client).system(SYSTEM).tools(tools(&ran));
    let mut history = agent.step([Message::user("Count sheep.")]).await.unwrap().messages;
    history.push(Message::user("And goats."));
    agent.step(history).await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 3);
    path
}

/// The journal of the same as a session of the engine.
async fn journal(folder: &Path) -> PathBuf {
    let store = FileStore::open(folder).unwrap();
    let (clock, model) = model();
    let mut parts = Parts::new(Arc::new(model), Arc::new(store.clone()));
    (parts.clock, parts.entropy) = (clock, Arc::new(SeededEntropy::new(7)));
    parts.system = SYSTEM.into();
    parts.settings.model.name = MODEL.into();
    let engine =
        |binding: &Binding| -> Arc<dyn heeler_core::Tool> { Arc::new(Bound(binding.clone())) };
    parts.tools = heeler_engine::Toolset::new(tools(&Arc::default()).iter().map(engine)).unwrap();
    let session = heeler_engine::Session::create(parts, "/space").await.unwrap();
    session.turn(Input::text("Count sheep.")).await;
    session.turn(Input::text("And goats.")).await;
    let id = session.id().clone();
    session.close().await;
    store.journal_path(&id)
}

struct Bound(Binding);

impl heeler_core::Tool for Bound {
    fn definition(&self) -> heeler_core::ToolDefinition {
        self.0.definition.clone()
    }

    fn facts(&self, _: &RawJson, _: &str) -> heeler_core::Facts {
        let terminal = self.0.metadata.terminal;
        heeler_core::Facts { terminal, ..heeler_core::Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: heeler_core::ToolContext,
        input: RawJson,
    ) -> heeler_core::BoxFuture<Result<heeler_core::ToolOutput, heeler_core::ToolError>> {
        (self.0.function)(context, input)
    }
}

/// Asks nobody.
struct Nobody;

impl Provider for Nobody {
    fn stream(&self, _: heeler_core::ModelRequest) -> heeler_core::EventStream {
        panic!("a model is asked");
    }
}

#[tokio::test]
async fn an_agent_that_is_as_it_was_goes_through_it_again_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for path in [cassette(folder.path()).await, journal(folder.path()).await] {
        let ran = Arc::default();
        // The regression test itself.
        recorded(&path).unwrap().replay(&agent(Nobody, &ran)).await.assert_same();
        assert_eq!(ran.load(Ordering::SeqCst), 0, "a tool ran");
    }
}

/// Goes through both with an agent that was changed.
async fn check(change: impl Fn(Agent) -> Agent, of_cassette: Expect, of_journal: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let ran = Arc::default();
    let told = async |path: PathBuf| {
        let session: Recorded = recorded(&path).unwrap();
        let comparison = session.replay(&change(agent(Nobody, &ran))).await;
        comparison.to_string().replace(&*path.to_string_lossy(), "PATH")
    };
    of_cassette.assert_eq(&told(cassette(folder.path()).await).await);
    of_journal.assert_eq(&told(journal(folder.path()).await).await);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn another_prompt_is_noticed() {
    check(|agent| agent.system("Count it twice."), expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at system: expected "Count what you are told to.", found "Count it twice.""#]], expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at system: expected "Count what you are told to.", found "Count it twice.""#]]).await;
}

#[tokio::test]
async fn another_description_of_a_tool_is_noticed() {
    let described = |agent: Agent| {
        let mut count = count(&Arc::default());
        count.definition.description = "Counts well".into();
        agent.tools(Toolset::new([count, finish()]).unwrap())
    };
    check(described, expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at tools[0].description: expected "Counts", found "Counts well""#]], expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at tools[0].description: expected "Counts", found "Counts well""#]]).await;
}

#[tokio::test]
async fn an_agent_that_stops_early_is_noticed() {
    check(|agent| agent.rounds(1), expect!["`PATH` does not come out as it is recorded: the agent made 3 of 6 recorded requests, which ended: the run's limit of rounds is reached (model call 0)"], expect!["`PATH` does not come out as it is recorded: the agent made 3 of 6 recorded requests, which ended: the run's limit of rounds is reached (model call 0)"]).await;
}

#[tokio::test]
async fn another_model_is_another_request() {
    let other = |agent: Agent| {
        let _ = agent;
        let client = Client::new(Nobody, "anthropic/claude-haiku-4-5").unwrap();
        Agent::new(client).system(SYSTEM).tools(tools(&Arc::default()))
    };
    check(other, expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at model: expected "claude-sonnet-5-5", found "claude-haiku-4-5""#]], expect![[r#"`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at model: expected "claude-sonnet-5-5", found "claude-haiku-4-5""#]]).await;
}

#[tokio::test]
async fn how_many_tokens_may_be_written_is_no_matter_of_a_journal() {
    let short = |agent: Agent| {
        let _ = agent;
        let client = Client::new(Nobody, MODEL).unwrap().output_max(77);
        Agent::new(client).system(SYSTEM).tools(tools(&Arc::default()))
    };
    check(short, expect!["`PATH` does not come out as it is recorded: request 1 is not recorded; it differs from recorded request 1 at output_max: expected 128000, found 77"], expect!["`PATH` comes out as it is recorded"]).await;
}

#[tokio::test]
#[should_panic(expected = "does not come out as it is recorded: request 1 is not recorded")]
async fn a_difference_fails_the_test() {
    let folder = tempfile::tempdir().unwrap();
    let path = cassette(folder.path()).await;
    let agent = agent(Nobody, &Arc::default()).system("");
    recorded(path).unwrap().replay(&agent).await.assert_same();
}

#[test]
fn what_is_no_recorded_session_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str, expected: Expect| {
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, text).unwrap();
        let error: RecordedError = recorded(&path).unwrap_err();
        expected.assert_eq(&error.to_string().replace(&*path.to_string_lossy(), "PATH"));
    };
    check("", expect!["`PATH` is no journal; `heeler sessions export ID` prints one"]);
    check(
        "something\nelse\n",
        expect!["`PATH` is no journal; `heeler sessions export ID` prints one"],
    );
    check(
        "{\"cassette\":7}\n",
        expect![
            "cannot replay the cassette `PATH`: line 1: it is no cassette, which begins with its version"
        ],
    );
    check(
        "{\"cassette\":{\"version\":1,\"heeler\":\"0\"}}\n",
        expect!["no model answered in `PATH`; record a session in which one does"],
    );
    let missing = recorded(folder.path().join("none")).unwrap_err().to_string();
    assert!(missing.contains("none") && missing.contains("No such file"), "{missing}");
}

#[tokio::test]
async fn no_other_model_is_asked_either() {
    let busy = |agent: Agent| {
        let _ = agent;
        let client = Client::new(Nobody, MODEL).unwrap().without_retry();
        let other = Client::new(Nobody, "anthropic/claude-haiku-4-5").unwrap();
        Agent::new(client.or_else(&other)).system(SYSTEM).tools(tools(&Arc::default()))
    };
    check(busy, expect![[r#"`PATH` does not come out as it is recorded: request 2 is not recorded; it differs from recorded request 2 at model: expected "claude-sonnet-5-5", found "claude-haiku-4-5""#]], expect![[r#"`PATH` does not come out as it is recorded: request 2 is not recorded; it differs from recorded request 2 at model: expected "claude-sonnet-5-5", found "claude-haiku-4-5""#]]).await;
}
