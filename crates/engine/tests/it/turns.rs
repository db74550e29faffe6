//! Turns: from an input to a final answer, one after the other, side by side.

use expect_test::expect;

use heeler_core::{Input, TurnOutcome};

use crate::common::{Case, check, echo, stage, virtually};

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

#[test]
fn an_input_waits_for_the_end_of_the_running_turn() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "echo" }]
            [[reply]]
            expect = { messages_count = 3 }
            text = "one"
            [[reply]]
            expect = { last_user_contains = "second" }
            text = "two"
            [[reply]]
            expect = { last_user_contains = "third" }
            text = "three"
        "#;
        let stage = stage(script, [echo()]).await;
        let [first, second, third] =
            ["first", "second", "third"].map(|text| stage.session.turn(Input::text(text)));
        assert_eq!(third.await, TurnOutcome::Done);
        assert_eq!((first.await, second.await), (TurnOutcome::Done, TurnOutcome::Done));
        let mut watcher = stage.close().await;
        watcher.retain(|line| line.starts_with("end of turn"));
        expect![[r#"
            [
                "end of turn 1: Done \"one\"",
                "end of turn 2: Done \"two\"",
                "end of turn 3: Done \"three\"",
            ]
        "#]]
        .assert_debug_eq(&watcher);
    });
}

#[test]
fn a_waiting_input_that_is_dropped_is_never_said() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            delay_ms = 10
            [[reply]]
            expect = { last_user_contains = "third" }
            text = "three"
        "#;
        let stage = stage(script, []).await;
        let first = stage.session.turn(Input::text("first"));
        let second = stage.session.turn(Input::text("second"));
        let third = stage.session.turn(Input::text("third"));
        stage.session.state().await.unwrap();
        drop(second);
        assert_eq!((first.await, third.await), (TurnOutcome::Done, TurnOutcome::Done));
        stage.close().await;
    });
}

#[test]
fn closing_ends_a_turn_that_waits() {
    virtually(async {
        let script = "reply = [{ text = \"x\", stall = {} }]";
        let stage = stage(script, []).await;
        let first = stage.session.turn(Input::text("first"));
        let second = stage.session.turn(Input::text("second"));
        stage.session.state().await.unwrap();
        stage.close().await;
        assert_eq!(first.await, TurnOutcome::Cancelled);
        let message = "the session was closed before the turn ended".to_owned();
        assert_eq!(second.await, TurnOutcome::Failed { message });
    });
}

#[test]
fn a_turn_of_a_closed_session_fails() {
    virtually(async {
        let stage = stage("reply = [{ text = \"x\" }]", []).await;
        let session = stage.session.clone();
        stage.close().await;
        let outcome = session.turn(Input::text("hi")).await;
        assert!(matches!(outcome, TurnOutcome::Failed { .. }), "{outcome:?}");
        assert!(session.state().await.is_err());
    });
}

#[test]
fn resuming_with_nothing_to_resume_tells_the_last_outcome() {
    virtually(async {
        let stage = stage("reply = [{ text = \"x\", stop = \"refusal\" }]", []).await;
        assert_eq!(stage.session.resume().await, TurnOutcome::Done);
        assert_eq!(stage.say("hi").await, TurnOutcome::Refused);
        assert_eq!(stage.session.resume().await, TurnOutcome::Refused);
        stage.close().await;
    });
}

#[test]
fn an_input_without_anything_is_refused() {
    virtually(async {
        let stage = stage("reply = [{ text = \"x\" }]", []).await;
        for empty in ["", " \n"] {
            let outcome = stage.say(empty).await;
            assert!(
                matches!(&outcome, TurnOutcome::Failed { message } if message.contains("empty"))
            );
        }
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.model.requests().len(), 1);
        stage.close().await;
    });
}

#[test]
fn sessions_share_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let mut running = Vec::new();
        for n in 0..8 {
            let script = format!(
                r#"
                [[reply]]
                blocks = [{{ call = "echo", input = {{ text = "{n}" }} }}]
                [[reply]]
                expect = {{ tool_result_contains = "{n}" }}
                text = "answer {n}"
                "#
            );
            running.push(tokio::spawn(async move {
                let stage = stage(&script, [echo()]).await;
                assert_eq!(stage.say("hi").await, TurnOutcome::Done);
                let answer = stage.session.state().await.unwrap().final_answer();
                assert_eq!(answer.as_str(), format!("answer {n}"));
                stage.close().await;
            }));
        }
        for session in running {
            session.await.unwrap();
        }
    });
}

#[test]
fn only_so_many_turns_wait() {
    virtually(async {
        let stage = stage("reply = [{ text = \"x\", stall = {} }]", []).await;
        let mut turns = Vec::new();
        for n in 0..258 {
            turns.push(stage.session.turn(Input::text(format!("{n}"))));
            // In order, one after the other.
            stage.session.state().await.unwrap();
        }
        let refused = turns.pop().unwrap().await;
        let TurnOutcome::Failed { message } = &refused else { panic!("{refused:?}") };
        assert!(message.starts_with("256 turns wait already"), "{message}");
        stage.close().await;
    });
}
