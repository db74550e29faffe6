//! Turns: from an input to a final answer, one after the other, side by side.

use expect_test::expect;

use crate::common::{Case, check, echo};

#[test]
fn an_answer_without_tools() {
    check(
        Case::new(
            r#"
            [[reply]]
            text = "hello"
            chunks = 2
            "#,
        ),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "hel"
            text 0@3 "lo"
            usage 10 + 5 of 10 + 5
            assistant message
            end of turn 1: Done "hello"
            ---
            user: hi
            assistant: hello
        "#]],
    );
}

#[test]
fn text_and_a_call_then_the_answer() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ text = "let me see" }, { call = "echo", input = { text = "found" } }]
            [[reply]]
            expect = { tool_result_contains = "found" }
            text = "it is found"
            "#,
        )
        .tools([echo()]),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "let me see"
            input 1@0 {"text":"found"}
            usage 10 + 5 of 10 + 5
            assistant message
            started 1.1.0 [0] echo {"text":"found"}
            finished 1.1.0 [0] echo 0 ms: found
            user message
            attempt 2.1
            text 0@0 "it is found"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 1: Done "it is found"
            ---
            user: hi
            assistant: let me see
            assistant: call echo {"text":"found"}
            result ok: found
            assistant: it is found
        "#]],
    );
}

#[test]
fn a_call_without_text_emits_no_text() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "echo" }]
            [[reply]]
            text = "done"
            "#,
        )
        .tools([echo()]),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            usage 10 + 5 of 10 + 5
            assistant message
            started 1.1.0 [0] echo {}
            finished 1.1.0 [0] echo 0 ms:
            user message
            attempt 2.1
            text 0@0 "done"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 1: Done "done"
            ---
            user: hi
            assistant: call echo {}
            result ok:
            assistant: done
        "#]],
    );
}

#[test]
fn the_next_turn_goes_on_by_itself() {
    check(
        Case::new(
            r#"
            [[reply]]
            text = "one"
            [[reply]]
            expect = { messages_count = 3 }
            text = "two"
            "#,
        )
        .says(["first", "second"]),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "one"
            usage 10 + 5 of 10 + 5
            assistant message
            end of turn 1: Done "one"
            turn 2
            user message
            attempt 1.1
            text 0@0 "two"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 2: Done "two"
            ---
            user: first
            assistant: one
            user: second
            assistant: two
        "#]],
    );
}
