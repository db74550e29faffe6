//! Scripts played: a script and requests in, replies or refusals out.

use expect_test::expect;
use heeler_script::{
    BlockView, MessageView, Mismatch, Player, RequestView, SUMMARY_SENTINEL, Script,
};
use proptest::prelude::*;

use crate::talk::Talk;

#[test]
fn replies_come_in_order_and_end() {
    let script = "[[reply]]\ntext = 'one'\n[[reply]]\ntext = 'two'\nrepeat = 2";
    Talk::new(script).text("a").text("b").text("c").text("d").gives(expect![[r#"
        1: one [end_turn]
        2: two [end_turn]
        3: two [end_turn]
        refused: request 4 finds no reply left in s.toml: add a `[[reply]]`, or set `loop = true` in `[script]`
    "#]]);
}

#[test]
fn the_last_reply_can_repeat_for_ever() {
    let script = "[script]\nloop = true\n[[reply]]\ntext = 'one'\n[[reply]]\ntext = 'two'";
    Talk::new(script).text("a").text("b").text("c").text("d").gives(expect![[r#"
        1: one [end_turn]
        2: two [end_turn]
        3: two [end_turn]
        4: two [end_turn]
    "#]]);
}

#[test]
fn replies_carry_what_tools_really_returned() {
    let script = r#"
[[reply]]
blocks = [{ call = "grep", input = { pattern = "fn total" } }]

[[reply]]
capture = { file = '^([^:]+):', line = ':(\d+):' }
blocks = [
  { text = "It is in {{file}}." },
  { call = "read", input = { path = "{{file}}", offset = "{{line:number}}" } },
]

[[reply]]
verbatim = true
text = "{{file}} and {{gone}}"
"#;
    Talk::new(script)
        .text("fix it")
        .result("call_1_0", "src/lib.rs:12:fn total")
        .result("call_2_1", "...")
        .gives(expect![[r#"
            1: grep#call_1_0({"pattern":"fn total"}) [tool_use]
            2: It is in src/lib.rs. | read#call_2_1({"path":"src/lib.rs","offset":12}) [tool_use]
            3: {{file}} and {{gone}} [end_turn]
        "#]]);
    Talk::new(script).text("fix it").result("call_1_0", "no matches").gives(expect![[r#"
        1: grep#call_1_0({"pattern":"fn total"}) [tool_use]
        refused: request 2 does not fit the reply at s.toml:5: `capture.file` finds no "^([^:]+):" in "no matches";
          `capture.line` finds no ":(\\d+):" in "no matches"
    "#]]);
}

#[test]
fn a_script_says_what_it_expects() {
    let script = r#"
[[reply]]
expect = { last_user_contains = "hello", system_contains = ["You", "pirate"], tools_contain = ["read", "edit"], model = "n", messages_count = 3 }

[[reply]]
blocks = [{ call = "read", id = "a" }, { call = "read", id = "b" }]
"#;
    Talk::new(script).text("goodbye").gives(expect![[r#"
        refused: request 1 does not fit the reply at s.toml:2: `last_user_contains` expects "hello", found "goodbye";
          `system_contains` expects "pirate", found "You help.";
          `messages_count` expects 3, the request has 1;
          `tools_contain` expects `edit`, offered are: read;
          `model` expects `n`, the request is for `m`
    "#]]);
    let script = r#"
[[reply]]
blocks = [{ call = "read", id = "a" }, { call = "read", id = "b" }]

[[reply]]
expect = { tool_result_contains = ["one", "three", "four"], tool_result_is_error = [false, true] }
"#;
    let results = [BlockView::tool_result("a", "one"), BlockView::tool_result("b", "two")];
    Talk::new(script).text("go").say(results).gives(expect![[r#"
        1: read#a(-) | read#b(-) [tool_use]
        refused: request 2 does not fit the reply at s.toml:5: `tool_result_contains` expects "three" in result 2, which is "two";
          `tool_result_contains` expects "four" in result 3, the last message has 2 results;
          `tool_result_is_error` expects true of result 2, which is "two"
    "#]]);
}

#[test]
fn a_when_that_did_not_fit_is_told_at_the_end() {
    let passed = "[[reply]]\ntext = 'a'\n\n[[reply]]\nwhen = { last_user_contains = 'x' }\n\n\
        [[reply]]\nwhen = { last_user_contains = 'z' }";
    Talk::new(passed).text("a").text("b").gives(expect![[r#"
        1: a [end_turn]
        refused: request 2 finds no reply left in s.toml: the `when` of the one in line 4 does not fit: `last_user_contains` expects "x", found "b"; change that, or add a `[[reply]]` without `when`
    "#]]);
    let last = "[script]\nloop = true\n[[reply]]\ntext = 'a'\nwhen = { last_user_contains = 'x' }";
    Talk::new(last).text("x").text("b").gives(expect![[r#"
        1: a [end_turn]
        refused: request 2 finds no reply left in s.toml: the `when` of the one in line 3 does not fit: `last_user_contains` expects "x", found "b"; change that, or add a `[[reply]]` without `when`
    "#]]);
    let summary = "[[reply]]\ntext = 'a'\n[[reply]]\nfor = 'summary'\nwhen = { model = 'x' }";
    Talk::new(summary).text("Summarize the conversation so far").gives(expect![[r#"
        refused: request 1 finds no reply `for = "summary"` left in s.toml: the `when` of the one in line 3 does not fit: `model` expects `x`, the request is for `m`; change that, or add one without `when`
    "#]]);
}

#[test]
fn advice_is_in_the_words_of_the_format() {
    let request = RequestView::of([MessageView::user([BlockView::text("a")])]);
    let refused = |text: &str| {
        let mut player = Player::new(Script::parse_named("s.jsonl", text).unwrap());
        let mut answers = (0..3).map(|_| player.answer(&request));
        answers.find_map(Result::err).unwrap().to_string()
    };
    expect![[r#"request 2 finds no reply left in s.jsonl: add a line with one, or begin with the line `{"script": {"loop": true}}`"#]].assert_eq(&refused(r#"{"text":"a"}"#));
    let when = r#"{"when":{"tool_result_contains":"PASS"},"text":"a"}"#;
    expect![[r#"request 1 finds no reply left in s.jsonl: the `when` of the one in line 1 does not fit: `tool_result_contains` expects "PASS" in result 1, the last message has 0 results; change that, or add a line with one without `when`"#]].assert_eq(&refused(when));
}

#[test]
fn when_chooses_between_replies() {
    let script = r#"
[[reply]]
blocks = [{ call = "bash", input = { command = "cargo test" } }]

[[reply]]
when = { tool_result_contains = "FAILED" }
repeat = 2
blocks = [{ call = "bash", input = { command = "try again" } }]

[[reply]]
when = { tool_result_contains = "ok" }
text = "passes"

[[reply]]
text = "gave up"
"#;
    let talk = || Talk::new(script).text("go");
    talk().result("call_1_0", "ok").gives(expect![[r#"
        1: bash#call_1_0({"command":"cargo test"}) [tool_use]
        2: passes [end_turn]
    "#]]);
    let failed = || talk().result("call_1_0", "FAILED");
    failed().result("call_2_0", "ok").gives(expect![[r#"
        1: bash#call_1_0({"command":"cargo test"}) [tool_use]
        2: bash#call_2_0({"command":"try again"}) [tool_use]
        3: passes [end_turn]
    "#]]);
    failed().result("call_2_0", "FAILED").result("call_3_0", "FAILED").gives(expect![[r#"
        1: bash#call_1_0({"command":"cargo test"}) [tool_use]
        2: bash#call_2_0({"command":"try again"}) [tool_use]
        3: bash#call_3_0({"command":"try again"}) [tool_use]
        4: gave up [end_turn]
    "#]]);
}

#[test]
fn a_captured_value_is_bounded() {
    let script = "[[reply]]\ncapture = { all = '(?s).*' }\ntext = '{{all}}'";
    let talk = Talk::new(script).text(&"x".repeat(1024 * 1024 + 1));
    assert!(
        talk.log.contains("`capture.all` took more than 1048576 bytes"),
        "{}",
        &talk.log[..200]
    );
}

#[test]
fn usage_is_the_replys_or_the_scripts_or_an_estimate() {
    let script = "[script]\nusage = { input = 7 }\n[[reply]]\nusage = { input = 1, output = 2, cache_read = 3, cache_write = 4 }\n[[reply]]";
    let mut talk = Talk::new(script);
    talk.messages.push(MessageView::user([BlockView::text("12345678")]));
    let request = talk.request();
    let usage = |player: &mut Player| {
        let usage = player.answer(&request).unwrap().usage;
        [usage.input, usage.output, usage.cache_read, usage.cache_write]
    };
    assert_eq!(usage(&mut talk.player), [1, 2, 3, 4]);
    assert_eq!(usage(&mut talk.player), [7, 0, 0, 0]);
    let mut player = Player::new(Script::parse("[[reply]]\ntext = '12345678'").unwrap());
    // 9 bytes of system prompt, 2 of a tool, 8 of text.
    assert_eq!(usage(&mut player), [5, 3, 0, 0]);
}

proptest! {
    /// Any requests at all: the player answers or refuses, and every refusal can be told.
    #[test]
    fn the_player_is_total(
        requests in prop::collection::vec(
            prop::collection::vec((any::<bool>(), prop::collection::vec(0u8..8, 0..4)), 0..5),
            0..6,
        ),
    ) {
        let mut player = Player::new(Script::parse(TOTAL).unwrap());
        for request in requests {
            let message = |(is_user, blocks): (bool, Vec<u8>)| {
                let blocks = blocks.into_iter().map(any_block);
                if is_user { MessageView::user(blocks) } else { MessageView::assistant(blocks) }
            };
            let request = RequestView::of(request.into_iter().map(message));
            match player.answer(&request) {
                Ok(reply) => prop_assert!(!reply.steps().is_empty()),
                Err(mismatch) => {
                    prop_assert!(mismatch.to_string().starts_with("request "));
                    if let Mismatch::Invalid { violations, .. } = mismatch {
                        prop_assert!(!violations.is_empty());
                    }
                }
            }
        }
    }
}

fn any_block(kind: u8) -> BlockView {
    match kind {
        0 => BlockView::text("hello"),
        1 => BlockView::text(""),
        2 => BlockView::text(format!("{SUMMARY_SENTINEL}\n\nx")),
        3 => BlockView::text("Summarize the conversation so far"),
        4 => BlockView::tool_use("1", "read", "{}"),
        5 => BlockView::tool_result("1", "a 12"),
        6 => BlockView::tool_use("2", "read", "{"),
        _ => BlockView::tool_result("2", ""),
    }
}

const TOTAL: &str = r#"
[script]
epoch = "may change"
[[reply]]
for = "summary"
text = "s"
[[reply]]
when = { tool_result_contains = "a" }
capture = { n = '\d+' }
text = "{{n}}"
repeat = 3
[[reply]]
blocks = [{ call = "read", id = "1", input_raw = "{" }]
cut = { events = 2 }
[[reply]]
text = "{{n}}"
stop = "pause"
repeat = 2
"#;
