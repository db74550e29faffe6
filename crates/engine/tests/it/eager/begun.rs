//! Which calls begin before the answer is whole.

use std::sync::Arc;

use heeler_core::{Access, Facts, HookEvent, Input, Mode, Rule, RuleEffect, Tool};
use heeler_engine::{Parts, Toolset};
use heeler_tools::Batch;

use super::looks::{Notes, looks, slowly, unfinished};
use crate::common::{TestTool, hook, nothing, settled, stage_with, tool, virtually};

/// The looks that have begun when the answer has fallen silent after these blocks. None of them
/// outlives the turn.
fn check(blocks: &str, tools: impl FnOnce(TestTool) -> TestTool, expected: &str) {
    check_with(blocks, tools, |_| (), expected);
}

fn check_with(
    blocks: &str,
    tools: impl FnOnce(TestTool) -> TestTool,
    tune: impl FnOnce(&mut Parts),
    expected: &str,
) {
    let notes = Notes::default();
    let look = tools(notes.look());
    let other = tool("other", |_, _| std::future::pending());
    let tune = |parts: &mut Parts| {
        slowly(parts);
        tune(parts);
    };
    let begun = virtually(async {
        let stage = stage_with(&unfinished(blocks), [look, other], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        let begun = notes.text();
        drop(turn);
        stage.close().await;
        begun
    });
    assert_eq!(begun, expected, "{blocks}");
}

fn as_it_is(look: TestTool) -> TestTool {
    look
}

fn judged_by(mode: Mode, rules: &[(&str, RuleEffect)]) -> impl FnOnce(&mut Parts) {
    let rules: Vec<Rule> =
        rules.iter().map(|(rule, effect)| Rule::parse(rule, *effect, "test").unwrap()).collect();
    move |parts| {
        let policy = &mut parts.settings.policy;
        policy.mode = mode;
        policy.workspace = "/space".into();
        policy.interactive = true;
        policy.rules = rules;
    }
}

const LOOK: &str = r#"{ call = "look", input = { n = 0 } }"#;
const OTHER: &str = r#"{ call = "other" }"#;

#[test]
fn a_call_in_which_a_hook_wants_a_word_waits() {
    for (event, expected) in [
        (HookEvent::PreToolUse, ""),
        (HookEvent::PostToolUse, ""),
        (HookEvent::PostToolUseFailure, ""),
        (HookEvent::Stop, "+0@0 -0@0"),
    ] {
        let hooked = |parts: &mut Parts| {
            parts.hooks = Some(hook(event, |_| async { nothing() }));
        };
        check_with(LOOK, as_it_is, hooked, expected);
    }
}

#[test]
fn a_call_begins_when_its_input_is_whole() {
    let text = r#"{ text = "I look" }"#;
    check(&format!("{text}, {}", looks(&[250, 0])), as_it_is, "+0@100 +1@200 -1@200 -0@350");
}

#[test]
fn only_what_says_that_it_just_looks() {
    check(LOOK, as_it_is, "+0@0 -0@0");
    // The same facts, but the tool does not declare itself.
    let undeclared = |_| tool("look", |_, _| async { panic!("it ran") }).replay_safe();
    check(LOOK, undeclared, "");
    // Declared, but the facts of the call say otherwise.
    check(LOOK, |look| look.facts(|facts| facts.exclusive = true), "");
    check(LOOK, |look| look.facts(|facts| facts.terminal = true), "");
    check(LOOK, |look| look.facts(|facts| facts.replay_safe = false), "");
    check(LOOK, TestTool::terminal, "");
    check(LOOK, |look| look.locks("file:a"), "");
    check(LOOK, |look| look.shares("file:a"), "+0@0 -0@0");
    check(LOOK, |look| look.touches(Access::Read("/etc/hosts".into())), "+0@0 -0@0");
    for access in [
        Access::Write("/space/a".into()),
        Access::Host("example.com".into()),
        Access::Command("ls".into()),
        Access::Opaque("something".into()),
    ] {
        check(LOOK, |look| look.touches(access), "");
    }
}

#[test]
fn only_what_runs_without_asking() {
    let inside = |look: TestTool| look.touches(Access::Read("/space/a".into()));
    let outside = |look: TestTool| look.touches(Access::Read("/etc/hosts".into()));
    check_with(LOOK, inside, judged_by(Mode::Ask, &[]), "+0@0 -0@0");
    check_with(LOOK, outside, judged_by(Mode::Ask, &[]), "");
    check_with(LOOK, outside, judged_by(Mode::AllowListed, &[]), "");
    let allowed = judged_by(Mode::Ask, &[("Read(//etc/**)", RuleEffect::Allow)]);
    check_with(LOOK, outside, allowed, "+0@0 -0@0");
    let asked = judged_by(Mode::Ask, &[("Read", RuleEffect::Ask)]);
    check_with(LOOK, inside, asked, "");
    let denied = judged_by(Mode::Bypass, &[("Read", RuleEffect::Deny)]);
    check_with(LOOK, inside, denied, "");
}

#[test]
fn only_what_can_run() {
    let wants_n = |look: TestTool| {
        look.schema(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#)
    };
    check(r#"{ call = "look", input = { n = "x" } }"#, wants_n, "");
    // What is put right begins with what it was put right to.
    check(r#"{ call = "look", input = { n = "7" } }"#, wants_n, "+7@0 -7@0");
    check(r#"{ call = "look", input_raw = "{\"n\": 0" }"#, as_it_is, "");
    check(r#"{ call = "unknown" }"#, as_it_is, "");
    check(LOOK, TestTool::panics_in_facts, "");
}

#[test]
fn a_call_that_plays_one_that_touches_something_else_each_time_waits() {
    let batch = r#"{ call = "batch", input = { calls = [{ tool = "look", input = { n = 0 } }] } }"#;
    let with_batch = |parts: &mut Parts| {
        let tools = ["look", "other"].map(|name| Arc::clone(parts.tools.get(name).unwrap()));
        let batch: Arc<dyn Tool> = Arc::new(Batch);
        parts.tools = Toolset::new(tools.into_iter().chain([batch])).unwrap();
        parts.settings.limits.calls = 0;
    };
    check_with(batch, as_it_is, with_batch, "+0@0 -0@0");
    let facts = || Facts { replay_safe: true, ..Facts::default() };
    check_with(batch, move |look| look.facts_now(facts), with_batch, "");
}

#[test]
fn nothing_after_a_call_that_did_not_begin() {
    check(&format!("{LOOK}, {OTHER}, {LOOK}"), as_it_is, "+0@0 -0@0");
    check(&format!("{OTHER}, {LOOK}"), as_it_is, "");
}

#[test]
fn no_more_than_may_run_at_once() {
    let begun = |count: usize| (0..count).map(|n| format!("+{n}@{n}00 -{n}@{n}00 ")).collect();
    let cases: [(u32, usize); 4] = [(2, 2), (32, 32), (33, 32), (0, 32)];
    for (at_once_max, count) in cases {
        let expected: String = begun(count);
        let tune = move |parts: &mut Parts| parts.settings.limits.calls_at_once = at_once_max;
        let expected = expected.trim_end().replace("@000", "@0");
        check_with(&looks(&[0; 34]), as_it_is, tune, &expected);
    }
}

#[test]
fn no_more_than_the_turn_may_call() {
    let tune = |parts: &mut Parts| parts.settings.limits.calls = 1;
    check_with(&looks(&[0, 0]), as_it_is, tune, "+0@0 -0@0");
}

#[test]
fn not_what_failed_too_often_already() {
    let notes = Notes::default();
    let fail = r#"{ call = "look", input = { n = 0, how = "fail" } }"#;
    let mut script = format!("[[reply]]\nblocks = [{fail}]\n").repeat(4);
    script += &unfinished(fail);
    virtually(async {
        let tune = |parts: &mut Parts| parts.settings.policy.interactive = true;
        let stage = stage_with(&script, [notes.look()], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        assert_eq!(notes.begun(0), 4, "{}", notes.text());
        drop(turn);
        stage.close().await;
    });
}
