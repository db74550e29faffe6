//! Tools and blocks in a provider's own form: sent as they are, or not at all.

use super::*;

#[test]
fn tools_of_the_provider_stand_verbatim_behind_the_others() {
    let mut request = request(vec![Message::user("hi")]);
    request.provider_tools = [
        item("anthropic", r#"{"type":"web_search_20260209", "name":"web_search","max_uses":5.0}"#),
        item("anthropic", r#"{"type":"web_search_20260209", "name":"web_search","max_uses":5.0}"#),
    ]
    .into();
    request.parameters.tool_choice = Some(ToolChoice::Any);
    check(
        &request,
        expect![[r#"
        {"model":"claude-test","tools":[
          {"type":"web_search_20260209", "name":"web_search","max_uses":5.0},
          {"type":"web_search_20260209", "name":"web_search","max_uses":5.0}],"messages":[
        {"role":"user","content":[
          {"type":"text","text":"hi"}]}
        ],"max_tokens":100,"tool_choice":
          {"type":"any"},"stream":true}"#]],
    );
    let mut tools = tools().to_vec();
    tools[1].raw = Some(item("anthropic", r#"{"type":"bash_20250124","name" : "bash"}"#));
    // A marker of a tool that is sent in its own form has no place.
    tools[1].cache = Some(CacheMarker::OneHour);
    request.tools = tools.into();
    check(
        &request,
        expect![[r#"
        {"model":"claude-test","tools":[{"name":"read","description":"Does read.","input_schema":
          {"type":"object"},"cache_control":
          {"type":"ephemeral"}},
          {"type":"bash_20250124","name" : "bash"},
          {"type":"web_search_20260209", "name":"web_search","max_uses":5.0},
          {"type":"web_search_20260209", "name":"web_search","max_uses":5.0}],"messages":[
        {"role":"user","content":[
          {"type":"text","text":"hi"}]}
        ],"max_tokens":100,"tool_choice":
          {"type":"any"},"stream":true}"#]],
    );
}

#[test]
fn a_tool_for_another_provider_is_refused_when_the_request_is_built() {
    let mut request = request(vec![Message::user("hi")]);
    request.provider_tools = [item("openai-responses", r#"{"type":"web_search"}"#)].into();
    check_refused(
        &request,
        expect![
            "the tool web_search is declared for `openai-responses`, and this request goes to `anthropic`; leave it out or declare it for `anthropic`"
        ],
    );
    request.provider_tools = [item("anthropic", "[1]")].into();
    check_refused(
        &request,
        expect!["the declaration of the tool without a name is no JSON object"],
    );
    request.provider_tools = [].into();
    let mut tools = tools().to_vec();
    tools[0].raw = Some(item("openrouter", "{}"));
    request.tools = tools.into();
    check_refused(
        &request,
        expect![
            "the tool read is declared for `openrouter`, and this request goes to `anthropic`; leave it out or declare it for `anthropic`"
        ],
    );
}

#[test]
fn a_head_with_other_tools_of_the_provider_is_another_head() {
    let (encoder, mut request) = (Encoder::default(), request(vec![]));
    let without = text(&encoder, &request);
    request.provider_tools = [item("anthropic", r#"{"name":"web_search"}"#)].into();
    let with = text(&encoder, &request);
    assert!(!without.contains("web_search") && with.contains("web_search"));
    request.provider_tools = [].into();
    assert_eq!(text(&encoder, &request), without);
}

fn item(provider: &str, json: &str) -> ProviderItem {
    ProviderItem::new(provider, RawJson::parse(json).unwrap())
}

fn check_refused(request: &ModelRequest, expected: Expect) {
    let error = Encoder::default().encode(request).unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
    expected.assert_eq(&error.message);
}
