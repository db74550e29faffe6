//! Requests with everything that can be in one, and the prefix property in each dialect.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{
    Block, Image, Message, ModelRequest, Parameters, RawJson, RequestMessage, RequestMessages,
    Role, Text, ToolChoice, ToolDefinition, ToolResult, ToolUse,
};
use heeler_providers::chat::Quirks;
use heeler_providers::{anthropic, chat, responses};
use serde_json::Value;

use crate::conformance::answers::{STREAM, one};
use crate::conformance::scenario::all;
use crate::conformance::speak::DIALECTS;
use crate::wire::sized as answer;

/// Rounds of a long conversation.
const ROUNDS: usize = 300;

/// Requests by name, each with its dialect and its body.
pub(crate) async fn bodies() -> Vec<(&'static str, &'static str, Value)> {
    let mut bodies = Vec::new();
    let requests =
        [("a question", question()), ("everything", everything()), ("switched", switched().await)];
    for (name, request) in requests {
        for (dialect, body) in in_each(&request) {
            bodies.push((name, dialect, serde_json::from_slice(&body).unwrap()));
        }
    }
    bodies
}

#[test]
fn a_request_begins_with_the_bytes_of_the_one_before() {
    let mut request = everything();
    let mut before: Vec<(&str, Vec<u8>)> = Vec::new();
    let (mut sent, mut shared) = ([0; 3], [0; 3]);
    for round in 0..ROUNDS {
        request.stable = request.messages.len();
        let now = in_each(&request);
        for (n, (_, now)) in now.iter().enumerate() {
            sent[n] += now.len();
            let Some((dialect, before)) = before.get(n) else { continue };
            let [before, now] = [elided(before), elided(now)];
            let same = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            // What follows the messages changes its place, and nothing else does.
            let tail = before.len() - same;
            assert!(tail < 400, "{dialect}: round {round}: the last {tail} bytes are others");
            shared[n] += same;
        }
        before = now;
        call_and_result(&mut request.messages, round);
    }
    let mut seen = String::new();
    for (n, (dialect, last)) in before.iter().enumerate() {
        let share = 100.0 * shared[n] as f64 / sent[n] as f64;
        let [kilo, mega] = [last.len() / 1000, sent[n] / 1_000_000];
        seen +=
            &format!("{dialect}: {mega} MB in all, {share:.1} % as before, {kilo} kB at last\n");
    }
    expect![[r#"
        anthropic: 23 MB in all, 99.1 % as before, 158 kB at last
        openai-chat: 23 MB in all, 99.2 % as before, 153 kB at last
        openai-responses: 21 MB in all, 99.1 % as before, 140 kB at last
    "#]]
    .assert_eq(&seen);
}

/// In a user's message and in a call's result, by their bytes and by their address.
#[test]
fn images_reach_every_provider() {
    for (dialect, body) in in_each(&everything()) {
        let body = String::from_utf8(body).unwrap();
        // "png" as base64, and where the other is.
        for image in ["cG5n", "https://a.test/b.png"] {
            assert_eq!(body.matches(image).count(), 2, "{dialect}: {image}: {body}");
        }
        assert_eq!(body.matches("image/png").count(), 2, "{dialect}: {body}");
    }
}

/// What only its own provider understands goes back to it, byte for byte, and to nobody else.
#[tokio::test]
async fn a_conversation_goes_from_one_provider_to_the_other_and_back() {
    let own = [
        (anthropic::DIALECT, r#""signature":"c2ln""#),
        (responses::DIALECT, r#""encrypted_content":"ZW5j""#),
    ];
    for (dialect, body) in in_each(&switched().await) {
        let body = String::from_utf8(body).unwrap();
        for (owner, bytes) in own {
            assert_eq!(body.contains(bytes), owner == dialect, "{dialect}: {bytes}: {body}");
        }
        // What was said, called and answered is told to all.
        for n in 0..DIALECTS.len() {
            assert_eq!(body.matches(&format!("call_9_{n}")).count(), 2, "{dialect}: {body}");
        }
        assert_eq!(body.matches("This one.").count(), DIALECTS.len(), "{dialect}: {body}");
    }
}

/// A conversation in which each provider answered once.
async fn switched() -> ModelRequest {
    let mut messages = RequestMessages::default();
    let mut say = |message: Message| messages.push(Arc::new(RequestMessage::new(message)));
    say(Message::user("Go."));
    for (n, dialect) in DIALECTS.into_iter().enumerate() {
        let scenario = &all()[5];
        let mut blocks = one(dialect, answer(STREAM, (dialect.stream)(scenario))).await.blocks;
        for block in &mut blocks {
            if let Block::ToolUse(call) = block {
                // As the engine does, for whom an id is unique.
                Arc::make_mut(call).id = format!("{}_{n}", call.id);
            }
        }
        say(Message { role: Role::Assistant, blocks });
        say(Message::tool_results([ToolResult::text(format!("call_9_{n}"), "Read.")]));
    }
    ModelRequest { stable: messages.len(), messages, ..everything() }
}

fn in_each(request: &ModelRequest) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (anthropic::DIALECT, anthropic::request_body(request).unwrap()),
        (chat::DIALECT, chat::request_body(request, &Quirks::default()).unwrap()),
        (responses::DIALECT, responses::request_body(request).unwrap()),
    ]
}

/// Without cache markers, which move.
fn elided(body: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(body).unwrap();
    text.replace(r#","cache_control":{"type":"ephemeral"}"#, "").into_bytes()
}

fn question() -> ModelRequest {
    crate::conformance::request()
}

fn everything() -> ModelRequest {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    let read = ToolDefinition::new("read", "Reads a file.", RawJson::parse(schema).unwrap());
    let empty = RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let now = ToolDefinition::new("now", "Tells the time.", empty);
    let image = Image::from_bytes("image/png", b"png");
    let linked = Image::from_url("https://a.test/b.png").unwrap();
    let mut messages = RequestMessages::default();
    let mut say = |message: Message| messages.push(Arc::new(RequestMessage::new(message)));
    say(Message {
        role: Role::User,
        blocks: vec![
            text("What is in these?"),
            Block::from(image.clone()),
            Block::from(linked.clone()),
        ],
    });
    say(Message {
        role: Role::Assistant,
        blocks: vec![
            text("I look."),
            call("call_1", "read", r#"{"path":"ü"}"#),
            call("call_2", "now", "{}"),
        ],
    });
    say(Message {
        role: Role::User,
        blocks: vec![
            Block::from(ToolResult::error("call_1", "There is no such file.")),
            Block::from(ToolResult::text("call_2", "").with_images([image, linked])),
            text("And now?"),
        ],
    });
    say(Message::assistant("It is noon."));
    say(Message::user("Thanks. Go on."));
    let parameters = Parameters {
        tool_choice: Some(ToolChoice::Auto),
        parallel_calls: Some(false),
        ..Parameters::default()
    };
    ModelRequest {
        system: "Be brief.".into(),
        tools: [read, now].into(),
        stable: messages.len(),
        messages,
        parameters,
        ..question()
    }
}

fn call_and_result(messages: &mut RequestMessages, round: usize) {
    let id = format!("call_r{round}");
    let input = format!(r#"{{"path":"file {round}"}}"#);
    let called = Message { role: Role::Assistant, blocks: vec![call(&id, "read", &input)] };
    let answered = Message {
        role: Role::User,
        blocks: vec![Block::from(ToolResult::text(&id, "line\n".repeat(50)))],
    };
    messages.push(Arc::new(RequestMessage::new(called)));
    messages.push(Arc::new(RequestMessage::new(answered)));
}

fn text(text: &str) -> Block {
    Text { text: text.into(), cache: None, raw: None }.into()
}

fn call(id: &str, name: &str, input: &str) -> Block {
    let input = RawJson::parse(input).unwrap();
    Block::from(ToolUse { id: id.into(), name: name.into(), input, invalid: None, cache: None })
}
