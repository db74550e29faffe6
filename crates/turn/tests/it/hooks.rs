//! Hooks: what was said before a call, about a prompt, at a request, after a call, at the end.

use expect_test::expect;
use heeler_core::{Mode, Policy, Rule, RuleEffect, Verdict};
use heeler_turn::limits::ENDS_REFUSED_MAX;
use heeler_turn::verdict::judge_heeding;

use crate::door::{Play, check};
use crate::toolbox;

#[test]
fn what_is_said_before_a_call_is_heeded() {
    check(
        "set mode=accept-edits
         user go
         reply call write hook-deny | call write hook-broken | call bash hook-allow | call read hook-ask
         allow 3
         done 2 made
         done 3 text
         reply So.",
        expect![[r#"
            set mode=accept-edits
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call write hook-deny | call write hook-broken | call bash hook-allow | call read hook-ask
                call 0 failed: Not allowed: the hook `guard` denies it: so it says.
                call 1 failed: Not allowed: the hook `guard` is broken (it timed out), so the call was not run…
              > run 2 bash [rule bash (the hook `guard`)], ask 3 read (the rule read (the hook `guard`: so it says) asks)
            allow 3
              > run 2 bash [rule bash (the hook `guard`)]
            done 2 made
              > run 3 read [decision of person]
            done 3 text
              > model 1.2.1
            reply So.
                turn 1 ended done: So.
              > idle
            ---
            user: go
            model: <w1 write {"path":"hook-deny"}> + <w2 write {"path":"hook-broken"}> + <w3 bash {"command":"hook-allow"}> + <w4 read {"path":"hook-ask"}>
            user: <w1! = Not allowed: the hook `guard` denies it: so it says.> + <w2! = Not allowed: the hook `guard` is broken (it timed out), so the call was not run; nobody denied it, and trying again hel…> + <w3 = made> + <w4 = text>
            model: So.
        "#]],
    );
}

#[test]
fn a_hook_that_stops_ends_the_turn_and_what_has_not_started() {
    check(
        "set mode=ask
         user go
         hold
         reply call read a | call bash make | call note hook-stop
         step
         go
         done 0 text",
        expect![[r#"
            set mode=ask
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            hold
              > model 1.1.1
            reply call read a | call bash make | call note hook-stop
              > plan 0 read, plan 1 bash, plan 2 note
            step
              > run 0 read [reads in the workspace are allowed], plan 1 bash, plan 2 note
            go
                call 1 failed: Cancelled before it started; nothing was done.
                call 2 failed: The hook `guard` stopped the turn: so it says
              > run 0 read [reads in the workspace are allowed]
            done 0 text
                turn 1 ended denied (The hook `guard` stopped the turn: so it says)
              > idle
            ---
            user: go
            model: <w1 read {"path":"a"}> + <w2 bash {"command":"make"}> + <w3 note {"text":"hook-stop"}>
            user: <w1 = text> + <w2! = Cancelled before it started; nothing was done.> + <w3! = The hook `guard` stopped the turn: so it says>
        "#]],
    );
}

#[test]
fn a_request_is_answered_by_a_hook_as_by_a_person() {
    check(
        "set mode=ask
         user go
         reply call bash a | call bash b | call bash c | call bash d
         hook PermissionRequest continue 0
         hook PermissionRequest allow 0
         hook PermissionRequest deny 1
         hook PermissionRequest broken 2
         allow 3
         hook PermissionRequest deny 3
         done 0 a
         done 3 d
         reply So.",
        expect![[r#"
            set mode=ask
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash a | call bash b | call bash c | call bash d
              > ask 0 bash (it runs the command `a`), ask 1 bash (it runs the command `b`), ask 2 bash (it runs the command `c`), ask 3 bash (it runs the command `d`)
            hook PermissionRequest continue 0
              > ask 0 bash (it runs the command `a`), ask 1 bash (it runs the command `b`), ask 2 bash (it runs the command `c`), ask 3 bash (it runs the command `d`)
            hook PermissionRequest allow 0
                allowed 0 by the hook `guard`
              > run 0 bash [decision of the hook `guard`], ask 1 bash (it runs the command `b`), ask 2 bash (it runs the command `c`), ask 3 bash (it runs the command `d`)
            hook PermissionRequest deny 1
                answered 1 by the hook `guard`
                call 1 failed: Not allowed: the hook `guard` denies it: so it says.
              > run 0 bash [decision of the hook `guard`], ask 2 bash (it runs the command `c`), ask 3 bash (it runs the command `d`)
            hook PermissionRequest broken 2
                answered 2 by the hook `guard`
                call 2 failed: Not allowed: the hook `guard` is broken (it timed out), so the call was not run…
              > run 0 bash [decision of the hook `guard`], ask 3 bash (it runs the command `d`)
            allow 3
              > run 0 bash [decision of the hook `guard`], run 3 bash [decision of person]
            hook PermissionRequest deny 3
              > run 0 bash [decision of the hook `guard`], run 3 bash [decision of person]
            done 0 a
              > run 3 bash [decision of person]
            done 3 d
              > model 1.2.1
            reply So.
                turn 1 ended done: So.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"a"}> + <w2 bash {"command":"b"}> + <w3 bash {"command":"c"}> + <w4 bash {"command":"d"}>
            user: <w1 = a> + <w2! = Not allowed: the hook `guard` denies it: so it says.> + <w3! = Not allowed: the hook `guard` is broken (it timed out), so the call was not run; nobody denied it, and trying again hel…> + <w4 = d>
            model: So.
            misfits: 1
        "#]],
    );
    check(
        "set mode=ask
         user go
         reply call bash a | call bash b
         hook PermissionRequest stop 0",
        expect![[r#"
            set mode=ask
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash a | call bash b
              > ask 0 bash (it runs the command `a`), ask 1 bash (it runs the command `b`)
            hook PermissionRequest stop 0
                answered 0 by the hook `guard`
                call 1 failed: Cancelled before it started; nothing was done.
                call 0 failed: The hook `guard` stopped the turn: so it says
                turn 1 ended denied (The hook `guard` stopped the turn: so it says)
              > idle
            ---
            user: go
            model: <w1 bash {"command":"a"}> + <w2 bash {"command":"b"}>
            user: <w1! = The hook `guard` stopped the turn: so it says> + <w2! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn a_hook_does_not_lift_a_rule_that_came_since_it_was_asked() {
    check(
        "set mode=ask
         user go
         reply call bash a
         set deny=bash
         hook PermissionRequest allow 0
         reply So.",
        expect![[r#"
            set mode=ask
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash a
              > ask 0 bash (it runs the command `a`)
            set deny=bash
                call 0 failed: Not allowed: the rule bash (test) denies it.
              > model 1.2.1
            hook PermissionRequest allow 0
              > model 1.2.1
            reply So.
                turn 1 ended done: So.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"a"}>
            user: <w1! = Not allowed: the rule bash (test) denies it.>
            model: So.
            misfits: 1
        "#]],
    );
}

#[test]
fn a_prompt_that_is_not_let_through_is_a_turn_without_words() {
    check(
        "user hi
         reply Hello.
         hook UserPromptSubmit deny
         user again
         hook UserPromptSubmit deny
         reply Once more.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply Hello.
                turn 1 ended done: Hello.
              > idle
            hook UserPromptSubmit deny
                turn 2 ended denied (the hook `guard` did not let the input through: so it says)
              > idle
            user again
              > model 3.1.1
            hook UserPromptSubmit deny
                notice: the hook `guard` did not let the input through: so it says
              > model 3.1.1
            reply Once more.
                turn 3 ended done: Once more.
              > idle
            ---
            user: hi
            model: Hello.
            user: again
            model: Once more.
        "#]],
    );
}

#[test]
fn after_a_call_a_hook_can_end_the_turn() {
    check(
        "user go
         reply call note a | call note b
         hook PostToolUse stop 0
         done 0 a
         done 1 b
         hook PostToolUse stop 1",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            reply call note a | call note b
              > run 0 note [mode bypass], run 1 note [mode bypass]
            hook PostToolUse stop 0
              > run 0 note [mode bypass], run 1 note [mode bypass]
            done 0 a
              > run 1 note [mode bypass]
            done 1 b
                turn 1 ended denied (The hook `guard` stopped the turn: so it says)
              > idle
            hook PostToolUse stop 1
              > idle
            ---
            user: go
            model: <w1 note {"text":"a"}> + <w2 note {"text":"b"}>
            user: <w1 = a> + <w2 = b>
            misfits: 1
        "#]],
    );
}

#[test]
fn the_end_of_a_turn_can_be_refused() {
    check(
        "user go
         hold
         reply I am done.
         hook Stop deny
         go
         reply Now I am.
         hook Stop deny",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            hold
              > model 1.1.1
            reply I am done.
              > finish done
            hook Stop deny
                notice: the hook `guard` does not let the turn end yet: so it says
              > model 1.2.1
            go
              > model 1.2.1
            reply Now I am.
                turn 1 ended done: Now I am.
              > idle
            hook Stop deny
              > idle
            ---
            user: go
            model: I am done.
            user: The hook `guard` does not let the turn end yet: so it says
            model: Now I am.
            misfits: 1
        "#]],
    );
}

/// A call that ends the turn has ended its round: the next one is the second.
#[test]
fn the_end_by_a_call_can_be_refused_too() {
    check(
        "user go
         reply call finish a
         hold
         done 0 a
         hook Stop deny
         go
         reply Now I am.",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            reply call finish a
              > run 0 finish [mode bypass]
            hold
              > run 0 finish [mode bypass]
            done 0 a
              > finish done
            hook Stop deny
                notice: the hook `guard` does not let the turn end yet: so it says
              > model 1.2.1
            go
              > model 1.2.1
            reply Now I am.
                turn 1 ended done: Now I am.
              > idle
            ---
            user: go
            model: <w1 finish {"text":"a"}>
            user: <w1 = a>
            user: The hook `guard` does not let the turn end yet: so it says
            model: Now I am.
        "#]],
    );
}

#[test]
fn the_end_is_refused_only_so_often() {
    let mut play = Play::of("set rounds=0\nuser go\nhold");
    for n in 0..=ENDS_REFUSED_MAX {
        for line in ["go", "hold", "reply Done.", "hook Stop deny"] {
            play.line(line);
        }
        let refused = play.state.turn.as_ref().unwrap().ends_refused;
        assert_eq!(
            (refused, play.state.misfits),
            match n {
                ENDS_REFUSED_MAX => (ENDS_REFUSED_MAX, 1),
                n => (n + 1, 0),
            }
        );
    }
}

/// What is judged of a command in a mode, with rules on all of the tool, when a hook wants `wish`.
fn judged(mode: Mode, rules: &[RuleEffect], wish: &str) -> &'static str {
    let rule = |effect: &RuleEffect| Rule::parse("bash", *effect, "test").unwrap();
    let rules = rules.iter().map(rule).collect();
    let policy = Policy { mode, rules, interactive: true, ..Policy::default() };
    let facts = toolbox::facts("bash", "make").unwrap();
    match judge_heeding(&policy, &[], "bash", &facts, Some(&toolbox::hook(wish))).verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

#[test]
fn a_hook_weighs_as_much_as_a_rule_and_its_denial_more() {
    use RuleEffect::{Allow, Ask, Deny};
    for mode in [Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed, Mode::Bypass] {
        for rules in [&[][..], &[Allow], &[Ask], &[Allow, Ask], &[Deny], &[Allow, Deny]] {
            for wish in ["deny", "broken", "stop"] {
                assert_eq!(judged(mode, rules, wish), "deny", "{mode:?} {rules:?} {wish}");
            }
            let without = judged(mode, rules, "continue");
            let with = |extra| judged(mode, &[rules, &[extra]].concat(), "continue");
            assert_eq!(judged(mode, rules, "allow"), with(Allow), "{mode:?} {rules:?}");
            assert_eq!(judged(mode, rules, "ask"), with(Ask), "{mode:?} {rules:?}");
            // What a rule denies or asks about is not allowed by a hook.
            if rules.contains(&Deny) || (rules.contains(&Ask) && mode != Mode::Bypass) {
                assert_eq!(judged(mode, rules, "allow"), without, "{mode:?} {rules:?}");
            }
        }
    }
    assert_eq!(judged(Mode::Ask, &[], "continue"), "ask");
    assert_eq!(judged(Mode::Ask, &[], "allow"), "allow");
    assert_eq!(judged(Mode::Plan, &[], "allow"), "deny");
    assert_eq!(judged(Mode::AllowListed, &[], "allow"), "allow");
    assert_eq!(judged(Mode::AllowListed, &[Allow], "ask"), "deny");
}
