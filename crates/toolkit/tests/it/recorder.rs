//! What a recorder is told of a run.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::Message;
use heeler_script::{BlockSpec, ReplySpec};
use heeler_sessions::{MemoryRecorder, RecordedEvent, RecordedEventKind, Recorder};
use heeler_toolkit::Run;
use serde_json::json;

use crate::door::{client, clients, echo, fail, tools};

async fn check(replies: impl IntoIterator<Item = ReplySpec>, run: Run, expected: Expect) {
    let recorder = Arc::new(MemoryRecorder::new());
    let (client, _) = clients(replies);
    let client = client.with_recorder(Arc::clone(&recorder)).unwrap();
    // Asking alone is not recorded.
    let _ = client.ask("", [Message::user("?")]).await;
    let _ = client.run(run).await;
    let events = recorder.events();
    assert!(events.iter().all(|event| event.turn == events[0].turn));
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
    let lines: Vec<String> = events.iter().map(line).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn line(event: &RecordedEvent) -> String {
    let told = match &event.kind {
        RecordedEventKind::TurnStart { history } => format!("{} messages", history.len()),
        RecordedEventKind::ModelResponse { message, stop, .. } => {
            format!("{} calls, {stop:?}", message.tool_uses().count())
        }
        RecordedEventKind::RetryAttempt { attempt, error, .. } => format!("{attempt} {error}"),
        RecordedEventKind::ToolCallStart { tool_use_id, tool, input } => {
            format!("{tool_use_id} {tool} {}", input.get())
        }
        RecordedEventKind::ToolCallEnd { tool_use_id, tool, output, error } => {
            format!("{tool_use_id} {tool} {output:?} {error:?}")
        }
        RecordedEventKind::TurnEnd { usage } => format!("{}", usage.total() > 0),
        RecordedEventKind::TurnError { error, usage } => format!("{error} {}", usage.total() > 0),
        RecordedEventKind::ModelRequest => String::new(),
    };
    format!("{} {} {told}", event.iteration, event.kind.name())
}

#[tokio::test]
async fn everything_of_a_run_and_each_call_has_its_end() {
    let calls = ReplySpec::blocks([
        BlockSpec::call("echo", json!({"text": "a"})),
        BlockSpec::call("fail", json!({"why": "because"})),
        BlockSpec::call("nothing", json!({})),
    ]);
    let busy = ReplySpec::error(529, "overloaded_error", "busy");
    check(
        [ReplySpec::text("asked"), calls, busy, ReplySpec::text("done")],
        Run::new([Message::user("a"), Message::assistant("b"), Message::user("go")])
            .tools(tools([echo(), fail()])),
        expect![[r#"
            0 turn_start 3 messages
            0 model_request 
            0 model_response 3 calls, ToolUse
            0 tool_call_start call_2_2 nothing {}
            0 tool_call_end call_2_2 nothing "" Some("there is no tool called `nothing`; the tools are echo, fail")
            0 tool_call_start call_2_0 echo {"text":"a"}
            0 tool_call_start call_2_1 fail {"why":"because"}
            0 tool_call_end call_2_0 echo "a" None
            0 tool_call_end call_2_1 fail "because" Some("because")
            1 model_request 
            1 retry_attempt 1 busy
            1 model_response 0 calls, EndTurn
            1 turn_end true"#]],
    )
    .await;
    let policy = heeler_core::Policy {
        rules: vec![
            heeler_core::Rule::parse("echo", heeler_core::RuleEffect::Deny, "test").unwrap(),
        ],
        ..heeler_core::Policy::default()
    };
    check(
        [
            ReplySpec::text("asked"),
            ReplySpec::call("echo", json!({"text": "a"})),
            ReplySpec::error(401, "authentication_error", "who?"),
        ],
        Run::say("go").tools(tools([echo()])).policy(policy),
        expect![[r#"
            0 turn_start 1 messages
            0 model_request 
            0 model_response 1 calls, ToolUse
            0 tool_call_start call_2_0 echo {"text":"a"}
            0 tool_call_end call_2_0 echo "" Some("the call was not run")
            1 model_request 
            1 turn_error who? (model call 1) true"#]],
    )
    .await;
}

#[tokio::test]
async fn one_that_panics_or_is_slow_changes_nothing() {
    struct Breaks;
    impl Recorder for Breaks {
        fn record(&self, _: &RecordedEvent) {
            panic!("no room");
        }

        fn is_immediate(&self) -> bool {
            true
        }
    }
    struct Hangs(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);
    impl Recorder for Hangs {
        fn record(&self, _: &RecordedEvent) {
            let _ = self.0.lock().unwrap().recv();
        }
    }
    let (asks, _) = client([ReplySpec::text("one")]);
    let result = asks.with_recorder(Breaks).unwrap().run(Run::say("go")).await;
    assert_eq!(result.unwrap().final_text(), "one");
    let (release, held) = std::sync::mpsc::channel();
    let (asks, _) = client([ReplySpec::text("two")]);
    let asks = asks.with_recorder(Hangs(held.into())).unwrap();
    assert_eq!(asks.run(Run::say("go")).await.unwrap().final_text(), "two");
    drop(release);
}
