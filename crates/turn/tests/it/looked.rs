//! Which calls their tools look into first: what somebody would be asked about, what could run at
//! once, and what touches nothing that may not be read.

use std::collections::BTreeMap;

use heeler_core::{CallId, CallPlan};
use heeler_turn::State;
use heeler_turn::state::{Call, CallStatus};

use crate::door::Play;
use crate::toolbox;

/// The plans that are made together, after a script that ends before they are.
fn plans(state: &State) -> BTreeMap<CallId, CallPlan> {
    let calls = state.turn.iter().flat_map(|turn| &turn.calls);
    let unplanned = calls.filter(|call| call.status == CallStatus::Unplanned);
    unplanned.map(|call| (call.id, toolbox::plan(&call.name, &call.input))).collect()
}

/// For each call of the last batch whether it is looked into.
fn looked_into(state: &State, beside: &BTreeMap<CallId, CallPlan>) -> Vec<bool> {
    let plan = |call: &Call| toolbox::plan(&call.name, &call.input);
    let calls = state.turn.iter().flat_map(|turn| &turn.calls);
    calls.map(|call| state.is_looked_into(call.id, &plan(call), beside)).collect()
}

/// What is looked into of the calls that a script leaves unplanned, planned all together.
#[track_caller]
fn check(script: &str, expected: &[bool]) {
    let state = Play::of(script).state;
    assert_eq!(looked_into(&state, &plans(&state)), expected, "{script}");
}

/// The same of an answer after `set`.
#[track_caller]
fn check_reply(set: &str, reply: &str, expected: &[bool]) {
    check(&format!("set {set}\nuser go\nhold\nreply {reply}"), expected);
}

#[test]
fn what_somebody_would_be_asked_about() {
    check_reply("mode=ask", "call write a", &[true]);
    check_reply("mode=bypass", "call write a", &[false]);
    check_reply("mode=ask allow=write", "call write a", &[false]);
    check_reply("mode=ask deny=write", "call write a", &[false]);
    check_reply("mode=ask", "call read a", &[false]);
    // Who may not read unasked is not told what is there.
    check_reply("mode=ask ask=read", "call read a", &[false]);
    check_reply("mode=ask asks=no", "call write a", &[false]);
}

#[test]
fn what_does_nothing_but_read_write_or_go_to_a_host() {
    check_reply("mode=ask", "call bash a", &[false]);
    // A look goes nowhere, so it tells nobody anything.
    check_reply("mode=ask", "call fetch a", &[true]);
    check_reply("mode=ask ask=note", "call note a", &[true]);
}

#[test]
fn what_names_only_what_may_be_read_unasked() {
    check_reply("mode=ask", "call write ../a", &[false]);
    check_reply("mode=ask deny=Read(secret)", "call write secret", &[false]);
    check_reply("mode=ask ask=Read(a)", "call write a | call write b", &[false, true]);
}

#[test]
fn what_hooks_have_their_say_about() {
    check_reply("mode=ask allow=write", "call write hook-ask", &[true]);
    check_reply("mode=ask", "call write hook-deny", &[false]);
    check_reply("mode=ask", "call write hook-allow", &[false]);
}

#[test]
fn what_could_run_at_once() {
    check_reply("mode=ask", "call write a | call write a", &[true, false]);
    check_reply("mode=ask", "call write a | call write b", &[true, true]);
    // Nobody waits for what cannot run.
    check_reply("mode=ask", "call nothing a | call write a", &[false, true]);
    check_reply("mode=ask", "call solo a | call write b", &[false, false]);
    // As long as nobody knows what a call before it is, it may be anything.
    let state = Play::of("set mode=ask\nuser go\nhold\nreply call write a | call write b").state;
    assert_eq!(looked_into(&state, &BTreeMap::new()), [true, false]);
}

#[test]
fn what_nobody_decided_yet() {
    // Who gives another input has decided about it, unless planning changes it once more.
    check("set mode=ask\nuser go\nreply call write a\nhold\nedit 0 b", &[false]);
    check("set mode=ask\nuser go\nreply call write a\nhold\nedit 0 fixme", &[true]);
    let failing = "set mode=ask repeats=3\nuser go";
    let again = "reply call write a\nallow 0\nerror 0 no";
    let asked = "hold\nreply call write";
    check(&format!("{failing}\n{again}\n{asked} a"), &[true]);
    check(&format!("{failing}\n{again}\n{again}\n{again}\n{asked} a"), &[false]);
    check(&format!("{failing}\n{again}\n{again}\n{again}\n{asked} b"), &[true]);
}

#[test]
fn what_is_not_planned_yet() {
    check("set mode=ask\nuser go\nreply call write a", &[false]);
    let state = Play::of("set mode=ask\nuser go\nhold\nreply call write a").state;
    let plan = toolbox::plan("write", &toolbox::input("write", "a"));
    let other = CallId { turn: 1, round: 1, index: 7 };
    assert!(!state.is_looked_into(other, &plan, &BTreeMap::new()));
    assert!(!State::new().is_looked_into(other, &plan, &BTreeMap::new()));
}
