//! Requests in, bytes out; and the properties every request has.

mod markers;
mod raw;
mod server_calls;
mod thinking;

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Block, Image, Message, Opaque, Parameters, ProviderErrorKind, ProviderItem, RawJson,
    RedactedThinking, RequestMessage, Role, Text, Thinking, ThinkingSettings, ToolChoice,
    ToolResult, ToolUse,
};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn a_small_request() {
    check(
        &request(vec![Message::user("hi \"you\"\n")]),
        expect![[r#"
        {"model":"claude-test","messages":[
        {"role":"user","content":[
          {"type":"text","text":"hi \"you\"\n"}]}
        ],"max_tokens":100,"stream":true}"#]],
    );
}

#[test]
fn system_tools_and_the_newest_stable_message_are_marked() {
    let mut request =
        request(vec![Message::user("one"), Message::assistant("two"), Message::user("three")]);
    request.system = "be brief".into();
    request.tools = tools();
    request.stable = 2;
    check(
        &request,
        expect![[r#"
        {"model":"claude-test","system":[
          {"type":"text","text":"be brief","cache_control":
          {"type":"ephemeral"}}],"tools":[{"name":"read","description":"Does read.","input_schema":
          {"type":"object"}},{"name":"edit","description":"Does edit.","input_schema":
          {"type":"object"},"cache_control":
          {"type":"ephemeral"}}],"messages":[
        {"role":"user","content":[
          {"type":"text","text":"one"}]},
        {"role":"assistant","content":[
          {"type":"text","text":"two","cache_control":
          {"type":"ephemeral"}}]},
        {"role":"user","content":[
          {"type":"text","text":"three"}]}
        ],"max_tokens":100,"stream":true}"#]],
    );
}

#[test]
fn every_kind_of_block() {
    let user = Message {
        role: Role::User,
        blocks: vec![
            Block::text("see"),
            Block::from(image("image/png", "aGk=")),
            Block::from(image("", "https://example.com/a.png")),
            Block::Document(Arc::new(opaque(
                "anthropic",
                r#"{"type":"document","source":{ "x":1.0 }}"#,
            ))),
            Block::Document(Arc::new(opaque("other", r#"{"type":"document"}"#))),
        ],
    };
    let assistant = Message {
        role: Role::Assistant,
        blocks: vec![
            Block::from(Thinking { text: "hm".into(), signature: "sig".into(), raw: None }),
            Block::from(Thinking { text: "unsigned".into(), ..Thinking::default() }),
            own_thinking("anthropic"),
            own_thinking("openai"),
            Block::from(RedactedThinking { data: "xyz".into() }),
            Block::Opaque(Arc::new(opaque("anthropic", r#"{"type":"server_tool_use","id":"s"}"#))),
            Block::Opaque(Arc::new(opaque("openai", r#"{"type":"reasoning"}"#))),
            Block::text(""),
            cited("anthropic"),
            cited("openai"),
            call("t1", "read", r#"{"path": "a.rs"}"#, None),
            call("t2", "read", "{}", Some("truncated")),
            call("", "odd name:é", "[1]", None),
        ],
    };
    let results = Message {
        role: Role::User,
        blocks: vec![
            result("t1", vec![Block::text("ok"), Block::from(image("image/png", "aGk="))], false),
            result("t2", vec![Block::text("bad input")], true),
            result("", vec![], false),
            result("t4", vec![Block::text("")], true),
        ],
    };
    check(
        &request(vec![user, assistant, results]),
        expect![[r#"
            {"model":"claude-test","messages":[
            {"role":"user","content":[
              {"type":"text","text":"see"},
              {"type":"image","source":
              {"type":"base64","media_type":"image/png","data":"aGk="}},
              {"type":"image","source":
              {"type":"url","url":"https://example.com/a.png"}},
              {"type":"document","source":{ "x":1.0 }}]},
            {"role":"assistant","content":[
              {"type":"thinking","thinking":"hm","signature":"sig"},
              {"type":"thinking", "deep":1},
              {"type":"redacted_thinking","data":"xyz"},
              {"type":"server_tool_use","id":"s"},
              {"type":"text","text":"cited","citations":[ {"a":1} ]},
              {"type":"text","text":"cited"},
              {"type":"tool_use","id":"t1","name":"read","input":{"path": "a.rs"}},
              {"type":"tool_use","id":"t2","name":"read","input":{}},
              {"type":"tool_use","id":"__hiqO8rrKB","name":"odd_name__","input":{}}]},
            {"role":"user","content":[
              {"type":"tool_result","tool_use_id":"t1","content":[
              {"type":"text","text":"ok"},
              {"type":"image","source":
              {"type":"base64","media_type":"image/png","data":"aGk="}}]},
              {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[
              {"type":"text","text":"bad input"}]},
              {"type":"tool_result","tool_use_id":"__hiqO8rrKB"},
              {"type":"tool_result","tool_use_id":"t4","is_error":true,"content":"failed without a message"}]}
            ],"max_tokens":100,"stream":true}"#]],
    );
}

#[test]
fn a_failed_result_has_only_text_and_what_else_it_has_follows_the_results() {
    let picture = |data: &str| Block::from(image("image/png", data));
    let document = opaque("anthropic", r#"{"type":"document"}"#);
    let reference = opaque("anthropic", r#"{"type":"tool_reference"}"#);
    let results = vec![
        result("t1", vec![Block::text("broke"), picture("b25l")], true),
        result("t2", vec![picture("dHdv"), Block::Document(Arc::new(document))], true),
        result("t3", vec![picture("b2s=")], false),
        result("t4", vec![Block::Opaque(Arc::new(reference))], true),
        Block::text("and now?"),
    ];
    let message = Message { role: Role::User, blocks: results };
    check(
        &request(vec![message]),
        expect![[r#"
        {"model":"claude-test","messages":[
        {"role":"user","content":[
          {"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[
          {"type":"text","text":"broke"}]},
          {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[
          {"type":"text","text":"failed; what it gave follows the results"}]},
          {"type":"tool_result","tool_use_id":"t3","content":[
          {"type":"image","source":
          {"type":"base64","media_type":"image/png","data":"b2s="}}]},
          {"type":"tool_result","tool_use_id":"t4","is_error":true,"content":"failed without a message"},
          {"type":"image","source":
          {"type":"base64","media_type":"image/png","data":"b25l"}},
          {"type":"image","source":
          {"type":"base64","media_type":"image/png","data":"dHdv"}},
          {"type":"document"},
          {"type":"text","text":"and now?"}]}
        ],"max_tokens":100,"stream":true}"#]],
    );
    // Its markers are read where they are sent: here the hour's comes after the other.
    let failed = result("t1", vec![picture("aGk=").cached(CacheMarker::OneHour)], true);
    let is_sent = |block: Block| {
        let message = Message { role: Role::User, blocks: vec![block] };
        Encoder::default().encode(&request(vec![message])).is_ok()
    };
    assert!(is_sent(failed.clone()));
    assert!(!is_sent(failed.cached(CacheMarker::FiveMinutes)));
}

#[test]
fn parameters_follow_the_messages() {
    let mut request = request(vec![Message::user("hi")]);
    request.tools = tools();
    request.parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(1.0),
        stop: vec!["END".into()],
        thinking: Some(ThinkingSettings::Budget(2048)),
        tool_choice: Some(ToolChoice::Tool("read".into())),
        parallel_calls: Some(false),
        system_cache: None,
        extra_body: Some(
            RawJson::parse(
                r#"{"metadata":{"user_id":"u"},"thinking":{"display":"omitted"},"top_p":null}"#,
            )
            .unwrap(),
        ),
    };
    check_tail(
        &request,
        expect![[
            r#"],"max_tokens":100,"temperature":0.5,"stop_sequences":["END"],"thinking":{"type":"enabled","budget_tokens":2048,"display":"omitted"},"tool_choice":{"type":"tool","name":"read","disable_parallel_tool_use":true},"stream":true,"metadata":{"user_id":"u"}}"#
        ]],
    );
    request.parameters = Parameters {
        thinking: Some(ThinkingSettings::Effort("low".into())),
        parallel_calls: Some(true),
        temperature: Some(f64::NAN),
        ..Parameters::default()
    };
    check_tail(
        &request,
        expect![[
            r#"],"max_tokens":100,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"tool_choice":{"type":"auto","disable_parallel_tool_use":false},"stream":true}"#
        ]],
    );
    request.parameters.tool_choice = Some(ToolChoice::None);
    check_tail(
        &request,
        expect![[
            r#"],"max_tokens":100,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"tool_choice":{"type":"none"},"stream":true}"#
        ]],
    );
    request.tools = [].into();
    check_tail(
        &request,
        expect![[
            r#"],"max_tokens":100,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"stream":true}"#
        ]],
    );
}

#[test]
fn no_thinking_is_told_to_those_that_think_by_themselves() {
    let thinking = |model: &str| {
        let mut request = request(vec![Message::user("hi")]);
        request.model = model.into();
        request.parameters.thinking = Some(ThinkingSettings::Effort("none".into()));
        let body = text(&Encoder::default(), &request);
        assert!(!body.contains("effort"), "{body}");
        let told: serde_json::Value = serde_json::from_str(&body).unwrap();
        told["thinking"]["type"].as_str().unwrap_or("-").to_owned()
    };
    for (model, expected) in [
        ("claude-opus-4-8", "-"),
        ("claude-opus-5", "disabled"),
        ("claude-sonnet-5", "disabled"),
        ("claude-sonnet-5-5", "between_tools"),
        // These always think.
        ("claude-opus-5-5", "-"),
        ("claude-fable-5", "-"),
    ] {
        assert_eq!(thinking(model), expected, "{model}");
    }
}

#[test]
fn tokens_to_think_with_are_left_out_in_a_turn_that_another_began() {
    let thought = || Block::from(Thinking { signature: "sig".into(), ..Thinking::default() });
    let said = |blocks: Vec<Block>| Message { role: Role::Assistant, blocks };
    let called = || call("t", "read", "{}", None);
    let answered = || Message { role: Role::User, blocks: vec![result("t", vec![], false)] };
    let thinks = |messages: Vec<Message>| {
        let mut request = request(messages);
        request.parameters.thinking = Some(ThinkingSettings::Budget(2048));
        text(&Encoder::default(), &request).contains(r#""thinking":{"type":"enabled""#)
    };
    let ask = || Message::user("hi");
    let own = || vec![ask(), said(vec![thought(), called()]), answered()];
    let others = || vec![ask(), said(vec![own_thinking("openai"), called()]), answered()];
    let more = || [said(vec![called()]), answered()];
    assert!(thinks(vec![ask()]));
    assert!(thinks(own()));
    assert!(!thinks(others()));
    // What it thought once in a turn it need not think again.
    assert!(thinks([own(), more().into()].concat()));
    assert!(!thinks([others(), vec![said(vec![thought(), called()]), answered()]].concat()));
    let hidden = Block::from(RedactedThinking { data: "x".into() });
    assert!(thinks(vec![ask(), said(vec![hidden, called()]), answered()]));
    // The next turn is another one.
    assert!(thinks([others(), vec![said(vec![Block::text("done")]), ask()]].concat()));
    let mut steered = answered();
    steered.blocks.push(Block::text("faster"));
    assert!(!thinks(vec![ask(), said(vec![called()]), steered]));
}

#[test]
fn an_extra_body_leaves_the_prefix_alone() {
    for key in ["model", "system", "tools", "messages", "stream"] {
        let mut request = request(vec![Message::user("hi")]);
        let extra = format!(r#"{{"{key}":1}}"#);
        request.parameters.extra_body = Some(RawJson::parse(&extra).unwrap());
        let error = Encoder::default().encode(&request).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
        assert!(error.message.contains(key), "{error}");
    }
    let mut request = request(vec![Message::user("hi")]);
    request.parameters.extra_body = Some(RawJson::parse("[]").unwrap());
    assert!(Encoder::default().encode(&request).is_err());
}

#[test]
fn the_mark_goes_to_the_newest_stable_message_that_can_carry_it() {
    let own = Block::Opaque(Arc::new(opaque(DIALECT, r#"{"type":"advice"}"#)));
    let mut request = request(vec![
        Message::user("one"),
        Message { role: Role::Assistant, blocks: vec![own] },
        Message::user("last"),
    ]);
    request.stable = 2;
    check(
        &request,
        expect![[r#"
            {"model":"claude-test","messages":[
            {"role":"user","content":[
              {"type":"text","text":"one","cache_control":
              {"type":"ephemeral"}}]},
            {"role":"assistant","content":[
              {"type":"advice"}]},
            {"role":"user","content":[
              {"type":"text","text":"last"}]}
            ],"max_tokens":100,"stream":true}"#]],
    );
    request.stable = usize::MAX;
    check_markers(
        &request,
        expect![[r#"
        5m after ,"text":"last"
    "#]],
    );
}

#[test]
fn a_name_has_a_limit() {
    let named = |n_chars: usize| {
        let call = call("t", &"n".repeat(n_chars), "{}", None);
        let message = Message { role: Role::Assistant, blocks: vec![call] };
        text(&Encoder::default(), &request(vec![message]))
    };
    assert!(named(128).contains(&format!("\"name\":\"{}\"", "n".repeat(128))));
    assert_eq!(named(129), named(128));
}

#[test]
fn a_message_is_encoded_once_and_shared() {
    let message = Arc::new(RequestMessage::new(Message::user("x".repeat(1000))));
    let mut request = request(vec![]);
    request.messages = [Arc::clone(&message)].into_iter().collect();
    let encoder = Encoder::default();
    let address = |chunks: &[Bytes]| {
        chunks.iter().find(|chunk| chunk.len() > 1000).map(|chunk| chunk.as_ptr())
    };
    let first = encoder.encode(&request).unwrap();
    let second = encoder.encode(&request).unwrap();
    assert!(address(&first).is_some());
    assert_eq!(address(&first), address(&second));
    assert_eq!(first[0].as_ptr(), second[0].as_ptr(), "the head is kept too");
    request.model = "other".into();
    assert!(encoder.encode(&request).unwrap()[0].starts_with(br#"{"model":"other""#));
}

proptest! {
    #[test]
    fn a_request_starts_with_the_one_before_it(
        messages in prop::collection::vec(message(), 1..8),
        at in any::<prop::sample::Index>(),
        stables in (0usize..9, 0usize..9),
        has_head in any::<bool>(),
        output_max in any::<u64>(),
    ) {
        let messages: Vec<_> =
            messages.into_iter().map(|message| Arc::new(RequestMessage::new(message))).collect();
        let n_before = at.index(messages.len());
        let mut before = request(vec![]);
        if has_head {
            before.system = "s".into();
            before.tools = tools();
        }
        let mut after = before.clone();
        before.messages = messages[..n_before].iter().cloned().collect();
        before.stable = stables.0;
        after.messages = messages.into_iter().collect();
        after.stable = stables.1;
        after.output_max = output_max;
        let encoder = Encoder::default();
        // What has too many markers of users is refused, and so is all that comes after it.
        let Ok(after) = encoder.encode(&after) else { return Ok(()) };
        let (before, after) = (text(&encoder, &before), utf8(after));
        for body in [&before, &after] {
            prop_assert!(serde_json::from_str::<Value>(body).is_ok(), "{}", body);
            prop_assert!(body.matches("cache_control").count() <= MARKERS_MAX);
        }
        let (before, after) = (without_markers(&before), without_markers(&after));
        let tail = before.rfind(r#"],"max_tokens""#).unwrap();
        prop_assert!(after.starts_with(&before[..tail]), "{}\n{}", before, after);
    }
}

const MARKERS_MAX: usize = 4;

fn message() -> impl Strategy<Value = Message> {
    let marker = prop_oneof![
        30 => Just(None),
        1 => Just(Some(CacheMarker::FiveMinutes)),
        1 => Just(Some(CacheMarker::OneHour)),
    ];
    let block = ("[a-z\"\\\\]{0,4}", marker, 0u8..6).prop_map(|(text, cache, kind)| match kind {
        0 => Block::from(Thinking { signature: text.clone(), text, raw: None }),
        1 => Block::from(Image { media_type: "image/png".into(), data: text, cache }),
        2 => Block::from(ToolUse {
            id: text.clone(),
            name: text,
            input: RawJson::empty_object(),
            invalid: None,
            cache,
        }),
        3 => Block::from(ToolResult {
            tool_use_id: text.clone(),
            content: match text.len() {
                0..2 => vec![Block::from(Image { cache, ..image("image/png", &text) })],
                _ => vec![Text { text, cache, raw: None }.into()],
            },
            is_error: true,
            cache,
        }),
        4 => Block::Opaque(Arc::new(opaque("other", "{}"))),
        _ => Text { text, cache, raw: None }.into(),
    });
    (any::<bool>(), prop::collection::vec(block, 0..4)).prop_map(|(user, blocks)| Message {
        role: if user { Role::User } else { Role::Assistant },
        blocks,
    })
}

fn check(request: &ModelRequest, expected: Expect) {
    let body = text(&Encoder::default(), request);
    assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
    // One message or block a line, so that a difference can be read.
    let lines = body.replace(r#"{"role""#, "\n{\"role\"").replace(r#"{"type""#, "\n  {\"type\"");
    expected.assert_eq(&lines.replace("],\"max_tokens\"", "\n],\"max_tokens\""));
}

fn check_tail(request: &ModelRequest, expected: Expect) {
    let body = text(&Encoder::default(), request);
    expected.assert_eq(&body[body.rfind("],\"max_tokens\"").unwrap()..]);
}

/// Shows what stands before each marker, and its time.
fn check_markers(request: &ModelRequest, expected: Expect) {
    let body = text(&Encoder::default(), request);
    let mut seen = String::new();
    let mut parts = body.split(r#","cache_control":{"type":"ephemeral""#).peekable();
    while let (Some(before), Some(after)) = (parts.next(), parts.peek()) {
        let place: String = before.chars().skip(before.chars().count() - 14).collect();
        let hour = if after.starts_with(r#","ttl":"1h""#) { "1h" } else { "5m" };
        seen.push_str(&format!("{hour} after {place}\n"));
    }
    expected.assert_eq(&seen);
}

fn text(encoder: &Encoder, request: &ModelRequest) -> String {
    utf8(encoder.encode(request).unwrap())
}

fn utf8(chunks: Vec<Bytes>) -> String {
    String::from_utf8(chunks.concat()).unwrap()
}

fn without_markers(body: &str) -> String {
    [CacheMarker::FiveMinutes, CacheMarker::OneHour].into_iter().fold(body.to_owned(), |body, m| {
        body.replace(std::str::from_utf8(marker_text(m)).unwrap(), "")
    })
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "claude-test".into(),
        system: "".into(),
        tools: [].into(),
        provider_tools: [].into(),
        messages: messages.into_iter().collect(),
        stable: 0,
        output_max: 100,
        parameters: Parameters::default(),
        epoch: 0,
    }
}

fn tools() -> Arc<[ToolDefinition]> {
    let tool = |name: &str| {
        ToolDefinition::new(
            name,
            format!("Does {name}."),
            RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        )
    };
    [tool("read"), tool("edit")].into()
}

fn marked(index: usize, cache: Option<CacheMarker>) -> Message {
    let text = format!("m{index}");
    let block = Block::from(Text { text, cache, raw: None });
    Message { role: Role::User, blocks: vec![block] }
}

fn image(media_type: &str, data: &str) -> Image {
    Image { media_type: media_type.into(), data: data.into(), cache: None }
}

fn opaque(provider: &str, raw: &str) -> Opaque {
    Opaque { provider: provider.into(), raw: RawJson::parse(raw).unwrap() }
}

fn cited(provider: &str) -> Block {
    let json = RawJson::parse(r#"{"type":"text","text":"cited","citations":[ {"a":1} ]}"#).unwrap();
    let raw = Some(Box::new(ProviderItem { provider: provider.into(), json }));
    Text { text: "cited".into(), cache: None, raw }.into()
}

/// Reasoning in this dialect's own form.
fn own_thinking(provider: &str) -> Block {
    let json = RawJson::parse(r#"{"type":"thinking", "deep":1}"#).unwrap();
    let raw = Some(Box::new(ProviderItem::new(provider, json)));
    Block::from(Thinking { text: "hm".into(), signature: "sig".into(), raw })
}

fn call(id: &str, name: &str, input: &str, invalid: Option<&str>) -> Block {
    Block::from(ToolUse {
        id: id.into(),
        name: name.into(),
        input: RawJson::parse(input).unwrap(),
        invalid: invalid.map(str::to_owned),
        cache: None,
    })
}

fn result(id: &str, content: Vec<Block>, is_error: bool) -> Block {
    Block::from(ToolResult { tool_use_id: id.into(), content, is_error, cache: None })
}
