//! Permission: nothing runs before it may, and the first answer counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{
    AllowAll, Approver, BoxFuture, Decision, DenyAll, Event, Input, Mode, OpenPermission, Rule,
    RuleEffect, ScriptedApprover, TurnOutcome,
};
use heeler_engine::{DecideError, Parts};

use crate::common::{Case, Stage, check, counting, echo, settled, stage_with, virtually};

const TWO_CALLS: &str = r#"
    [[reply]]
    blocks = [{ call = "count", input = { path = "a" } },
              { call = "count", input = { path = "b" } }]
    [[reply]]
    text = "done"
"#;

const ONE_CALL: &str = r#"
    [[reply]]
    blocks = [{ call = "count", input = { path = "a" } }]
    [[reply]]
    text = "done"
"#;

/// Writing asks, and somebody can be asked.
fn ask(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.interactive = true;
    parts.settings.policy.workspace = "/space".into();
}

/// Plays [`TWO_CALLS`] with this approver; gives how many calls ran.
fn check_approver(approver: impl Approver, ran: usize, expected: expect_test::Expect) {
    let count = Arc::new(AtomicUsize::new(0));
    let writing = counting(&count).writes("/space/a");
    check(
        Case::new(TWO_CALLS).calls_only().tools([writing]).with(|parts| {
            ask(parts);
            parts.approvers = vec![Arc::new(approver)];
        }),
        expected,
    );
    assert_eq!(count.load(Ordering::SeqCst), ran);
}

#[test]
fn allow_all_lets_calls_start_after_they_were_asked_for() {
    check_approver(
        AllowAll,
        2,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by allow-all: Once
            started 1.1.0 [0] count: a
            finished 1.1.0 [0] count 0 ms: counted 1
            decided 1.1.1 by allow-all: Once
            started 1.1.1 [1] count: b
            finished 1.1.1 [1] count 0 ms: counted 2
            end of turn 1: Done "done"
            result ok: counted 1
            result ok: counted 2
        "#]],
    );
}

#[test]
fn deny_all_lets_nothing_start() {
    check_approver(
        DenyAll,
        0,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by deny-all: Deny { reason: None }
            failed 1.1.0 [0] count 0 ms: The user denied this call.
            decided 1.1.1 by deny-all: Deny { reason: None }
            failed 1.1.1 [1] count 0 ms: The user denied this call.
            end of turn 1: Done "done"
            result error: The user denied this call.
            result error: The user denied this call.
        "#]],
    );
}

#[test]
fn scripted_answers_come_in_order_and_then_deny() {
    check_approver(
        ScriptedApprover::new([Decision::Once]),
        1,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by script: Once
            started 1.1.0 [0] count: a
            finished 1.1.0 [0] count 0 ms: counted 1
            decided 1.1.1 by script: Deny { reason: Some("nobody answered the permission request") }
            failed 1.1.1 [1] count 0 ms: The user denied this call: nobody answered the permission request
            end of turn 1: Done "done"
            result ok: counted 1
            result error: The user denied this call: nobody answered the permission request
        "#]],
    );
    let reason = Some("not on Fridays".to_owned());
    check_approver(
        ScriptedApprover::new([Decision::Deny { reason }, Decision::Once]),
        1,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by script: Deny { reason: Some("not on Fridays") }
            failed 1.1.0 [0] count 0 ms: The user denied this call: not on Fridays
            decided 1.1.1 by script: Once
            started 1.1.1 [1] count: b
            finished 1.1.1 [1] count 0 ms: counted 1
            end of turn 1: Done "done"
            result error: The user denied this call: not on Fridays
            result ok: counted 1
        "#]],
    );
}

#[test]
fn deny_and_stop_ends_the_turn() {
    let stop = Decision::DenyAndStop { reason: None };
    check_approver(
        ScriptedApprover::new([stop]),
        0,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by script: DenyAndStop { reason: None }
            failed 1.1.1 [1] count 0 ms: Cancelled before it started; nothing was done.
            failed 1.1.0 [0] count 0 ms: The user denied this call.
            end of turn 1: Denied { reason: "The user denied this call." } ""
            result error: The user denied this call.
            result error: Cancelled before it started; nothing was done.
            --- 1 replies not asked for
        "#]],
    );
}

struct Gone;

impl Approver for Gone {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        Box::pin(async { None })
    }

    fn name(&self) -> &'static str {
        "gone"
    }
}

#[test]
fn an_approver_that_gives_no_answer_denies() {
    check_approver(
        Gone,
        0,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by gone: Deny { reason: Some("nobody answered the permission request") }
            failed 1.1.0 [0] count 0 ms: The user denied this call: nobody answered the permission request
            decided 1.1.1 by gone: Deny { reason: Some("nobody answered the permission request") }
            failed 1.1.1 [1] count 0 ms: The user denied this call: nobody answered the permission request
            end of turn 1: Done "done"
            result error: The user denied this call: nobody answered the permission request
            result error: The user denied this call: nobody answered the permission request
        "#]],
    );
}

/// Looks at the request and never comes to a decision.
struct Undecided;

impl Approver for Undecided {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        Box::pin(std::future::pending())
    }

    fn name(&self) -> &'static str {
        "undecided"
    }
}

#[test]
fn of_several_approvers_the_first_decision_wins() {
    let writing = counting(&Arc::default()).writes("/space/a");
    check(
        Case::new(TWO_CALLS).calls_only().tools([writing]).with(|parts| {
            ask(parts);
            parts.approvers = vec![Arc::new(Undecided), Arc::new(Gone), Arc::new(AllowAll)];
        }),
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by allow-all: Once
            started 1.1.0 [0] count: a
            finished 1.1.0 [0] count 0 ms: counted 1
            decided 1.1.1 by allow-all: Once
            started 1.1.1 [1] count: b
            finished 1.1.1 [1] count 0 ms: counted 2
            end of turn 1: Done "done"
            result ok: counted 1
            result ok: counted 2
        "#]],
    );
}

#[test]
fn what_nobody_decides_expires() {
    let writing = counting(&Arc::default()).writes("/space/a");
    check(
        Case::new(ONE_CALL).calls_only().tools([writing]).with(|parts| {
            ask(parts);
            parts.approvers = vec![Arc::new(Undecided)];
            parts.permission_expiry_millis = 30_000;
            parts.clock = Arc::new(heeler_testkit::VirtualClock::auto(0, 60_000));
        }),
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            decided 1.1.0 by expiry: Deny { reason: Some("the permission request expired before anybody answered it") }
            failed 1.1.0 [0] count 0 ms: The user denied this call: the permission request expired before anybody answer…
            end of turn 1: Done "done"
            result error: The user denied this call: the permission request expired before anybody answered it
        "#]],
    );
}

struct Panicking;

impl Approver for Panicking {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        panic!("the window is gone")
    }

    fn name(&self) -> &'static str {
        "panicking"
    }
}

#[test]
fn an_approver_that_panics_denies() {
    check_approver(
        Panicking,
        0,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            asked 1.1.1 count {"path":"b"} (count: b) Policy("it writes /space/a")
            decided 1.1.0 by panicking: Deny { reason: Some("nobody answered the permission request, since the approver `panicking` crashed") }
            failed 1.1.0 [0] count 0 ms: The user denied this call: nobody answered the permission request, since the ap…
            decided 1.1.1 by panicking: Deny { reason: Some("nobody answered the permission request, since the approver `panicking` crashed") }
            failed 1.1.1 [1] count 0 ms: The user denied this call: nobody answered the permission request, since the ap…
            end of turn 1: Done "done"
            result error: The user denied this call: nobody answered the permission request, since the approver `panicking` crashed
            result error: The user denied this call: nobody answered the permission request, since the approver `panicking` crashed
        "#]],
    );
}

#[test]
fn with_nobody_to_ask_the_call_is_not_allowed() {
    let count = Arc::new(AtomicUsize::new(0));
    check(
        Case::new(TWO_CALLS).calls_only().tools([counting(&count).writes("/space/a")]).with(
            |parts| {
                ask(parts);
                parts.settings.policy.interactive = false;
            },
        ),
        expect![[r#"
            failed 1.1.0 [0] count 0 ms: Not allowed: it writes /space/a, and nobody can be asked.
            failed 1.1.1 [1] count 0 ms: Not allowed: it writes /space/a, and nobody can be asked.
            end of turn 1: Done "done"
            result error: Not allowed: it writes /space/a, and nobody can be asked.
            result error: Not allowed: it writes /space/a, and nobody can be asked.
        "#]],
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_deny_rule_holds_in_every_mode_and_against_every_answer() {
    for mode in [Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed, Mode::Bypass] {
        let count = Arc::new(AtomicUsize::new(0));
        virtually(async {
            let tools = [counting(&count).writes("/space/a")];
            let stage = stage_with(TWO_CALLS, tools, |parts| {
                ask(parts);
                parts.approvers = vec![Arc::new(AllowAll)];
                parts.settings.policy.mode = mode;
                let rule = |effect| Rule::parse("count", effect, "test").unwrap();
                parts.settings.policy.rules =
                    [RuleEffect::Allow, RuleEffect::Deny].map(rule).into();
            })
            .await;
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            stage.close().await;
        });
        assert_eq!(count.load(Ordering::SeqCst), 0, "{mode:?}");
    }
}

/// A running turn of [`TWO_CALLS`] whose two requests are open.
async fn asked(count: &Arc<AtomicUsize>) -> (Stage, heeler_engine::Turn) {
    let tools = [counting(count).writes("/space/a"), echo()];
    let mut stage = stage_with(TWO_CALLS, tools, ask).await;
    let turn = stage.session.turn(Input::text("hi"));
    let is_request = |event: &Event| matches!(event, Event::PermissionRequested(_));
    stage.watcher.until(is_request).await;
    stage.watcher.until(is_request).await;
    (stage, turn)
}

#[test]
fn a_question_that_nobody_watches_waits_for_whoever_looks() {
    virtually(async {
        let count = Arc::default();
        let Stage { session, watcher, .. } =
            stage_with(ONE_CALL, [counting(&count).writes("/space/a")], ask).await;
        drop(watcher);
        let turn = session.turn(Input::text("hi"));
        settled().await;
        let (view, _) = session.subscribe();
        assert_eq!(view.permissions.len(), 1);
        settled().await;
        session.decide(view.permissions[0].id, Decision::Once, "late").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        session.close().await;
    });
}

#[test]
fn a_request_carries_what_somebody_needs_to_decide() {
    virtually(async {
        let (stage, turn) = asked(&Arc::default()).await;
        let open = &stage.watcher.view.permissions[0];
        assert_eq!(
            (open.tool.as_str(), open.input.get(), open.summary.as_str()),
            ("count", r#"{"path":"a"}"#, "count: a")
        );
        drop(turn);
        stage.close().await;
    });
}

#[test]
fn each_waiting_call_goes_on_by_its_own_decision_and_the_first_counts() {
    virtually(async {
        let count = Arc::default();
        let (mut stage, turn) = asked(&count).await;
        let [first, second] = [0, 1].map(|at: usize| stage.watcher.view.permissions[at].id);
        stage.session.decide(second, Decision::Once, "window").await.unwrap();
        let is_finished = |event: &Event| matches!(event, Event::CallFinished { .. });
        stage.watcher.until(is_finished).await;
        assert_eq!(count.load(Ordering::SeqCst), 1, "the second call did not wait for the first");
        let late = stage.session.decide(second, Decision::Deny { reason: None }, "phone").await;
        assert_eq!(late, Err(DecideError::NotOpen(second)));
        stage.session.decide(first, Decision::Deny { reason: None }, "phone").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        let gone = stage.session.decide(first, Decision::Once, "window").await;
        assert_eq!(gone, Err(DecideError::NotOpen(first)));
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let session = stage.session.clone();
        let lines = stage.close().await;
        let closed = session.decide(first, Decision::Once, "window").await;
        assert_eq!(closed, Err(DecideError::Closed));
        let told: Vec<&String> = lines
            .iter()
            .skip_while(|line| !line.starts_with("asked"))
            .take_while(|line| !line.starts_with("user message"))
            .collect();
        expect![[r#"
            [
                "asked 1.1.0 count {\"path\":\"a\"} (count: a) Policy(\"it writes /space/a\")",
                "asked 1.1.1 count {\"path\":\"b\"} (count: b) Policy(\"it writes /space/a\")",
                "decided 1.1.1 by window: Once",
                "started 1.1.1 [1] count: b",
                "finished 1.1.1 [1] count 0 ms: counted 1",
                "decided 1.1.0 by phone: Deny { reason: None }",
                "failed 1.1.0 [0] count 0 ms: The user denied this call.",
            ]
        "#]]
        .assert_debug_eq(&told);
    });
}

#[test]
fn a_rule_for_the_session_answers_what_else_is_open() {
    virtually(async {
        let count = Arc::default();
        let (stage, turn) = asked(&count).await;
        let rule = Rule::parse("count", RuleEffect::Allow, "window").unwrap();
        let id = stage.watcher.view.permissions[0].id;
        stage.session.decide(id, Decision::Session { rule }, "window").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 2);
        stage.close().await;
    });
}

#[test]
fn a_prompt_holds_up_no_call_it_is_not_about() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "count" }, { call = "echo", input = { text = "free" } }]
            [[reply]]
            text = "done"
        "#;
        let count = Arc::default();
        let tools = [counting(&count).writes("/space/a"), echo()];
        let mut stage = stage_with(script, tools, ask).await;
        let turn = stage.session.turn(Input::text("hi"));
        let is_echo = |event: &Event| matches!(event, Event::CallFinished { index: 1, .. });
        stage.watcher.until(is_echo).await;
        let id = stage.watcher.view.permissions[0].id;
        stage.session.decide(id, Decision::Once, "window").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.close().await;
    });
}
