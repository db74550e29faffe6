//! What the mock server refuses.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::client::post;
use crate::mock::{hello, or_nothing, request, start};

/// Sends requests to one server; the last one is refused with what is expected, or none is.
#[track_caller]
fn refuses(bodies: &[String], expected: Expect) {
    let server = start("[script]\nloop = true\n[[reply]]\ntext = \"yes\"");
    let statuses: Vec<u16> = bodies.iter().map(|body| post(&server, body).status).collect();
    let refused = server.violations().join("\n");
    let is_refused = statuses.last() == Some(&400) && !refused.is_empty();
    assert!(is_refused || statuses.iter().all(|status| *status == 200), "{statuses:?}");
    expected.assert_eq(&or_nothing(&refused));
}

fn user(content: serde_json::Value) -> serde_json::Value {
    json!({"role": "user", "content": content})
}

fn text(text: &str) -> serde_json::Value {
    json!([{"type": "text", "text": text}])
}

fn marked(text: &str) -> serde_json::Value {
    json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])
}

#[test]
fn every_request_is_checked() {
    let yes = json!({"role": "assistant", "content": text("yes")});
    // A marker may move; the bytes around it stay.
    refuses(
        &[
            request(&json!([user(marked("a"))])),
            request(&json!([user(text("a")), yes, user(marked("b"))])),
        ],
        expect![[r#"
            nothing
        "#]],
    );
    refuses(
        &[
            request(&json!([user(text("a"))])),
            request(&json!([user(text("A")), yes, user(text("b"))])),
        ],
        expect![[r#"
            request 2 is not valid: messages[0].content[0]: changed since the previous request: it had "ype\":\"text\",\"text\":\"a\"}", now "ype\":\"text\",\"text\":\"A\"}"
        "#]],
    );
    refuses(
        &[request(&json!([user(text(""))]))],
        expect![[r#"
        request 1 is not valid: messages[0].content[0]: the text is empty: ""
    "#]],
    );
    refuses(
        &[request(&json!([yes]))],
        expect![[r#"
        request 1 is not valid: messages[0]: the first message is not the user's; messages[0]: the last message is not the user's
    "#]],
    );
    let result = json!([{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]);
    refuses(
        &[request(&json!([user(result)]))],
        expect![[r#"
        request 1 is not valid: messages[0].content[0]: the result of `x` belongs to no call of the message before
    "#]],
    );
    let many: Vec<serde_json::Value> = (0..5).map(|n| marked(&n.to_string())[0].clone()).collect();
    refuses(
        &[request(&json!([user(json!(many))]))],
        expect![[r#"
        5 cache markers, the provider takes 4
    "#]],
    );
}

#[test]
fn a_request_is_the_providers_and_its_head_stays() {
    // A number before the messages that changes with every request spoils the cache.
    refuses(
        &[hello(), hello().replace(":5", ":6")],
        expect![[r#"
        request 2 is not valid: the bytes before the messages changed within an epoch: "l\":\"m\",\"max_tokens\":5,\"stream\":true,\"messages\":" became "l\":\"m\",\"max_tokens\":6,\"stream\":true,\"messages\":" (where that is meant, set `epoch = "may change"` in `[script]`)
    "#]],
    );
    // After them it may.
    let volatile = |n: u32| {
        hello().replace(r#""max_tokens":5,"#, "").replace("]}", &format!(r#"],"max_tokens":{n}}}"#))
    };
    refuses(
        &[volatile(5), volatile(6)],
        expect![[r#"
        nothing
    "#]],
    );
    refuses(
        &["{".to_owned()],
        expect![[r#"
        the body: EOF while parsing an object at line 1 column 1
    "#]],
    );
    refuses(
        &[request(&json!([{"role": "system", "content": "x"}]))],
        expect![[r#"
        messages[0].role: `system` is neither `user` nor `assistant`
    "#]],
    );
    refuses(
        &[request(&json!([user(json!([{"type": "tool_use", "id": "1"}]))]))],
        expect![[r#"
        messages[0].content[0]: a `tool_use` block without `name`
    "#]],
    );
    refuses(
        &[hello().replace(":5", ":0")],
        expect![[r#"
        max_tokens: must be at least 1
    "#]],
    );
}
