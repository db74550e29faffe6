//! Limits end a turn with a valid history and a typed outcome; heartbeats tell that work goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{Input, LimitKind, Limits, Prices, TurnOutcome};
use heeler_engine::Parts;

use crate::common::{
    Case, TestTool, check, counting, echo, failing, hanging, stage_with, virtually,
};

const CALLS_FOR_EVER: &str = r#"
    [script]
    loop = true
    usage = { input = 100, output = 100 }
    [[reply]]
    blocks = [{ call = "count" }, { call = "count" }]
"#;

/// Plays a model that calls for ever; gives the outcome, the requests sent and the calls run.
fn play(tune: impl FnOnce(&mut Parts)) -> (TurnOutcome, usize, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let (outcome, requests) = virtually(async {
        let stage = stage_with(CALLS_FOR_EVER, [counting(&count)], tune).await;
        let outcome = stage.say("hi").await;
        let requests = stage.model.requests().len();
        assert_eq!(stage.model.mismatches(), []);
        // The history is valid: with the limit gone the conversation goes on to the next one.
        let mut settings = stage.parts.settings.clone();
        settings.limits = Limits { rounds: 1, ..Limits::default() };
        stage.session.set_settings(settings).await.unwrap();
        let limit = LimitKind::Rounds;
        assert_eq!(stage.say("go on").await, TurnOutcome::Limit { limit });
        assert_eq!(stage.model.mismatches(), []);
        stage.close().await;
        (outcome, requests)
    });
    (outcome, requests, count.load(Ordering::SeqCst) - 2)
}

fn limit(limit: LimitKind) -> TurnOutcome {
    TurnOutcome::Limit { limit }
}

#[test]
fn rounds_calls_tokens_and_money_end_a_turn() {
    let rounds = play(|parts| parts.settings.limits.rounds = 3);
    assert_eq!(rounds, (limit(LimitKind::Rounds), 3, 6));
    let calls = play(|parts| parts.settings.limits.calls = 5);
    assert_eq!(calls, (limit(LimitKind::Calls), 3, 5));
    let tokens = play(|parts| parts.settings.limits.tokens = 1_000);
    assert_eq!(tokens, (limit(LimitKind::Tokens), 4, 8));
    let money = play(|parts| {
        let (input, output) = (1_000, 1_000);
        let prices = Prices { input, output, cache_write: 0, cache_read: 0, long: None };
        parts.settings.model.prices = Some(prices);
        parts.settings.limits.cost = 1_000_000;
    });
    assert_eq!(money, (limit(LimitKind::Cost), 4, 8));
}

#[test]
fn the_library_stops_after_fifty_rounds() {
    assert_eq!(play(|_| ()), (limit(LimitKind::Rounds), 50, 100));
}

#[test]
fn the_wall_time_ends_a_turn_whatever_it_does() {
    for script in [
        r#"reply = [{ blocks = [{ call = "hang" }] }]"#,
        r#"reply = [{ text = "x", stall = {} }]"#,
        r#"reply = [{ error = { status = 429, message = "later", retry_after = 60 } }]"#,
    ] {
        virtually(async {
            let running = Arc::new(AtomicUsize::new(0));
            let stage = stage_with(script, [hanging(&running)], |parts| {
                parts.settings.limits.wall_millis = 5_000;
            })
            .await;
            assert_eq!(stage.say("hi").await, limit(LimitKind::Wall));
            let passed = stage.parts.clock.now().millis() - 1_000_000;
            assert!((5_000..=5_250).contains(&passed), "{passed} ms");
            stage.close().await;
            assert_eq!(running.load(Ordering::SeqCst), 0);
        });
    }
}

fn repeating() -> Case {
    Case::new(
        r#"
        [script]
        loop = true
        [[reply]]
        blocks = [{ call = "fail", input = { text = "no" } }]
        "#,
    )
    .calls_only()
}

#[test]
fn a_call_that_keeps_failing_is_pointed_out_and_then_ends_the_turn() {
    check(
        repeating().tools([failing()]),
        expect![[r#"
            started 1.1.0 [0] fail {"text":"no"}
            failed 1.1.0 [0] fail 0 ms: no
            started 1.2.0 [0] fail {"text":"no"}
            failed 1.2.0 [0] fail 0 ms: no
            started 1.3.0 [0] fail {"text":"no"}
            failed 1.3.0 [0] fail 0 ms: no
            started 1.4.0 [0] fail {"text":"no"}
            failed 1.4.0 [0] fail 0 ms: no
            failed 1.5.0 [0] fail 0 ms: Not run: this exact call failed 4 times in a row. The turn ends here.
            end of turn 1: Limit { limit: Repeats } ""
            result error: no
            result error: no
            result error: no Note: this exact call has failed 3 times in a row. Calling it again unchanged will fail again; change something or explain what is in the way.
            result error: no
            result error: Not run: this exact call failed 4 times in a row. The turn ends here.
        "#]],
    );
}

#[test]
fn no_limit_of_repeats_is_no_limit() {
    let fails: [TestTool; 1] = [failing()];
    virtually(async {
        let script = r#"
            [script]
            loop = true
            [[reply]]
            blocks = [{ call = "fail", input = { text = "no" } }]
        "#;
        let stage = stage_with(script, fails, |parts| {
            parts.settings.limits.repeats = 0;
            parts.settings.limits.rounds = 12;
        })
        .await;
        assert_eq!(stage.say("hi").await, limit(LimitKind::Rounds));
        stage.close().await;
    });
}

#[test]
fn heartbeats_come_while_nothing_else_is_seen() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "echo" }]
            delay_ms = 70_000
            [[reply]]
            text = "done"
        "#;
        let stage = stage_with(script, [echo()], |parts| parts.heartbeat_millis = 30_000).await;
        let turn = stage.session.turn(Input::text("hi"));
        for _ in 0..3 {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            stage.clock.advance(25_000);
        }
        assert_eq!(turn.await, TurnOutcome::Done);
        // Nothing beats between turns.
        stage.clock.advance(1_000_000);
        let mut lines = stage.close().await;
        lines.retain(|line| line.starts_with("heartbeat"));
        assert_eq!(lines, ["heartbeat 1.1", "heartbeat 1.1"]);
    });
}

#[test]
fn heartbeats_come_though_somebody_keeps_asking() {
    virtually(async {
        let script = "reply = [{ text = \"x\", stall = {} }]";
        let stage = stage_with(script, [], |parts| parts.heartbeat_millis = 30_000).await;
        let turn = stage.session.turn(Input::text("hi"));
        for _ in 0..10 {
            stage.clock.advance(10_000);
            stage.session.state().await.unwrap();
        }
        drop(turn);
        let mut lines = stage.close().await;
        lines.retain(|line| line.starts_with("heartbeat"));
        assert_eq!(lines, ["heartbeat 1.1"; 3]);
    });
}
