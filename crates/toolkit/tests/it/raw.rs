//! What only the provider reads: its own blocks, the tools that it runs, and cache markers, as they
//! are sent.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use futures::StreamExt;
use heeler_core::{
    Block, CacheMarker, EventStream, Message, ModelRequest, Opaque, Provider, ProviderErrorKind,
    ProviderItem, RawJson, Role,
};
use heeler_providers::anthropic::{Anthropic, AnthropicSettings, request_body};
use heeler_providers::scripted::Scripted;
use heeler_script::{BlockSpec, ReplySpec};
use heeler_toolkit::testing::TestCall;
use heeler_toolkit::{Client, Object, Run, Toolset, layers, raw_tool};
use serde_json::{Value, json};

use crate::door::{MODEL, check, clients, echo, fail, tools};

#[tokio::test]
async fn tools_of_the_provider_are_declared_and_never_called_here() {
    let here = raw_tool("web_search", "Ours", Object::new(), |_, _| async { "ours" });
    let run = Run::say("search").tools(tools([here]).with_provider_tools([search(5)]));
    let searched =
        json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let reply = ReplySpec::blocks([
        BlockSpec::Opaque { value: searched },
        BlockSpec::Opaque { value: found },
        BlockSpec::text("found it"),
    ]);
    check(
        [reply],
        run,
        expect![[r#"
            text found it
            answer Opaque(Opaque { provider: "scripted", raw: {"type":"server_tool_use","id":"s1","name":"web_search","input":{}} }) | Opaque(Opaque { provider: "scripted", raw: {"type":"web_search_tool_result","tool_use_id":"s1","content":[]} }) | found it
            done
              1 rounds, EndTurn, some tokens
              User: search
              Assistant: Opaque(Opaque { provider: "scripted", raw: {"type":"server_tool_use","id":"s1","name":"web_search","input":{}} }) | Opaque(Opaque { provider: "scripted", raw: {"type":"web_search_tool_result","tool_use_id":"s1","content":[]} }) | found it
        "#]],
    )
    .await;
}

#[tokio::test]
async fn layers_joins_and_filters_leave_tools_of_the_provider_as_they_are() {
    let first = tools([echo()]).with_provider_tools([search(1)]);
    let second = tools([fail()]).with_provider_tools([search(2)]).with_provider_tools([search(1)]);
    // The set that more were added to is as it was.
    assert_eq!(first.provider_tools(), [search(1)]);
    let all = [search(1), search(2), search(1)];
    let set = Toolset::join([first, second]).unwrap();
    assert_eq!(set.provider_tools(), all);
    let wrapped = set.wrap(&[&layers::result_limit(5)]).filter(|_| true);
    assert_eq!(wrapped.provider_tools(), all);
    assert_eq!((wrapped.len(), wrapped.names().collect::<Vec<_>>()), (2, vec!["echo", "fail"]));
    assert_eq!(wrapped.filter(|_| false).provider_tools(), all);
    let bound = Toolset::default().with_provider_tools([search(3)]).bind(echo()).unwrap();
    assert_eq!(bound.provider_tools(), [search(3)]);
    let called = TestCall::new(r#"{"text": "a long text"}"#).of(wrapped.get("echo").unwrap()).await;
    assert_ne!(called.text(), "a long text");
}

#[tokio::test]
async fn a_tool_in_the_providers_form_is_declared_so_and_called_here() {
    let (client, sent) =
        watched([ReplySpec::call("bash", json!({"command": "ls"})), ReplySpec::text("done")]);
    let declaration = RawJson::parse(r#"{"type":"bash_20250124","name": "bash"}"#).unwrap();
    let bash =
        raw_tool(
            "bash",
            "Not sent",
            Object::new(),
            |_, input| async move { input.get().to_owned() },
        );
    let bash = bash.declared_as(ProviderItem::new("anthropic", declaration));
    let run = Run::say("list").tools(tools([bash]).cache_last(CacheMarker::OneHour));
    let result = client.run(run).await.unwrap();
    assert_eq!(result.messages.len(), 4);
    check_head(
        &sent.bodies(),
        expect![[
            r#"{"model":"claude-sonnet-5-5","tools":[{"type":"bash_20250124","name": "bash"}]"#
        ]],
    );
}

#[tokio::test]
async fn markers_of_the_system_prompt_the_tools_and_a_block_go_with_every_request() {
    let (client, sent) = watched([
        ReplySpec::call("echo", json!({"text": "a"})),
        ReplySpec::text("done"),
        ReplySpec::text("asked"),
    ]);
    let client = client.system_cache(CacheMarker::OneHour);
    let unmarked = tools([echo(), fail()]);
    let marked = unmarked.cache_last(CacheMarker::OneHour);
    let markers = |set: &Toolset| set.iter().map(|b| b.definition.cache).collect::<Vec<_>>();
    assert_eq!(markers(&unmarked), [None, None]);
    assert_eq!(markers(&marked), [None, Some(CacheMarker::OneHour)]);
    assert!(Toolset::default().cache_last(CacheMarker::OneHour).is_empty());
    let question = Message::user("long").cached(CacheMarker::FiveMinutes);
    let run = Run::new([question]).system("You help.").tools(marked);
    client.run(run).await.unwrap();
    for body in sent.bodies() {
        let body: Value = serde_json::from_str(&body).unwrap();
        let hour = json!({"type": "ephemeral", "ttl": "1h"});
        assert_eq!(body["system"][0]["cache_control"], hour);
        assert_eq!(body["tools"][0]["cache_control"], Value::Null);
        assert_eq!(body["tools"][1]["cache_control"], hour);
        let block = &body["messages"][0]["content"][0];
        assert_eq!(block["cache_control"], json!({"type": "ephemeral"}));
    }
    assert_eq!(sent.bodies().len(), 2);
    client.ask("You help.", [Message::user("?")]).await.unwrap();
    let asked = sent.bodies().pop().unwrap();
    assert!(
        asked.contains(r#""text":"You help.","cache_control":{"type":"ephemeral","ttl":"1h"}"#)
    );
}

#[tokio::test]
async fn unknown_blocks_come_back_as_the_bytes_they_were_from_a_run_and_from_its_stream() {
    let raw = r#"{ "type":"later_thing", "n":1.50, "s":"\u00e9\/", "s2" : [ ] }"#;
    let opaque = Opaque { provider: "anthropic".into(), raw: RawJson::parse(raw).unwrap() };
    let said = Message { role: Role::Assistant, blocks: vec![Block::Opaque(Arc::new(opaque))] };
    let history = [Message::user("a"), said, Message::user("b")];
    // Kept as JSON by the caller meanwhile.
    let kept = serde_json::to_string(&history).unwrap();
    let history: Vec<Message> = serde_json::from_str(&kept).unwrap();
    let (client, sent) =
        watched([ReplySpec::text("one"), ReplySpec::text("two"), ReplySpec::text("three")]);
    let result = client.run(Run::new(history)).await.unwrap();
    let mut again = result.messages;
    again.push(Message::user("c"));
    let streamed = client.run_stream(Run::new(again.clone()));
    assert!(streamed.count().await > 0);
    client.ask("", again).await.unwrap();
    assert_eq!(sent.bodies().len(), 3);
    for body in sent.bodies() {
        assert_eq!(body.matches(raw).count(), 1, "{body}");
    }
}

#[tokio::test]
async fn too_many_markers_and_a_tool_of_another_provider_end_the_run_with_words() {
    let text = Block::text("x").cached(CacheMarker::FiveMinutes);
    let message = Message { role: Role::User, blocks: vec![text; 5] };
    check_refused(
        Run::new([message]),
        expect![
            "the request has 5 cache markers (0 on tools, 0 on the system prompt, 5 in messages) and Anthropic takes 4; remove some, the oldest first (model call 0)"
        ],
    )
    .await;
    let foreign = ProviderItem::new("openai-responses", search(1).json);
    check_refused(
        Run::say("x").tools(Toolset::default().with_provider_tools([foreign])),
        expect![
            "the tool web_search is declared for `openai-responses`, and this request goes to `anthropic`; leave it out or declare it for `anthropic` (model call 0)"
        ],
    )
    .await;
}

/// Refused before anything is sent: nobody listens at this address.
async fn check_refused(run: Run, expected: Expect) {
    let settings = AnthropicSettings {
        base_url: "http://127.0.0.1:9".to_owned(),
        ..AnthropicSettings::with_api_key("none")
    };
    let client = Client::new(Anthropic::new(&settings).unwrap(), MODEL).unwrap();
    let error = client.run(run).await.unwrap_err();
    assert!(error.is_provider(ProviderErrorKind::InvalidRequest), "{error}");
    expected.assert_eq(&error.to_string());
}

fn search(uses_max: u32) -> ProviderItem {
    let json =
        format!(r#"{{"type":"web_search_20260209", "name":"web_search","max_uses":{uses_max}}}"#);
    ProviderItem::new("anthropic", RawJson::parse(&json).unwrap())
}

/// A client of a scripted model, and what Anthropic would be sent for its requests.
fn watched(replies: impl IntoIterator<Item = ReplySpec>) -> (Client, Sent) {
    let (_, model) = clients(replies);
    let sent = Sent { model, requests: Arc::default() };
    (Client::new(sent.clone(), MODEL).unwrap(), sent)
}

#[derive(Clone)]
struct Sent {
    model: Scripted,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl Sent {
    fn bodies(&self) -> Vec<String> {
        let body = |request: &ModelRequest| request_body(request).unwrap();
        let bodies: Vec<Vec<u8>> = self.requests.lock().unwrap().iter().map(body).collect();
        bodies.into_iter().map(|body| String::from_utf8(body).unwrap()).collect()
    }
}

impl Provider for Sent {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.requests.lock().unwrap().push(request.clone());
        self.model.stream(request)
    }
}

/// What stands before the messages of every request.
fn check_head(bodies: &[String], expected: Expect) {
    let head = |body: &String| body.split_once(r#","messages""#).unwrap().0.to_owned();
    let heads: Vec<String> = bodies.iter().map(head).collect();
    assert!(heads.windows(2).all(|two| two[0] == two[1]), "{heads:?}");
    expected.assert_eq(&heads[0]);
}
