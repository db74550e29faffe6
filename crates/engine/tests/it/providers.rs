//! Failing providers: what is tried again, what ends the turn, and what is taken back.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{
    Event, EventStream, Input, ModelEvent, ModelRequest, Provider, ProviderErrorKind, TurnOutcome,
};

use crate::common::{Case, check, echo, stage, stage_with, virtually};

#[test]
fn a_passing_failure_is_tried_again_after_a_part_of_its_step() {
    check(
        Case::new(
            r#"
            [[reply]]
            error = { status = 529, type = "overloaded_error", message = "busy" }
            [[reply]]
            error = { status = 500, type = "api_error", message = "oops" }
            [[reply]]
            text = "hello"
            "#,
        ),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            attempt 1 failed, next in 500 ms: Overloaded busy
            attempt 1.2
            attempt 2 failed, next in 1000 ms: Server oops
            attempt 1.3
            text 0@0 "hello"
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
fn a_failure_that_stays_ends_the_turn_after_six_attempts() {
    let script = r#"
        [[reply]]
        error = { status = 529, type = "overloaded_error", message = "busy" }
        repeat = 6
    "#;
    virtually(async {
        let stage = stage(script, []).await;
        let outcome = stage.say("hi").await;
        let kind = ProviderErrorKind::Overloaded;
        assert_eq!(outcome, TurnOutcome::ProviderFailed { kind, message: "busy".into() });
        assert_eq!(stage.model.requests().len(), 6);
        // Half of 1 + 2 + 4 + 8 + 16 seconds.
        assert_eq!(stage.parts.clock.now().millis() - 1_000_000, 15_500);
        stage.close().await;
    });
}

#[test]
fn a_failure_that_will_not_pass_is_not_tried_again() {
    check(
        Case::new(
            r#"
            [[reply]]
            error = { status = 401, type = "authentication_error", message = "no such key" }
            "#,
        ),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            attempt 1 failed: Auth no such key
            end of turn 1: ProviderFailed { kind: Auth, message: "no such key" } ""
            ---
            user: hi
        "#]],
    );
}

#[test]
fn the_provider_says_how_long_to_wait() {
    check(
        Case::new(
            r#"
            [[reply]]
            error = { status = 429, type = "rate_limit_error", message = "slow", retry_after = 30 }
            [[reply]]
            text = "hello"
            "#,
        ),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            attempt 1 failed, next in 30500 ms: RateLimit slow
            attempt 1.2
            text 0@0 "hello"
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
fn a_cut_stream_takes_back_what_it_showed_and_is_tried_again() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ text = "the answer is" }, { call = "echo", input = { text = "x" } }]
            cut = { events = 5 }
            [[reply]]
            text = "hello"
            cut = { hard = true }
            [[reply]]
            text = "hello"
            "#,
        )
        .tools([echo()]),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "the answer is"
            usage 10 + 3 of 10 + 3
            attempt 1 failed, next in 500 ms: Format the answer ended without its end marker
            attempt 1.2
            text 0@0 "hello"
            usage 10 + 1 of 20 + 4
            attempt 2 failed, next in 1000 ms: Network the connection broke within the answer
            attempt 1.3
            text 0@0 "hello"
            usage 10 + 5 of 30 + 9
            assistant message
            end of turn 1: Done "hello"
            ---
            user: hi
            assistant: hello
        "#]],
    );
}

#[test]
fn a_retry_discards_the_draft_of_a_view() {
    virtually(async {
        let script = r#"
            [[reply]]
            text = "the answer is"
            cut = {}
            [[reply]]
            text = "hello"
        "#;
        let mut stage = stage(script, []).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::TextDelta { .. })).await;
        let draft = |view: &heeler_core::View| view.turn.as_ref().unwrap().draft.clone();
        assert_eq!(draft(&stage.watcher.view), "the answer is");
        stage.watcher.until(|event| matches!(event, Event::Retry { .. })).await;
        assert_eq!(draft(&stage.watcher.view), "");
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.close().await;
    });
}

#[test]
fn what_failed_attempts_used_is_counted() {
    check(
        Case::new(
            r#"
            [[reply]]
            text = "half"
            usage = { input = 100, output = 50 }
            cut = {}
            [[reply]]
            text = "whole"
            usage = { input = 100, output = 60 }
            "#,
        )
        .with(|parts| {
            parts.settings.model.prices = Some(heeler_core::Prices {
                input: 1_000_000,
                output: 1_000_000,
                cache_write: 0,
                cache_read: 0,
                long: None,
            });
        }),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "half"
            usage 100 + 1 of 100 + 1, $0.1010 of $0.1010
            attempt 1 failed, next in 500 ms: Format the answer ended without its end marker
            attempt 1.2
            text 0@0 "whole"
            usage 100 + 60 of 200 + 61, $0.1600 of $0.2610
            assistant message
            end of turn 1: Done "whole"
            ---
            user: hi
            assistant: whole
        "#]],
    );
}

/// Breaks its promise in the way its field says.
struct Broken(fn() -> EventStream);

impl Provider for Broken {
    fn stream(&self, _: ModelRequest) -> EventStream {
        (self.0)()
    }
}

async fn outcome_with(stream: fn() -> EventStream) -> TurnOutcome {
    let stage = stage_with("reply = [{ text = \"unused\" }]", [], |parts| {
        parts.provider = Arc::new(Broken(stream));
        parts.retry.attempts_max = 1;
    })
    .await;
    let outcome = stage.say("hi").await;
    stage.close().await;
    outcome
}

#[test]
fn a_provider_that_panics_fails_the_turn() {
    virtually(async {
        let outcome = outcome_with(|| panic!("no socket")).await;
        expect![[r#"
            ProviderFailed {
                kind: InvalidRequest,
                message: "the provider's code crashed: no socket",
            }
        "#]]
        .assert_debug_eq(&outcome);
        let later =
            || -> EventStream { Box::pin(futures::stream::poll_fn(|_| panic!("no bytes"))) };
        let outcome = outcome_with(later).await;
        expect![[r#"
            ProviderFailed {
                kind: InvalidRequest,
                message: "the provider's code crashed: no bytes",
            }
        "#]]
        .assert_debug_eq(&outcome);
    });
}

#[test]
fn a_stream_that_just_ends_is_an_error() {
    virtually(async {
        let half = || -> EventStream {
            let text = ModelEvent::TextDelta { block: 0, text: "half".into() };
            Box::pin(futures::stream::iter([Ok(text)]))
        };
        let outcome = outcome_with(half).await;
        expect![[r#"
            ProviderFailed {
                kind: Format,
                message: "the model's answer ended before it was whole",
            }
        "#]]
        .assert_debug_eq(&outcome);
    });
}

#[test]
fn stop_reasons_have_their_outcomes() {
    let outcomes = virtually(async {
        let mut outcomes = Vec::new();
        for stop in ["end_turn", "stop_sequence", "max_tokens", "refusal", "content_filter", "new"]
        {
            let script = format!("reply = [{{ text = \"x\", stop = \"{stop}\" }}]");
            let stage = stage(&script, []).await;
            outcomes.push((stop, stage.say("hi").await));
            stage.close().await;
        }
        outcomes
    });
    expect![[r#"
        [
            (
                "end_turn",
                Done,
            ),
            (
                "stop_sequence",
                Done,
            ),
            (
                "max_tokens",
                Truncated,
            ),
            (
                "refusal",
                Refused,
            ),
            (
                "content_filter",
                Refused,
            ),
            (
                "new",
                Done,
            ),
        ]
    "#]]
    .assert_debug_eq(&outcomes);
}

#[test]
fn a_pause_goes_on_by_itself() {
    check(
        Case::new(
            r#"
            [[reply]]
            text = "one moment"
            stop = "pause"
            [[reply]]
            text = "there"
            "#,
        ),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "one moment"
            usage 10 + 5 of 10 + 5
            assistant message
            attempt 2.1
            text 0@0 "there"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 1: Done "there"
            ---
            user: hi
            assistant: one moment
            assistant: there
        "#]],
    );
}

#[test]
fn a_reply_without_anything_ends_the_turn_with_a_notice() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = []
            [[reply]]
            text = "there"
            "#,
        )
        .says(["hi", "anybody?"]),
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            usage 10 + 5 of 10 + 5
            notice the model replied with nothing; the turn ends here
            end of turn 1: Done ""
            turn 2
            user message
            attempt 1.1
            text 0@0 "there"
            usage 10 + 5 of 20 + 10
            assistant message
            end of turn 2: Done "there"
            ---
            user: hi
            user: anybody?
            assistant: there
        "#]],
    );
}
