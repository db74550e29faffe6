//! Plan mode through a session: who is asked to leave it, and what the next process goes on with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{
    AllowAll, BoxFuture, Decision, Event, HookEvent, Input, Mode, OpenPermission, ScriptedApprover,
    TurnOutcome,
};
use heeler_engine::{DecideError, Parts, Session};

use crate::common::{Case, allows, check, counting, hook, stage_with, virtually};

const TWO_CALLS: &str = r#"
    [[reply]]
    blocks = [{ call = "count", input = { path = "a" } },
              { call = "count", input = { path = "b" } }]
    [[reply]]
    text = "done"
    [[reply]]
    blocks = [{ call = "count", input = { path = "c" } }]
    [[reply]]
    text = "done"
"#;

fn plan(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Plan;
    parts.settings.policy.interactive = true;
    parts.settings.policy.asks_to_leave_plan = true;
    parts.settings.policy.workspace = "/space".into();
}

fn check_plan(ran: usize, tune: impl FnOnce(&mut Parts) + 'static, expected: expect_test::Expect) {
    let count = Arc::new(AtomicUsize::new(0));
    let writing = counting(&count).writes("/space/a");
    check(Case::new(TWO_CALLS).calls_only().tools([writing]).with(plan).with(tune), expected);
    assert_eq!(count.load(Ordering::SeqCst), ran);
}

#[test]
fn one_answer_leaves_plan_mode_for_all_calls() {
    let left = Decision::LeavePlan { mode: Mode::AcceptEdits };
    check_plan(
        2,
        |parts| parts.approvers = vec![Arc::new(ScriptedApprover::new([left]))],
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) LeavePlan { calls: ["count: a", "count: b"], more: 0 }
            decided 1.1.0 by script: LeavePlan { mode: AcceptEdits }
            started 1.1.0 [0] count: a
            started 1.1.1 [1] count: b
            finished 1.1.0 [0] count 0 ms: counted 1
            finished 1.1.1 [1] count 0 ms: counted 2
            end of turn 1: Done "done"
            result ok: counted 1
            result ok: counted 2
            --- 2 replies not asked for
        "#]],
    );
}

#[test]
fn who_lets_every_call_run_leaves_no_mode() {
    check_plan(
        0,
        |parts| parts.approvers = vec![Arc::new(AllowAll)],
        expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) LeavePlan { calls: ["count: a", "count: b"], more: 0 }
        decided 1.1.0 by allow-all: Deny { reason: None }
        failed 1.1.0 [0] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
        failed 1.1.1 [1] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
        end of turn 1: Done "done"
        result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode.
        result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode.
        --- 2 replies not asked for
    "#]],
    );
}

/// Allows whatever it is asked, as if it were a call, until it is told better.
struct Insisting;

impl heeler_core::Approver for Insisting {
    fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>> {
        let decision = match request.objection {
            None => Decision::Once,
            Some(objection) => Decision::Deny { reason: Some(objection) },
        };
        Box::pin(std::future::ready(Some(decision)))
    }

    fn name(&self) -> &'static str {
        "insisting"
    }
}

#[test]
fn an_answer_about_one_call_is_given_back_and_no_hook_is_asked() {
    check_plan(
        0,
        |parts| {
            parts.approvers = vec![Arc::new(Insisting)];
            parts.hooks =
                Some(hook(HookEvent::PermissionRequest, |_| std::future::ready(allows())));
        },
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) LeavePlan { calls: ["count: a", "count: b"], more: 0 }
            decided 1.1.0 by insisting: Deny { reason: Some("this request is about plan mode: leave it, for ask or accept-edits, or deny") }
            failed 1.1.0 [0] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
            failed 1.1.1 [1] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
            end of turn 1: Done "done"
            result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode: this request is about plan mode: leave it, for ask or accept-edits, or deny
            result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode: this request is about plan mode: leave it, for ask or accept-edits, or deny
            --- 2 replies not asked for
        "#]],
    );
}

#[test]
fn nobody_answers_in_time() {
    check_plan(
        0,
        |parts| {
            parts.approvers = vec![Arc::new(Silent)];
            parts.permission_expiry_millis = 1000;
        },
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) LeavePlan { calls: ["count: a", "count: b"], more: 0 }
            decided 1.1.0 by expiry: Deny { reason: Some("the permission request expired before anybody answered it") }
            failed 1.1.0 [0] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
            failed 1.1.1 [1] count 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a. The user st…
            end of turn 1: Done "done"
            result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode: the permission request expired before anybody answered it
            result error: Not allowed: plan mode is read-only, and this call writes /space/a. The user stays in plan mode: the permission request expired before anybody answered it
            --- 2 replies not asked for
        "#]],
    );
}

struct Silent;

impl heeler_core::Approver for Silent {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        Box::pin(std::future::pending())
    }

    fn name(&self) -> &'static str {
        "silent"
    }
}

#[test]
fn what_was_left_stays_left_in_the_next_process_until_settings_say_plan_again() {
    virtually(async {
        let count = Arc::default();
        let tools = [counting(&count).writes("/space/a")];
        let mut stage = stage_with(TWO_CALLS, tools, plan).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::PermissionRequested(_))).await;
        let id = stage.watcher.view.permissions[0].id;
        let once = stage.session.decide(id, Decision::Once, "window").await;
        assert!(matches!(once, Err(DecideError::Unusable(..))), "{once:?}");
        let left = Decision::LeavePlan { mode: Mode::AcceptEdits };
        stage.session.decide(id, left.clone(), "window").await.unwrap();
        let late = stage.session.decide(id, left, "phone").await;
        assert_eq!(late, Err(DecideError::NotOpen(id)));
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 2);
        let (parts, name) = (stage.parts.clone(), stage.session.id().clone());
        stage.close().await;

        let session = Session::open(parts.clone(), name).await.unwrap();
        let mode = |state: heeler_turn::State| state.settings.policy.mode;
        assert_eq!(mode(session.state().await.unwrap()), Mode::AcceptEdits);
        assert_eq!(session.turn(Input::text("more")).await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 3);
        session.set_settings(parts.settings).await.unwrap();
        assert_eq!(mode(session.state().await.unwrap()), Mode::Plan);
        session.close().await;
    });
}
