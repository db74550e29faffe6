//! Summaries that fail, are no summaries, or begin anew.

use expect_test::expect;
use heeler_core::{Event, TurnOutcome};

use crate::common::{Case, check, settled, stage_with, virtually};
use crate::compaction::{LONG, conversation, keep_one};

/// An attempt that broke off is paid as far as it was told, and what it wrote is estimated.
#[test]
fn what_broken_attempts_at_a_summary_used_is_counted() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            usage = { input = 10, output = 1 }
            [[reply]]
            for = "summary"
            text = "The user"
            usage = { input = 5000, output = 2 }
            cut = {}
            [[reply]]
            for = "summary"
            text = "The user said hi."
            usage = { input = 5000, output = 3 }
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        let usage = stage.session.state().await.unwrap().usage;
        assert_eq!((usage.input, usage.output, usage.is_estimated), (10_010, 6, true));
        stage.close().await;
    });
}

#[test]
fn a_summary_that_fails_leaves_everything_as_it_was() {
    for (reply, error) in [
        (r#"text = " ""#, "the model gave an empty summary"),
        ("text = \"I cannot.\"\nstop = \"refusal\"", "the model refused to summarize"),
        (
            "text = \"The us\"\nstop = \"max_tokens\"",
            "the model's summary was cut at its token limit",
        ),
        (
            r#"blocks = [{ text = "Let me look first." }, { call = "look" }]"#,
            "the model called a tool instead of summarizing",
        ),
        (
            r#"text = "[Kept beside the summary, word for word]""#,
            "the summary says nothing of its own",
        ),
        (r#"error = { status = 401, message = "no key" }"#, "no key"),
    ] {
        virtually(async {
            let script = format!(
                "[[reply]]\ntext = \"one\"\n[[reply]]\nfor = \"summary\"\nrepeat = 2\n{reply}"
            );
            let stage = stage_with(&script, [], keep_one).await;
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            let before = conversation(&stage).await;
            assert_eq!(stage.session.compact(None).await, Ok(false));
            assert_eq!(conversation(&stage).await, before);
            let lines = stage.close().await;
            assert_eq!(lines.last(), Some(&format!("compaction failed: {error}")));
        });
    }
}

#[test]
fn an_answer_that_is_no_summary_is_asked_for_once_more_and_paid() {
    virtually(async {
        let script = r#"
            [script]
            usage = { input = 10, output = 5, cache_read = 0, cache_write = 0 }
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            text = "The user sa"
            stop = "max_tokens"
            [[reply]]
            for = "summary"
            text = "The user said hi."
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let before = stage.session.state().await.unwrap().usage;
        assert_eq!(stage.session.compact(None).await, Ok(true));
        let after = stage.session.state().await.unwrap().usage;
        assert_eq!(after.output - before.output, 10);
        stage.close().await;
    });
}

#[test]
fn a_summary_is_tried_again_like_any_request() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            error = { status = 529, type = "overloaded_error", message = "busy" }
            [[reply]]
            for = "summary"
            text = "The user said hi."
        "#;
        let stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        stage.close().await;
    });
}

#[test]
fn a_summary_longer_than_what_it_stands_for_is_refused_and_paid() {
    let verbose = "and ".repeat(200);
    let script = format!(
        "[[reply]]\ntext = \"hello\"\n[[reply]]\nerror = {{ status = 413, message = \"too long\" }}\n\
         [[reply]]\nfor = \"summary\"\ntext = \"{verbose}\"\n[[reply]]\ntext = \"done\"\n"
    );
    check(
        Case::new(&script).says([LONG, "go on"]).with(keep_one),
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
        compacting Automatic from 46 tokens
        usage 10 + 5 of 20 + 10
        compaction failed: the summary gains too little: 46 tokens before it, 216 with it
        trimmed to 2 messages, 46 to 28
        epoch 2 Compaction
        attempt 1.2
        text 0@0 "done"
        usage 10 + 5 of 30 + 15
        assistant message
        end of turn 2: Done "done"
        ---
        user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)
        user: go on
        assistant: done
    "#]],
    );
}

#[test]
fn a_summary_begins_anew_when_the_model_or_what_fits_changes() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "one"
            [[reply]]
            for = "summary"
            text = "never"
            stall = {}
        "#;
        let mut stage = stage_with(script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let session = stage.session.clone();
        let compacting = tokio::spawn(async move { session.compact(None).await });
        stage.watcher.until(|event| matches!(event, Event::CompactionStarted { .. })).await;
        settled().await;
        assert_eq!(stage.model.streams_open(), 1);
        let mut settings = stage.parts.settings.clone();
        settings.limits.rounds += 1;
        stage.session.set_settings(settings.clone()).await.unwrap();
        settled().await;
        assert_eq!(stage.model.requests().len(), 2, "what does not concern it leaves it alone");
        settings.estimate.context_limit = Some(1);
        stage.session.set_settings(settings).await.unwrap();
        // Nothing of it fits any more.
        assert_eq!(compacting.await.unwrap(), Ok(false));
        assert_eq!((stage.model.streams_open(), stage.model.requests().len()), (0, 2));
        stage.close().await;
    });
}

/// What is told from the moment on when a summary of which `begun` came is stopped in this way.
fn check_stopped(
    begun: &str,
    stop: impl AsyncFnOnce(&heeler_engine::Session),
    expected: expect_test::Expect,
) {
    virtually(async {
        let script = format!(
            "[[reply]]\ntext = \"one\"\n[[reply]]\nfor = \"summary\"\nchunks = 2\n{begun}\n\
             [[reply]]\nfor = \"summary\"\ntext = \"The user said hi.\""
        );
        let mut stage = stage_with(&script, [], keep_one).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let session = stage.session.clone();
        let compacting = tokio::spawn(async move { session.compact(None).await });
        settled().await;
        stage.watcher.drain();
        let told = stage.watcher.lines.len();
        stop(&stage.session).await;
        let worked = compacting.await.unwrap();
        assert_eq!(stage.model.streams_open(), 0);
        stage.watcher.drain();
        let state = stage.session.state().await.unwrap();
        assert_eq!(stage.watcher.view, state.view());
        let lines = stage.watcher.lines[told..].join("\n");
        expected.assert_eq(&format!("{lines}\n{worked:?}\n"));
        stage.close().await;
    });
}

#[test]
fn what_a_stopped_summary_used_is_counted() {
    let cancel = async |session: &heeler_engine::Session| session.cancel().await;
    // What was told, and an estimate of what was not.
    check_stopped(
        r#"text = "never to the end"
           usage = { input = 5000, output = 9 }
           stall = { events = 4 }"#,
        cancel,
        expect![[r#"
            usage 5000 + 4 of 5010 + 9
            compaction failed: interrupted
            Ok(false)
        "#]],
    );
    // Nothing came of it yet.
    check_stopped(
        "text = \"never\"\nstall = { events = 0 }",
        cancel,
        expect![[r#"
        compaction failed: interrupted
        Ok(false)
    "#]],
    );
}

#[test]
fn what_a_summary_used_that_begins_anew_is_counted() {
    let other = async |session: &heeler_engine::Session| {
        let mut settings = session.state().await.unwrap().settings;
        settings.estimate.context_limit = Some(50_000);
        session.set_settings(settings).await.unwrap();
    };
    check_stopped(
        r#"text = "never to the end"
           usage = { input = 5000, output = 9 }
           stall = { events = 4 }"#,
        other,
        expect![[r#"
            usage 5000 + 4 of 5010 + 9
            usage 10 + 5 of 5020 + 14
            compacted 1 messages to 38 tokens
            Ok(true)
        "#]],
    );
}
