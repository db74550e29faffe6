//! The checks on requests, each seen to fail.

use expect_test::{Expect, expect};
use heeler_script::{
    BlockView, Content, MessageView, RequestView, ToolView, Violation, check_prefix, check_valid,
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

/// One line a clause; "fine" when there is nothing.
fn lines(found: &[Violation]) -> String {
    if found.is_empty() {
        return "fine\n".to_owned();
    }
    found.iter().map(|v| format!("{v}\n").replace(": it had ", ":\n  it had ")).collect()
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&lines(&check_valid(&request(text))));
}

#[track_caller]
fn prefix(before: &str, after: &str, expected: Expect) {
    let found = check_prefix(&request(before), &request(after), true);
    expected.assert_eq(&lines(&found));
}

#[test]
fn a_valid_history_passes() {
    check(
        "u hi",
        expect![[r#"
        fine
    "#]],
    );
    check(
        "u hi|image\na signed|text|call:1|call:2\nu result:1|result:2|more\na done\nu next",
        expect![[r#"
            fine
        "#]],
    );
}

#[test]
fn the_ends_belong_to_the_user() {
    check(
        "",
        expect![[r#"
        the request has no messages
    "#]],
    );
    check(
        "a hello\nu hi",
        expect![[r#"
        messages[0]: the first message is not the user's
    "#]],
    );
    check(
        "u hi\na hello",
        expect![[r#"
        messages[1]: the last message is not the user's
    "#]],
    );
    assert_eq!(check_valid_after_pause(&request("u hi\na hello")), []);
}

#[test]
fn nothing_is_empty_and_roles_take_turns() {
    check(
        "u",
        expect![[r#"
        messages[0]: is empty
    "#]],
    );
    check(
        "u nothing|blank",
        expect![[r#"
        messages[0].content[0]: the text is empty: ""
        messages[0].content[1]: the text is empty: " \n"
    "#]],
    );
    check(
        "u hi\nu again",
        expect![[r#"
        messages[1]: has the same role as the message before it
    "#]],
    );
}

#[test]
fn every_call_has_one_result_in_the_next_message_in_order_and_first() {
    check(
        "u hi\na call:1",
        expect![[r#"
        messages[1]: the last message is not the user's
        messages[1]: the call `1` has no result: no message follows
    "#]],
    );
    check(
        "u hi\na call:1\nu sorry",
        expect![[r#"
        messages[2]: the call `1` of the message before has no result
    "#]],
    );
    check(
        "u hi\na call:1|call:2\nu result:1",
        expect![[r#"
        messages[2]: the call `2` of the message before has no result
    "#]],
    );
    check(
        "u hi\na call:1|call:2\nu result:2|result:1",
        expect![[r#"
        messages[2]: the results are not in call order: called 1, 2, answered 2, 1
    "#]],
    );
    check(
        "u hi\na call:1\nu result:1|result:1",
        expect![[r#"
        messages[2].content[1]: the call `1` has a second result
    "#]],
    );
    check(
        "u hi\na call:1\nu text|result:1",
        expect![[r#"
        messages[2].content[1]: the result of `1` stands after other blocks
    "#]],
    );
    check(
        "u hi\na call:1\nu result:1\na ok\nu result:1",
        expect![[r#"
        messages[4].content[0]: the result of `1` belongs to no call of the message before
    "#]],
    );
    check(
        "u result:9",
        expect![[r#"
        messages[0].content[0]: the result of `9` belongs to no call of the message before
    "#]],
    );
}

#[test]
fn ids_are_unique_and_calls_whole() {
    check(
        "u hi\na call:1|call:1\nu result:1|result:1",
        expect![[r#"
        messages[1].content[1]: the call id `1` is used twice in the conversation
        messages[2].content[1]: the call `1` has a second result
        messages[2]: the results are not in call order: called 1, 1, answered 1
    "#]],
    );
    check(
        "u a\na call:1\nu result:1\na call:1\nu result:1",
        expect![[r#"
        messages[3].content[0]: the call id `1` is used twice in the conversation
    "#]],
    );
    check(
        "u hi\na call:\nu result:",
        expect![[r#"
        messages[1].content[0]: the call has an empty id
    "#]],
    );
    check(
        "u hi\na broken:1\nu result:1",
        expect![[r#"
        messages[1].content[0]: the call's input is no JSON object: "{\"a\":"
    "#]],
    );
}

#[test]
fn blocks_stand_where_they_belong_and_thinking_is_signed() {
    check(
        "u call:1|signed",
        expect![[r#"
        messages[0].content[0]: such a block belongs into the model's message
        messages[0].content[1]: such a block belongs into the model's message
        messages[0]: the call `1` has no result: no message follows
    "#]],
    );
    check(
        "u hi\na thinking|result:1\nu ok",
        expect![[r#"
        messages[1].content[1]: the result of `1` stands after other blocks
        messages[1].content[1]: the result of `1` belongs to no call of the message before
        messages[1].content[0]: the thinking has no signature
        messages[1].content[1]: such a block belongs into the user's message
    "#]],
    );
}

#[test]
fn violations_of_one_request_are_bounded() {
    assert_eq!(check_valid(&request(&"u nothing\n".repeat(100))).len(), 20);
}

#[test]
fn a_request_continues_the_one_before() {
    prefix(
        "u hi",
        "u hi\na hello\nu bye",
        expect![[r#"
        fine
    "#]],
    );
    // The last message may grow: what the user adds joins it.
    prefix(
        "u hi",
        "u hi|and more",
        expect![[r#"
        fine
    "#]],
    );
    prefix(
        "u hi\na hello\nu bye",
        "u hi",
        expect![[r#"
        messages[1].content[0]: stood in the previous request and is missing now
    "#]],
    );
    prefix(
        "u hi\na call:1\nu result:1",
        "u hi\na call:1\nu results:1\na ok\nu x",
        expect![[r#"
            messages[2].content[0]: changed since the previous request:
              it had "result 1 ok", now "results:1"
        "#]],
    );
    // The same bytes said by somebody else are another message.
    prefix(
        "u hi\na x\nu y",
        "u hi\na x|y\nu z",
        expect![[r#"
        messages[2].content[0]: changed since the previous request: the user said it, now the assistant
    "#]],
    );
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
        expected.assert_eq(&lines(&check_prefix(&before, after, true)));
        assert_eq!(check_prefix(&before, after, false), []);
    };
    check(
        &before,
        expect![[r#"
        fine
    "#]],
    );
    let system = "You help. Today is Tuesday.".to_owned();
    check(
        &RequestView { system, ..before.clone() },
        expect![[r#"
            the system prompt changed within an epoch:
              it had "You help. Today is Monday.", now "You help. Today is Tuesday."
        "#]],
    );
    check(
        &RequestView { model: "n".into(), ..before.clone() },
        expect![[r#"
        the model changed within an epoch:
          it had "m", now "n"
    "#]],
    );
    let tools = vec![tool("read", "{}"), tool("edit", "{ }")];
    check(
        &RequestView { tools, ..before.clone() },
        expect![[r#"
        the tools changed within an epoch: `edit`
    "#]],
    );
    let tools = vec![tool("edit", "{}"), tool("read", "{}")];
    check(
        &RequestView { tools, ..before.clone() },
        expect![[r#"
        the tools changed within an epoch: `read` became `edit`
    "#]],
    );
    check(
        &RequestView { tools: vec![], ..before.clone() },
        expect![[r#"
        the tools changed within an epoch: 2 became 0
    "#]],
    );
    let head = r#"{"max_tokens":2,"#.to_owned();
    check(
        &RequestView { head, ..before.clone() },
        expect![[r#"
            the bytes before the messages changed within an epoch: "{\"max_tokens\":1," became "{\"max_tokens\":2,"
        "#]],
    );
}
