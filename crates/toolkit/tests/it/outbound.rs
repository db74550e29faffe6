//! Who a run talks with: every call is told, and what is for them goes there.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{InputOrigin, Outbound, ToolContext, ToolOutput};
use heeler_engine::SystemClock;
use heeler_script::ReplySpec;
use heeler_testkit::SeededEntropy;
use heeler_toolkit::{
    Agent, Client, JsonLinesOutbound, Object, Run, TerminalOutbound, Toolset, raw_tool,
};
use serde_json::json;

use crate::door::{client, clients, tools};

/// What was written, while others go on writing.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// In real time: a clock that jumps would not wait for a writer.
fn really(client: Client) -> Client {
    client.with_time(Arc::new(SystemClock), Arc::new(SeededEntropy::new(7)))
}

/// Runs a call that draws something for the user, then an answer.
async fn run(outbound: impl Outbound + 'static) {
    let draws = raw_tool("draw", "Draws", Object::new(), |_, _| async {
        let media = ["media://a".parse().unwrap(), "media://b".parse().unwrap()];
        ToolOutput { for_user: "look\u{1b}[31m\n".into(), ..ToolOutput::media("drawn", media) }
    });
    let client = really(client([ReplySpec::call("draw", json!({})), ReplySpec::text("done")]).0);
    let run = Run::say("go")
        .tools(tools([draws]))
        .origin(InputOrigin::chat("matrix", "room 5"))
        .outbound(Arc::new(outbound));
    client.run(run).await.unwrap();
}

#[tokio::test]
async fn messages_are_written_for_a_person_or_as_lines_of_json() {
    let paper = Paper::default();
    run(TerminalOutbound::new(paper.clone())).await;
    expect![[r"
        look[31m
        media://a
        media://b
        done
    "]]
    .assert_eq(&paper.text());
    let paper = Paper::default();
    run(JsonLinesOutbound::new(paper.clone())).await;
    let lines: Vec<serde_json::Value> =
        paper.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let to = json!({ "channel": "matrix", "chat": "room 5" });
    let session = &lines[0]["session"];
    let media = ["media://a", "media://b"];
    let drawn = json!({ "session": session, "turn": 1, "call": "1.1.0", "to": to,
        "text": "look\u{1b}[31m\n", "media": media });
    let done = json!({ "session": session, "turn": 1, "to": to, "text": "done" });
    assert_eq!(lines, [drawn, done]);
}

#[tokio::test]
async fn a_child_is_told_where_the_input_came_from_and_answers_its_caller_alone() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let looks = {
        let seen = Arc::clone(&seen);
        raw_tool("look", "Looks", Object::new(), move |context: ToolContext, _| {
            seen.lock().unwrap().push(context.origin);
            async { "seen" }
        })
    };
    let (asks, _) = clients([
        ReplySpec::call("child", json!({"task": "look"})),
        ReplySpec::call("look", json!({})),
        ReplySpec::text("the child's answer"),
        ReplySpec::text("done"),
    ]);
    let asks = really(asks);
    let paper = Paper::default();
    let outbound = Arc::new(TerminalOutbound::new(paper.clone()));
    let child = Agent::new(asks.clone())
        .tools(tools([looks]))
        .with(|run| run.outbound(Arc::clone(&outbound) as _))
        .into_tool("child", "Looks")
        .unwrap();
    let origin = InputOrigin { message: Some("77".into()), ..InputOrigin::chat("matrix", "a") };
    let run = Run::say("go")
        .tools(Toolset::new([child]).unwrap())
        .origin(origin.clone())
        .outbound(Arc::clone(&outbound) as _);
    asks.run(run).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [origin]);
    let text = paper.text();
    assert!(text.ends_with("\ndone\n") && !text.contains("the child's answer"), "{text}");
}
