//! A cassette around the model of runs, agents and the engine's own sessions.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use heeler_core::{Input, Message, Provider, ToolOutput};
use heeler_engine::{Parts, Seen, Session};
use heeler_providers::scripted::Scripted;
use heeler_script::{BlockSpec, ReplySpec, Script};
use heeler_testkit::{SeededEntropy, VirtualClock};
use heeler_toolkit::{Agent, Cassette, Client, Parallel, Run, parallel};
use serde_json::json;

use crate::door::{MODEL, echo, fail, told, tools};

fn model(script: Script) -> (Arc<VirtualClock>, Scripted) {
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    (clock.clone(), Scripted::from_script(script, clock))
}

/// A client of what is recorded, at the same time and with the same dice.
fn client(provider: impl Provider) -> Client {
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    Client::new(provider, MODEL).unwrap().with_time(clock, Arc::new(SeededEntropy::new(7)))
}

fn replies() -> [ReplySpec; 4] {
    [
        ReplySpec::blocks([
            BlockSpec::thinking("hm", "signed"),
            BlockSpec::call("echo", json!({"text": "a"})),
            BlockSpec::call("fail", json!({"why": "because"})),
            BlockSpec::call("nothing", json!({})),
        ]),
        ReplySpec::error(529, "overloaded_error", "busy"),
        ReplySpec::call("echo", json!({"text": "b"})),
        ReplySpec::text("done"),
    ]
}

fn run() -> Run {
    Run::say("go").system("Be brief.").tools(tools([echo(), fail()]))
}

/// Records a run, and gives what was told of it.
async fn recorded(path: &Path) -> String {
    let (clock, model) = model(Script::of(replies()));
    let cassette = Cassette::record(path, model).unwrap();
    let client = Client::new(cassette, MODEL).unwrap();
    told(&client.with_time(clock, Arc::new(SeededEntropy::new(7))), run()).await
}

#[tokio::test]
async fn a_run_is_played_again_as_it_was_with_its_attempts_and_what_it_cost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let first = recorded(&path).await;
    assert!(first.contains("reset 1") && first.contains("3 rounds"), "{first}");
    let cassette = Cassette::replay(&path).unwrap();
    assert_eq!(told(&client(cassette.clone()), run()).await, first);
    assert_eq!((cassette.remaining(), cassette.mismatch()), (0, None));
    // Usage is compared in numbers, too.
    let usage = |path: &Path| {
        let client = client(Cassette::replay(path).unwrap());
        async move { client.run(run()).await.unwrap().usage }
    };
    assert!(usage(&path).await.total() > 0);
}

#[tokio::test]
async fn a_run_that_asks_otherwise_is_told_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    recorded(&path).await;
    let cassette = Cassette::replay(&path).unwrap();
    let mut loud = echo();
    loud.function = Arc::new(|_, _| Box::pin(async { Ok(ToolOutput::text("A!")) }));
    let agent = Agent::new(client(cassette.clone())).system("Be brief.");
    let agent = agent.tools(tools([loud, fail()]));
    let error = agent.step([Message::user("go")]).await.unwrap_err();
    let text = error.to_string().replace(&*path.to_string_lossy(), "PATH");
    expect![[r#"request 2 is not recorded; it differs from recorded request 2 at messages[2].blocks[0].tool_result.content[0].text.text: expected "a", found "A!"; record the cassette `PATH` again if that is meant (model call 1)"#]].assert_eq(&text);
    assert!(error.to_string().starts_with(&cassette.mismatch().unwrap()));
}

#[tokio::test]
async fn many_runs_at_once_share_one_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let ask = |client: &Client, n: usize| {
        let (client, text) = (client.clone(), format!("say {n}"));
        async move { client.run(Run::say(text)).await.map(|result| result.final_text()) }
    };
    let texts = |answers: Vec<Result<String, _>>| -> Vec<String> {
        answers.into_iter().map(Result::unwrap).collect()
    };
    let all = |client: Client, order: Vec<usize>| {
        let asks: Vec<_> = order.into_iter().map(|n| ask(&client, n)).collect();
        parallel(asks, Parallel { at_once: 8, fail_fast: false })
    };
    let mut script = Script::of((0..20).map(|n| ReplySpec::text(format!("answer {n}"))));
    script.options.conversations = heeler_script::Conversations::Many;
    let (_, model) = model(script);
    let first =
        texts(all(client(Cassette::record(&path, model).unwrap()), (0..20).collect()).await);
    let again = all(client(Cassette::replay(&path).unwrap()), (0..20).rev().collect()).await;
    let mut again = texts(again);
    again.reverse();
    assert_eq!(again, first);
}

#[tokio::test]
async fn a_session_of_the_engine_is_played_again_event_by_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let events = async |provider: Arc<dyn Provider>| {
        let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
        let mut parts = Parts::new(provider, Arc::new(heeler_store::MemoryStore::new()));
        (parts.clock, parts.entropy) = (clock, Arc::new(SeededEntropy::new(7)));
        parts.settings.model.name = MODEL.into();
        let session = Session::create(parts, "/space").await.unwrap();
        let (_, mut cursor) = session.subscribe();
        session.turn(Input::text("go")).await;
        let mut events = Vec::new();
        while let Some(seen) = cursor.try_next() {
            let Seen::Event(envelope) = seen else { panic!("{seen:?}") };
            events.push(envelope);
        }
        events
    };
    let [_, busy, _, done] = replies();
    let (_, model) = model(Script::of([busy, done]));
    let first = events(Arc::new(Cassette::record(&path, model).unwrap())).await;
    let again = events(Arc::new(Cassette::replay(&path).unwrap())).await;
    assert!(first.len() > 5 && first == again, "{first:#?}\n{again:#?}");
}
