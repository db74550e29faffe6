//! Inputs that somebody changes when they are asked: they fit the tool, or nothing is decided.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    Approver, BoxFuture, Decision, Event, HookEvent, HookMoment, Input, Mode, OpenPermission,
    RawJson, ToolOutput, TurnOutcome,
};
use heeler_engine::{DecideError, Parts};

use crate::common::{
    TestTool, check, denies, hook, nothing, one_call, stage_with, tool, virtually,
};

const SCHEMA: &str = r#"{
    "type": "object", "required": ["path"], "additionalProperties": false,
    "properties": { "path": { "type": "string" } }
}"#;

fn ask(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.interactive = true;
    parts.settings.policy.workspace = "/space".into();
}

fn writing(count: &Arc<AtomicUsize>) -> TestTool {
    let count = Arc::clone(count);
    let run = move |_, input: RawJson| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(ToolOutput::text(format!("ran with {}", input.get()))) }
    };
    tool("count", run).schema(SCHEMA).writes("/space/a")
}

fn edited(input: &str) -> Decision {
    Decision::Edited { input: RawJson::parse(input).unwrap() }
}

/// Answers in order, and keeps what it was told of each answer before.
struct Editor {
    answers: Vec<&'static str>,
    told: Arc<Mutex<Vec<Option<String>>>>,
}

impl Approver for Editor {
    fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>> {
        let mut told = self.told.lock().unwrap();
        let answer = self.answers[told.len().min(self.answers.len() - 1)];
        told.push(request.objection);
        Box::pin(std::future::ready(Some(edited(answer))))
    }

    fn name(&self) -> &'static str {
        "editor"
    }
}

/// One call that writes, and an approver that gives these inputs; gives what it was told.
fn check_editor(answers: &[&'static str], ran: usize, expected: Expect) -> Vec<Option<String>> {
    let (count, told) = (Arc::default(), Arc::default());
    let editor = Editor { answers: answers.to_vec(), told: Arc::clone(&told) };
    check(
        one_call("count", r#"{ path = "a" }"#).tools([writing(&count)]).with(|parts| {
            ask(parts);
            parts.approvers = vec![Arc::new(editor)];
        }),
        expected,
    );
    assert_eq!(count.load(Ordering::SeqCst), ran);
    let told = told.lock().unwrap();
    told.clone()
}

#[test]
fn an_input_that_fits_runs_and_one_that_was_evidently_meant_is_put_right() {
    assert_eq!(
        check_editor(
            &[r#"{"path":"b"}"#],
            1,
            expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
        decided 1.1.0 by editor: Edited { input: {"path":"b"} }
        started 1.1.0 [0] count: b
        finished 1.1.0 [0] count 0 ms: ran with {"path":"b"}
        end of turn 1: Done "done"
        result ok: ran with {"path":"b"} \nNote: the user changed the input of this call to {"path":"b"}
    "#]]
        ),
        [None]
    );
    assert_eq!(
        check_editor(
            &[r#"{"path":7}"#],
            1,
            expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
        decided 1.1.0 by editor: Edited { input: {"path":"7"} }
        started 1.1.0 [0] count: 7
        finished 1.1.0 [0] count 0 ms: ran with {"path":"7"}
        end of turn 1: Done "done"
        result ok: ran with {"path":"7"} \nNote: the user changed the input of this call to {"path":"7"}
    "#]]
        ),
        [None]
    );
}

#[test]
fn an_input_that_is_not_another_is_an_approval() {
    assert_eq!(
        check_editor(
            &[r#"{"path":"a"}"#],
            1,
            expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
        decided 1.1.0 by editor: Once
        started 1.1.0 [0] count: a
        finished 1.1.0 [0] count 0 ms: ran with {"path":"a"}
        end of turn 1: Done "done"
        result ok: ran with {"path":"a"}
    "#]]
        ),
        [None]
    );
}

#[test]
fn an_approver_is_told_why_its_input_does_not_fit_and_asked_again() {
    let told = check_editor(
        &[r#"{"pth":"b"}"#, r#"{"path":"b"}"#],
        1,
        expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
        decided 1.1.0 by editor: Edited { input: {"path":"b"} }
        started 1.1.0 [0] count: b
        finished 1.1.0 [0] count 0 ms: ran with {"path":"b"}
        end of turn 1: Done "done"
        result ok: ran with {"path":"b"} \nNote: the user changed the input of this call to {"path":"b"}
    "#]],
    );
    expect![[r#"
        [
            None,
            Some(
                "invalid input for count: the input: \"path\" is a required property; the input: Additional properties are not allowed ('pth' was unexpected). Nothing was run; call it again with a corrected input",
            ),
        ]
    "#]].assert_debug_eq(&told);
}

#[test]
fn what_stands_for_a_secret_is_no_input() {
    let told = check_editor(
        &[r#"{"path":"[redacted: KEY]"}"#, r#"{"path":"\u005bredacted: KEY]"}"#, r#"{"path":"b"}"#],
        1,
        expect![[r#"
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            decided 1.1.0 by editor: Edited { input: {"path":"b"} }
            started 1.1.0 [0] count: b
            finished 1.1.0 [0] count 0 ms: ran with {"path":"b"}
            end of turn 1: Done "done"
            result ok: ran with {"path":"b"} \nNote: the user changed the input of this call to {"path":"b"}
        "#]],
    );
    let [None, Some(first), Some(second)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(first, second);
    expect!["the input holds `[redacted: ...]`, which stands for a secret that was taken out; give the call another input, or deny it"].assert_eq(first);
}

#[test]
fn an_approver_that_never_gives_a_fitting_input_denies() {
    let told = check_editor(
        &["{}"],
        0,
        expect![[r#"
        asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
        decided 1.1.0 by editor: Deny { reason: Some("nobody answered the permission request") }
        failed 1.1.0 [0] count 0 ms: The user denied this call: nobody answered the permission request
        end of turn 1: Done "done"
        result error: The user denied this call: nobody answered the permission request
    "#]],
    );
    assert_eq!(told.len(), 4, "asked once, and three times more");
}

#[test]
fn an_input_that_does_not_fit_is_told_to_whoever_gave_it_and_the_request_stays_open() {
    virtually(async {
        let count = Arc::default();
        let mut stage = stage_with(
            r#"
            [[reply]]
            blocks = [{ call = "count", input = { path = "a" } }]
            [[reply]]
            text = "done"
            "#,
            [writing(&count)],
            ask,
        )
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::PermissionRequested(_))).await;
        let id = stage.watcher.view.permissions[0].id;
        let error = stage.session.decide(id, edited("[]"), "window").await.unwrap_err();
        assert!(matches!(error, DecideError::Unusable(of, _) if of == id));
        expect![[r#"the decision about 1.1.0 cannot be used: invalid input for count: the input: [] is not of type "object". Nothing was run; call it again with a corrected input; the request stays open"#]].assert_eq(&error.to_string());
        assert_eq!(stage.session.state().await.unwrap().view().permissions[0].id, id);
        stage.session.decide(id, edited(r#"{"path":"b"}"#), "window").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        stage.close().await;
    });
}

#[test]
fn a_hook_hears_of_the_new_input_and_what_it_denies_does_not_run() {
    let count = Arc::default();
    let guard = hook(HookEvent::PreToolUse, |moment| {
        let HookMoment::PreToolUse(call) = &moment else { panic!("{moment:?}") };
        let outcome = if call.input.get().contains("secret") { denies() } else { nothing() };
        std::future::ready(outcome)
    });
    let editor = Editor { answers: vec![r#"{"path":"secret"}"#], told: Arc::default() };
    check(
        one_call("count", r#"{ path = "a" }"#).tools([writing(&count)]).with(|parts| {
            ask(parts);
            parts.hooks = Some(guard);
            parts.approvers = vec![Arc::new(editor)];
        }),
        expect![[r#"
            hook PreToolUse `guard` of 1.1.0
            hook PreToolUse `guard` after 0 ms: Continued
            asked 1.1.0 count {"path":"a"} (count: a) Policy("it writes /space/a")
            decided 1.1.0 by editor: Edited { input: {"path":"secret"} }
            hook PreToolUse `guard` of 1.1.0
            hook PreToolUse `guard` after 0 ms: Denied
            failed 1.1.0 [0] count 0 ms: Not allowed: the hook `guard` denies it: not on Fridays.
            end of turn 1: Done "done"
            result error: Not allowed: the hook `guard` denies it: not on Fridays. \nNote: the user changed the input of this call to {"path":"secret"}
        "#]],
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
}
