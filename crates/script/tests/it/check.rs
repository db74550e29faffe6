//! The checks on requests, each seen to fail.

use expect_test::{Expect, expect};
use heeler_script::{
    BlockView, Content, MessageView, RequestView, ToolView, check_prefix, check_valid,
    check_valid_after_pause,
};

/// Reads a request from one line a message: `u` or `a`, then blocks apart from each other by `|`:
/// a text, `call:ID`, `result:ID`, `thinking`, `signed`, `image`, `nothing`.
fn request(text: &str) -> RequestView {
    let message = |line: &str| {
        let (role, blocks) = line.split_once(' ').unwrap_or((line, ""));
        let blocks = blocks.split('|').filter(|b| !b.is_empty()).map(block);
        if role == "u" { MessageView::user(blocks) } else { MessageView::assistant(blocks) }
    };
    RequestView::of(text.lines().map(message))
}

fn block(text: &str) -> BlockView {
    match text.split_once(':').unwrap_or((text, "")) {
        ("call", id) => BlockView::tool_use(id, "read", "{}"),
        ("broken", id) => BlockView::tool_use(id, "", "{\"a\":"),
        ("result", id) => BlockView::tool_result(id, "ok"),
        ("thinking", _) => thinking(false),
        ("signed", _) => thinking(true),
        ("image", _) => BlockView { content: Content::Image, raw: "image".into() },
        ("nothing", _) => BlockView::text(""),
        ("blank", _) => BlockView::text(" \n"),
        _ => BlockView::text(text),
    }
}

fn thinking(signed: bool) -> BlockView {
    BlockView { content: Content::Thinking { signed }, raw: "thinking".into() }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let found: Vec<String> = check_valid(&request(text)).iter().map(|v| v.to_string()).collect();
    expected.assert_eq(&found.join("\n"));
}

#[track_caller]
fn prefix(before: &str, after: &str, expected: Expect) {
    let found = check_prefix(&request(before), &request(after), true);
    expected.assert_eq(&found.iter().map(|v| v.to_string()).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_valid_history_passes() {
    check("u hi", expect![[]]);
    check("u hi|image\na signed|text|call:1|call:2\nu result:1|result:2|more\na done\nu next", expect![[]]);
}

#[test]
fn the_ends_belong_to_the_user() {
    check("", expect![[]]);
    check("a hello\nu hi", expect![[]]);
    check("u hi\na hello", expect![[]]);
    assert_eq!(check_valid_after_pause(&request("u hi\na hello")), []);
}

#[test]
fn nothing_is_empty_and_roles_take_turns() {
    check("u", expect![[]]);
    check("u nothing|blank", expect![[]]);
    check("u hi\nu again", expect![[]]);
}

#[test]
fn every_call_has_one_result_in_the_next_message_in_order_and_first() {
    check("u hi\na call:1", expect![[]]);
    check("u hi\na call:1\nu sorry", expect![[]]);
    check("u hi\na call:1|call:2\nu result:1", expect![[]]);
    check("u hi\na call:1|call:2\nu result:2|result:1", expect![[]]);
    check("u hi\na call:1\nu result:1|result:1", expect![[]]);
    check("u hi\na call:1\nu text|result:1", expect![[]]);
    check("u hi\na call:1\nu result:1\na ok\nu result:1", expect![[]]);
    check("u result:9", expect![[]]);
}

#[test]
fn ids_are_unique_and_calls_whole() {
    check("u hi\na call:1|call:1\nu result:1|result:1", expect![[]]);
    check("u a\na call:1\nu result:1\na call:1\nu result:1", expect![[]]);
    check("u hi\na call:\nu result:", expect![[]]);
    check("u hi\na broken:1\nu result:1", expect![[]]);
}

#[test]
fn blocks_stand_where_they_belong_and_thinking_is_signed() {
    check("u call:1|signed", expect![[]]);
    check("u hi\na thinking|result:1\nu ok", expect![[]]);
}

#[test]
fn violations_of_one_request_are_bounded() {
    assert_eq!(check_valid(&request(&"u nothing\n".repeat(100))).len(), 20);
}

#[test]
fn a_request_continues_the_one_before() {
    prefix("u hi", "u hi\na hello\nu bye", expect![[]]);
    // The last message may grow: what the user adds joins it.
    prefix("u hi", "u hi|and more", expect![[]]);
    prefix("u hi\na hello\nu bye", "u hi", expect![[]]);
    prefix("u hi\na call:1\nu result:1", "u hi\na call:1\nu results:1\na ok\nu x", expect![[]]);
    // The same bytes said by somebody else are another message.
    prefix("u hi\na x\nu y", "u hi\na x|y\nu z", expect![[]]);
}

#[test]
fn the_head_stays_within_an_epoch() {
    let tool = |name: &str, raw: &str| ToolView { name: name.into(), raw: raw.into() };
    let before = RequestView {
        model: "m".into(),
        system: "You help. Today is Monday.".into(),
        tools: vec![tool("read", "{}"), tool("edit", "{}")],
        head: r#"{"max_tokens":1,"#.into(),
        ..request("u hi")
    };
    let check = |after: &RequestView, expected: Expect| {
        let found: Vec<String> =
            check_prefix(&before, after, true).iter().map(|v| v.to_string()).collect();
        expected.assert_eq(&found.join("\n"));
        assert_eq!(check_prefix(&before, after, false), []);
    };
    check(&before, expect![[]]);
    let system = "You help. Today is Tuesday.".to_owned();
    check(&RequestView { system, ..before.clone() }, expect![[]]);
    check(&RequestView { model: "n".into(), ..before.clone() }, expect![[]]);
    let tools = vec![tool("read", "{}"), tool("edit", "{ }")];
    check(&RequestView { tools, ..before.clone() }, expect![[]]);
    let tools = vec![tool("edit", "{}"), tool("read", "{}")];
    check(&RequestView { tools, ..before.clone() }, expect![[]]);
    check(&RequestView { tools: vec![], ..before.clone() }, expect![[]]);
    let head = r#"{"max_tokens":2,"#.to_owned();
    check(&RequestView { head, ..before.clone() }, expect![[]]);
}
