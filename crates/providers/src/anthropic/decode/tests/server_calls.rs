//! Calls of tools that the provider runs itself, and answers that end within one.

use super::*;

#[test]
fn a_call_of_the_providers_own_tools_that_is_cut_is_left_out() {
    let start = |index: u32, input: &str| {
        let block = format!(r#"{{"type":"server_tool_use","id":"s{index}","input":{input}}}"#);
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
    };
    let delta = |index: u32, input: &str| {
        let delta = serde_json::json!({"type": "input_json_delta", "partial_json": input});
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
    };
    let stop = |index: u32| format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let mut seen = String::new();
    let mut replies = |reason: &str, events: &[String]| {
        let reason = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        let events = events.iter().map(String::as_str).chain([&*reason, STOP]);
        let body = stream(&events.collect::<Vec<_>>());
        let (events, error) = decode_within(REPLY_BYTES_MAX, &[body.as_bytes()]);
        assert_eq!(error, None);
        let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
        let blocks: Vec<String> = reply.blocks.iter().map(show_block).collect();
        seen += &format!("{:?} {blocks:?}\n", reply.stop);
    };
    let half = || vec![start(0, "{}"), delta(0, r#"{"query": "rus"#)];
    let whole = || vec![start(0, "{}"), delta(0, r#"{"query": "rust"}"#), stop(0)];
    replies("max_tokens", &half());
    replies("max_tokens", &[half(), vec![stop(0)]].concat());
    replies("max_tokens", &whole());
    replies("max_tokens", &[whole(), vec![start(1, "{}"), stop(1)]].concat());
    replies("pause_turn", &whole());
    replies("pause_turn", &[half(), vec![stop(0)]].concat());
    replies(
        "pause_turn",
        &[vec![start(0, r#"{"a" :1}"#)], vec![delta(0, "[1]"), stop(0)]].concat(),
    );
    expect![[r#"
        MaxTokens []
        MaxTokens []
        MaxTokens []
        MaxTokens ["opaque anthropic {\"type\":\"server_tool_use\",\"id\":\"s0\",\"input\":{\"query\": \"rust\"}}"]
        Pause ["opaque anthropic {\"type\":\"server_tool_use\",\"id\":\"s0\",\"input\":{\"query\": \"rust\"}}"]
        Pause ["opaque anthropic {\"type\":\"server_tool_use\",\"id\":\"s0\",\"input\":{}}"]
        Pause ["opaque anthropic {\"type\":\"server_tool_use\",\"id\":\"s0\",\"input\":{\"a\" :1}}"]
    "#]].assert_eq(&seen);
}
