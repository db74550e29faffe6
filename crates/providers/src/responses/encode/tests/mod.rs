//! Requests in, bytes out; and the properties every request has.

mod properties;

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Block, CacheMarker, Image, Message, Opaque, Parameters, RawJson, RedactedThinking, Role, Text,
    Thinking, ThinkingSettings, ToolChoice, ToolResult, ToolUse,
};
use serde_json::Value;

use super::*;

#[test]
fn a_small_request() {
    check(
        &request(vec![Message::user("hi \"you\"\n")]),
        expect![[r#"
        {"model":"gpt-test","input":[
        {"type":"message","role":"user","content":[
        {"type":"input_text","text":"hi \"you\"\n"}]}
        ],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn a_system_prompt_and_tools() {
    let mut request =
        request(vec![Message::user("one"), Message::assistant("two"), Message::user("three")]);
    request.system = "be brief".into();
    let mut tools = tools().to_vec();
    tools.push(ToolDefinition {
        raw: Some(item(r#"{"type":"function","name" : "patch","strict":true}"#)),
        ..ToolDefinition::new("patch", "", RawJson::empty_object())
    });
    request.tools = tools.into();
    request.provider_tools = [item(r#"{"type":"web_search", "search_context_size":"low"}"#)].into();
    check(
        &request,
        expect![[r#"
            {"model":"gpt-test","instructions":"be brief","tools":[
            {"type":"function","name":"read","description":"Does read.","parameters":
            {"type" : "object","properties":{}},"strict":false},
            {"type":"function","name":"edit","description":"Does edit.","parameters":
            {"type" : "object","properties":{}},"strict":false},
            {"type":"function","name" : "patch","strict":true},
            {"type":"web_search", "search_context_size":"low"}],"input":[
            {"type":"message","role":"user","content":[
            {"type":"input_text","text":"one"}]},
            {"type":"message","role":"assistant","content":"two"},
            {"type":"message","role":"user","content":[
            {"type":"input_text","text":"three"}]}
            ],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn what_a_user_says() {
    let blocks = vec![
        Block::text("see"),
        Block::from(image("image/png", "aGk=")),
        Block::from(image("", "https://example.com/a.png")),
        Block::Document(Arc::new(opaque(
            DIALECT,
            r#"{"type":"input_file","file_id":"file-1", "x":1.0}"#,
        ))),
        Block::Document(Arc::new(opaque("anthropic", r#"{"type":"document"}"#))),
        Block::Opaque(Arc::new(opaque(DIALECT, r#"{"type":"item_reference", "id":"rs_1"}"#))),
        Block::text("and"),
        Block::text(" "),
        Block::text("go"),
    ];
    check(
        &request(vec![Message { role: Role::User, blocks }]),
        expect![[r#"
        {"model":"gpt-test","input":[
        {"type":"message","role":"user","content":[
        {"type":"input_text","text":"see"},
        {"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"},
        {"type":"input_image","image_url":"https://example.com/a.png","detail":"auto"},
        {"type":"input_file","file_id":"file-1", "x":1.0}]},
        {"type":"item_reference", "id":"rs_1"},
        {"type":"message","role":"user","content":[
        {"type":"input_text","text":"and"},
        {"type":"input_text","text":"go"}]}
        ],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn what_the_model_says() {
    let thinking = |signature: &str, raw: Option<ProviderItem>| {
        Block::from(Thinking {
            text: "hm".into(),
            signature: signature.into(),
            raw: raw.map(Box::new),
        })
    };
    let reasoning = r#"{"id":"rs_1", "type":"reasoning","summary":[],"encrypted_content":"gA=="}"#;
    let cited = r#"{"type":"message","id":"msg_1","content":[{"type":"output_text","annotations":[{"x":1e2}]}]}"#;
    let text =
        |raw: ProviderItem| Text { text: "so".into(), cache: None, raw: Some(raw.into()) }.into();
    let blocks = vec![
        thinking("", Some(item(reasoning))),
        thinking("sig", None),
        thinking("", Some(ProviderItem { provider: "openrouter".into(), ..item(reasoning) })),
        Block::from(RedactedThinking { data: "xyz".into() }),
        Block::Opaque(Arc::new(opaque(DIALECT, r#"{"type":"web_search_call", "id":"ws_1"}"#))),
        Block::Opaque(Arc::new(opaque("anthropic", r#"{"type":"server_tool_use"}"#))),
        Block::Opaque(Arc::new(opaque(DIALECT, "[1]"))),
        Block::text("so"),
        text(item(cited)),
        text(ProviderItem { provider: "anthropic".into(), ..item(cited) }),
        Block::from(image("image/png", "aGk=")),
        Block::Document(Arc::new(opaque(DIALECT, r#"{"type":"input_file"}"#))),
        call("call_1", "read", r#"{"path": "a.rs"}"#, None),
        call("call_2", "read", "{}", Some("truncated")),
        call("", "odd name:\u{e9}", "[1]", None),
    ];
    check(
        &request(vec![Message { role: Role::Assistant, blocks }]),
        expect![[r#"
        {"model":"gpt-test","input":[{"id":"rs_1", "type":"reasoning","summary":[],"encrypted_content":"gA=="},
        {"type":"web_search_call", "id":"ws_1"},
        {"type":"message","role":"assistant","content":"so"},
        {"type":"message","id":"msg_1","content":[
        {"type":"output_text","annotations":[{"x":1e2}]}
        ]},
        {"type":"message","role":"assistant","content":"so"},
        {"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\": \"a.rs\"}"},
        {"type":"function_call","call_id":"call_2","name":"read","arguments":"{}"},
        {"type":"function_call","call_id":"call_30406ea523c53def","name":"odd_name__","arguments":"{}"}],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn reasoning_that_nothing_follows_is_left_out() {
    let reasoning = || {
        let raw = Some(item(r#"{"type":"reasoning","encrypted_content":"gA"}"#).into());
        Block::from(Thinking { raw, ..Thinking::default() })
    };
    let sent = |role: Role, blocks: Vec<Block>| {
        let sent = message::encode(&Message { role, blocks }, Reasoning::Sent);
        String::from_utf8(sent).unwrap() + "\n"
    };
    let foreign = || Block::Opaque(Arc::new(opaque("other", "{}")));
    let mut seen = sent(Role::Assistant, vec![reasoning(), Block::text("a"), reasoning()]);
    seen += &sent(Role::Assistant, vec![reasoning(), reasoning(), foreign(), Block::text(" ")]);
    seen += &sent(Role::Assistant, vec![reasoning(), call("c", "n", "{}", None)]);
    seen += &sent(Role::User, vec![Block::text("a"), reasoning()]);
    expect![[r#"
        {"type":"reasoning","encrypted_content":"gA"},{"type":"message","role":"assistant","content":"a"}
        {"type":"message","role":"assistant","content":"OK."}
        {"type":"reasoning","encrypted_content":"gA"},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}
        {"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}
    "#]].assert_eq(&seen);
}

#[test]
fn a_call_that_nobody_here_runs_is_left_out() {
    let own = |raw: &str| Block::Opaque(Arc::new(opaque(DIALECT, raw)));
    let reasoning = Block::from(Thinking {
        raw: Some(item(r#"{"type":"reasoning"}"#).into()),
        ..Thinking::default()
    });
    let shell = || own(r#"{"type":"local_shell_call","call_id":"a"}"#);
    let custom = || own(r#"{"type":"custom_tool_call","call_id":"b"}"#);
    let search = own(r#"{"type":"web_search_call","id":"ws_1"}"#);
    let assistant = |blocks| Message { role: Role::Assistant, blocks };
    check(
        &request(vec![
            Message::user("go"),
            assistant(vec![reasoning, shell()]),
            Message::user("and"),
            assistant(vec![custom(), search, shell(), Block::text("so")]),
        ]),
        expect![[r#"
            {"model":"gpt-test","input":[
            {"type":"message","role":"user","content":[
            {"type":"input_text","text":"go"}]},
            {"type":"message","role":"assistant","content":"OK."},
            {"type":"message","role":"user","content":[
            {"type":"input_text","text":"and"}]},
            {"type":"web_search_call","id":"ws_1"},
            {"type":"message","role":"assistant","content":"so"}],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn results_of_calls() {
    let picture = || Block::from(image("image/png", "aGk="));
    let blocks = vec![
        result("call_1", vec![Block::text("ok")], false),
        result("call_2", vec![Block::text("see"), picture()], false),
        result("call_3", vec![picture()], false),
        result("call_4", vec![Block::text("a"), Block::text(""), Block::text("b")], true),
        result("call_5", vec![], false),
        result("call_6", vec![Block::text("")], true),
        Block::text("go on"),
    ];
    check(
        &request(vec![Message { role: Role::User, blocks }]),
        expect![[r#"
        {"model":"gpt-test","input":[
        {"type":"function_call_output","call_id":"call_1","output":"ok"},
        {"type":"function_call_output","call_id":"call_2","output":[
        {"type":"input_text","text":"see"},
        {"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]},
        {"type":"function_call_output","call_id":"call_3","output":[
        {"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]},
        {"type":"function_call_output","call_id":"call_4","output":[
        {"type":"input_text","text":"a"},
        {"type":"input_text","text":"b"}]},
        {"type":"function_call_output","call_id":"call_5","output":""},
        {"type":"function_call_output","call_id":"call_6","output":"failed without a message"},
        {"type":"message","role":"user","content":[
        {"type":"input_text","text":"go on"}]}
        ],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]],
    );
}

#[test]
fn ids_and_names_are_made_to_fit() {
    let sent = |id: &str, name: &str| {
        let messages = vec![
            Message { role: Role::Assistant, blocks: vec![call(id, name, "{}", None)] },
            Message { role: Role::User, blocks: vec![result(id, vec![], false)] },
        ];
        let body: Value = serde_json::from_str(&text(&request(messages))).unwrap();
        let items = &body["input"];
        assert_eq!(items[0]["call_id"], items[1]["call_id"]);
        let field = |name: &str| items[0][name].as_str().unwrap().to_owned();
        (field("call_id"), field("name"))
    };
    let (at_most, longer) = ("i".repeat(64), "i".repeat(65));
    assert_eq!(sent(&at_most, "n").0, at_most);
    let ids: std::collections::BTreeSet<String> =
        [longer.as_str(), &"i".repeat(66), ""].iter().map(|id| sent(id, "n").0).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| id.len() <= 64 && id.starts_with("call_")), "{ids:?}");
    assert_eq!(sent("i", &"n".repeat(128)).1, "n".repeat(128));
    assert_eq!(sent("i", &"n".repeat(129)).1, "n".repeat(128));
    assert_eq!(sent("i", "").1, "_");
}

#[test]
fn parameters() {
    let mut request = request(vec![Message::user("hi")]);
    request.parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(f64::NAN),
        thinking: Some(ThinkingSettings::Effort("low".into())),
        tool_choice: Some(ToolChoice::Any),
        parallel_calls: Some(false),
        extra_body: Some(
            RawJson::parse(r#"{"store":true,"reasoning":{"summary":null},"user":"me"}"#).unwrap(),
        ),
        ..Parameters::default()
    };
    // Without tools, there is no choice among them.
    check_tail(
        &request,
        expect![[
            r#"],"max_output_tokens":100,"temperature":0.5,"reasoning":{"effort":"low"},"include":["reasoning.encrypted_content"],"store":true,"stream":true,"user":"me"}"#
        ]],
    );
    request.tools = tools();
    check_tail(
        &request,
        expect![[
            r#"],"max_output_tokens":100,"temperature":0.5,"reasoning":{"effort":"low"},"tool_choice":"required","parallel_tool_calls":false,"include":["reasoning.encrypted_content"],"store":true,"stream":true,"user":"me"}"#
        ]],
    );
    request.parameters = Parameters::default();
    request.provider_tools = [item(r#"{"type":"web_search"}"#)].into();
    let choices = ["auto", "none", "read", "web_search"].map(|name| match name {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        name => ToolChoice::Tool(name.into()),
    });
    let tails: String = choices
        .into_iter()
        .map(|choice| {
            request.parameters.tool_choice = Some(choice);
            format!("{}\n", tail(&request))
        })
        .collect();
    expect![[r#"
        ],"max_output_tokens":100,"tool_choice":"auto","include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"tool_choice":"none","include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"tool_choice":{"type":"function","name":"read"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"tool_choice":{"type":"web_search"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
    "#]].assert_eq(&tails);
}

#[test]
fn what_is_kept_is_stored() {
    let tail = tail::encode(&request(vec![]), Keeping::Keeps, Reasoning::Sent).unwrap();
    expect![[r#"],"max_output_tokens":100,"include":["reasoning.encrypted_content"],"background":true,"store":true,"stream":true}"#]].assert_eq(std::str::from_utf8(&tail).unwrap());
}

#[test]
fn how_much_is_reasoned() {
    let effort = |effort: &str| ThinkingSettings::Effort(effort.into());
    let settings = [0, 4096, 4097, 16_384, 16_385].map(ThinkingSettings::Budget);
    let settings = settings.into_iter().chain([effort("none"), effort("xhigh")]);
    let tails: String = settings
        .map(|thinking| {
            let mut request = request(vec![Message::user("hi")]);
            request.parameters.thinking = Some(thinking);
            format!("{}\n", tail(&request))
        })
        .collect();
    expect![[r#"
        ],"max_output_tokens":100,"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"medium","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"medium","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"high","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"none"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
        ],"max_output_tokens":100,"reasoning":{"effort":"xhigh","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}
    "#]].assert_eq(&tails);
}

#[test]
fn models_that_do_not_reason_are_not_asked_for_reasoning() {
    for model in [
        "gpt-4o",
        "gpt-4.1-mini",
        "chatgpt-4o-latest",
        "gpt-5-chat-latest",
        "ft:gpt-4o:x",
        "openai/gpt-4o",
        "gateway/openai/gpt-5-chat-latest",
    ] {
        assert!(!asks_for_reasoning(model), "{model}");
    }
    for model in ["gpt-5", "gpt-5.6-sol", "o3", "gpt-oss-120b", "codex-mini-latest"] {
        assert!(asks_for_reasoning(model), "{model}");
        assert!(asks_for_reasoning(&format!("openai/{model}")), "{model}");
    }
}

#[test]
fn models_that_do_not_reason_are_sent_no_reasoning_of_others() {
    let reasoned = || {
        let raw = Some(item(r#"{"type":"reasoning","encrypted_content":"gA"}"#).into());
        let thinking = Block::from(Thinking { raw, ..Thinking::default() });
        Message { role: Role::Assistant, blocks: vec![thinking, Block::text("a")] }
    };
    let encoder = Encoder::default();
    // Most of them in stretches, whose bytes are kept together.
    let mut request = request((0..40).map(|_| reasoned()).collect());
    let mut n_sent = |model: &str| {
        request.model = model.into();
        let body = encoder.encode(&request, Keeping::Forgets).unwrap().concat();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let items = body["input"].as_array().unwrap();
        let n = |kind: &str| items.iter().filter(|item| item["type"] == kind).count();
        (n("reasoning"), n("message"))
    };
    for _ in 0..2 {
        assert_eq!(n_sent("gpt-5"), (40, 40));
        assert_eq!(n_sent("gpt-4.1"), (0, 40));
    }
    encoder.leave_reasoning_out(&"my-4o".into());
    assert_eq!((n_sent("my-4o"), n_sent("my-5")), ((0, 40), (40, 40)));
}

fn asks_for_reasoning(model: &str) -> bool {
    let mut request = request(vec![]);
    request.model = model.into();
    tail(&request).contains("reasoning.encrypted_content")
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let refused = |change: &dyn Fn(&mut ModelRequest)| {
        let mut request = request(vec![Message::user("hi")]);
        change(&mut request);
        let error = Encoder::default().encode(&request, Keeping::Forgets).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
        format!("{error}\n")
    };
    let foreign = || ProviderItem { provider: "anthropic".into(), ..item(r#"{"type":"bash"}"#) };
    let extra = |body: &str| Some(RawJson::parse(body).unwrap());
    let mut seen = refused(&|request| request.provider_tools = [foreign()].into());
    seen += &refused(&|request| request.provider_tools = [item("[1]")].into());
    seen += &refused(&|request| {
        let mut tools = tools().to_vec();
        tools[0].raw = Some(foreign());
        request.tools = tools.into();
    });
    seen += &refused(&|request| {
        let mut tools = tools().to_vec();
        tools[0].raw = Some(item(r#"{"type":"custom","name":"read"}"#));
        request.tools = tools.into();
    });
    seen += &refused(&|request| request.parameters.stop = vec!["END".into()]);
    seen += &refused(&|request| request.parameters.extra_body = extra("[]"));
    for key in ["model", "instructions", "tools", "input", "stream"] {
        let body = format!(r#"{{"{key}":1}}"#);
        seen += &refused(&|request| request.parameters.extra_body = extra(&body));
    }
    expect![[r#"
        the tool bash is declared for `anthropic`, and this request goes to `openai-responses`; leave it out or declare it for `openai-responses`
        the declaration of the tool without a name is no JSON object
        the tool read is declared for `anthropic`, and this request goes to `openai-responses`; leave it out or declare it for `openai-responses`
        the tool read is declared as `custom`, and only calls of a `function` are run here; declare it as one
        OpenAI's Responses know no stop sequences; remove them, or use a model by openai-chat/NAME
        the extra request body is not a JSON object
        the extra request body may not set `model`; remove it
        the extra request body may not set `instructions`; remove it
        the extra request body may not set `tools`; remove it
        the extra request body may not set `input`; remove it
        the extra request body may not set `stream`; remove it
    "#]].assert_eq(&seen);
}

#[test]
fn cache_markers_are_left_out() {
    let mark = |message: Message| message.cached(CacheMarker::OneHour);
    let messages = || {
        let blocks = vec![call("call_1", "read", "{}", None)];
        vec![
            Message::user("one"),
            Message { role: Role::Assistant, blocks },
            Message { role: Role::User, blocks: vec![result("call_1", vec![], false)] },
        ]
    };
    let plain = request(messages());
    let mut marked = request(messages().into_iter().map(mark).collect());
    marked.stable = 2;
    marked.parameters.system_cache = Some(CacheMarker::FiveMinutes);
    assert_ne!(marked.messages.get(0), plain.messages.get(0));
    assert_eq!(text(&marked), text(&plain));
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
    let first = encoder.encode(&request, Keeping::Forgets).unwrap();
    let second = encoder.encode(&request, Keeping::Forgets).unwrap();
    assert!(address(&first).is_some());
    assert_eq!(address(&first), address(&second));
    assert_eq!(first[0].as_ptr(), second[0].as_ptr(), "the head is kept too");
    request.model = "other".into();
    assert!(
        encoder.encode(&request, Keeping::Forgets).unwrap()[0].starts_with(br#"{"model":"other""#)
    );
}

fn check(request: &ModelRequest, expected: Expect) {
    let body = text(request);
    assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
    // One item or part a line, so that a difference can be read.
    expected.assert_eq(&body.replace(r#"{"type""#, "\n{\"type\"").replace("]}]", "]}\n]"));
}

fn check_tail(request: &ModelRequest, expected: Expect) {
    expected.assert_eq(&tail(request));
}

fn tail(request: &ModelRequest) -> String {
    let body = text(request);
    body[body.rfind(r#"],"max_output_tokens""#).unwrap()..].to_owned()
}

fn text(request: &ModelRequest) -> String {
    String::from_utf8(Encoder::default().encode(request, Keeping::Forgets).unwrap().concat())
        .unwrap()
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
    let tool = |name: &str| {
        let schema = RawJson::parse(r#"{"type" : "object"}"#).unwrap();
        ToolDefinition::new(name, format!("Does {name}."), schema)
    };
    [tool("read"), tool("edit")].into()
}

fn item(json: &str) -> ProviderItem {
    ProviderItem::new(DIALECT, RawJson::parse(json).unwrap())
}

fn image(media_type: &str, data: &str) -> Image {
    Image { media_type: media_type.into(), data: data.into(), cache: None }
}

fn opaque(provider: &str, raw: &str) -> Opaque {
    Opaque { provider: provider.into(), raw: RawJson::parse(raw).unwrap() }
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
