//! Thinking that nothing follows, as an answer that was cut may leave it.

use super::*;

#[test]
fn no_message_ends_with_thinking() {
    let followed = [
        vec![Block::text("a"), thinking(), hidden()],
        vec![hidden()],
        vec![thinking(), Block::text(""), own_thinking(DIALECT), opaque_of("openai")],
        vec![opaque_of("openai")],
    ];
    for blocks in followed {
        let messages = vec![Message::user("go"), said(blocks), Message::user("go on")];
        let body = text(&Encoder::default(), &request(messages));
        assert!(!body.contains("thinking"), "{body}");
    }
    check(
        &request(vec![
            Message::user("go"),
            said(vec![thinking()]),
            Message::user("go on"),
            said(vec![thinking(), call("t1", "read", "{}", None), hidden()]),
            Message { role: Role::User, blocks: vec![result("t1", vec![], false)] },
        ]),
        expect![[r#"
            {"model":"claude-test","messages":[
            {"role":"user","content":[
              {"type":"text","text":"go"}]},
            {"role":"assistant","content":[
              {"type":"text","text":"OK."}]},
            {"role":"user","content":[
              {"type":"text","text":"go on"}]},
            {"role":"assistant","content":[
              {"type":"thinking","thinking":"hm","signature":"sig"},
              {"type":"tool_use","id":"t1","name":"read","input":{}}]},
            {"role":"user","content":[
              {"type":"tool_result","tool_use_id":"t1"}]}
            ],"max_tokens":100,"stream":true}"#]],
    );
}

#[test]
fn an_answer_that_paused_goes_on_without_its_last_thinking() {
    let search = || Block::Opaque(Arc::new(opaque(DIALECT, r#"{"type":"server_tool_use"}"#)));
    check(
        &request(vec![Message::user("go"), said(vec![thinking(), search(), thinking()])]),
        expect![[r#"
            {"model":"claude-test","messages":[
            {"role":"user","content":[
              {"type":"text","text":"go"}]},
            {"role":"assistant","content":[
              {"type":"thinking","thinking":"hm","signature":"sig"},
              {"type":"server_tool_use"}]}
            ],"max_tokens":100,"stream":true}"#]],
    );
    // A placeholder would be the beginning of the answer, which not every model takes.
    let encoder = Encoder::default();
    let mut request = request(vec![Message::user("go"), said(vec![thinking()])]);
    check(
        &request,
        expect![[r#"
        {"model":"claude-test","messages":[
        {"role":"user","content":[
          {"type":"text","text":"go"}]}
        ],"max_tokens":100,"stream":true}"#]],
    );
    request.parameters.thinking = Some(ThinkingSettings::Budget(2048));
    assert!(text(&encoder, &request).contains(r#""thinking":{"type":"enabled""#));
    request.messages.push(Arc::new(RequestMessage::new(Message::user("go on"))));
    assert!(text(&encoder, &request).contains("OK."));
}

fn thinking() -> Block {
    Block::from(Thinking { text: "hm".into(), signature: "sig".into(), raw: None })
}

fn hidden() -> Block {
    Block::from(RedactedThinking { data: "xyz".into() })
}

fn opaque_of(provider: &str) -> Block {
    Block::Opaque(Arc::new(opaque(provider, "{}")))
}

fn said(blocks: Vec<Block>) -> Message {
    Message { role: Role::Assistant, blocks }
}
