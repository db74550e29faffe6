//! Compaction: by hand at any moment, by itself before a request that would not fit.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{Event, Input, Record, ToolOutput, TurnOutcome};
use heeler_testkit::transcript;

use crate::common::{Case, Stage, check, echo, stage, stage_with, tool, virtually};

/// Every second message stays, and there is something to summarize after one turn.
pub(crate) fn keep_one(parts: &mut heeler_engine::Parts) {
    parts.settings.compaction.keep_tail = 1;
}

/// Worth a summary.
pub(crate) const LONG: &str = "so much to say, and so much more to say, and so on, and on, and on, and on, and \
     on, and then, in the end, when all is said, there is still a little more to be said, and no end";

pub(crate) async fn conversation(stage: &Stage) -> String {
    let state = stage.session.state().await.unwrap();
    transcript(state.history.messages().iter().map(Arc::as_ref))
}

#[test]
fn by_hand_between_turns() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            expect = { messages_count = 1 }
            text = "The user said hi."
            [[reply]]
            expect = { messages_count = 3 }
            text = "two"
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(
            stage.session.compact(None).await,
            Ok(false),
            "there is nothing to summarize yet"
        );
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        assert_eq!(stage.session.compact(None).await, Ok(false), "a summary of a summary");
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        expect![[r#"
            user: [Earlier conversation summary — treat as background context]\n\nThe user said hi.\n\n[Kept beside the summary, word for word]\nThe user's last message:\n> hi
            assistant: one
            user: go on
            assistant: two
        "#]]
        .assert_eq(&conversation(&stage).await);
        let mut lines = stage.close().await;
        lines.retain(|line| line.starts_with("compact") || line.starts_with("epoch"));
        expect![[r#"
            [
                "epoch 1 First",
                "compacting Manual from 1 tokens",
                "compacted 1 messages to 38 tokens",
                "epoch 2 Compaction",
            ]
        "#]]
        .assert_debug_eq(&lines);
    });
}

#[test]
fn eight_messages_stay_by_default() {
    virtually(async {
        let stage = stage("reply = [{ text = \"x\", repeat = 4 }]", []).await;
        for _ in 0..4 {
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            assert_eq!(stage.session.compact(None).await, Ok(false));
        }
        stage.close().await;
    });
}

#[test]
fn by_hand_while_the_last_answer_of_a_turn_is_streamed() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            delay_ms = 10
            [[reply]]
            for = "summary"
            text = "The user said hi."
        "#;
        let mut stage = stage_with(script, [], keep_one).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::AttemptStarted { .. })).await;
        assert_eq!(stage.session.compact(None).await, Ok(true), "it waits for the answer");
        assert_eq!(turn.await, TurnOutcome::Done);
        assert!(conversation(&stage).await.contains("The user said hi."));
        stage.close().await;
    });
}

#[test]
fn by_hand_with_what_to_look_at() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            expect = { last_user_contains = "look above all at this:\nthe parser" }
            text = "It parses."
            [[reply]]
            text = "two"
            [[reply]]
            for = "summary"
            expect = { last_user_contains = "éé…" }
            text = "It parses still."
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(Some(" the parser\n")).await, Ok(true));
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(Some(&"é".repeat(2001))).await, Ok(true));
        let id = stage.session.id().clone();
        let journal = stage.parts.store.read(id).await.unwrap();
        let focus = journal.entries.iter().filter_map(|entry| match &entry.record {
            Record::CompactionStarted(started) => Some(started.focus.as_deref()?.chars().count()),
            _ => None,
        });
        assert_eq!(focus.collect::<Vec<_>>(), [10, 2000]);
        assert_eq!(stage.model.mismatches(), []);
        stage.close().await;
    });
}

#[test]
fn it_is_taken_back_once_and_what_was_said_since_stays() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            text = "The user said hi."
            [[reply]]
            text = "two"
            delay_ms = 10
            [[reply]]
            expect = { messages_count = 5 }
            text = "three"
        "#;
        let mut stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.session.undo_compaction().await, Ok(false), "nothing was replaced");
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        let turn = stage.session.turn(Input::text("go on"));
        stage.watcher.until(|event| matches!(event, Event::AttemptStarted { .. })).await;
        assert_eq!(stage.session.undo_compaction().await, Ok(true), "it waits for the answer");
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(stage.session.undo_compaction().await, Ok(false), "it was taken back already");
        assert_eq!(stage.say("and on").await, TurnOutcome::Done);
        expect![[r#"
            user: hi
            assistant: one
            user: go on
            assistant: two
            user: and on
            assistant: three
        "#]]
        .assert_eq(&conversation(&stage).await);
        assert_eq!(stage.model.mismatches(), []);
        let mut lines = stage.close().await;
        lines.retain(|line| {
            ["compact", "epoch", "restored", "notice"].iter().any(|word| line.starts_with(word))
        });
        expect![[r#"
            [
                "notice there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already",
                "epoch 1 First",
                "compacting Manual from 1 tokens",
                "compacted 1 messages to 38 tokens",
                "epoch 2 Compaction",
                "restored to 4: 40 -> 3",
                "notice there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already",
                "epoch 3 Compaction",
            ]
        "#]].assert_debug_eq(&lines);
    });
}

#[test]
fn what_would_not_fit_stays_away() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            text = "Hi."
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say(&LONG.repeat(40)).await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        let mut settings = stage.parts.settings.clone();
        settings.estimate.context_limit = Some(1500);
        stage.session.set_settings(settings).await.unwrap();
        let before = conversation(&stage).await;
        assert_eq!(stage.session.undo_compaction().await, Ok(false));
        assert_eq!(conversation(&stage).await, before);
        let lines = stage.close().await;
        let told = lines.iter().find(|line| line.contains("does not fit"));
        assert!(told.is_some_and(|line| line.contains("1500 fit")), "{lines:?}");
    });
}

#[test]
fn by_hand_while_a_call_runs() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "slow" }]
            [[reply]]
            for = "summary"
            expect = { messages_count = 1 }
            text = "The user said hi."
            [[reply]]
            expect = { messages_count = 3, tool_result_contains = "slowly" }
            text = "done"
        "#;
        let slow = tool("slow", |context: heeler_core::ToolContext, _| async move {
            context.clock.sleep_until(context.clock.now().plus(100)).await;
            Ok(ToolOutput::text("slowly"))
        });
        let mut stage = stage_with(script, [slow], keep_one).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::CallStarted { .. })).await;
        assert_eq!(stage.session.compact(None).await, Ok(true));
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(stage.model.mismatches(), []);
        stage.close().await;
    });
}

#[test]
fn by_itself_after_a_large_result() {
    let large = tool("large", |_, _| async { Ok(ToolOutput::text("x".repeat(4_000))) });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "large" }]
            [[reply]]
            text = "hello"
            [[reply]]
            blocks = [{ call = "large" }]
            [[reply]]
            for = "summary"
            text = "We greeted."
            [[reply]]
            text = "done"
            "#,
        )
        .says(["hi", "look"])
        .tools([large])
        .with(|parts| {
            parts.settings.compaction.keep_tail = 3;
            parts.settings.estimate.context_limit = Some(2000);
        }),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            usage 10 + 5 of 10 + 5
            assistant message
            started 1.1.0 [0] large {}
            finished 1.1.0 [0] large 0 ms: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            user message
            attempt 2.1
            text 0@0 "hello"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 1: Done "hello"
            turn 2
            user message
            attempt 1.1
            usage 10 + 5 of 30 + 15
            assistant message
            started 2.1.0 [0] large {}
            finished 2.1.0 [0] large 0 ms: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            user message
            compacting Automatic from 2016 tokens
            usage 10 + 5 of 40 + 20
            compacted 4 messages to 1031 tokens
            epoch 2 Compaction
            attempt 2.1
            text 0@0 "done"
            usage 10 + 5 of 50 + 25
            assistant message
            end of turn 2: Done "done"
            ---
            user: [Earlier conversation summary — treat as background context]\n\nWe greeted.
            user: look
            assistant: call large {}
            result ok: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
            assistant: done
        "#]],
    );
}

#[test]
fn cut_back_without_a_model_when_a_summary_would_gain_nothing() {
    let large = tool("large", |_, _| async { Ok(ToolOutput::text("x".repeat(4_000))) });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "large" }]
            [[reply]]
            text = "done"
            "#,
        )
        .says(["hi"])
        .tools([large])
        .with(|parts| parts.settings.estimate.context_limit = Some(700)),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            usage 10 + 5 of 10 + 5
            assistant message
            started 1.1.0 [0] large {}
            finished 1.1.0 [0] large 0 ms: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            user message
            trimmed to 3 messages, 1012 to 313
            epoch 2 Compaction
            attempt 2.1
            text 0@0 "done"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 1: Done "done"
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the user said in them:\n\nhi
            assistant: call large {}
            result ok: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
            assistant: done
        "#]],
    );
}

#[test]
fn the_limit_itself_still_fits() {
    virtually(async {
        let script = "reply = [{ text = \"x\", repeat = 2 }]";
        // 4 characters a token, of the system prompt and of both inputs and the answer.
        let stage = stage_with(script, [], |parts| {
            keep_one(parts);
            parts.system = "s".repeat(400);
            parts.settings.estimate.context_limit = Some(101);
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.state().await.unwrap().estimate(), 100);
        assert_eq!(stage.say("hihi").await, TurnOutcome::Done);
        let lines = stage.close().await;
        assert!(!lines.iter().any(|line| line.starts_with("compact")), "{lines:#?}");
    });
}

#[test]
fn by_itself_when_the_provider_says_it_does_not_fit() {
    check(
        Case::new(
            r#"
            [[reply]]
            text = "hello"
            [[reply]]
            error = { status = 413, message = "too long" }
            [[reply]]
            for = "summary"
            text = "We greeted."
            [[reply]]
            text = "done"
            "#,
        )
        .says([LONG, "go on"])
        .tools([echo()])
        .with(keep_one),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "hello"
            usage 10 + 5 of 10 + 5
            assistant message
            end of turn 1: Done "hello"
            turn 2
            user message
            attempt 1.1
            attempt 1 failed, next in 0 ms: ContextOverflow too long
            compacting Automatic from 56 tokens
            usage 10 + 5 of 20 + 10
            compacted 2 messages to 29 tokens
            epoch 2 Compaction
            attempt 1.2
            text 0@0 "done"
            usage 10 + 5 of 30 + 15
            assistant message
            end of turn 2: Done "done"
            ---
            user: [Earlier conversation summary — treat as background context]\n\nWe greeted.
            user: go on
            assistant: done
        "#]],
    );
}

/// A compaction by hand with something to look at, asked for while an automatic one runs, and what is
/// told from there until `ended` did its part.
fn check_beside(
    keep_tail: u32,
    ended: impl AsyncFnOnce(&heeler_engine::Session),
    expected: expect_test::Expect,
) {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "hello"
            [[reply]]
            text = "and hello"
            [[reply]]
            error = { status = 413, message = "too long" }
            [[reply]]
            for = "summary"
            text = "We greeted."
            delay_ms = 10
            [[reply]]
            for = "summary"
            expect = { last_user_contains = "the parser" }
            text = "It parses."
            [[reply]]
            text = "done"
        "#;
        let keep_three = |parts: &mut heeler_engine::Parts| parts.settings.compaction.keep_tail = 3;
        let mut stage = stage_with(script, [], keep_three).await;
        assert_eq!(stage.say(LONG).await, TurnOutcome::Done);
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        stage.watcher.drain();
        let told = stage.watcher.lines.len();
        let turn = stage.session.turn(Input::text("and on"));
        stage.watcher.until(|event| matches!(event, Event::CompactionStarted { .. })).await;
        let mut settings = stage.session.state().await.unwrap().settings;
        settings.compaction.keep_tail = keep_tail;
        stage.session.set_settings(settings).await.unwrap();
        let session = stage.session.clone();
        let asked = tokio::spawn(async move { session.compact(Some("the parser")).await });
        ended(&stage.session).await;
        let outcome = turn.await;
        let worked = asked.await.unwrap();
        stage.watcher.drain();
        let lines = stage.watcher.lines[told..].iter();
        let lines = lines.filter(|line| line.contains("compact") || line.contains("notice"));
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        expected.assert_eq(&format!("{}\n{outcome:?} {worked:?}\n", lines.join("\n")));
        assert_eq!(stage.model.mismatches(), []);
        stage.close().await;
    });
}

#[test]
fn what_it_is_to_look_at_is_not_lost_to_one_that_runs() {
    check_beside(
        1,
        async |_| (),
        expect![[r#"
        compacting Automatic from 50 tokens
        compacted 2 messages to 23 tokens
        compacting Manual from 23 tokens
        compacted 3 messages to 19 tokens
        Done Ok(true)
    "#]],
    );
    // That one left nothing to summarize.
    check_beside(
        3,
        async |_| (),
        expect![[r#"
        compacting Automatic from 50 tokens
        compacted 2 messages to 23 tokens
        notice there is too little to summarize: the newest 3 messages stay
        Done Ok(false)
    "#]],
    );
    check_beside(
        1,
        async |session| {
            // Whoever asks has asked by then.
            session.state().await.unwrap();
            session.cancel().await;
        },
        expect![[r#"
            compacting Automatic from 50 tokens
            compaction failed: interrupted
            notice cancelled before the conversation was summarized
            Cancelled Ok(false)
        "#]],
    );
}

#[test]
fn a_cancel_stops_a_compaction_by_hand() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            text = "never"
            stall = {}
            [[reply]]
            text = "two"
        "#;
        let mut stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let session = stage.session.clone();
        let compacting = tokio::spawn(async move { session.compact(None).await });
        stage.watcher.until(|event| matches!(event, Event::CompactionStarted { .. })).await;
        stage.session.cancel().await;
        assert_eq!(compacting.await.unwrap(), Ok(false));
        stage.watcher.drain();
        assert!(!stage.watcher.view.compacting);
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        assert_eq!(stage.model.streams_open(), 0);
        stage.close().await;
    });
}
