//! Stopping a turn: promptly, with everything it started, and so that the next one can go on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use expect_test::{Expect, expect};
use futures::FutureExt as _;
use heeler_core::{Decision, Event, Input, Mode, ToolContext, ToolOutput, TurnOutcome};
use heeler_engine::Session;
use heeler_testkit::transcript;

use crate::common::{Stage, counting, hanging, stage, stage_with, tool, virtually};

/// Waits for an event, cancels, and compares what was told after the cancel and the conversation.
/// Then says something more: the history must be one that a request accepts.
async fn check_cancel(mut stage: Stage, when: impl Fn(&Event) -> bool, expected: Expect) {
    let turn = stage.session.turn(Input::text("hi"));
    stage.watcher.until(when).await;
    let told = stage.watcher.lines.len();
    stage.session.cancel().await;
    assert_eq!(turn.await, TurnOutcome::Cancelled);
    assert_eq!(stage.model.streams_open(), 0, "the stream is still open");
    stage.watcher.drain();
    let state = stage.session.state().await.unwrap();
    assert_eq!(stage.watcher.view, state.view());
    let text = format!(
        "{}\n---\n{}",
        stage.watcher.lines[told..].join("\n"),
        transcript(state.history.messages().iter().map(Arc::as_ref))
    );
    expected.assert_eq(&text);
    assert_eq!(stage.say("go on").await, TurnOutcome::Done);
    assert_eq!(stage.model.mismatches(), []);
    stage.watcher.drain();
    let outcomes: Vec<TurnOutcome> = stage.watcher.endings().into_iter().map(|e| e.1).collect();
    assert_eq!(outcomes, [TurnOutcome::Cancelled, TurnOutcome::Done]);
    stage.close().await;
}

fn is_text(event: &Event) -> bool {
    matches!(event, Event::TextDelta { .. })
}

fn is_started(event: &Event) -> bool {
    matches!(event, Event::CallStarted { .. })
}

#[test]
fn a_cancelled_stream_keeps_the_text_so_far() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "partial answer"
            chunks = 2
            stall = { events = 3 }
            [[reply]]
            text = "more"
        "#;
        check_cancel(
            stage(script, []).await,
            is_text,
            expect![[r#"
                usage 10 + 1 of 10 + 1
                assistant message
                end of turn 1: Cancelled "partial"
                ---
                user: hi
                assistant: partial
            "#]],
        )
        .await;
    });
}

#[test]
fn a_cancelled_stream_keeps_whole_blocks_and_drops_unfinished_ones() {
    virtually(async {
        // Whole: signed thinking, a text, a call. Cut: a second call within its input.
        let script = r#"
            [[reply]]
            blocks = [{ thinking = "hm", signature = "s1" }, { text = "I count" },
                      { call = "count", input = { n = 1 } }, { call = "count", input = { n = 2 } }]
            stall = { events = 13 }
            [[reply]]
            text = "more"
        "#;
        let count = Arc::new(AtomicUsize::new(0));
        let is_second_input =
            |event: &Event| matches!(event, Event::ToolInputDelta { block: 3, .. });
        let stage = stage(script, [counting(&count)]).await;
        check_cancel(
            stage,
            is_second_input,
            expect![[r#"
                usage 10 + 5 of 10 + 5
                assistant message
                failed 1.1.0 [0] count 0 ms: Cancelled before it started; nothing was done.
                user message
                end of turn 1: Cancelled ""
                ---
                user: hi
                assistant: thinking hm
                assistant: I count
                assistant: call count {"n":1}
                result error: Cancelled before it started; nothing was done.
            "#]],
        )
        .await;
        assert_eq!(count.load(Ordering::SeqCst), 0, "a call of a cancelled reply ran");
    });
}

#[test]
fn a_cancelled_stream_drops_unsigned_thinking() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ thinking = "let me think" }]
            chunks = 2
            stall = { events = 3 }
            [[reply]]
            text = "more"
        "#;
        let is_thinking = |event: &Event| matches!(event, Event::ThinkingDelta { .. });
        check_cancel(
            stage(script, []).await,
            is_thinking,
            expect![[r#"
                usage 10 + 0 of 10 + 0
                end of turn 1: Cancelled ""
                ---
                user: hi
            "#]],
        )
        .await;
    });
}

#[test]
fn a_cancelled_call_that_listens_gives_what_it_has() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "listen" }]
            [[reply]]
            text = "more"
        "#;
        let listening = tool("listen", |context: ToolContext, _| async move {
            context.cancel.cancelled().await;
            Ok(ToolOutput::text("the first half"))
        });
        check_cancel(
            stage(script, [listening]).await,
            is_started,
            expect![[r#"
                finished 1.1.0 [0] listen 0 ms: the first half
                user message
                end of turn 1: Cancelled ""
                ---
                user: hi
                assistant: call listen {}
                result ok: the first half
            "#]],
        )
        .await;
    });
}

#[test]
fn a_call_that_hangs_holds_up_a_cancel_for_a_moment_only() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "hang" }, { call = "listen" }]
            [[reply]]
            text = "more"
        "#;
        let alive = Arc::new(AtomicUsize::new(0));
        let listening = tool("listen", |context: ToolContext, _| async move {
            context.cancel.cancelled().await;
            Ok(ToolOutput::text("heard you"))
        });
        let stage = stage(script, [hanging(&alive), listening]).await;
        let clock = stage.clock.clone();
        let second = |event: &Event| matches!(event, Event::CallStarted { index: 1, .. });
        check_cancel(
            stage,
            second,
            expect![[r#"
                finished 1.1.1 [1] listen 0 ms: heard you
                failed 1.1.0 [0] hang 0 ms: Cancelled before it finished. Anything it had already changed is still changed.
                user message
                end of turn 1: Cancelled ""
                ---
                user: hi
                assistant: call hang {}
                assistant: call listen {}
                result error: Cancelled before it finished. Anything it had already changed is still changed.
                result ok: heard you
            "#]],
        )
        .await;
        let waited = heeler_core::Clock::now(&clock).millis() - 1_000_000;
        assert!(waited <= 250, "the cancel took {waited} ms");
        assert_eq!(alive.load(Ordering::SeqCst), 0, "the call still runs");
    });
}

#[test]
fn a_cancel_while_somebody_is_asked_answers_the_call_and_the_question() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "count" }]
            [[reply]]
            text = "more"
        "#;
        let count = Arc::new(AtomicUsize::new(0));
        let tools = [counting(&count).writes("/space/a")];
        let stage = stage_with(script, tools, |parts| {
            parts.settings.policy.mode = Mode::Ask;
            parts.settings.policy.interactive = true;
        })
        .await;
        let session = stage.session.clone();
        let is_request = |event: &Event| matches!(event, Event::PermissionRequested(_));
        check_cancel(
            stage,
            is_request,
            expect![[r#"
                failed 1.1.0 [0] count 0 ms: Cancelled before it started; nothing was done.
                user message
                end of turn 1: Cancelled ""
                ---
                user: hi
                assistant: call count {}
                result error: Cancelled before it started; nothing was done.
            "#]],
        )
        .await;
        let id =
            heeler_core::PermissionId::first(heeler_core::CallId { turn: 1, round: 1, index: 0 });
        assert!(session.decide(id, Decision::Once, "late").await.is_err());
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_cancel_while_a_retry_is_waited_for() {
    virtually(async {
        let script = r#"
            [[reply]]
            error = { status = 429, type = "rate_limit_error", message = "slow down", retry_after = 300 }
            [[reply]]
            text = "more"
        "#;
        let is_retry = |event: &Event| matches!(event, Event::Retry { .. });
        check_cancel(
            stage(script, []).await,
            is_retry,
            expect![[r#"
                end of turn 1: Cancelled ""
                ---
                user: hi
            "#]],
        )
        .await;
    });
}

#[test]
fn a_cancel_without_a_turn_changes_nothing() {
    virtually(async {
        let stage = stage("reply = [{ text = \"hello\" }]", []).await;
        stage.session.cancel().await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.session.cancel().await;
        assert_eq!(stage.close().await.iter().filter(|line| line.starts_with("end")).count(), 1);
    });
}

#[test]
fn dropping_the_turn_cancels_it() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "hang" }]
            [[reply]]
            text = "more"
        "#;
        let alive = Arc::new(AtomicUsize::new(0));
        let mut stage = stage(script, [hanging(&alive)]).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(is_started).await;
        drop(turn);
        stage.watcher.until(|event| matches!(event, Event::TurnFinished { .. })).await;
        assert_eq!(stage.watcher.view.last_outcome, Some(TurnOutcome::Cancelled));
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        stage.close().await;
    });
}

#[test]
fn dropping_the_turn_before_it_was_noticed_sends_nothing() {
    virtually(async {
        let stage = stage("reply = [{ text = \"hello\" }]", []).await;
        drop(stage.session.turn(Input::text("never mind")));
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.model.requests().len(), 1);
        stage.close().await;
    });
}

#[test]
fn dropping_the_last_handle_stops_what_runs() {
    virtually(async {
        let alive = Arc::new(AtomicUsize::new(0));
        let script = "reply = [{ blocks = [{ call = \"hang\" }] }]";
        let Stage { session, mut watcher, .. } = stage(script, [hanging(&alive)]).await;
        let turn = session.turn(Input::text("hi"));
        watcher.until(is_started).await;
        drop(session);
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        watcher.rest().await;
        assert_eq!(watcher.endings(), [(1, TurnOutcome::Cancelled)]);
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_cancel_comes_before_the_next_call_of_its_batch() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "stop" }, { call = "count" }]
            [[reply]]
            text = "more"
        "#;
        let own: Arc<OnceLock<Session>> = Arc::default();
        let (known, count) = (Arc::clone(&own), Arc::new(AtomicUsize::new(0)));
        // Done at its first step, with the cancel on its way by then.
        let stop = tool("stop", move |_, _| {
            let session = known.get().unwrap().clone();
            let asked = Box::pin(async move { session.cancel().await }).now_or_never();
            assert!(asked.is_none(), "the cancel waits for its turn");
            async { Ok(ToolOutput::text("stopped")) }
        });
        let stage = stage_with(script, [stop, counting(&count)], |parts| {
            parts.settings.limits.calls_at_once = 1;
        });
        let stage = stage.await;
        assert!(own.set(stage.session.clone()).is_ok());
        assert_eq!(stage.say("hi").await, TurnOutcome::Cancelled);
        assert_eq!(count.load(Ordering::SeqCst), 0, "the second call ran");
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        stage.close().await;
    });
}
