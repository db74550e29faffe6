//! Calls that their tools look into before somebody is asked about them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    Access, AllowAll, Decision, Facts, HookEvent, Input, Mode, Rule, RuleEffect, ScriptedApprover,
    ToolError, ToolOutput, TurnOutcome,
};
use heeler_engine::Parts;

use crate::common::{
    Case, TestTool, allows, asks, check, denies, field, hook, stage_with, tool, virtually,
};

/// What a tool was asked to look into, in order.
#[derive(Clone, Default)]
struct Looked(Arc<Mutex<Vec<String>>>);

impl Looked {
    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(", ")
    }
}

/// A tool that writes `/space/a` and refuses what it is told to by `refuse`: at once, or when it runs.
fn picky(looked: &Looked) -> TestTool {
    let refuses = |input: &heeler_core::RawJson| match field(input, "refuse") {
        text if text.is_empty() => Ok(()),
        text => Err(ToolError::for_model(text)),
    };
    let looked = looked.clone();
    let tool = tool("edit", move |_, input| async move {
        refuses(&input).map(|()| ToolOutput::text("edited"))
    });
    let tool = tool.checks(move |context, input| {
        looked.0.lock().unwrap().push(context.call.to_string());
        async move { refuses(&input) }
    });
    tool.writes("/space/a")
}

/// Writing asks, somebody can be asked, and lets everything.
fn ask(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.interactive = true;
    parts.settings.policy.workspace = "/space".into();
    parts.approvers = vec![Arc::new(AllowAll)];
}

fn script(inputs: &[&str]) -> String {
    let call = |input: &&str| format!("{{ call = \"edit\", input = {input} }}");
    let calls: Vec<String> = inputs.iter().map(call).collect();
    format!("[[reply]]\nblocks = [{}]\n[[reply]]\ntext = \"done\"", calls.join(", "))
}

const REFUSED: &str = r#"{ refuse = "it was not read" }"#;

/// Plays calls with these inputs; compares what became of them, and how many were looked into.
fn check_calls(
    inputs: &[&str],
    make: impl FnOnce(TestTool) -> TestTool,
    tune: impl FnOnce(&mut Parts) + 'static,
    n_looked: &str,
    expected: Expect,
) {
    let looked = Looked::default();
    let case = Case::new(&script(inputs)).calls_only().tools([make(picky(&looked))]);
    check(case.with(ask).with(tune), expected);
    assert_eq!(looked.take(), n_looked);
}

#[test]
fn what_would_be_refused_is_answered_and_nobody_is_asked() {
    check_calls(
        &[REFUSED],
        |it| it,
        |_| (),
        "1.1.0",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
}

#[test]
fn what_would_not_be_refused_is_asked_about_and_looked_at_again_when_it_runs() {
    check_calls(
        &["{}"],
        |it| it,
        |_| (),
        "1.1.0",
        expect![[r#"
        asked 1.1.0 edit {} (edit {}) Policy("it writes /space/a")
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] edit {}
        finished 1.1.0 [0] edit 0 ms: edited
        end of turn 1: Done "done"
        result ok: edited
    "#]],
    );
}

#[test]
fn calls_that_could_run_beside_each_other_are_each_looked_into() {
    check_calls(
        &[REFUSED, "{}", REFUSED],
        |it| it,
        |_| (),
        "1.1.0, 1.1.1, 1.1.2",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: it was not read
        failed 1.1.2 [2] edit 0 ms: it was not read
        asked 1.1.1 edit {} (edit {}) Policy("it writes /space/a")
        decided 1.1.1 by allow-all: Once
        started 1.1.1 [1] edit {}
        finished 1.1.1 [1] edit 0 ms: edited
        end of turn 1: Done "done"
        result error: it was not read
        result ok: edited
        result error: it was not read
    "#]],
    );
}

#[test]
fn what_an_earlier_call_may_make_right_is_asked_about() {
    check_calls(
        &["{}", REFUSED],
        |it| it.locks("file:/space/a"),
        |_| (),
        "1.1.0",
        expect![[r#"
            asked 1.1.0 edit {} (edit {}) Policy("it writes /space/a")
            asked 1.1.1 edit {"refuse":"it was not read"} (edit {"refuse":"it was not read"}) Policy("it writes /space/a")
            decided 1.1.0 by allow-all: Once
            started 1.1.0 [0] edit {}
            finished 1.1.0 [0] edit 0 ms: edited
            decided 1.1.1 by allow-all: Once
            started 1.1.1 [1] edit {"refuse":"it was not read"}
            failed 1.1.1 [1] edit 0 ms: it was not read
            end of turn 1: Done "done"
            result ok: edited
            result error: it was not read
        "#]],
    );
}

fn rule(effect: RuleEffect, tool: &str) -> impl FnOnce(&mut Parts) + 'static {
    let (tool, argument) = (tool.to_owned(), Some("/**".to_owned()));
    move |parts| {
        let rule = Rule { effect, tool, argument, source: "test".into() };
        parts.settings.policy.rules.push(rule);
    }
}

#[test]
fn a_denial_is_told_first() {
    check_calls(
        &[REFUSED],
        |it| it,
        rule(RuleEffect::Deny, "Edit"),
        "",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: Not allowed: the rule Edit(/**) (test) denies it.
        end of turn 1: Done "done"
        result error: Not allowed: the rule Edit(/**) (test) denies it.
    "#]],
    );
}

#[test]
fn what_may_not_be_read_unasked_is_not_looked_into() {
    let asks = rule(RuleEffect::Ask, "Read");
    check_calls(
        &[REFUSED],
        |it| it,
        asks,
        "",
        expect![[r#"
        asked 1.1.0 edit {"refuse":"it was not read"} (edit {"refuse":"it was not read"}) Policy("it writes /space/a")
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] edit {"refuse":"it was not read"}
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
    let outside = |it: TestTool| {
        it.facts(|facts| {
            let accesses = vec![Access::Write("/elsewhere".into())];
            *facts = Facts { accesses, ..Facts::default() };
        })
    };
    check_calls(
        &[REFUSED],
        outside,
        |_| (),
        "",
        expect![[r#"
        asked 1.1.0 edit {"refuse":"it was not read"} (edit {"refuse":"it was not read"}) Policy("it writes /elsewhere")
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] edit {"refuse":"it was not read"}
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
    let anything = |it: TestTool| it.touches(Access::Opaque("whatever".into()));
    check_calls(
        &[REFUSED],
        anything,
        |_| (),
        "",
        expect![[r#"
        asked 1.1.0 edit {"refuse":"it was not read"} (edit {"refuse":"it was not read"}) Policy("it writes /space/a")
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] edit {"refuse":"it was not read"}
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
}

#[test]
fn where_nobody_is_asked_nothing_is_looked_into() {
    let accepts = |parts: &mut Parts| parts.settings.policy.mode = Mode::AcceptEdits;
    check_calls(
        &[REFUSED],
        |it| it,
        accepts,
        "",
        expect![[r#"
        started 1.1.0 [0] edit {"refuse":"it was not read"}
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
    let alone = |parts: &mut Parts| parts.settings.policy.interactive = false;
    check_calls(
        &[REFUSED],
        |it| it,
        alone,
        "",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: Not allowed: it writes /space/a, and nobody can be asked.
        end of turn 1: Done "done"
        result error: Not allowed: it writes /space/a, and nobody can be asked.
    "#]],
    );
    let plans = |parts: &mut Parts| parts.settings.policy.mode = Mode::Plan;
    check_calls(
        &[REFUSED],
        |it| it,
        plans,
        "",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: Not allowed: plan mode is read-only, and this call writes /space/a.
        end of turn 1: Done "done"
        result error: Not allowed: plan mode is read-only, and this call writes /space/a.
    "#]],
    );
}

#[test]
fn a_hook_is_heard_first() {
    let hooked = |answer: fn() -> heeler_core::HookOutcome| {
        move |parts: &mut Parts| {
            parts.hooks = Some(hook(HookEvent::PreToolUse, move |_| async move { answer() }));
        }
    };
    check_calls(
        &[REFUSED],
        |it| it,
        hooked(asks),
        "1.1.0",
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Asked
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
    check_calls(
        &[REFUSED],
        |it| it,
        hooked(allows),
        "",
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Allowed
        started 1.1.0 [0] edit {"refuse":"it was not read"}
        failed 1.1.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
    "#]],
    );
    check_calls(
        &[REFUSED],
        |it| it,
        hooked(denies),
        "",
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Denied
        failed 1.1.0 [0] edit 0 ms: Not allowed: the hook `guard` denies it: not on Fridays.
        end of turn 1: Done "done"
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
    "#]],
    );
}

#[test]
fn an_input_that_somebody_gave_is_not_looked_into() {
    let input = heeler_core::RawJson::parse(r#"{"refuse":"it was not read"}"#).unwrap();
    let edits = move |parts: &mut Parts| {
        parts.approvers = vec![Arc::new(ScriptedApprover::new([Decision::Edited { input }]))];
    };
    check_calls(
        &["{}"],
        |it| it,
        edits,
        "1.1.0",
        expect![[r#"
            asked 1.1.0 edit {} (edit {}) Policy("it writes /space/a")
            decided 1.1.0 by script: Edited { input: {"refuse":"it was not read"} }
            started 1.1.0 [0] edit {"refuse":"it was not read"}
            failed 1.1.0 [0] edit 0 ms: it was not read
            end of turn 1: Done "done"
            result error: it was not read \nNote: the user changed the input of this call to {"refuse":"it was not read"}
        "#]],
    );
}

#[test]
fn a_look_that_comes_to_nothing_is_followed_by_the_question() {
    let failing: [fn(TestTool) -> TestTool; 4] = [
        |it| it.checks(|_, _| async { panic!("no look today") }),
        |it| it.checks(|_, _| -> std::future::Ready<_> { panic!("not even") }),
        |it| it.checks(|_, _| std::future::pending()),
        |it| it.checks(|_, _| async { Err(ToolError::Internal("it is broken".into())) }),
    ];
    for make in failing {
        let asked = expect![[r#"
            asked 1.1.0 edit {} (edit {}) Policy("it writes /space/a")
            decided 1.1.0 by allow-all: Once
            started 1.1.0 [0] edit {}
            finished 1.1.0 [0] edit 0 ms: edited
            end of turn 1: Done "done"
            result ok: edited
        "#]];
        check_calls(&["{}"], make, |_| (), "", asked);
    }
}

#[test]
fn what_is_refused_again_and_again_is_asked_about_in_the_end() {
    let again = script(&[REFUSED]).replace("[[reply]]\ntext = \"done\"", "");
    let script = format!("{}[[reply]]\ntext = \"done\"", again.repeat(5));
    let looked = Looked::default();
    let case = Case::new(&script).calls_only().tools([picky(&looked)]).with(ask);
    check(
        case,
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: it was not read
        failed 1.2.0 [0] edit 0 ms: it was not read
        failed 1.3.0 [0] edit 0 ms: it was not read
        failed 1.4.0 [0] edit 0 ms: it was not read
        asked 1.5.0 edit {"refuse":"it was not read"} (edit {"refuse":"it was not read"}) Policy("the same call failed 4 times in a row; it writes /space/a")
        decided 1.5.0 by allow-all: Once
        started 1.5.0 [0] edit {"refuse":"it was not read"}
        failed 1.5.0 [0] edit 0 ms: it was not read
        end of turn 1: Done "done"
        result error: it was not read
        result error: it was not read
        result error: it was not read Note: this exact call has failed 3 times in a row. Calling it again unchanged will fail again; change something or explain what is in the way.
        result error: it was not read
        result error: it was not read
    "#]],
    );
    assert_eq!(looked.take(), "1.1.0, 1.2.0, 1.3.0, 1.4.0");
}

#[test]
fn a_refusal_is_without_secrets_and_bounded() {
    let long = format!("{{ refuse = \"sk-ant-api03-{}{}\" }}", "a1B2".repeat(20), " x".repeat(500));
    let short = |parts: &mut Parts| parts.result_chars_max = 200;
    check_calls(
        &[&long],
        |it| it,
        short,
        "1.1.0",
        expect![[r#"
        failed 1.1.0 [0] edit 0 ms: [redacted: Anthropic key] x x x x x x x x x x x x x x x x x x x x x x x x x x x…
        end of turn 1: Done "done"
        result error: [redacted: Anthropic key] x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x \n[... 825 of 1025 characters left out ...]\n x x x x x x x x x x x x x x x x x x x x x x x x x
    "#]],
    );
}

#[test]
fn a_turn_that_is_cancelled_meanwhile_ends_at_once() {
    virtually(async {
        let n_looked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&n_looked);
        let slow = picky(&Looked::default()).checks(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        });
        let stage = stage_with(&script(&["{}"]), [slow], ask).await;
        let turn = stage.session.turn(Input::text("hi"));
        while n_looked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        assert_eq!(n_looked.load(Ordering::SeqCst), 1);
        stage.close().await;
    });
}
