//! When somebody would be asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{
    AllowAll, Decision, DenyAll, Event, HookEvent, HookOutcome, Input, Mode, Rule, RuleEffect,
    TurnOutcome,
};
use heeler_engine::Parts;

use crate::common::{
    allows, asks, broken, check, counting, denies, hook, nothing, one_call, stage_with, stops,
    virtually,
};

fn asking(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.interactive = true;
    parts.settings.policy.workspace = "/space".into();
    parts.approvers = vec![Arc::new(AllowAll)];
}

/// A call that is asked about, a hook that says this, and an approver that allows everything.
fn check_request(outcome: HookOutcome, ran: usize, expected: Expect) {
    let count = Arc::new(AtomicUsize::new(0));
    check(
        one_call("count", "{}").tools([counting(&count).writes("/space/a")]).with(asking).with(
            move |parts| {
                let answer = move |_| std::future::ready(outcome.clone());
                parts.hooks = Some(hook(HookEvent::PermissionRequest, answer));
            },
        ),
        expected,
    );
    assert_eq!(count.load(Ordering::SeqCst), ran);
}

#[test]
fn a_hook_is_heard_before_the_approver() {
    check_request(
        nothing(),
        1,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Continued
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] count {}
        finished 1.1.0 [0] count 0 ms: counted 1
        end of turn 1: Done "done"
        result ok: counted 1
    "#]],
    );
    check_request(
        asks(),
        1,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Asked
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] count {}
        finished 1.1.0 [0] count 0 ms: counted 1
        end of turn 1: Done "done"
        result ok: counted 1
    "#]],
    );
    check_request(
        allows(),
        1,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Allowed
        decided 1.1.0 by the hook `guard`: Once
        started 1.1.0 [0] count {}
        finished 1.1.0 [0] count 0 ms: counted 1
        end of turn 1: Done "done"
        result ok: counted 1
    "#]],
    );
    check_request(
        denies(),
        0,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Denied
        decided 1.1.0 by the hook `guard`: Deny { reason: Some("the hook `guard` denies it: not on Fridays") }
        failed 1.1.0 [0] count 0 ms: Not allowed: the hook `guard` denies it: not on Fridays.
        end of turn 1: Done "done"
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
    "#]],
    );
    check_request(
        stops(),
        0,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Denied
        decided 1.1.0 by the hook `guard`: DenyAndStop { reason: Some("enough") }
        failed 1.1.0 [0] count 0 ms: The hook `guard` stopped the turn: enough
        end of turn 1: Denied { reason: "The hook `guard` stopped the turn: enough" } ""
        result error: The hook `guard` stopped the turn: enough
        --- 1 replies not asked for
    "#]],
    );
}

#[test]
fn a_broken_hook_denies_and_says_that_it_is_broken() {
    check_request(
        broken(),
        0,
        expect![[r#"
        asked 1.1.0 count {} (count {}) Policy("it writes /space/a")
        hook PermissionRequest `guard` of 1.1.0
        hook PermissionRequest `guard` after 0 ms: Broken { why: "it is out of order" }
        decided 1.1.0 by the hook `guard`: Deny { reason: Some("the hook `guard` is broken (it is out of order), so the call was not run; nobody denied it, and trying again helps only once the hook is mended…
        failed 1.1.0 [0] count 0 ms: Not allowed: the hook `guard` is broken (it is out of order), so the call was n…
        end of turn 1: Done "done"
        result error: Not allowed: the hook `guard` is broken (it is out of order), so the call was not run; nobody denied it, and trying again helps only once the hook is mended.
    "#]],
    );
}

/// A prompt that an ask rule wants is answered by a hook, too; a deny rule leaves nothing to ask.
#[test]
fn a_hook_answers_what_a_rule_asks_and_nothing_that_one_denies() {
    for (effect, ran) in [(RuleEffect::Ask, 1), (RuleEffect::Deny, 0)] {
        let count = Arc::new(AtomicUsize::new(0));
        virtually(async {
            let script = "[[reply]]\nblocks = [{ call = \"count\" }]\n[[reply]]\ntext = \"done\"";
            let stage = stage_with(script, [counting(&count)], |parts| {
                asking(parts);
                parts.approvers = vec![Arc::new(DenyAll)];
                parts.settings.policy.rules = vec![Rule::parse("count", effect, "test").unwrap()];
                parts.hooks = Some(hook(HookEvent::PermissionRequest, |_| async { allows() }));
            })
            .await;
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            stage.close().await;
        });
        assert_eq!(count.load(Ordering::SeqCst), ran, "{effect:?}");
    }
}

/// A person at the prompt does not wait for a hook.
#[test]
fn the_first_answer_counts() {
    virtually(async {
        let count = Arc::new(AtomicUsize::new(0));
        let script = "[[reply]]\nblocks = [{ call = \"count\" }]\n[[reply]]\ntext = \"done\"";
        let tools = [counting(&count).writes("/space/a")];
        let mut stage = stage_with(script, tools, |parts| {
            asking(parts);
            parts.hooks = Some(hook(HookEvent::PermissionRequest, |_| std::future::pending()));
        })
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::HookStarted { .. })).await;
        let id = stage.watcher.view.permissions[0].id;
        stage.session.decide(id, Decision::Once, "window").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        stage.close().await;
    });
}
