//! Plan mode: left by one decision about all calls of an answer, or not at all.

use expect_test::expect;

use crate::door::check;

#[test]
fn one_request_names_all_that_plan_mode_denies_and_the_rest_goes_on() {
    check(
        "set mode=plan deny=bash(rm:*)
         user build
         reply call read a | call write b | call bash rm x | call bash make | call write c
         done 0 text
         leave 1 accept-edits
         done 1 written
         allow 3
         done 3 built
         done 4 written
         reply call write d
         done 0 written
         reply Built.",
        expect![[r#"
            set mode=plan deny=bash(rm:*)
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call read a | call write b | call bash rm x | call bash make | call write c
                call 2 failed: Not allowed: the rule bash(rm:*) (test) denies it.
              > run 0 read [reads in the workspace are allowed], ask 1 write (leave plan mode: write: b, bash: make, write: c, 0 more)
            done 0 text
              > ask 1 write (leave plan mode: write: b, bash: make, write: c, 0 more)
            leave 1 accept-edits
              > run 1 write [mode accept-edits], ask 3 bash (it runs the command `make`)
            done 1 written
              > ask 3 bash (it runs the command `make`)
            allow 3
              > run 3 bash [decision of person]
            done 3 built
              > run 4 write [mode accept-edits]
            done 4 written
              > model 1.2.1
            reply call write d
              > run 0 write [mode accept-edits]
            done 0 written
              > model 1.3.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 read {"path":"a"}> + <w2 write {"path":"b"}> + <w3 bash {"command":"rm x"}> + <w4 bash {"command":"make"}> + <w5 write {"path":"c"}>
            user: <w1 = text> + <w2 = written> + <w3! = Not allowed: the rule bash(rm:*) (test) denies it.> + <w4 = built> + <w5 = written>
            model: <w6 write {"path":"d"}>
            user: <w6 = written>
            model: Built.
        "#]],
    );
}

#[test]
fn whoever_stays_says_why_and_every_call_is_told() {
    check(
        "set mode=plan
         user build
         reply call write b | call bash make
         deny 0 not before lunch
         reply call write b
         deny 0
         reply Then not.",
        expect![[r#"
            set mode=plan
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b | call bash make
              > ask 0 write (leave plan mode: write: b, bash: make, 0 more)
            deny 0 not before lunch
                call 0 failed: Not allowed: plan mode is read-only, and this call writes /w/b. The user stays …
                call 1 failed: Not allowed: plan mode is read-only, and this call runs the command `make`. The…
              > model 1.2.1
            reply call write b
              > ask 0 write (leave plan mode: write: b, 0 more)
            deny 0
                call 0 failed: Not allowed: plan mode is read-only, and this call writes /w/b. The user stays …
              > model 1.3.1
            reply Then not.
                turn 1 ended done: Then not.
              > idle
            ---
            user: build
            model: <w1 write {"path":"b"}> + <w2 bash {"command":"make"}>
            user: <w1! = Not allowed: plan mode is read-only, and this call writes /w/b. The user stays in plan mode: not before lunch> + <w2! = Not allowed: plan mode is read-only, and this call runs the command `make`. The user stays in plan mode: not before lun…>
            model: <w3 write {"path":"b"}>
            user: <w3! = Not allowed: plan mode is read-only, and this call writes /w/b. The user stays in plan mode.>
            model: Then not.
        "#]],
    );
}

#[test]
fn whoever_stays_may_end_the_turn() {
    check(
        "set mode=plan ask=note
         user build
         reply call read a | call write b | call bash make | call note
         stop 1 enough
         done 0 text",
        expect![[r#"
            set mode=plan ask=note
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call read a | call write b | call bash make | call note
              > run 0 read [reads in the workspace are allowed], ask 1 write (leave plan mode: write: b, bash: make, 0 more), ask 3 note (the rule note (test) asks)
            stop 1 enough
                call 1 failed: Not allowed: plan mode is read-only, and this call writes /w/b. The user stays …
                call 2 failed: Not allowed: plan mode is read-only, and this call runs the command `make`. The…
                call 3 failed: Cancelled before it started; nothing was done.
              > run 0 read [reads in the workspace are allowed]
            done 0 text
                turn 1 ended denied (The user stays in plan mode: enough)
              > idle
            ---
            user: build
            model: <w1 read {"path":"a"}> + <w2 write {"path":"b"}> + <w3 bash {"command":"make"}> + <w4 note {}>
            user: <w1 = text> + <w2! = Not allowed: plan mode is read-only, and this call writes /w/b. The user stays in plan mode: enough> + <w3! = Not allowed: plan mode is read-only, and this call runs the command `make`. The user stays in plan mode: enough> + <w4! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn what_is_no_answer_to_the_question_changes_nothing() {
    check(
        "set mode=plan
         user build
         reply call write b
         allow 0
         session 0 write
         edit 0 c
         leave 0 bypass
         hook PermissionRequest allow 0
         interrupt
         set mode=ask
         user build
         reply call write b
         leave 0 ask
         interrupt",
        expect![[r#"
            set mode=plan
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b
              > ask 0 write (leave plan mode: write: b, 0 more)
            allow 0
              > ask 0 write (leave plan mode: write: b, 0 more)
            session 0 write
              > ask 0 write (leave plan mode: write: b, 0 more)
            edit 0 c
              > ask 0 write (leave plan mode: write: b, 0 more)
            leave 0 bypass
              > ask 0 write (leave plan mode: write: b, 0 more)
            hook PermissionRequest allow 0
              > ask 0 write (leave plan mode: write: b, 0 more)
            interrupt
                call 0 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            set mode=ask
              > idle
            user build
              > model 2.1.1
            reply call write b
              > ask 0 write (it writes /w/b)
            leave 0 ask
              > ask 0 write (it writes /w/b)
            interrupt
                call 0 failed: Cancelled before it started; nothing was done.
                turn 2 ended cancelled
              > idle
            ---
            user: build
            model: <w1 write {"path":"b"}>
            user: <w1! = Cancelled before it started; nothing was done.>
            user: build
            model: <w2 write {"path":"b"}>
            user: <w2! = Cancelled before it started; nothing was done.>
            misfits: 6
        "#]],
    );
}

#[test]
fn a_mode_that_was_left_is_left_after_a_crash_and_a_request_is_asked_again() {
    check(
        "set mode=plan
         user build
         reply call write b | call write c
         crash
         leave 0 ask
         crash
         allow 0
         deny 1
         done 0 written
         reply call write d
         interrupt",
        expect![[r#"
            set mode=plan
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b | call write c
              > ask 0 write (leave plan mode: write: b, write: c, 0 more)
            crash
              > ask 0 write (leave plan mode: write: b, write: c, 0 more)
            leave 0 ask
              > ask 0 write (it writes /w/b), ask 1 write (it writes /w/c)
            crash
              > ask 0 write (it writes /w/b), ask 1 write (it writes /w/c)
            allow 0
              > run 0 write [decision of person], ask 1 write (it writes /w/c)
            deny 1
                call 1 failed: The user denied this call.
              > run 0 write [decision of person]
            done 0 written
              > model 1.2.1
            reply call write d
              > ask 0 write (it writes /w/d)
            interrupt
                call 0 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            ---
            user: build
            model: <w1 write {"path":"b"}> + <w2 write {"path":"c"}>
            user: <w1 = written> + <w2! = The user denied this call.>
            model: <w3 write {"path":"d"}>
            user: <w3! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn other_settings_answer_the_request() {
    check(
        "set mode=plan
         user build
         reply call write b | call bash make
         set mode=accept-edits
         done 0 written
         set mode=plan
         reply call write b",
        expect![[r#"
            set mode=plan
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b | call bash make
              > ask 0 write (leave plan mode: write: b, bash: make, 0 more)
            set mode=accept-edits
                answered 0 by the session's settings
              > run 0 write [mode accept-edits], ask 1 bash (it runs the command `make`)
            done 0 written
              > ask 1 bash (it runs the command `make`)
            set mode=plan
                call 1 failed: Not allowed: plan mode is read-only, and this call runs the command `make`.
              > model 1.2.1
            reply call write b
              > ask 0 write (leave plan mode: write: b, 0 more)
            ---
            user: build
            model: <w1 write {"path":"b"}> + <w2 bash {"command":"make"}>
            user: <w1 = written> + <w2! = Not allowed: plan mode is read-only, and this call runs the command `make`.>
            model: <w3 write {"path":"b"}>
        "#]],
    );
}

#[test]
fn a_request_goes_on_without_the_call_that_carried_it() {
    check(
        "set mode=plan
         user build
         reply call write b | call bash make
         set deny=write
         leave 1 ask
         interrupt",
        expect![[r#"
            set mode=plan
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b | call bash make
              > ask 0 write (leave plan mode: write: b, bash: make, 0 more)
            set deny=write
                call 0 failed: Not allowed: the rule write (test) denies it.
              > ask 1 bash (leave plan mode: bash: make, 0 more)
            leave 1 ask
              > ask 1 bash (it runs the command `make`)
            interrupt
                call 1 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            ---
            user: build
            model: <w1 write {"path":"b"}> + <w2 bash {"command":"make"}>
            user: <w1! = Not allowed: the rule write (test) denies it.> + <w2! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn with_nobody_to_ask_plan_mode_denies() {
    check(
        "set mode=plan asks=no
         user build
         reply call write b
         reply Then not.",
        expect![[r#"
            set mode=plan asks=no
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call write b
                call 0 failed: Not allowed: plan mode is read-only, and this call writes /w/b.
              > model 1.2.1
            reply Then not.
                turn 1 ended done: Then not.
              > idle
            ---
            user: build
            model: <w1 write {"path":"b"}>
            user: <w1! = Not allowed: plan mode is read-only, and this call writes /w/b.>
            model: Then not.
        "#]],
    );
}

#[test]
fn a_request_names_so_many_calls_and_counts_the_rest() {
    use heeler_core::PermissionReason;
    use heeler_turn::limits::PLAN_CALLS_NAMED_MAX;

    let calls: Vec<String> =
        (0..PLAN_CALLS_NAMED_MAX + 3).map(|n| format!("call write {n}")).collect();
    let play = crate::door::Play::of(&format!(
        "set mode=plan
         user build
         reply {}",
        calls.join(" | ")
    ));
    let open = play.state.view().permissions;
    let [open] = open.as_slice() else { panic!("{open:?}") };
    let PermissionReason::LeavePlan { calls, more } = &open.reason else { panic!("{open:?}") };
    assert_eq!((calls.len(), *more, &open.offer), (PLAN_CALLS_NAMED_MAX, 3, &None));
}

#[test]
fn plan_mode_holds_in_a_process_whose_settings_say_so_unless_it_was_left() {
    use heeler_core::{Mode, Settings};

    let mut own = Settings::default();
    own.policy.mode = Mode::Plan;
    let mode = |script: &str| {
        let play = crate::door::Play::of(script);
        play.state.settings_to_go_on_with(own.clone()).policy.mode
    };
    let asked = "set mode=plan
                 user build
                 reply call write b";
    assert_eq!(mode(asked), Mode::Plan);
    assert_eq!(mode(&format!("{asked}\nleave 0 accept-edits")), Mode::AcceptEdits);
    assert_eq!(mode(&format!("{asked}\nleave 0 ask\nset mode=plan")), Mode::Plan);
    // What is missing may have said so.
    assert_eq!(mode(&format!("{asked}\nleave 0 ask\nhole")), Mode::Plan);
}
