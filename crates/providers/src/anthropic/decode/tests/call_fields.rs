//! What is said of calls beside their names and inputs, there and back.

use std::sync::Arc;

use heeler_core::{Message, ModelRequest, Parameters, Reply, Role, ToolResult};

use super::*;

#[test]
fn a_call_that_code_makes_goes_back_with_its_caller_and_its_container() {
    let code = r#"{"type":"code_execution_20260120", "tool_id":"s"}"#;
    check(
        &format!(r#","caller":{code},"new":[1.0]"#),
        "max_tokens",
        expect![[r#"
        call t read {"a":1}
        opaque anthropic {"tool_use":{"caller":{"type":"code_execution_20260120", "tool_id":"s"},"new":[1.0]},"container":"container_1"}
        text "a"
        {"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"read","input":{"a":1},"caller":{"type":"code_execution_20260120", "tool_id":"s"},"new":[1.0]},{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}],"max_tokens":1,"container":"container_1","stream":true}"#]],
    );
    check(
        &format!(r#","caller":{code}"#),
        "tool_use",
        expect![[r#"
        call t read {"a":1}
        opaque anthropic {"tool_use":{"caller":{"type":"code_execution_20260120", "tool_id":"s"}},"container":"container_1"}
        text "a"
        {"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"read","input":{"a":1},"caller":{"type":"code_execution_20260120", "tool_id":"s"}},{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}],"max_tokens":1,"container":"container_1","stream":true}"#]],
    );
}

#[test]
fn what_says_nothing_new_of_a_call_is_not_kept() {
    check(
        r#","caller":{"type":"direct"},"later":null"#,
        "tool_use",
        expect![[r#"
        call t read {"a":1}
        text "a"
        {"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"read","input":{"a":1}},{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}],"max_tokens":1,"stream":true}"#]],
    );
}

/// Shows the reply to which this call belongs, and the request that brings its result.
fn check(more: &str, reason: &str, expected: Expect) {
    let call = format!(r#"{{"type":"tool_use","id":"t","name":"read","input":{{"a":1}}{more}}}"#);
    let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{call}}}"#);
    let container = r#"{"id":"container_1","expires_at":"2027-01-01T00:00:00Z"}"#;
    let change = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","container":{container}}}}}"#
    );
    let body = stream(&[
        &start,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        &change,
        STOP,
    ]);
    let streamed = last_of(decode_within(REPLY_BYTES_MAX, &[body.as_bytes()]).0);
    let document = format!(
        r#"{{"content":[{call},{{"type":"text","text":"a"}}],"stop_reason":"{reason}","container":{container}}}"#
    );
    let (mut decoder, mut out) = (Decoder::new(), VecDeque::new());
    decoder.document(document.as_bytes(), &mut out).unwrap();
    assert_eq!(last_of(out.into()), streamed);
    let mut seen: String = streamed.blocks.iter().map(|block| show_block(block) + "\n").collect();
    let result = Block::from(ToolResult {
        tool_use_id: "t".into(),
        content: vec![],
        is_error: false,
        cache: None,
    });
    let mut request = ModelRequest {
        model: "m".into(),
        system: "".into(),
        tools: [].into(),
        provider_tools: [].into(),
        messages: [
            Message { role: Role::Assistant, blocks: streamed.blocks },
            Message { role: Role::User, blocks: vec![result] },
        ]
        .into_iter()
        .collect(),
        stable: 0,
        output_max: 1,
        parameters: Parameters::default(),
        epoch: 0,
    };
    let body = |request: &ModelRequest| {
        String::from_utf8(crate::anthropic::request_body(request).unwrap()).unwrap()
    };
    seen += &body(&request);
    // Once the code has its results, the container may be gone.
    for said in [Message::assistant("b"), Message::user("c")] {
        request.messages.push(Arc::new(heeler_core::RequestMessage::new(said)));
    }
    assert!(!body(&request).contains("container"));
    expected.assert_eq(&seen);
}

fn last_of(events: Vec<ModelEvent>) -> Reply {
    match events.into_iter().next_back() {
        Some(ModelEvent::Finished(reply)) => reply,
        other => panic!("{other:?}"),
    }
}
