//! What a session sends is what the same conversation gives from scratch, byte for byte, whatever
//! was kept of the requests before: over many rounds, a compaction, steering that was taken back
//! and a new epoch.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail its test")]

use std::sync::{Arc, Mutex};

use heeler::engine::stores::MemoryStore;
use heeler::engine::{Facts, Input, Parts, Session, SteeringId, Toolset, TurnOutcome};
use heeler::providers::anthropic::request_body;
use heeler::{
    Block, BoxFuture, EventStream, ModelEvent, ModelRequest, Provider, RawJson, Reply, StopReason,
    Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolUse, Usage,
};
use heeler_turn::compact::INSTRUCTION;

/// Rounds of a turn.
const ROUNDS: usize = 45;

/// Compares each request with one that was never sent in part, and notes how long it was.
#[derive(Default)]
struct Model {
    lengths: Mutex<Vec<usize>>,
}

impl Provider for Model {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let messages = request.messages.iter().map(|message| (*message.message).clone()).collect();
        let unseen = ModelRequest { messages, ..request.clone() };
        assert!(request_body(&request).unwrap() == request_body(&unseen).unwrap());
        let mut lengths = self.lengths.lock().unwrap();
        lengths.push(request.messages.len());
        let last = request.messages.last().unwrap().message.text();
        let (block, stop) = if last.ends_with(INSTRUCTION) || lengths.len().is_multiple_of(ROUNDS) {
            (Block::text("said"), StopReason::EndTurn)
        } else {
            let input = RawJson::empty_object();
            let call = ToolUse {
                id: String::new(),
                name: "look".into(),
                input,
                invalid: None,
                cache: None,
            };
            (Block::from(call), StopReason::ToolUse)
        };
        let reply = Reply { blocks: vec![block], stop, usage: Usage::default(), provider_id: None };
        Box::pin(futures::stream::iter([Ok(ModelEvent::Finished(reply))]))
    }
}

struct Look;

impl Tool for Look {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("look", "Looks.", RawJson::parse(r#"{"type":"object"}"#).unwrap())
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts::default()
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { Ok(ToolOutput::text(format!("seen by {}", context.call))) })
    }
}

#[tokio::test]
async fn what_is_sent_is_what_is_made_from_scratch() {
    let model = Arc::new(Model::default());
    let mut parts = Parts::new(Arc::clone(&model) as _, Arc::new(MemoryStore::new()));
    parts.tools = Toolset::new([Arc::new(Look) as _]).unwrap();
    parts.system = "first".into();
    let session = Session::create(parts, "/space").await.unwrap();
    assert_eq!(session.turn(Input::text("one")).await, TurnOutcome::Done);
    let turn = session.turn(Input::text("two"));
    let kept = SteeringId("kept".into());
    session.steer(kept, Input::text("and this")).await.unwrap();
    let taken = SteeringId("taken".into());
    session.steer(taken.clone(), Input::text("not this")).await.unwrap();
    session.take_back(taken).await.unwrap();
    assert_eq!(turn.await, TurnOutcome::Done);
    assert!(session.compact(None).await.unwrap());
    assert_eq!(session.turn(Input::text("three")).await, TurnOutcome::Done);
    session.set_system("second").await.unwrap();
    assert_eq!(session.turn(Input::text("four")).await, TurnOutcome::Done);
    session.close().await;
    let lengths = model.lengths.lock().unwrap().clone();
    assert!(lengths.iter().any(|length| *length > 150), "{lengths:?}");
    assert!(lengths.windows(2).any(|pair| pair[1] < pair[0] / 2), "no compaction: {lengths:?}");
}
