//! Requests in, bytes out; and the properties every request has.

mod properties;

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Block, CacheMarker, Image, Message, Opaque, Parameters, ProviderItem, RawJson, Role, Text,
    Thinking, ThinkingSettings, ToolChoice, ToolResult, ToolUse,
};

use super::super::quirks::{CallIds, OutputLimit, Quirks, Reasoning, SystemRole};
use super::*;

#[test]
fn a_small_request() {
    check(
        &request(vec![Message::user("hi \"you\"\n")]),
        expect![[r#"
        {"model":"gpt-test","messages":[
        {"role":"user","content":"hi \"you\"\n"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn system_and_tools_stand_before_the_messages() {
    let mut request = request(vec![Message::user("one"), Message::assistant("two")]);
    request.system = "be brief".into();
    request.tools = tools();
    check(
        &request,
        expect![[r#"
            {"model":"gpt-test","tools":[{"type":"function","function":{"name":"read","description":"Does read.","parameters":{"type": "object","properties":{}}}},{"type":"function","function":{"name":"edit","description":"Does edit.","parameters":{"type": "object","properties":{}}}}],"messages":[
            {"role":"developer","content":"be brief"},
            {"role":"user","content":"one"},
            {"role":"assistant","content":"two"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
    request.model = "gpt-4o-mini".into();
    let body = String::from_utf8(body(&request, &Quirks::default()).unwrap()).unwrap();
    assert!(body.contains(r#"{"role":"system","content":"be brief"}"#), "{body}");
    request.model = "o3".into();
    let gateway = Quirks { system_role: SystemRole::System, ..Quirks::default() };
    let body = String::from_utf8(self::body(&request, &gateway).unwrap()).unwrap();
    assert!(body.contains(r#"{"role":"system","content":"be brief"}"#), "{body}");
}

#[test]
fn results_come_first_in_call_order_then_what_else_was_said() {
    let image = |n: u8| Block::from(Image::from_bytes("image/png", &[n; 3]));
    let url = Block::from(Image::from_url("https://example.com/a.png").unwrap());
    let calls = ["a", "b", "c", "d", "e"].map(|id| call(id, "read", r#"{"path":"x"}"#));
    let results = vec![
        result("a", vec![Block::text("one"), Block::text(" and two")], false),
        result("b", vec![image(0), Block::text("a picture"), image(1)], false),
        result("c", vec![Block::text("no such file")], true),
        result("d", vec![], true),
        result("e", vec![url.clone()], false),
        Block::text("go on"),
        image(2),
        url,
    ];
    check(
        &request(vec![
            Message::user("go"),
            Message { role: Role::Assistant, blocks: calls.into() },
            Message { role: Role::User, blocks: results },
        ]),
        expect![[r#"
            {"model":"gpt-test","messages":[
            {"role":"user","content":"go"},
            {"role":"assistant","content":null,
              "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"d","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"e","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]},
            {"role":"tool","tool_call_id":"a","content":"one and two"},
            {"role":"tool","tool_call_id":"b","content":"a picture"},
            {"role":"tool","tool_call_id":"c","content":"Error: no such file"},
            {"role":"tool","tool_call_id":"d","content":"Error: failed without a message"},
            {"role":"tool","tool_call_id":"e","content":"(images, which follow)"},
            {"role":"user","content":[{"type":"text","text":"Images of the result of call b:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQEB"}},{"type":"text","text":"Images of the result of call e:"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"text","text":"go on"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AgIC"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn a_word_of_the_model_stands_between_results_and_a_person_where_it_must() {
    let quirks = Quirks { answers_results: true, ..Quirks::default() };
    let user = |blocks: Vec<Block>| Message { role: Role::User, blocks };
    let thinking = Thinking { signature: "of another".into(), ..Thinking::default() };
    let messages = vec![
        Message::user("go"),
        Message { role: Role::Assistant, blocks: vec![call("a", "read", "{}")] },
        user(vec![result("a", vec![Block::from(Image::from_bytes("image/png", b"a"))], false)]),
        Message { role: Role::Assistant, blocks: vec![call("b", "read", "{}")] },
        user(vec![result("b", vec![], false), Block::text(" "), Block::text("stop")]),
        Message { role: Role::Assistant, blocks: vec![call("c", "read", "{}")] },
        user(vec![result("c", vec![], false)]),
        Message { role: Role::Assistant, blocks: vec![Block::from(thinking)] },
        Message::user("go on"),
        Message { role: Role::Assistant, blocks: vec![call("d", "read", "{}")] },
        user(vec![result("d", vec![], false), Block::text(" ")]),
    ];
    check_with(
        &quirks,
        &request(messages),
        expect![[r#"
        {"model":"gpt-test","messages":[
        {"role":"user","content":"go"},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"a","content":"(images, which follow)"},
        {"role":"assistant","content":"OK."},
        {"role":"user","content":[{"type":"text","text":"Images of the result of call a:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,YQ=="}}]},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"b","content":"(no output)"},
        {"role":"assistant","content":"OK."},
        {"role":"user","content":"stop"},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"(no output)"},
        {"role":"assistant","content":"OK."},
        {"role":"user","content":"go on"},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"d","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"d","content":"(no output)"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn what_a_failed_call_says_is_told_to_be_an_error_once() {
    for (text, said) in [
        ("not found", "Error: not found"),
        ("Error: not found", "Error: not found"),
        ("ERROR 5", "ERROR 5"),
        ("Err", "Error: Err"),
        (" ", "Error: failed without a message"),
    ] {
        let results = vec![result("a", vec![Block::text(text)], true)];
        let message = Message { role: Role::User, blocks: results };
        let bytes = message::encode(&message, &Quirks::default());
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["content"], said);
    }
}

#[test]
fn texts_of_a_person_are_paragraphs_of_one_string() {
    let blocks = vec![Block::text("one"), Block::text(" \n"), Block::text("two")];
    check(
        &request(vec![Message { role: Role::User, blocks }]),
        expect![[r#"
        {"model":"gpt-test","messages":[
        {"role":"user","content":"one\n\ntwo"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn what_the_model_said() {
    let opaque = |provider: &str, raw: &str| {
        Block::Opaque(Arc::new(Opaque {
            provider: provider.into(),
            raw: RawJson::parse(raw).unwrap(),
        }))
    };
    let mut broken = call("bad", "read", "{}");
    if let Block::ToolUse(call) = &mut broken {
        let call = Arc::make_mut(call);
        call.invalid = Some("cut".into());
        call.input = RawJson::parse(r#"{"a":1}"#).unwrap();
    }
    let blocks = vec![
        Block::from(Thinking { signature: "of another".into(), ..Thinking::default() }),
        opaque("anthropic", r#"{"type":"server_tool_use"}"#),
        Block::text("Let "),
        Block::text("me."),
        opaque("openai-chat", r#"{"annotations":[1]}"#),
        Block::from(Thinking {
            raw: Some(item("openai-chat", r#"{"reasoning_content":"r"}"#).into()),
            ..Thinking::default()
        }),
        call("a", "read it!", r#"{"path": "é"}"#),
        opaque("openai-chat", r#"{"tool_call":{"extra_content":{"s": 1.50},"other":2}}"#),
        broken,
    ];
    let messages = vec![
        Message::user("go"),
        Message { role: Role::Assistant, blocks: blocks.clone() },
        Message { role: Role::Assistant, blocks: vec![blocks[0].clone(), blocks[4].clone()] },
    ];
    check(
        &request(messages.clone()),
        expect![[r#"
            {"model":"gpt-test","messages":[
            {"role":"user","content":"go"},
            {"role":"assistant","content":"Let me.",
              "tool_calls":[{"id":"a","type":"function","function":{"name":"read_it_","arguments":"{\"path\": \"é\"}"}},{"id":"bad","type":"function","function":{"name":"read","arguments":"{}"}}]},
            {"role":"assistant","content":"OK."}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
    let back = Quirks {
        reasoning_back: true,
        members_back: vec!["annotations".into()],
        call_members_back: vec!["extra_content".into()],
        call_ids: CallIds::Nine,
        ..Quirks::default()
    };
    check_with(
        &back,
        &request(messages),
        expect![[r#"
            {"model":"gpt-test","messages":[
            {"role":"user","content":"go"},
            {"role":"assistant","content":"Let me.","annotations":[1],"reasoning_content":"r",
              "tool_calls":[{"id":"couTNVW1B","type":"function","function":{"name":"read_it_","arguments":"{\"path\": \"é\"}"},"extra_content":{"s": 1.50}},{"id":"infPdxhDb","type":"function","function":{"name":"read","arguments":"{}"}}]},
            {"role":"assistant","content":"OK.","annotations":[1],"reasoning_content":""}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn the_first_of_calls_that_nobody_signed_says_so_where_it_must() {
    let unsigned = RawJson::parse(r#"{"extra_content":{"skip":true}}"#).unwrap();
    let quirks = Quirks {
        call_members_back: vec!["extra_content".into()],
        unsigned_call: Some(unsigned),
        ..Quirks::default()
    };
    let signed = |by| {
        let ProviderItem { provider, json } =
            item(by, r#"{"tool_call":{"extra_content":{"s": 1}}}"#);
        Block::Opaque(Arc::new(Opaque { provider, raw: json }))
    };
    let two = |between| vec![call("a", "read", "{}"), between, call("b", "read", "{}")];
    let messages = [
        vec![Block::text("No call.")],
        two(Block::text("Of another.")),
        two(signed("another")),
        two(signed("openai-chat")),
        vec![call("a", "read", "{}"), call("b", "read", "{}"), signed("openai-chat")],
    ];
    let messages = messages.map(|blocks| Message { role: Role::Assistant, blocks });
    check_with(
        &quirks,
        &request(messages.into()),
        expect![[r#"
        {"model":"gpt-test","messages":[
        {"role":"assistant","content":"No call."},
        {"role":"assistant","content":"Of another.",
          "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"skip":true}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"skip":true}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"s": 1}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"assistant","content":null,
          "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"s": 1}}]}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn a_message_of_reasoning_alone_has_a_word_beside_it() {
    let members_back = vec!["reasoning_details".into()];
    let quirks = Quirks { reasoning_back: true, members_back, ..Quirks::default() };
    let reasoned = |json: &str| {
        let raw = Some(item("openai-chat", json).into());
        let blocks = vec![Block::from(Thinking { raw, ..Thinking::default() })];
        Message { role: Role::Assistant, blocks }
    };
    let messages = vec![
        Message::user("go"),
        reasoned(r#"{"reasoning_content":"r"}"#),
        Message::user("go on"),
        reasoned(r#"{"reasoning_details":[{"type":"reasoning.text","text":"r"}]}"#),
        Message::user("go on"),
    ];
    check_with(
        &quirks,
        &request(messages),
        expect![[r#"
            {"model":"gpt-test","messages":[
            {"role":"user","content":"go"},
            {"role":"assistant","content":"OK.","reasoning_content":"r"},
            {"role":"user","content":"go on"},
            {"role":"assistant","content":"OK.","reasoning_details":[{"type":"reasoning.text","text":"r"}],"reasoning_content":""},
            {"role":"user","content":"go on"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn a_message_without_reasoning_of_this_server_has_an_empty_one_where_it_must() {
    let quirks = Quirks { dialect: "back", reasoning_back: true, ..Quirks::default() };
    let elsewhere = Thinking { signature: "of another".into(), ..Thinking::default() };
    let messages = vec![
        Message::assistant("no call"),
        Message {
            role: Role::Assistant,
            blocks: vec![Block::from(elsewhere), call("a", "read", "{}")],
        },
    ];
    check_with(
        &quirks,
        &request(messages),
        expect![[r#"
            {"model":"gpt-test","messages":[
            {"role":"assistant","content":"no call","reasoning_content":""},
            {"role":"assistant","content":null,"reasoning_content":"",
              "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
}

#[test]
fn parameters() {
    let mut request = request(vec![Message::user("hi")]);
    request.tools = tools();
    request.parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(f64::NAN),
        stop: vec!["END".into()],
        thinking: Some(ThinkingSettings::Effort("low".into())),
        tool_choice: Some(ToolChoice::Tool("read".into())),
        parallel_calls: Some(false),
        extra_body: Some(
            RawJson::parse(r#"{"seed":7,"stop":null,"stream_options":{"x":1}}"#).unwrap(),
        ),
        ..Parameters::default()
    };
    check(
        &request,
        expect![[r#"
            {"model":"gpt-test","tools":[{"type":"function","function":{"name":"read","description":"Does read.","parameters":{"type": "object","properties":{}}}},{"type":"function","function":{"name":"edit","description":"Does edit.","parameters":{"type": "object","properties":{}}}}],"messages":[
            {"role":"user","content":"hi"}],"max_completion_tokens":100,"temperature":0.5,"reasoning_effort":"low","tool_choice":{"type":"function","function":{"name":"read"}},"parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true,"x":1},"seed":7}"#]],
    );
    request.tools = [].into();
    request.parameters.extra_body = None;
    let gateway = Quirks {
        output_limit: OutputLimit::MaxTokens,
        asks_for_usage: false,
        body: Some(RawJson::parse(r#"{"max_tokens":1,"options":{"a":1}}"#).unwrap()),
        ..Quirks::default()
    };
    check_with(
        &gateway,
        &request,
        expect![[r#"
        {"model":"gpt-test","messages":[
        {"role":"user","content":"hi"}],"max_tokens":100,"options":{"a":1},"temperature":0.5,"stop":["END"],"reasoning_effort":"low","stream":true}"#]],
    );
}

#[test]
fn choices_and_reasoning() {
    let choices =
        [ToolChoice::Auto, ToolChoice::Any, ToolChoice::None, ToolChoice::Tool("a".into())];
    let seen = choices.map(|choice| {
        let mut request = request(vec![]);
        request.tools = tools();
        request.parameters.tool_choice = Some(choice);
        format!("{}\n", tail_value(&request, &Quirks::default())["tool_choice"])
    });
    expect![[r#"
        "auto"
        "required"
        "none"
        {"type":"function","function":{"name":"a"}}
    "#]]
    .assert_eq(&seen.concat());
    let asked = [
        ThinkingSettings::Effort("high".into()),
        ThinkingSettings::Effort("none".into()),
        ThinkingSettings::Budget(4096),
        ThinkingSettings::Budget(16_384),
        ThinkingSettings::Budget(16_385),
    ];
    let mut seen = String::new();
    for reasoning in [Reasoning::Effort, Reasoning::Object, Reasoning::Switch] {
        for thinking in &asked {
            let mut request = request(vec![]);
            request.parameters.thinking = Some(thinking.clone());
            let tail = tail_value(&request, &Quirks { reasoning, ..Quirks::default() });
            let members = ["reasoning_effort", "reasoning", "thinking"].map(|name| &tail[name]);
            seen.push_str(&format!("{members:?}\n").replace("Null, ", "").replace(", Null", ""));
        }
    }
    expect![[r#"
        [String("high")]
        [String("none")]
        [String("low")]
        [String("medium")]
        [String("high")]
        [Object {"effort": String("high")}]
        [Object {"effort": String("none")}]
        [Object {"max_tokens": Number(4096)}]
        [Object {"max_tokens": Number(16384)}]
        [Object {"max_tokens": Number(16385)}]
        [Object {"type": String("enabled")}]
        [Object {"type": String("disabled")}]
        [Object {"type": String("enabled")}]
        [Object {"type": String("enabled")}]
        [Object {"type": String("enabled")}]
    "#]]
    .assert_eq(&seen);
}

#[test]
fn markers_are_sent_as_typed_parts_or_not_at_all() {
    let marked = |block: Block| block.cached(CacheMarker::OneHour);
    let marker = CacheMarker::FiveMinutes;
    let mut request = request(vec![
        Message { role: Role::User, blocks: vec![Block::text("plain"), marked(Block::text("go"))] },
        Message {
            role: Role::Assistant,
            blocks: vec![marked(Block::text("so")), call("a", "read", "{}")],
        },
        Message {
            role: Role::User,
            blocks: vec![
                marked(result("a", vec![Block::text("one")], false)),
                marked(Block::from(Image::from_url("https://example.com/a").unwrap())),
            ],
        },
        Message::user("end"),
    ]);
    request.system = "be brief".into();
    request.parameters.system_cache = Some(marker);
    let mut all = tools().to_vec();
    all[0].cache = Some(marker);
    request.tools = all.into();
    let typed = Quirks { dialect: "typed", takes_markers: true, ..Quirks::default() };
    check_with(
        &typed,
        &request,
        expect![[r#"
            {"model":"gpt-test","tools":[{"type":"function","function":{"name":"read","description":"Does read.","parameters":{"type": "object","properties":{}}},"cache_control":{"type":"ephemeral"}},{"type":"function","function":{"name":"edit","description":"Does edit.","parameters":{"type": "object","properties":{}}}}],"messages":[
            {"role":"developer","content":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}]},
            {"role":"user","content":[{"type":"text","text":"plain"},{"type":"text","text":"go","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
            {"role":"assistant","content":[{"type":"text","text":"so","cache_control":{"type":"ephemeral","ttl":"1h"}}],
              "tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
            {"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]},
            {"role":"user","content":"end"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#]],
    );
    let body = body(&request, &Quirks::default()).unwrap();
    assert!(!String::from_utf8(body).unwrap().contains("cache_control"));
}

#[test]
fn tools_that_cannot_be_sent_are_refused() {
    let item =
        |provider: &str, json: &str| ProviderItem::new(provider, RawJson::parse(json).unwrap());
    let takes = Quirks { takes_provider_tools: true, ..Quirks::default() };
    let search = r#"{"type":"web_search"}"#;
    let mut seen = String::new();
    for (provider, json, quirks) in [
        ("openai-chat", search, &Quirks::default()),
        ("anthropic", search, &takes),
        ("openai-chat", "[]", &takes),
        ("openai-chat", search, &takes),
    ] {
        let mut request = request(vec![]);
        request.provider_tools = [item(provider, json)].into();
        seen.push_str(&show(&request, quirks));
        seen.push('\n');
    }
    let mut raw = request(vec![]);
    let mut all = tools().to_vec();
    all[0].raw = Some(item("anthropic", search));
    raw.tools = all.into();
    seen.push_str(&show(&raw, &takes));
    expect![[r#"
        InvalidRequest: the tool web_search would be run by the provider, and `openai-chat` runs none; leave it out
        InvalidRequest: the tool web_search is declared for `anthropic`, and this request goes to `openai-chat`; leave it out or declare it for `openai-chat`
        InvalidRequest: the declaration of the tool without a name is no JSON object
        {"model":"gpt-test","tools":[{"type":"web_search"}],"messages":[],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}
        InvalidRequest: the tool read is declared for `anthropic`, and this request goes to `openai-chat`; leave it out or declare it for `openai-chat`"#]].assert_eq(&seen);
}

#[test]
fn an_extra_body_that_cannot_be_sent_is_refused() {
    let mut seen = String::new();
    for extra in ["[]", r#"{"messages":[]}"#, r#"{"model":"x"}"#] {
        let mut request = request(vec![]);
        request.parameters.extra_body = Some(RawJson::parse(extra).unwrap());
        seen.push_str(&show(&request, &Quirks::default()));
        seen.push('\n');
    }
    expect![[r#"
        InvalidRequest: the extra request body is not a JSON object
        InvalidRequest: the extra request body may not set `messages`; remove it
        InvalidRequest: the extra request body may not set `model`; remove it
    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_head_is_kept_while_it_is_the_same() {
    let encoder = Encoder::default();
    let mut request = request(vec![Message::user("hi")]);
    request.system = "a".into();
    let head = |request: &ModelRequest| {
        encoder.encode(request, &Quirks::default()).unwrap().swap_remove(0)
    };
    let first = head(&request);
    assert_eq!(first.as_ptr(), head(&request).as_ptr());
    request.system = "b".into();
    let second = head(&request);
    assert_ne!(first, second);
    request.tools = tools();
    assert_ne!(second, head(&request));
}

fn check(request: &ModelRequest, expected: Expect) {
    check_with(&Quirks::default(), request, expected);
}

fn check_with(quirks: &Quirks, request: &ModelRequest, expected: Expect) {
    let seen = show(request, quirks);
    let value: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert!(value["messages"].is_array());
    expected.assert_eq(
        &seen.replace("{\"role\"", "\n{\"role\"").replace(",\"tool_calls\"", ",\n  \"tool_calls\""),
    );
}

fn show(request: &ModelRequest, quirks: &Quirks) -> String {
    match body(request, quirks) {
        Ok(body) => String::from_utf8(body).unwrap(),
        Err(error) => format!("{:?}: {}", error.kind, error.message),
    }
}

fn body(request: &ModelRequest, quirks: &Quirks) -> Result<Vec<u8>, ProviderError> {
    Ok(Encoder::default().encode(request, quirks)?.concat())
}

fn tail_value(request: &ModelRequest, quirks: &Quirks) -> serde_json::Value {
    serde_json::from_slice(&body(request, quirks).unwrap()).unwrap()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "gpt-test".into(),
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
    let schema = RawJson::parse(r#"{"type": "object"}"#).unwrap();
    ["read", "edit"]
        .map(|name| ToolDefinition::new(name, format!("Does {name}."), schema.clone()))
        .into()
}

fn call(id: &str, name: &str, input: &str) -> Block {
    let input = RawJson::parse(input).unwrap();
    Block::from(ToolUse { id: id.into(), name: name.into(), input, invalid: None, cache: None })
}

fn result(id: &str, content: Vec<Block>, is_error: bool) -> Block {
    Block::from(ToolResult { tool_use_id: id.into(), content, is_error, cache: None })
}

fn item(provider: &str, json: &str) -> ProviderItem {
    ProviderItem::new(provider, RawJson::parse(json).unwrap())
}

fn text(text: &str) -> Block {
    Text { text: text.into(), cache: None, raw: None }.into()
}
