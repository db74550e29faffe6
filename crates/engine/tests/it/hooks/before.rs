//! Before a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{
    BoxFuture, HookEvent, HookOutcome, HookRequest, HookVerdict, Hooks, Input, Mode, RawJson, Rule,
    RuleEffect, TurnOutcome,
};
use heeler_engine::Parts;
use heeler_secrets::Secrets;

use crate::common::{
    allows, asks, broken, check, counting, denies, echo, hook, nothing, one_call, settled,
    stage_with, stops, virtually,
};

/// Writes are asked about, and nobody can be.
fn strict(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.workspace = "/space".into();
}

/// One call that writes, in a mode that asks, with a hook before it; gives how often it ran.
fn check_one(outcome: HookOutcome, ran: usize, expected: Expect) {
    let count = Arc::new(AtomicUsize::new(0));
    let guard = hook(HookEvent::PreToolUse, move |_| std::future::ready(outcome.clone()));
    check(
        one_call("count", r#"{ n = 1 }"#)
            .tools([counting(&count).writes("/space/a")])
            .with(strict)
            .with(|parts| parts.hooks = Some(guard)),
        expected,
    );
    assert_eq!(count.load(Ordering::SeqCst), ran);
}

#[test]
fn a_verdict_is_heeded() {
    check_one(
        nothing(),
        0,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Continued
        failed 1.1.0 [0] count 0 ms: Not allowed: it writes /space/a, and nobody can be asked.
        end of turn 1: Done "done"
        result error: Not allowed: it writes /space/a, and nobody can be asked.
    "#]],
    );
    check_one(
        allows(),
        1,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Allowed
        started 1.1.0 [0] count {"n":1}
        finished 1.1.0 [0] count 0 ms: counted 1
        end of turn 1: Done "done"
        result ok: counted 1
    "#]],
    );
    check_one(
        asks(),
        0,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Asked
        failed 1.1.0 [0] count 0 ms: Not allowed: the rule count (the hook `guard`) asks, and nobody can be asked.
        end of turn 1: Done "done"
        result error: Not allowed: the rule count (the hook `guard`) asks, and nobody can be asked.
    "#]],
    );
    check_one(
        denies(),
        0,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Denied
        failed 1.1.0 [0] count 0 ms: Not allowed: the hook `guard` denies it: not on Fridays.
        end of turn 1: Done "done"
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
    "#]],
    );
    check_one(
        stops(),
        0,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Denied
        failed 1.1.0 [0] count 0 ms: The hook `guard` stopped the turn: enough
        end of turn 1: Denied { reason: "The hook `guard` stopped the turn: enough" } ""
        result error: The hook `guard` stopped the turn: enough
        --- 1 replies not asked for
    "#]],
    );
}

#[test]
fn a_broken_hook_blocks_and_says_that_it_is_broken() {
    check_one(
        broken(),
        0,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Broken { why: "it is out of order" }
        failed 1.1.0 [0] count 0 ms: Not allowed: the hook `guard` is broken (it is out of order), so the call was n…
        end of turn 1: Done "done"
        result error: Not allowed: the hook `guard` is broken (it is out of order), so the call was not run; nobody denied it, and trying again helps only once the hook is mended.
    "#]],
    );
}

#[test]
fn texts_go_to_the_model_and_to_the_user() {
    let outcome = HookOutcome {
        context: vec!["count in tens".into(), " ".into()],
        notices: vec!["I saw it".into()],
        ..allows()
    };
    check_one(
        outcome,
        1,
        expect![[r#"
            hook PreToolUse `guard` of 1.1.0
            hook PreToolUse `guard` after 0 ms: Allowed
            notice I saw it
            started 1.1.0 [0] count {"n":1}
            finished 1.1.0 [0] count 0 ms: counted 1
            end of turn 1: Done "done"
            result ok: counted 1 \ncount in tens
        "#]],
    );
}

#[test]
fn secrets_leave_what_hooks_say_before_it_is_seen_or_written() {
    const SECRET: &str = "h0rse-battery-Staple";
    let by = || format!("curl {SECRET}");
    let text = || format!("it is {SECRET}");
    for verdict in [
        HookVerdict::Broken { by: by(), why: text() },
        HookVerdict::Deny { by: by(), reason: text() },
        HookVerdict::Ask { by: by(), reason: Some(text()) },
    ] {
        virtually(async {
            let outcome =
                HookOutcome { verdict, context: vec![text()], notices: vec![text()], input: None };
            let script = "[[reply]]\nblocks = [{ call = \"echo\" }]\n[[reply]]\ntext = \"done\"";
            let stage = stage_with(script, [echo()], |parts| {
                parts.secrets = Arc::new(Secrets::of_variables([("DB_PASSWORD", SECRET)]));
                let answer = move |_| std::future::ready(outcome.clone());
                parts.hooks = Some(hook(HookEvent::PreToolUse, answer));
            })
            .await;
            stage.say("hi").await;
            let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
            let lines = stage.close().await;
            assert!(
                lines.iter().any(|line| line.contains("[redacted: DB_PASSWORD]")),
                "{lines:#?}"
            );
            assert!(!format!("{lines:?} {journal:?}").contains(SECRET), "{lines:#?}\n{journal:#?}");
        });
    }
}

#[test]
fn a_changed_input_is_told_without_secrets() {
    const SECRET: &str = "h0rse-battery-Staple";
    for input in [format!(r#"{{"text":"{SECRET}"}}"#), format!(r#"{{"{SECRET}":1}}"#)] {
        virtually(async {
            let changed = Some(RawJson::parse(&input).unwrap());
            let outcome = HookOutcome { input: changed, ..nothing() };
            let script = "[[reply]]\nblocks = [{ call = \"echo\" }]\n[[reply]]\ntext = \"done\"";
            let stage = stage_with(script, [echo()], |parts| {
                parts.secrets = Arc::new(Secrets::of_variables([("DB_PASSWORD", SECRET)]));
                let answer = move |_| std::future::ready(outcome.clone());
                parts.hooks = Some(hook(HookEvent::PreToolUse, answer));
            })
            .await;
            stage.say("hi").await;
            let state = stage.session.state().await.unwrap();
            let told = heeler_testkit::transcript(state.history.messages().iter().map(Arc::as_ref));
            assert!(told.contains("a hook changed the input of this call"), "{told}");
            assert!(!told.contains(SECRET), "{told}");
            stage.close().await;
        });
    }
}

#[test]
fn a_denial_holds_in_every_mode_and_against_every_rule_and_an_allowance_against_none_that_forbids()
{
    for mode in [Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed, Mode::Bypass] {
        for (outcome, effect) in [
            (denies(), RuleEffect::Allow),
            (broken(), RuleEffect::Allow),
            (allows(), RuleEffect::Deny),
        ] {
            let count = Arc::new(AtomicUsize::new(0));
            virtually(async {
                let script =
                    "[[reply]]\nblocks = [{ call = \"count\" }]\n[[reply]]\ntext = \"done\"";
                let tools = [counting(&count).writes("/space/a")];
                let stage = stage_with(script, tools, |parts| {
                    strict(parts);
                    parts.settings.policy.mode = mode;
                    parts.settings.policy.rules =
                        vec![Rule::parse("count", effect, "test").unwrap()];
                    let outcome = outcome.clone();
                    let answer = move |_| std::future::ready(outcome.clone());
                    parts.hooks = Some(hook(HookEvent::PreToolUse, answer));
                })
                .await;
                assert_eq!(stage.say("hi").await, TurnOutcome::Done);
                stage.close().await;
            });
            assert_eq!(count.load(Ordering::SeqCst), 0, "{mode:?} {outcome:?}");
        }
    }
}

/// The call `echo` of `{"text":"said"}` whose input a hook changes.
fn check_edit(input: &str, expected: Expect) {
    let input = Some(RawJson::parse(input).unwrap());
    let outcome = HookOutcome { input, ..nothing() };
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    check(
        one_call("echo", r#"{ text = "said" }"#).tools([echo().schema(schema)]).with(|parts| {
            let answer = move |_| std::future::ready(outcome.clone());
            parts.hooks = Some(hook(HookEvent::PreToolUse, answer));
        }),
        expected,
    );
}

#[test]
fn a_changed_input_is_checked_again_and_the_model_is_told() {
    check_edit(
        r#"{"text":"changed"}"#,
        expect![[r#"
            hook PreToolUse `guard` of 1.1.0
            hook PreToolUse `guard` after 0 ms: Continued
            started 1.1.0 [0] echo {"text":"changed"}
            finished 1.1.0 [0] echo 0 ms: changed
            end of turn 1: Done "done"
            result ok: changed \nNote: a hook changed the input of this call to {"text":"changed"}
        "#]],
    );
    check_edit(
        r#"{"text":7}"#,
        expect![[r#"
            hook PreToolUse `guard` of 1.1.0
            hook PreToolUse `guard` after 0 ms: Continued
            started 1.1.0 [0] echo {"text":"7"}
            finished 1.1.0 [0] echo 0 ms: 7
            end of turn 1: Done "done"
            result ok: 7 \nNote: `/text` was read as a string. \nNote: a hook changed the input of this call to {"text":"7"}
        "#]],
    );
    check_edit(
        r#"{"words":"changed"}"#,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Continued
        failed 1.1.0 [0] echo 0 ms: a hook changed the input of this call: invalid input for echo: the input: "text…
        end of turn 1: Done "done"
        result error: a hook changed the input of this call: invalid input for echo: the input: "text" is a required property. Nothing was run; call it again with a corrected input
    "#]],
    );
    check_edit(
        r#"{"text":"said"}"#,
        expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Continued
        started 1.1.0 [0] echo {"text":"said"}
        finished 1.1.0 [0] echo 0 ms: said
        end of turn 1: Done "done"
        result ok: said
    "#]],
    );
}

#[test]
fn what_cannot_run_is_nothing_to_ask_about() {
    check(
        one_call("nothing", "{}").tools([echo()]).with(|parts| {
            parts.hooks = Some(hook(HookEvent::PreToolUse, |_| async { denies() }));
        }),
        expect![[r#"
            failed 1.1.0 [0] nothing 0 ms: there is no tool called `nothing`; the tools are echo
            end of turn 1: Done "done"
            result error: there is no tool called `nothing`; the tools are echo
        "#]],
    );
}

struct Panicking {
    in_matches: bool,
    in_future: bool,
}

impl Hooks for Panicking {
    fn matches(&self, event: HookEvent, _: &str) -> bool {
        assert!(!self.in_matches, "no idea");
        event == HookEvent::PreToolUse
    }

    fn run(&self, _: HookRequest) -> BoxFuture<HookOutcome> {
        assert!(self.in_future, "no future");
        Box::pin(async { panic!("no end") })
    }
}

#[test]
fn hooks_that_panic_are_broken() {
    for (in_matches, in_future, says) in
        [(false, false, "no future"), (false, true, "no end"), (true, true, "no end")]
    {
        let count = Arc::new(AtomicUsize::new(0));
        virtually(async {
            let script = "[[reply]]\nblocks = [{ call = \"count\" }]\n[[reply]]\ntext = \"done\"";
            let stage = stage_with(script, [counting(&count)], |parts| {
                parts.hooks = Some(Arc::new(Panicking { in_matches, in_future }));
            })
            .await;
            stage.say("hi").await;
            let lines = stage.close().await;
            let blocked = format!("the hook `hooks` is broken (it crashed: {says})");
            let blocked = &blocked[..blocked.len().min(60)];
            assert!(lines.iter().any(|line| line.contains(blocked)), "{lines:#?}");
        });
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}

/// Hooks of several calls run beside each other, and calls begin in call order where they must.
#[test]
fn hooks_of_one_answer_run_at_once() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "count" }, { call = "count" }, { call = "count" }]
        [[reply]]
        text = "done"
    "#;
    virtually(async {
        let running = Arc::new(AtomicUsize::new(0));
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&running);
        let stage = stage_with(script, [counting(&count)], |parts| {
            parts.hooks = Some(hook(HookEvent::PreToolUse, move |_| {
                seen.fetch_add(1, Ordering::SeqCst);
                std::future::pending()
            }));
        })
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        assert_eq!((running.load(Ordering::SeqCst), count.load(Ordering::SeqCst)), (3, 0));
        // And they are dropped with the turn.
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        stage.close().await;
    });
}
