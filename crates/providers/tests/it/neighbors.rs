//! A conversation that was held with anybody is sent to anybody else with the roles in turn: what a
//! dialect takes nothing of leaves no two neighbors of one role.

use std::sync::Arc;

use heeler_core::{
    Block, Image, Message, ModelRequest, Opaque, ProviderItem, RawJson, RedactedThinking,
    RequestMessage, Role, Thinking, ToolResult, ToolUse,
};
use heeler_providers::chat::{self, Quirks};
use heeler_providers::presets::Preset;
use heeler_providers::{anthropic, responses};
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn roles_take_turns_in_every_dialect(
        said in prop::collection::vec((user(), assistant()), 1..20),
        last in user(),
    ) {
        let mut messages = Vec::new();
        for (n, (user, assistant)) in said.into_iter().enumerate() {
            let results = results(messages.last());
            messages.push(message(Role::User, [results, user].concat()));
            messages.push(message(Role::Assistant, with_ids(assistant, n)));
        }
        let results = results(messages.last());
        messages.push(message(Role::User, [results, last].concat()));
        let request = ModelRequest {
            messages: messages.into_iter().map(|said| Arc::new(RequestMessage::new(said))).collect(),
            ..crate::wire::request("m", "")
        };
        let body = anthropic::request_body(&request).unwrap();
        take_turns("anthropic", &roles(&body, "messages"))?;
        for quirks in all_quirks() {
            let roles = roles(&chat::request_body(&request, quirks).unwrap(), "messages");
            take_turns(quirks.dialect, &roles)?;
        }
        let body = responses::request_body(&request).unwrap();
        take_turns("responses", &roles(&body, "input"))?;
    }
}

fn all_quirks() -> impl Iterator<Item = &'static Quirks> {
    Preset::all().iter().map(|preset| &preset.quirks)
}

fn take_turns(dialect: &str, roles: &[String]) -> Result<(), TestCaseError> {
    for pair in roles.windows(2) {
        prop_assert_ne!(&pair[0], &pair[1], "{}: {:?}", dialect, roles);
    }
    Ok(())
}

/// Who speaks, in order. Results are one message however many there are, and so is what a model
/// says in items.
fn roles(body: &[u8], list: &str) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let items = body[list].as_array().unwrap();
    let role = |item: &Value| match (item["role"].as_str(), item["type"].as_str()) {
        (Some(role), _) => role.to_owned(),
        (None, Some("function_call_output")) => "tool".to_owned(),
        (None, _) => "assistant".to_owned(),
    };
    let mut roles: Vec<String> = items.iter().map(role).collect();
    let joins = |role: &str| role == "tool" || (role == "assistant" && list == "input");
    roles.dedup_by(|a, b| a == b && joins(a));
    roles
}

fn message(role: Role, blocks: Vec<Block>) -> Message {
    Message { role, blocks }
}

fn with_ids(mut blocks: Vec<Block>, n: usize) -> Vec<Block> {
    for (at, block) in blocks.iter_mut().enumerate() {
        if let Block::ToolUse(call) = block {
            Arc::make_mut(call).id = format!("call_{n}_{at}");
        }
    }
    blocks
}

fn results(before: Option<&Message>) -> Vec<Block> {
    let calls = before.into_iter().flat_map(Message::tool_uses);
    calls.map(|call| Block::from(ToolResult::text(&call.id, "done"))).collect()
}

fn user() -> impl Strategy<Value = Vec<Block>> {
    let block = prop_oneof![
        3 => Just(Block::text("go")),
        1 => Just(Block::from(Image::from_bytes("image/png", b"png"))),
        3 => dialect().prop_map(|provider| Block::Document(opaque(provider, "input_file"))),
    ];
    prop::collection::vec(block, 1..3)
}

fn assistant() -> impl Strategy<Value = Vec<Block>> {
    let input = RawJson::parse("{}").unwrap();
    let call =
        ToolUse { id: String::new(), name: "read".into(), input, invalid: None, cache: None };
    let reasoning = |provider: &'static str| {
        let item = opaque(provider, "reasoning");
        let raw = ProviderItem::new(provider, item.raw.clone());
        Block::from(Thinking { raw: Some(raw.into()), ..Thinking::default() })
    };
    let block = prop_oneof![
        2 => Just(Block::text("yes")),
        2 => Just(Block::from(call)),
        2 => Just(Block::from(Thinking { signature: "s".into(), ..Thinking::default() })),
        1 => Just(Block::from(RedactedThinking { data: "d".into() })),
        2 => dialect().prop_map(reasoning),
        2 => dialect().prop_map(|provider| Block::Opaque(opaque(provider, "server_tool_use"))),
    ];
    prop::collection::vec(block, 1..3)
}

fn dialect() -> impl Strategy<Value = &'static str> {
    let of_chat = all_quirks().map(|quirks| quirks.dialect);
    let all: Vec<_> = of_chat.chain([anthropic::DIALECT, responses::DIALECT]).collect();
    prop::sample::select(all)
}

/// What a provider wrote for itself, with the members of each of them.
fn opaque(provider: &str, kind: &str) -> Arc<Opaque> {
    let json = format!(
        r#"{{"type":"{kind}","id":"i","reasoning_content":"x","reasoning_details":[{{"a":1}}]}}"#
    );
    Arc::new(Opaque { provider: provider.into(), raw: RawJson::parse(&json).unwrap() })
}
