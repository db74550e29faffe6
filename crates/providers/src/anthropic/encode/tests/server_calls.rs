//! Calls of tools that the provider runs itself: sent while it may still answer them.

use super::*;

#[test]
fn a_call_without_a_result_is_sent_until_a_user_speaks() {
    let text = |text: &str| Block::text(text);
    check(
        &[said(vec![text("a"), search("s1")])],
        expect![[r#"

        {"role":"assistant","content":[{"type":"text","text":"a"},{"type":"server_tool_use","id":"s1"}]}"#]],
    );
    check(
        &[said(vec![text("a"), search("s1")]), Message::user("and?")],
        expect![[r#"

        {"role":"assistant","content":[{"type":"text","text":"a"}]},
        {"role":"user","content":[{"type":"text","text":"and?"}]}"#]],
    );
    check(
        &[
            said(vec![search("s1"), call("t1", "read", "{}", None)]),
            Message { role: Role::User, blocks: vec![result("t1", vec![], false), text("and?")] },
            said(vec![found("s1"), text("a")]),
            Message::user("b"),
        ],
        expect![[r#"

            {"role":"assistant","content":[{"type":"server_tool_use","id":"s1"},{"type":"tool_use","id":"t1","name":"read","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"text","text":"and?"}]},
            {"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s1"},{"type":"text","text":"a"}]},
            {"role":"user","content":[{"type":"text","text":"b"}]}"#]],
    );
    check(
        &[
            said(vec![
                search("s1"),
                found("s1"),
                search("s2"),
                text("a"),
                search("s3"),
                found("s3"),
            ]),
            Message::user("and?"),
        ],
        expect![[r#"

            {"role":"assistant","content":[{"type":"server_tool_use","id":"s1"},{"type":"web_search_tool_result","tool_use_id":"s1"},{"type":"text","text":"a"},{"type":"server_tool_use","id":"s3"},{"type":"web_search_tool_result","tool_use_id":"s3"}]},
            {"role":"user","content":[{"type":"text","text":"and?"}]}"#]],
    );
}

#[test]
fn what_led_to_such_a_call_or_came_of_it_goes_with_it() {
    let thinking =
        || Block::from(Thinking { text: "hm".into(), signature: "sig".into(), raw: None });
    check(
        &[said(vec![Block::text("a"), thinking(), search("s1")]), Message::user("and?")],
        expect![[r#"

            {"role":"assistant","content":[{"type":"text","text":"a"}]},
            {"role":"user","content":[{"type":"text","text":"and?"}]}"#]],
    );
    check(
        &[said(vec![thinking(), search("s1")]), Message::user("and?")],
        expect![[r#"

            {"role":"assistant","content":[{"type":"text","text":"OK."}]},
            {"role":"user","content":[{"type":"text","text":"and?"}]}"#]],
    );
    let by_code = own(
        r#"{"type":"server_tool_use","id":"s2","caller":{"type":"code_execution_20260120","tool_id":"s1"}}"#,
    );
    let direct = own(r#"{"type":"mcp_tool_use","id":"s3","caller":{"type":"direct"}}"#);
    let direct_result = own(r#"{"type":"mcp_tool_result","tool_use_id":"s3"}"#);
    check(
        &[
            said(vec![search("s1"), by_code, found("s2"), direct, direct_result]),
            Message::user("and?"),
        ],
        expect![[r#"

            {"role":"assistant","content":[{"type":"mcp_tool_use","id":"s3","caller":{"type":"direct"}},{"type":"mcp_tool_result","tool_use_id":"s3"}]},
            {"role":"user","content":[{"type":"text","text":"and?"}]}"#]],
    );
}

#[test]
fn what_was_kept_of_a_message_is_not_sent_in_front_of_another() {
    let encoder = Encoder::default();
    let mut request = request(vec![Message::user("a")]);
    let mut n_calls_with = |message: Message| {
        request.messages.push(Arc::new(RequestMessage::new(message)));
        text(&encoder, &request).matches("server_tool_use").count()
    };
    // So many that the call is now and then the last of a stretch.
    for round in 0..40 {
        let asked = said(vec![Block::text("b"), search("s1")]);
        assert_eq!((n_calls_with(asked), n_calls_with(Message::user("c"))), (1, 0));
        if round % 3 == 0 {
            assert_eq!(n_calls_with(said(vec![Block::text("d")])), 0);
        }
    }
}

fn check(messages: &[Message], expected: Expect) {
    let body = text(&Encoder::default(), &request(messages.to_vec()));
    let (_, body) = body.split_once(r#""messages":["#).unwrap();
    let (body, _) = body.split_once(r#"],"max_tokens""#).unwrap();
    expected.assert_eq(&body.replace(r#"{"role""#, "\n{\"role\""));
}

fn said(blocks: Vec<Block>) -> Message {
    Message { role: Role::Assistant, blocks }
}

fn search(id: &str) -> Block {
    own(&format!(r#"{{"type":"server_tool_use","id":"{id}"}}"#))
}

fn found(id: &str) -> Block {
    own(&format!(r#"{{"type":"web_search_tool_result","tool_use_id":"{id}"}}"#))
}

fn own(raw: &str) -> Block {
    Block::Opaque(Arc::new(opaque(DIALECT, raw)))
}
