//! Runs that could not begin or were cut off: what they were given is not lost.

use futures::StreamExt;
use heeler_core::{Block, Limits, Message, Prices, RawJson, Role, ToolUse};
use heeler_script::ReplySpec;
use heeler_toolkit::{Object, Run, RunErrorKind, RunEvent, raw_tool};
use serde_json::json;

use crate::door::{client, tools};

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
