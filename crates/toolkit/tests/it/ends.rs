//! Runs that could not begin or were cut off: what they were given is not lost.

use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use futures::{StreamExt, stream};
use heeler_core::{
    Block, Cost, EventStream, Limits, Message, ModelEvent, ModelRequest, Prices, Provider, RawJson,
    Reply, Role, StopReason, ToolUse, Usage,
};
use heeler_script::{BlockSpec, ReplySpec};
use heeler_toolkit::{Client, Object, Run, RunErrorKind, RunEvent, ToolRegistry, raw_tool};
use serde_json::json;

use crate::door::{client, echo, tools};

fn call() -> Message {
    let input = RawJson::empty_object();
    let call = ToolUse { id: "1".into(), name: "t".into(), input, invalid: None, cache: None };
    Message { role: Role::Assistant, blocks: vec![call.into()] }
}

/// Whether every call has its result in the next message.
fn is_answered(messages: &[Message]) -> bool {
    messages.iter().enumerate().all(|(at, message)| {
        message.tool_uses().all(|call| {
            let answers = |block: &Block| {
                matches!(block, Block::ToolResult(result) if result.tool_use_id == call.id)
            };
            messages.get(at + 1).is_some_and(|next| next.blocks.iter().any(answers))
        })
    })
}

#[tokio::test]
async fn a_history_that_ends_in_a_call_can_be_gone_on_from() {
    let (asks, _) = client([ReplySpec::text("on")]);
    let error = asks.run(Run::new([Message::user("go"), call()])).await.unwrap_err();
    assert!(matches!(error.kind, RunErrorKind::NothingToAnswer), "{error}");
    assert!(is_answered(&error.result.messages), "{:?}", error.result.messages);
    let result = asks.run(Run::new(error.result.messages)).await.unwrap();
    assert_eq!(result.final_text(), "on");
}

#[test]
fn a_run_whose_runtime_is_gone_still_gives_its_history() {
    let build = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (asks, _) = client([ReplySpec::call("hangs", json!({}))]);
    let hangs = raw_tool("hangs", "", Object::new(), |_, _| std::future::pending::<String>());
    let mut events = asks.run_stream(Run::say("go").tools(tools([hangs])));
    let first = build();
    first.block_on(async {
        while let Some(event) = events.next().await {
            if matches!(event, RunEvent::CallStarted { .. }) {
                break;
            }
        }
    });
    drop(first);
    let error = build().block_on(events.finish()).unwrap_err();
    let messages = &error.result.messages;
    assert_eq!((messages.len(), &messages[0]), (3, &Message::user("go")), "{error}");
    assert!(is_answered(messages), "{messages:?}");
}

#[tokio::test]
async fn a_limit_of_cost_without_prices_is_refused_and_not_passed_over() {
    let limits = Limits { cost: 1, ..Limits::default() };
    let (asks, model) = client([ReplySpec::text("free")]);
    let unheard_of = asks.with_model("mine/unheard-of").unwrap();
    for client in [&unheard_of, &asks.or_else(&unheard_of)] {
        let error = client.run(Run::say("go").limits(limits)).await.unwrap_err();
        let text = "a limit of cost needs the prices of mine/unheard-of, which the catalogue does \
                    not have; give them with Client::prices, or limit tokens (model call 0)";
        assert_eq!(error.to_string(), text);
        assert_eq!(error.result.messages, [Message::user("go")]);
    }
    assert!(model.requests().is_empty());
    let none = Prices { input: 0, output: 0, cache_write: 0, cache_read: 0, long: None };
    let result = unheard_of.prices(none).window(9_000).run(Run::say("go").limits(limits)).await;
    assert_eq!(result.unwrap().final_text(), "free");
    let dear = unheard_of.prices(Prices { output: 100, ..none });
    let error = dear.run(Run::say("go").limits(limits)).await.unwrap_err();
    assert!(error.is_limit(), "{error}");
}

#[tokio::test]
async fn a_registry_with_a_name_that_providers_refuse_asks_nobody() {
    let registry = ToolRegistry::new();
    registry.register(raw_tool("a.b", "Works", Object::new(), |_, _| async { "" }).into());
    let (asks, model) = client([ReplySpec::text("never")]);
    let error = asks.run(Run::say("go").tools(registry)).await.unwrap_err();
    assert!(error.to_string().starts_with("no tool can be called `a.b`"), "{error}");
    assert!(model.requests().is_empty() && error.result.messages == [Message::user("go")]);
}

/// Answers with calls, each with what it says it charges, and then with a text.
struct Charges(Vec<Option<Cost>>, AtomicUsize);

impl Provider for Charges {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let at = self.1.fetch_add(1, Ordering::SeqCst);
        let charged = self.0[at];
        let usage = Usage { input: 10, output: 5, charged, ..Usage::default() };
        let call = ToolUse {
            id: format!("c{at}"),
            name: "echo".into(),
            input: RawJson::parse(r#"{"text": "a"}"#).unwrap(),
            invalid: None,
            cache: None,
        };
        let (blocks, stop) = match at + 1 == self.0.len() {
            true => (vec![Block::text("done")], StopReason::EndTurn),
            false => (vec![call.into()], StopReason::ToolUse),
        };
        let reply = Reply { blocks, stop, usage, provider_id: None };
        stream::iter([Ok(ModelEvent::Finished(reply))]).boxed()
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_provider_that_tells_what_it_charges_is_held_to_a_limit_of_cost() {
    let run = async |charges: &[Option<u64>], prices: Option<Prices>| {
        let charges = charges.iter().map(|charge| charge.map(Cost)).collect();
        let provider = Charges(charges, AtomicUsize::new(0));
        let client = Client::new(provider, "mine/unheard-of").unwrap();
        let client = prices.map_or(client.clone(), |prices| client.prices(prices)).output_max(5);
        let limits = Limits { cost: 100, ..Limits::default() };
        client.run(Run::say("go").limits(limits).tools(tools([echo()]))).await
    };
    let done = run(&[Some(40), Some(40), Some(1)], None).await.unwrap();
    assert_eq!((done.cost, done.cost_is_partial), (Cost(81), false));
    let over = run(&[Some(40), Some(60), Some(1)], None).await.unwrap_err();
    assert!(over.is_limit() && over.result.cost == Cost(100), "{over}");
    // One that tells nothing is asked for no more, and what it said last is not thrown away.
    let untold = run(&[Some(40), None, Some(1)], None).await.unwrap_err();
    assert!(matches!(untold.kind, RunErrorKind::CostUntold(_)) && untold.result.rounds == 2);
    expect!["the run has a limit of cost, and mine/unheard-of did not say what its answer cost; give prices with Client::prices, or limit tokens (model call 2)"].assert_eq(&untold.to_string());
    assert!(is_answered(&untold.result.messages));
    let last = run(&[Some(40), None], None).await.unwrap();
    assert_eq!((last.final_text().as_str(), last.cost_is_partial), ("done", true));
    // Where there are prices, they count for it.
    let prices = Prices { input: 1, output: 1, cache_write: 1, cache_read: 1, long: None };
    let priced = run(&[Some(40), None, Some(1)], Some(prices)).await;
    assert_eq!(priced.unwrap().cost, Cost(56));
}

#[tokio::test]
async fn a_refusal_says_why_in_one_line() {
    let refuses = |blocks: &[&str]| {
        let blocks = blocks.iter().map(|text| BlockSpec::text(*text));
        ReplySpec { stop: Some("refusal".into()), ..ReplySpec::blocks(blocks) }
    };
    let long = "long ".repeat(1000);
    let mut said = String::new();
    for blocks in [
        &["Half an", "[Anthropic refused: no\n  such\tthing (cyber)]"][..],
        &["I can't help with that.", " "],
        &[],
        &[&long],
    ] {
        let looks = ReplySpec::blocks([
            BlockSpec::text("Looking."),
            BlockSpec::call("echo", json!({"text": "a"})),
        ]);
        let (asks, _) = client([looks, refuses(blocks)]);
        let run = asks.run(Run::say("go").tools(tools([echo()])));
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind, RunErrorKind::Refused(_)), "{error}");
        said += &format!("{}\n", error.to_string().replace(&"long ".repeat(98), "..."));
    }
    expect![[r#"
        the model refused to answer: [Anthropic refused: no such thing (cyber)] (model call 1)
        the model refused to answer: I can't help with that. (model call 1)
        the model refused to answer (model call 1)
        the model refused to answer: ...long long… (model call 1)
    "#]]
    .assert_eq(&said);
}
