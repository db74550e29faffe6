//! Requests with everything that can be in one, and the prefix property in each dialect.

use std::sync::Arc;

use heeler_core::{
    Block, Image, Message, ModelRequest, Parameters, RawJson, RequestMessage, RequestMessages,
    Role, Text, ToolChoice, ToolDefinition, ToolResult, ToolUse,
};
use heeler_providers::chat::Quirks;
use heeler_providers::{anthropic, chat, responses};
use serde_json::Value;

/// Rounds of a long conversation.
const ROUNDS: usize = 300;

/// Requests by name, each with its dialect and its body.
pub(crate) fn bodies() -> Vec<(&'static str, &'static str, Value)> {
    let mut bodies = Vec::new();
    for (name, request) in [("a question", question()), ("everything", everything())] {
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
    let mut shares = String::new();
    for round in 0..ROUNDS {
        request.stable = request.messages.len();
        let now = in_each(&request);
        for ((dialect, before), (_, now)) in before.iter().zip(&now) {
            let [before, now] = [elided(before), elided(now)];
            let shared = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            // What follows the messages changes its place, and nothing else does.
            let tail = before.len() - shared;
            assert!(tail < 400, "{dialect}: round {round}: the last {tail} bytes are others");
        }
        before = now;
        call_and_result(&mut request.messages, round);
    }
    for (dialect, body) in &before {
        shares += &format!("{dialect}: {} kB\n", body.len() / 1000);
    }
    expect_test::expect![[r#"
        anthropic: 158 kB
        openai-chat: 153 kB
        openai-responses: 140 kB
    "#]]
    .assert_eq(&shares);
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
    crate::request()
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
        blocks: vec![text("What is in these?"), Block::Image(image.clone()), Block::Image(linked)],
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
            Block::ToolResult(ToolResult::error("call_1", "There is no such file.")),
            Block::ToolResult(ToolResult::text("call_2", "").with_images([image])),
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
        blocks: vec![Block::ToolResult(ToolResult::text(&id, "line\n".repeat(50)))],
    };
    messages.push(Arc::new(RequestMessage::new(called)));
    messages.push(Arc::new(RequestMessage::new(answered)));
}

fn text(text: &str) -> Block {
    Text { text: text.into(), cache: None, raw: None }.into()
}

fn call(id: &str, name: &str, input: &str) -> Block {
    let input = RawJson::parse(input).unwrap();
    Block::ToolUse(ToolUse { id: id.into(), name: name.into(), input, invalid: None, cache: None })
}
