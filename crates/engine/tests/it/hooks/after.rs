//! After a call.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{HookEvent, HookMoment, HookOutcome, Input, ToolOutput, TurnOutcome};

use crate::common::{
    Case, TestTool, broken, check, denies, echo, failing, hook, nothing, one_call, settled,
    stage_with, stops, tool, virtually,
};

/// One call of the tool, and what is said after it.
fn check_after(
    name: &str,
    tool: TestTool,
    event: HookEvent,
    outcome: HookOutcome,
    expected: Expect,
) {
    check(
        one_call(name, r#"{ text = "said" }"#).tools([tool]).with(move |parts| {
            let answer = move |_| std::future::ready(outcome.clone());
            parts.hooks = Some(hook(event, answer));
        }),
        expected,
    );
}

#[test]
fn what_is_said_stands_in_the_result() {
    let post = HookEvent::PostToolUse;
    check_after(
        "echo",
        echo(),
        post,
        nothing(),
        expect![[r#"
        started 1.1.0 [0] echo {"text":"said"}
        hook PostToolUse `guard` of 1.1.0
        hook PostToolUse `guard` after 0 ms: Continued
        finished 1.1.0 [0] echo 0 ms: said
        end of turn 1: Done "done"
        result ok: said
    "#]],
    );
    check_after(
        "echo",
        echo(),
        post,
        denies(),
        expect![[r#"
        started 1.1.0 [0] echo {"text":"said"}
        hook PostToolUse `guard` of 1.1.0
        hook PostToolUse `guard` after 0 ms: Denied
        finished 1.1.0 [0] echo 0 ms: said\nThe hook `guard` objects to what this call did: not on Fridays
        end of turn 1: Done "done"
        result ok: said \nThe hook `guard` objects to what this call did: not on Fridays
    "#]],
    );
    let context = vec!["it is formatted now".into()];
    check_after(
        "echo",
        echo(),
        post,
        HookOutcome { context, ..nothing() },
        expect![[r#"
        started 1.1.0 [0] echo {"text":"said"}
        hook PostToolUse `guard` of 1.1.0
        hook PostToolUse `guard` after 0 ms: Continued
        finished 1.1.0 [0] echo 0 ms: said\nit is formatted now
        end of turn 1: Done "done"
        result ok: said \nit is formatted now
    "#]],
    );
}

#[test]
fn a_broken_one_changes_nothing() {
    check_after(
        "echo",
        echo(),
        HookEvent::PostToolUse,
        broken(),
        expect![[r#"
        started 1.1.0 [0] echo {"text":"said"}
        hook PostToolUse `guard` of 1.1.0
        hook PostToolUse `guard` after 0 ms: Broken { why: "it is out of order" }
        finished 1.1.0 [0] echo 0 ms: said
        end of turn 1: Done "done"
        result ok: said
    "#]],
    );
}

#[test]
fn one_that_stops_ends_the_turn() {
    check_after(
        "echo",
        echo(),
        HookEvent::PostToolUse,
        stops(),
        expect![[r#"
        started 1.1.0 [0] echo {"text":"said"}
        hook PostToolUse `guard` of 1.1.0
        hook PostToolUse `guard` after 0 ms: Denied
        finished 1.1.0 [0] echo 0 ms: said
        end of turn 1: Denied { reason: "The hook `guard` stopped the turn: enough" } ""
        result ok: said
        --- 1 replies not asked for
    "#]],
    );
}

#[test]
fn a_failure_is_a_moment_of_its_own() {
    check_after(
        "fail",
        failing(),
        HookEvent::PostToolUse,
        denies(),
        expect![[r#"
        started 1.1.0 [0] fail {"text":"said"}
        failed 1.1.0 [0] fail 0 ms: said
        end of turn 1: Done "done"
        result error: said
    "#]],
    );
    check_after(
        "fail",
        failing(),
        HookEvent::PostToolUseFailure,
        denies(),
        expect![[r#"
        started 1.1.0 [0] fail {"text":"said"}
        hook PostToolUseFailure `guard` of 1.1.0
        hook PostToolUseFailure `guard` after 0 ms: Denied
        failed 1.1.0 [0] fail 0 ms: said\nThe hook `guard` objects to what this call did: not on Fridays
        end of turn 1: Done "done"
        result error: said \nThe hook `guard` objects to what this call did: not on Fridays
    "#]],
    );
}

/// Hooks see all of an output; what they add is bounded with it.
#[test]
fn the_output_is_bounded_after_hooks_had_their_say() {
    let long = tool("long", |_, _| async { Ok(ToolOutput::text("0123456789")) });
    check(
        one_call("long", "{}").tools([long]).with(|parts| {
            parts.result_chars_max = 8;
            parts.hooks = Some(hook(HookEvent::PostToolUse, |moment| async move {
                let HookMoment::PostToolUse { output, .. } = moment else { panic!("{moment:?}") };
                HookOutcome { context: vec![output.text_content()], ..nothing() }
            }));
        }),
        expect![[r#"
            started 1.1.0 [0] long {}
            hook PostToolUse `guard` of 1.1.0
            hook PostToolUse `guard` after 0 ms: Continued
            finished 1.1.0 [0] long 0 ms: 012345\n[... 13 of 21 characters left out ...]\n89
            end of turn 1: Done "done"
            result ok: 012345\n[... 13 of 21 characters left out ...]\n89
        "#]],
    );
}

#[test]
fn a_call_that_did_not_run_is_not_told_of() {
    check(
        Case::new("[[reply]]\nblocks = [{ call = \"gone\" }]\n[[reply]]\ntext = \"done\"")
            .calls_only()
            .tools([echo()])
            .with(|parts| {
                parts.hooks = Some(hook(HookEvent::PostToolUseFailure, |_| async { stops() }));
            }),
        expect![[r#"
            failed 1.1.0 [0] gone 0 ms: there is no tool called `gone`; the tools are echo
            end of turn 1: Done "done"
            result error: there is no tool called `gone`; the tools are echo
        "#]],
    );
}

#[test]
fn a_result_is_not_lost_over_what_is_said_of_it() {
    virtually(async {
        let script = "[[reply]]\nblocks = [{ call = \"echo\", input = { text = \"said\" } }]";
        let stage = stage_with(script, [echo()], |parts| {
            parts.hooks = Some(hook(HookEvent::PostToolUse, |_| std::future::pending()));
        })
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        let state = stage.session.state().await.unwrap();
        let told = heeler_testkit::transcript(state.history.messages().iter().map(Arc::as_ref));
        assert!(told.contains("said"), "{told}");
        stage.close().await;
    });
}
