//! When somebody says something.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{
    Event, HookEvent, HookMoment, HookOutcome, HookVerdict, Input, RawJson, SteeringId, ToolOutput,
    TurnOutcome,
};
use heeler_engine::{Parts, Seen, Session};

use crate::common::{
    Case, Stage, allows, asks, broken, check, denies, hook, nothing, settled, stage_with, stops,
    tool, virtually,
};

const ANSWERS: &str = r#"
    [[reply]]
    text = "one"
    [[reply]]
    text = "two"
"#;

/// Denies what speaks of a secret, and adds to what asks for the day.
fn guard(parts: &mut Parts) {
    parts.hooks = Some(hook(HookEvent::UserPromptSubmit, |moment| async move {
        let HookMoment::UserPromptSubmit { prompt } = moment else { panic!("{moment:?}") };
        match prompt {
            prompt if prompt.contains("secret") => denies(),
            prompt if prompt.contains("day") => {
                HookOutcome { context: vec!["It is Friday.".into()], ..nothing() }
            }
            _ => nothing(),
        }
    }));
}

#[test]
fn an_input_is_let_through_added_to_or_blocked() {
    check(
        Case::new(ANSWERS).says(["what day is it", "the secret is 42", "hi"]).with(guard),
        expect![[r#"
            hook UserPromptSubmit `guard`
            hook UserPromptSubmit `guard` after 0 ms: Continued
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "one"
            usage 10 + 5 of 10 + 5
            assistant message
            end of turn 1: Done "one"
            hook UserPromptSubmit `guard`
            hook UserPromptSubmit `guard` after 0 ms: Denied
            turn 2
            end of turn 2: Denied { reason: "the hook `guard` did not let the input through: not on Fridays" } ""
            hook UserPromptSubmit `guard`
            hook UserPromptSubmit `guard` after 0 ms: Continued
            turn 3
            user message
            attempt 1.1
            text 0@0 "two"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 3: Done "two"
            ---
            user: what day is it
            user: It is Friday.
            assistant: one
            user: hi
            assistant: two
        "#]],
    );
}

#[test]
fn a_blocked_input_is_nowhere() {
    virtually(async {
        let stage = stage_with(ANSWERS, [], guard).await;
        let outcome = stage.say("the secret is 42").await;
        let reason = "the hook `guard` did not let the input through: not on Fridays".to_owned();
        assert_eq!(outcome, TurnOutcome::Denied { reason });
        let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
        assert!(!format!("{journal:?}").contains("42"));
        stage.close().await;
    });
}

#[test]
fn what_is_no_denial_lets_it_through() {
    for outcome in [allows(), asks(), broken()] {
        virtually(async {
            let stage = stage_with(ANSWERS, [], |parts| {
                let answer = move |_| std::future::ready(outcome.clone());
                parts.hooks = Some(hook(HookEvent::UserPromptSubmit, answer));
            })
            .await;
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            stage.close().await;
        });
    }
    virtually(async {
        let stage = stage_with(ANSWERS, [], |parts| {
            parts.hooks = Some(hook(HookEvent::UserPromptSubmit, |_| async { stops() }));
        })
        .await;
        assert!(matches!(stage.say("hi").await, TurnOutcome::Denied { .. }));
        stage.close().await;
    });
}

fn steering(name: &str) -> SteeringId {
    SteeringId(name.into())
}

/// A turn whose only call hangs until it is told to go on by the clock.
async fn running() -> (Stage, heeler_engine::Turn) {
    let script = r#"
        [[reply]]
        blocks = [{ call = "wait" }]
        [[reply]]
        text = "done"
    "#;
    let wait = tool("wait", |context, _: RawJson| async move {
        context.clock.sleep_until(context.clock.now().plus(50_000)).await;
        Ok(ToolOutput::text("waited"))
    });
    let mut stage = stage_with(script, [wait], guard).await;
    let turn = stage.session.turn(Input::text("hi"));
    stage.watcher.until(|event| matches!(event, Event::CallStarted { .. })).await;
    (stage, turn)
}

#[test]
fn what_is_said_to_a_running_turn_is_heard_in_order() {
    virtually(async {
        let (stage, turn) = running().await;
        let say = |name: &str, text: &str| {
            let (session, id, input) = (stage.session.clone(), steering(name), Input::text(text));
            async move { session.steer(id, input).await.unwrap() }
        };
        tokio::join!(say("a", "first"), say("b", "the secret is 42"), say("c", "what day is it"));
        assert_eq!(turn.await, TurnOutcome::Done);
        let state = stage.session.state().await.unwrap();
        let conversation =
            heeler_testkit::transcript(state.history.messages().iter().map(Arc::as_ref));
        expect![[r#"
            user: hi
            assistant: call wait {}
            result ok: waited
            user: first
            user: what day is it
            user: It is Friday.
            assistant: done
        "#]]
        .assert_eq(&conversation);
        let lines = stage.close().await;
        let notices: Vec<&String> =
            lines.iter().filter(|line| line.starts_with("notice")).collect();
        assert_eq!(
            notices,
            ["notice the hook `guard` did not let the input through: not on Fridays"]
        );
    });
}

#[test]
fn with_no_turn_a_blocked_word_is_a_turn_of_its_own() {
    virtually(async {
        let stage = stage_with(ANSWERS, [], guard).await;
        let input = Input::text("the secret is 42");
        stage.session.steer(steering("a"), input).await.unwrap();
        settled().await;
        assert!(matches!(
            stage.session.state().await.unwrap().last_outcome,
            Some(TurnOutcome::Denied { .. })
        ));
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.close().await;
    });
}

/// A session whose hooks never answer, and how many of them are being asked.
async fn unheard() -> (Stage, Arc<AtomicUsize>) {
    struct Asked(Arc<AtomicUsize>);
    impl Drop for Asked {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let stage = stage_with(ANSWERS, [], move |parts| {
        parts.hooks = Some(hook(HookEvent::UserPromptSubmit, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            let asked = Asked(Arc::clone(&counted));
            async move {
                let _asked = asked;
                std::future::pending().await
            }
        }));
    })
    .await;
    (stage, asked)
}

#[test]
fn whoever_drops_a_turn_stops_its_hearing() {
    virtually(async {
        let (stage, asked) = unheard().await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        drop(turn);
        settled().await;
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        assert_eq!(stage.session.state().await.unwrap().turns, 0);
        stage.close().await;
    });
}

#[test]
fn a_cancel_stops_a_hearing_and_closing_does_too() {
    for closes in [false, true] {
        virtually(async {
            let (stage, asked) = unheard().await;
            let turn = stage.session.turn(Input::text("hi"));
            let waiting = stage.session.turn(Input::text("more"));
            settled().await;
            if !closes {
                stage.session.cancel().await;
                assert_eq!(turn.await, TurnOutcome::Cancelled);
                settled().await;
                assert_eq!(asked.load(Ordering::SeqCst), 1, "the next one is heard");
                stage.close().await;
            } else {
                stage.close().await;
                assert!(matches!(turn.await, TurnOutcome::Failed { .. }));
            }
            assert!(matches!(waiting.await, TurnOutcome::Failed { .. }));
            assert_eq!(asked.load(Ordering::SeqCst), 0);
        });
    }
}

#[test]
fn what_is_being_heard_can_be_taken_back() {
    virtually(async {
        let (stage, asked) = unheard().await;
        let session: Session = stage.session.clone();
        let (_, mut cursor) = session.subscribe();
        let steer = |name: &str| {
            let (session, id) = (session.clone(), steering(name));
            tokio::spawn(async move { session.steer(id, Input::text("hi")).await })
        };
        let (first, second) = (steer("a"), steer("b"));
        settled().await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert_eq!(session.take_back(steering("b")).await, Ok(true));
        assert_eq!(session.take_back(steering("a")).await, Ok(true));
        assert_eq!(session.take_back(steering("a")).await, Ok(false));
        settled().await;
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        // Both were said, and whoever watches hears what became of them, though nothing was written.
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (Ok(true), Ok(true)));
        let mut taken_back = Vec::new();
        while let Some(Seen::Event(envelope)) = cursor.try_next() {
            if let Event::SteeringTakenBack { id } = &envelope.event {
                taken_back.push((envelope.seq, id.0.to_string()));
            }
        }
        assert_eq!(taken_back, [(None, "b".to_owned()), (None, "a".to_owned())]);
        drop(session);
        stage.close().await;
    });
}

#[test]
fn a_denial_is_in_the_journal_and_nothing_else_of_the_input() {
    virtually(async {
        let stage = stage_with(ANSWERS, [], guard).await;
        stage.say("the secret is 42").await;
        let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
        let heard: Vec<&HookVerdict> = journal
            .entries
            .iter()
            .filter_map(|entry| match &entry.record {
                heeler_core::Record::HookAnswered(answered) => Some(&answered.verdict),
                _ => None,
            })
            .collect();
        assert_eq!(heard, [&denies().verdict]);
        stage.close().await;
    });
}
