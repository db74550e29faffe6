//! Calls that touch something else when they are about to start than what they were judged by.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{
    Access, Approver, BoxFuture, Decision, Facts, HookEvent, HookMoment, HookOutcome, Mode,
    OpenPermission, Resource, Rule, RuleEffect, Tool, ToolOutput,
};
use heeler_engine::{Parts, Toolset};
use heeler_tools::Batch;

use crate::common::{Case, TestTool, allows, asks, check, denies, hook, nothing, shown, tool};

/// Where the tools of a test lead to: counted up by whoever changes it.
type Place = Arc<AtomicUsize>;

/// Reads what is in the place right now: `/space/0`, then `/outside/1` and so on.
fn facts(place: &Place) -> Facts {
    let path = match place.load(Ordering::SeqCst) {
        0 => "/space/0".to_owned(),
        n => format!("/outside/{n}"),
    };
    let resources = vec![Resource { key: "place".into(), write: true }];
    Facts { accesses: vec![Access::Read(path)], resources, ..Facts::default() }
}

fn look(place: &Place) -> TestTool {
    let place = Arc::clone(place);
    tool("look", |_, _| async { Ok(ToolOutput::text("looked")) }).facts_now(move || facts(&place))
}

/// Leads the place elsewhere.
fn lead(place: &Place) -> TestTool {
    let place = Arc::clone(place);
    let tool = tool("lead", move |_, _| {
        place.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::text("led")) }
    });
    tool.locks("place")
}

/// Lets everything, and leads the place elsewhere the first times it is asked.
struct Slow {
    place: Place,
    times: usize,
}

impl Approver for Slow {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        if self.place.load(Ordering::SeqCst) < self.times {
            self.place.fetch_add(1, Ordering::SeqCst);
        }
        Box::pin(std::future::ready(Some(Decision::Once)))
    }

    fn name(&self) -> &str {
        "slow"
    }
}

fn interactive(parts: &mut Parts) {
    parts.settings.policy.mode = Mode::Ask;
    parts.settings.policy.interactive = true;
    parts.settings.policy.workspace = "/space".into();
}

fn script(calls: &[&str]) -> String {
    let calls: Vec<String> =
        calls.iter().map(|name| format!("{{ call = \"{name}\", input = {{}} }}")).collect();
    format!("[[reply]]\nblocks = [{}]\n[[reply]]\ntext = \"done\"", calls.join(", "))
}

fn check_calls(calls: &[&str], place: &Place, tune: impl FnOnce(&mut Parts) + 'static, to: Expect) {
    let case = Case::new(&script(calls)).calls_only().tools([look(place), lead(place)]);
    check(case.with(interactive).with(tune), to);
}

#[test]
fn what_an_earlier_call_of_the_batch_led_elsewhere_is_asked_about() {
    let place = Place::default();
    let tune = |parts: &mut Parts| {
        let approver = heeler_core::ScriptedApprover::new([Decision::Deny { reason: None }]);
        parts.approvers = vec![Arc::new(approver)];
    };
    check_calls(
        &["lead", "look"],
        &place,
        tune,
        expect![[r#"
        started 1.1.0 [0] lead {}
        finished 1.1.0 [0] lead 0 ms: led
        asked 1.1.1 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/1")
        decided 1.1.1 by script: Deny { reason: None }
        failed 1.1.1 [1] look 0 ms: The user denied this call.
        end of turn 1: Done "done"
        result ok: led
        result error: The user denied this call.
    "#]],
    );
}

#[test]
fn what_a_rule_denies_by_then_does_not_run() {
    let tune = |parts: &mut Parts| {
        let rule = Rule::parse("Read(//outside/**)", RuleEffect::Deny, "test").unwrap();
        parts.settings.policy.rules.push(rule);
    };
    check_calls(
        &["lead", "look"],
        &Place::default(),
        tune,
        expect![[r#"
        started 1.1.0 [0] lead {}
        finished 1.1.0 [0] lead 0 ms: led
        failed 1.1.1 [1] look 0 ms: Not allowed: the rule Read(//outside/**) (test) denies it.
        end of turn 1: Done "done"
        result ok: led
        result error: Not allowed: the rule Read(//outside/**) (test) denies it.
    "#]],
    );
}

#[test]
fn what_changed_while_somebody_took_their_time_is_asked_about_again() {
    let place = Place::new(1.into());
    let approver = Slow { place: Arc::clone(&place), times: 2 };
    let tune = |parts: &mut Parts| parts.approvers = vec![Arc::new(approver)];
    check_calls(
        &["look"],
        &place,
        tune,
        expect![[r#"
        asked 1.1.0 look {} (look {}) Policy("it reads /outside/1")
        decided 1.1.0 by slow: Once
        asked 1.1.0+1 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/2")
        decided 1.1.0+1 by slow: Once
        started 1.1.0 [0] look {}
        finished 1.1.0 [0] look 0 ms: looked
        end of turn 1: Done "done"
        result ok: looked
    "#]],
    );
}

/// One that leads elsewhere and one that looks, before which hooks say this; nobody can be asked.
fn check_hooked(outcome: HookOutcome, expected: Expect) {
    let place = Place::default();
    let hook = hook(HookEvent::PreToolUse, move |moment| {
        let looks = matches!(&moment, HookMoment::PreToolUse(call) if call.tool == "look");
        std::future::ready(if looks { outcome.clone() } else { nothing() })
    });
    let case =
        Case::new(&script(&["lead", "look"])).calls_only().tools([look(&place), lead(&place)]);
    let case = case.with(interactive).with(|parts| {
        parts.settings.policy.interactive = false;
        parts.hooks = Some(hook);
    });
    let shown = shown(case);
    let results = shown.lines().filter(|line| line.starts_with("result"));
    expected.assert_eq(&results.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn what_a_hook_let_run_is_no_more_let_by_it_once_it_touches_something_else() {
    check_hooked(
        allows(),
        expect![[r#"
        result ok: led
        result error: Not allowed: it reads /outside/1, and nobody can be asked.
    "#]],
    );
    check_hooked(
        denies(),
        expect![[r#"
        result ok: led
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
    "#]],
    );
    check_hooked(
        asks(),
        expect![[r#"
        result ok: led
        result error: Not allowed: the rule look (the hook `guard`) asks, and nobody can be asked.
    "#]],
    );
}

#[test]
fn what_changes_each_time_is_not_run_in_the_end() {
    let place = Place::new(1.into());
    let approver = Slow { place: Arc::clone(&place), times: 100 };
    let tune = |parts: &mut Parts| parts.approvers = vec![Arc::new(approver)];
    check_calls(
        &["look"],
        &place,
        tune,
        expect![[r#"
        asked 1.1.0 look {} (look {}) Policy("it reads /outside/1")
        decided 1.1.0 by slow: Once
        asked 1.1.0+1 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/2")
        decided 1.1.0+1 by slow: Once
        asked 1.1.0+2 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/3")
        decided 1.1.0+2 by slow: Once
        asked 1.1.0+3 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/4")
        decided 1.1.0+3 by slow: Once
        asked 1.1.0+4 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/5")
        decided 1.1.0+4 by slow: Once
        asked 1.1.0+5 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/6")
        decided 1.1.0+5 by slow: Once
        asked 1.1.0+6 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/7")
        decided 1.1.0+6 by slow: Once
        asked 1.1.0+7 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/8")
        decided 1.1.0+7 by slow: Once
        asked 1.1.0+8 look {} (look {}) Policy("what it touches has changed since it was let run: it reads /outside/9")
        decided 1.1.0+8 by slow: Once
        failed 1.1.0 [0] look 0 ms: Not run: what this call touches changed each time it was about to start. End wh…
        end of turn 1: Done "done"
        result error: Not run: what this call touches changed each time it was about to start. End what changes files or runs in the background beside it, then call it again.
    "#]],
    );
}

#[test]
fn what_a_batch_plays_is_looked_up_again_as_well() {
    // What is looked at lies elsewhere once the first call ran, where the second one changes it.
    let place = Place::default();
    let now = Arc::clone(&place);
    let elsewhere = move || {
        let key = format!("place {}", now.load(Ordering::SeqCst));
        Facts { resources: vec![Resource { key, write: false }], ..Facts::default() }
    };
    let look = tool("look", |_, _| async { Ok(ToolOutput::text("looked")) });
    let look = look.read_only().facts_now(elsewhere);
    let change = tool("change", |context, _| async move {
        context.clock.sleep_until(context.clock.now().plus(1_000)).await;
        Ok(ToolOutput::text("changed"))
    });
    let script = r#"
        [[reply]]
        blocks = [{ call = "lead", input = {} },
                  { call = "change", input = {} },
                  { call = "batch", input = { calls = [{ tool = "look", input = {} }] } }]
        [[reply]]
        text = "done"
    "#;
    let lead = lead(&place).locks("place 0").locks("place 1");
    let tools = [look, lead, change.locks("place 1")].map(|tool| Arc::new(tool) as Arc<dyn Tool>);
    let case = Case::new(script).calls_only().with(|parts| {
        let batch = Arc::new(Batch) as Arc<dyn Tool>;
        parts.tools = Toolset::new(tools.into_iter().chain([batch])).unwrap();
    });
    check(
        case,
        expect![[r#"
        started 1.1.0 [0] lead {}
        finished 1.1.0 [0] lead 0 ms: led
        started 1.1.1 [1] change {}
        finished 1.1.1 [1] change 1000 ms: changed
        started 1.1.2 [2] batch {"calls":[{"tool":"look","input":{}}]}
        finished 1.1.2 [2] batch 0 ms: [1] look {}\nlooked
        end of turn 1: Done "done"
        result ok: led
        result ok: changed
        result ok: [1] look {}\n looked
    "#]],
    );
}

#[test]
fn what_nothing_could_have_changed_is_looked_up_once() {
    for (calls, n_asked) in [(&["look"][..], 1), (&["look", "look"], 3)] {
        let (place, asked) = (Place::default(), Arc::default());
        let case = Case::new(&script(calls)).tools([look(&place).counts_facts(&asked)]);
        shown(case.with(interactive));
        assert_eq!(asked.load(Ordering::SeqCst), n_asked, "{calls:?}");
    }
}
