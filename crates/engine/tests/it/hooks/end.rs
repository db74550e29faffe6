//! At the end of a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use heeler_core::{Clock as _, HookEvent, HookMoment, HookOutcome, Input, LimitKind, TurnOutcome};
use heeler_engine::Parts;
use heeler_turn::limits::ENDS_REFUSED_MAX;

use crate::common::{
    Case, Ledger, broken, check, denies, hook, nothing, settled, stage_with, stops, virtually,
};

const TWO_ANSWERS: &str = r#"
    [[reply]]
    text = "I am done"
    [[reply]]
    text = "now I am"
"#;

/// Says this of the first end it hears of, and nothing of the second.
fn at_first(outcome: HookOutcome) -> impl FnOnce(&mut Parts) {
    move |parts| {
        parts.hooks = Some(hook(HookEvent::Stop, move |moment| {
            let HookMoment::Stop { again, answer, .. } = moment else { panic!("{moment:?}") };
            assert_eq!(answer, if again { "now I am" } else { "I am done" });
            std::future::ready(if again { nothing() } else { outcome.clone() })
        }));
    }
}

#[test]
fn a_turn_that_may_not_end_goes_on() {
    check(
        Case::new(TWO_ANSWERS).with(at_first(denies())),
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "I am done"
        usage 10 + 5 of 10 + 5
        assistant message
        hook Stop `guard`
        hook Stop `guard` after 0 ms: Denied
        user message
        notice the hook `guard` does not let the turn end yet: not on Fridays
        attempt 2.1
        text 0@0 "now I am"
        usage 10 + 5 of 20 + 10
        assistant message
        hook Stop `guard`
        hook Stop `guard` after 0 ms: Continued
        end of turn 1: Done "now I am"
        ---
        user: hi
        assistant: I am done
        user: The hook `guard` does not let the turn end yet: not on Fridays
        assistant: now I am
    "#]],
    );
}

#[test]
fn one_that_is_broken_or_stops_lets_it_end() {
    check(
        Case::new(TWO_ANSWERS).with(at_first(broken())),
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "I am done"
        usage 10 + 5 of 10 + 5
        assistant message
        hook Stop `guard`
        hook Stop `guard` after 0 ms: Broken { why: "it is out of order" }
        end of turn 1: Done "I am done"
        ---
        user: hi
        assistant: I am done
        --- 1 replies not asked for
    "#]],
    );
    check(
        Case::new(TWO_ANSWERS).with(at_first(stops())),
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "I am done"
        usage 10 + 5 of 10 + 5
        assistant message
        hook Stop `guard`
        hook Stop `guard` after 0 ms: Denied
        notice The hook `guard` stopped the turn: enough
        end of turn 1: Done "I am done"
        ---
        user: hi
        assistant: I am done
        --- 1 replies not asked for
    "#]],
    );
}

#[test]
fn an_end_that_waited_for_hooks_is_as_durable_as_any() {
    virtually(async {
        let ledger = Ledger::new();
        let store = Arc::new(ledger.clone());
        let stage = stage_with(TWO_ANSWERS, [], |parts| {
            parts.store = store;
            at_first(denies())(parts);
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.close().await;
        let ends = ["hook_answered", "turn_finished"];
        let lines = ledger.lines();
        let ends: Vec<&String> =
            lines.iter().filter(|line| ends.iter().any(|end| line.ends_with(end))).collect();
        assert_eq!(ends, ["Written hook_answered", "Synced turn_finished"]);
    });
}

#[test]
fn it_may_be_refused_only_so_often() {
    virtually(async {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let replies = "[[reply]]\ntext = \"done\"\n".repeat(20);
        let stage = stage_with(&replies, [], move |parts| {
            parts.hooks = Some(hook(HookEvent::Stop, move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
                std::future::ready(denies())
            }));
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(asked.load(Ordering::SeqCst), ENDS_REFUSED_MAX);
        let lines = stage.close().await;
        let told: Vec<&String> = lines.iter().filter(|line| line.contains("the hook `")).collect();
        assert_eq!(told.len(), ENDS_REFUSED_MAX as usize, "{lines:#?}");
        let is_last = |line: &&String| line.contains("the next answer ends the turn");
        assert_eq!(told.iter().position(is_last), Some(told.len() - 1), "{told:#?}");
    });
}

#[test]
fn a_turn_that_ends_otherwise_is_not_told_of() {
    virtually(async {
        let stage = stage_with("[[reply]]\ntext = \"a\"\nstop = \"refusal\"", [], |parts| {
            parts.hooks = Some(hook(HookEvent::Stop, |_| async { panic!("asked") }));
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Refused);
        let lines = stage.close().await;
        assert!(!lines.iter().any(|line| line.starts_with("hook")), "{lines:#?}");
    });
}

#[test]
fn a_turn_is_cancelled_while_a_hook_is_asked_and_closing_does_not_wait_for_it() {
    for closes in [false, true] {
        virtually(async {
            let stage = stage_with("[[reply]]\ntext = \"a\"", [], |parts| {
                parts.hooks = Some(hook(HookEvent::Stop, |_| std::future::pending()));
            })
            .await;
            let turn = stage.session.turn(Input::text("hi"));
            settled().await;
            if closes {
                stage.close().await;
                assert_eq!(turn.await, TurnOutcome::Cancelled);
                return;
            }
            stage.session.cancel().await;
            // The hook is still at it, and nobody waits for it.
            assert_eq!(turn.await, TurnOutcome::Cancelled);
            stage.close().await;
        });
    }
}

#[test]
fn an_end_that_was_asked_about_before_a_cancel_is_not_written() {
    virtually(async {
        let (says, heard) = tokio::sync::oneshot::channel();
        let heard = std::sync::Mutex::new(Some(heard));
        let stage = stage_with("[[reply]]\ntext = \"a\"", [], |parts| {
            parts.hooks = Some(hook(HookEvent::Stop, move |_| {
                let heard = heard.lock().unwrap().take().unwrap();
                async move {
                    heard.await.unwrap();
                    nothing()
                }
            }));
        })
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        stage.session.cancel().await;
        // Nobody may be listening any more.
        let _ = says.send(());
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        let (store, id) = (stage.parts.store.clone(), stage.session.id().clone());
        stage.close().await;
        let journal = format!("{:?}", store.read(id).await.unwrap());
        assert_eq!(journal.matches("TurnFinished").count(), 1, "{journal}");
        assert!(!journal.contains("outcome: Done"), "{journal}");
    });
}

#[test]
fn a_hook_does_not_prolong_the_time_of_a_turn() {
    virtually(async {
        let stage = stage_with("[[reply]]\ntext = \"a\"", [], |parts| {
            parts.settings.limits.wall_millis = 1_000;
            parts.hooks = Some(hook(HookEvent::Stop, |_| std::future::pending()));
        })
        .await;
        let began = stage.clock.now();
        assert_eq!(stage.say("hi").await, TurnOutcome::Limit { limit: LimitKind::Wall });
        assert_eq!(stage.clock.now().since(began), 1_000);
        stage.close().await;
    });
}
