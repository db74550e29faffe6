//! One script, two ways: the scripted model and Anthropic's dialect over the mock server say the
//! same. What is tested with one holds for the other.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Block, Message, ModelEvent, ModelRequest, Parameters, Provider, Role, StopReason, ToolResult,
};
use heeler_script::Script;
use heeler_testkit::{Chunking, MockServer, VirtualClock};

use super::Scripted;
use crate::{Anthropic, AnthropicSettings};

/// Replies of every shape; the conversation goes on with the results of its calls.
const SCRIPT: &str = r#"
[[reply]]
usage = { input = 10, output = 20, cache_read = 30, cache_write = 40 }
chunks = 3
blocks = [
  { thinking = "hm, héh", signature = "c2ln" },
  { redacted = "xyz" },
  { text = "Looking." },
  { call = "read", id = "a", input = { path = "src/lib.rs", offset = 3 } },
  { call = "list", id = "b" },
]

[[reply]]
capture = { number = '(\d+)' }
expect = { tool_result_contains = ["line 7", "line 7"] }
text = "It is {{number}}."
stop = "pause"
usage = {}

[[reply]]
error = { status = 529, type = "overloaded_error", message = "busy", retry_after = 2 }

[[reply]]
text = "half"
error = { type = "overloaded_error", message = "busy" }

[[reply]]
text = "half of it"
cut = { events = 3 }

[[reply]]
text = "half of it"
cut = { hard = true }

[[reply]]
error = { type = "network" }

[[reply]]
text = "no"
stop = "refusal"
usage = { output = 1 }

[[reply]]
blocks = [{ call = "read", id = "c", input_raw = '{"path": "sr' }]
stop = "max_tokens"
usage = {}
"#;

#[tokio::test]
async fn a_script_says_the_same_over_http() {
    let script = Script::parse(SCRIPT).unwrap();
    let scripted = Scripted::from_script(script.clone(), Arc::new(VirtualClock::new(0)));
    let expected = talk(&scripted).await;
    assert!(expected.contains("ToolUse") && expected.contains("It is 7."), "{expected}");
    assert_eq!(scripted.mismatches(), []);
    let lengths = [Chunking::Whole, Chunking::PerEvent, Chunking::Bytes(1), Chunking::Bytes(7)];
    for chunking in lengths {
        let server = MockServer::builder(script.clone()).chunking(chunking).start();
        let settings = AnthropicSettings {
            base_url: server.url(),
            ..AnthropicSettings::with_api_key("sk-test")
        };
        let said = talk(&Anthropic::new(&settings).unwrap()).await;
        assert_eq!(said, expected, "{chunking:?}");
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

/// Asks as often as the script has replies and shows what came of each.
async fn talk(provider: &dyn Provider) -> String {
    let mut messages = vec![Message::user("go")];
    let mut shown = String::new();
    for _ in 0..SCRIPT.matches("[[reply]]").count() {
        let request = ModelRequest {
            model: "m".into(),
            system: "You help.".into(),
            tools: Arc::new([]),
            provider_tools: [].into(),
            messages: messages.iter().cloned().collect(),
            stable: messages.len(),
            output_max: 100,
            parameters: Parameters::default(),
            epoch: 1,
        };
        match provider.stream(request).collect::<Vec<_>>().await.pop() {
            Some(Ok(ModelEvent::Finished(reply))) => {
                shown += &format!("{:?} {:?} {:?}\n", reply.stop, reply.usage, reply.blocks);
                let next = results(&reply.blocks);
                push(&mut messages, Role::Assistant, reply.blocks);
                if !next.is_empty() {
                    push(&mut messages, Role::User, next);
                } else if reply.stop != StopReason::Pause {
                    push(&mut messages, Role::User, vec![Block::text("go on")]);
                }
            }
            // The words differ, the kind is what policy goes by.
            Some(Err(error)) => shown += &format!("{:?} {:?}\n", error.kind, error.retry_after),
            other => shown += &format!("{other:?}\n"),
        }
    }
    shown
}

/// Appends a message, joined to the one before when the same side speaks on.
fn push(messages: &mut Vec<Message>, role: Role, blocks: Vec<Block>) {
    match messages.last_mut() {
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ => messages.push(Message { role, blocks }),
    }
}

fn results(blocks: &[Block]) -> Vec<Block> {
    let result = |id: &str| {
        Block::from(ToolResult {
            tool_use_id: id.to_owned(),
            content: vec![Block::text("line 7")],
            is_error: false,
            cache: None,
        })
    };
    blocks.iter().filter_map(Block::as_tool_use).map(|call| result(&call.id)).collect()
}
