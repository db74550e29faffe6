//! Saying something to a running turn: delivered once, taken back, or left for the next turn.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{Event, Input, SteeringId, ToolOutput, TurnOutcome};
use heeler_engine::Session;
use tokio::sync::Notify;

use crate::common::{Stage, TestTool, stage, tool, virtually};

const CALL_THEN_ANSWER: &str = r#"
    [[reply]]
    blocks = [{ call = "wait" }]
    [[reply]]
    text = "done"
    [[reply]]
    text = "and more"
"#;

/// Waits until it is let go.
fn waiting(go: &Arc<Notify>) -> TestTool {
    let go = Arc::clone(go);
    tool("wait", move |_, _| {
        let go = Arc::clone(&go);
        async move {
            go.notified().await;
            Ok(ToolOutput::text("waited"))
        }
    })
}

/// Returns whether it was said.
async fn steer(session: &Session, id: &str, text: &str) -> bool {
    session.steer(SteeringId(id.into()), Input::text(text)).await.unwrap()
}

/// A turn whose call runs.
async fn running(go: &Arc<Notify>) -> (Stage, heeler_engine::Turn) {
    let mut stage = stage(CALL_THEN_ANSWER, [waiting(go)]).await;
    let turn = stage.session.turn(Input::text("hi"));
    stage.watcher.until(|event| matches!(event, Event::CallStarted { .. })).await;
    (stage, turn)
}

#[test]
fn steering_is_delivered_once_after_the_batch() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (stage, turn) = running(&go).await;
        assert!(steer(&stage.session, "a", "be quick").await);
        assert!(!steer(&stage.session, "a", "be slow").await);
        assert!(steer(&stage.session, "b", "and kind").await);
        go.notify_one();
        assert_eq!(turn.await, TurnOutcome::Done);
        let lines = stage.close().await;
        let told: Vec<&String> =
            lines.iter().skip_while(|line| !line.starts_with("started")).skip(1).collect();
        expect![[r#"
            [
                "steering a queued",
                "steering b queued",
                "finished 1.1.0 [0] wait 0 ms: waited",
                "user message",
                "steering a delivered",
                "user message",
                "steering b delivered",
                "user message",
                "attempt 2.1",
                "text 0@0 \"done\"",
                "usage 10 + 5 of 20 + 10",
                "assistant message",
                "end of turn 1: Done \"done\"",
            ]
        "#]]
        .assert_debug_eq(&told);
    });
}

#[test]
fn steering_can_be_taken_back_until_it_is_delivered() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (stage, turn) = running(&go).await;
        let (kept, gone) = (SteeringId("kept".into()), SteeringId("gone".into()));
        steer(&stage.session, "kept", "be quick").await;
        steer(&stage.session, "gone", "be slow").await;
        assert_eq!(stage.session.take_back(gone.clone()).await, Ok(true));
        assert_eq!(stage.session.take_back(gone).await, Ok(false));
        go.notify_one();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(stage.session.take_back(kept).await, Ok(false), "it was delivered");
        let last = stage.model.requests().last().unwrap().messages.last().unwrap().text();
        assert!(last.contains("be quick") && !last.contains("be slow"), "{last}");
        stage.close().await;
    });
}

#[test]
fn what_is_left_when_a_turn_ends_opens_the_next() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "first answer"
            delay_ms = 10
            [[reply]]
            text = "second answer"
        "#;
        let mut stage = stage(script, []).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::AttemptStarted { .. })).await;
        steer(&stage.session, "late", "one thing more").await;
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.watcher.until(|event| matches!(event, Event::TurnFinished { turn: 2, .. })).await;
        assert_eq!(stage.session.state().await.unwrap().final_answer(), "second answer");
        stage.close().await;
    });
}

#[test]
fn steering_without_a_turn_starts_one() {
    virtually(async {
        let mut stage = stage("reply = [{ text = \"hello\" }]", []).await;
        steer(&stage.session, "a", "hi").await;
        let is_end = |event: &Event| matches!(event, Event::TurnFinished { .. });
        let Event::TurnFinished { outcome, answer, .. } = stage.watcher.until(is_end).await else {
            unreachable!()
        };
        assert_eq!((outcome, answer.as_str()), (TurnOutcome::Done, "hello"));
        stage.close().await;
    });
}

#[test]
fn a_cancel_leaves_what_waits_for_the_next_turn() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (mut stage, turn) = running(&go).await;
        steer(&stage.session, "a", "do that instead").await;
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        stage.watcher.until(|event| matches!(event, Event::TurnFinished { turn: 2, .. })).await;
        let last = stage.model.requests().last().unwrap().messages.last().unwrap().text();
        assert!(last.contains("do that instead"), "{last}");
        stage.close().await;
    });
}

#[test]
fn a_stop_hands_back_what_waits_whoever_said_it() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (stage, turn) = running(&go).await;
        steer(&stage.session, "a", "do that instead").await;
        steer(&stage.session, "b", "and that").await;
        assert_eq!(stage.session.stop().await, Ok(true));
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        let state = stage.session.state().await.unwrap();
        assert!(state.turn.is_none() && state.steering.is_empty());
        assert_eq!(stage.model.requests().len(), 1, "nothing begins by itself");
        assert_eq!(stage.session.stop().await, Ok(false), "nothing is left of it");
        let session = stage.session.clone();
        let lines = stage.close().await;
        let told: Vec<&String> = lines.iter().filter(|line| line.starts_with("steering")).collect();
        expect![[r#"
            [
                "steering a queued",
                "steering b queued",
                "steering b taken back",
                "steering a taken back",
            ]
        "#]]
        .assert_debug_eq(&told);
        assert!(session.stop().await.is_err(), "there is nothing to stop");
    });
}

#[test]
fn what_says_nothing_is_not_said() {
    virtually(async {
        let stage = stage(CALL_THEN_ANSWER, []).await;
        for input in [Input::text(" \n"), Input { blocks: Vec::new(), ..Input::text("") }] {
            assert_eq!(stage.session.steer(SteeringId("a".into()), input).await, Ok(false));
        }
        let state = stage.session.state().await.unwrap();
        assert!(state.turn.is_none() && state.steering.is_empty() && state.turns == 0);
        stage.close().await;
    });
}

#[test]
fn closing_sends_nothing_for_what_still_waits() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (stage, turn) = running(&go).await;
        steer(&stage.session, "a", "do that instead").await;
        let (parts, id, model) =
            (stage.parts.clone(), stage.session.id().clone(), stage.model.clone());
        stage.close().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        assert_eq!(model.requests().len(), 1, "a request was sent while closing");
        // It was written, so the next process answers it.
        let session = Session::open(parts, id).await.unwrap();
        assert_eq!(session.resume().await, TurnOutcome::Done);
        let last = model.requests().last().unwrap().messages.last().unwrap().text();
        assert!(last.contains("do that instead"), "{last}");
        session.close().await;
    });
}

#[test]
fn dropping_the_session_sends_nothing_for_what_still_waits() {
    virtually(async {
        let go = Arc::new(Notify::new());
        let (stage, turn) = running(&go).await;
        steer(&stage.session, "a", "do that instead").await;
        let Stage { session, model, mut watcher, .. } = stage;
        drop(session);
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        watcher.rest().await;
        assert_eq!(model.requests().len(), 1, "a request was sent while closing");
    });
}
