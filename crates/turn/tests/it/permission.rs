//! Permission: asked, allowed, denied; what a decision does to the calls beside it.

use expect_test::expect;

use crate::door::check;

#[test]
fn a_call_that_may_not_run_by_itself_waits_and_holds_up_nothing_else() {
    check(
        "set mode=ask
         user build
         reply call bash make | call read a
         done 1 text
         allow 0
         done 0 built
         reply Built.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call read a
              > ask 0 bash (it runs the command `make`), run 1 read [reads in the workspace are allowed]
            done 1 text
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            done 0 built
              > model 1.2.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 read {"path":"a"}>
            user: <w1 = built> + <w2 = text>
            model: Built.
        "#]],
    );
}

#[test]
fn a_denial_with_and_without_a_reason_is_told_and_the_model_goes_on() {
    check(
        "set mode=ask
         user build
         reply call bash make | call bash make install
         deny 0
         deny 1 not on this machine
         reply Then not.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call bash make install
              > ask 0 bash (it runs the command `make`), ask 1 bash (it runs the command `make install`)
            deny 0
                call 0 failed: The user denied this call.
              > ask 1 bash (it runs the command `make install`)
            deny 1 not on this machine
                call 1 failed: The user denied this call: not on this machine
              > model 1.2.1
            reply Then not.
                turn 1 ended done: Then not.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 bash {"command":"make install"}>
            user: <w1! = The user denied this call.> + <w2! = The user denied this call: not on this machine>
            model: Then not.
        "#]],
    );
}

#[test]
fn deny_and_stop_ends_the_turn_once_what_runs_has_ended() {
    check(
        "set mode=ask
         user build
         reply call read a | call bash make | call bash ls | call write a
         stop 1 leave it
         done 0 text",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call read a | call bash make | call bash ls | call write a
              > run 0 read [reads in the workspace are allowed], ask 1 bash (it runs the command `make`), ask 2 bash (it runs the command `ls`), ask 3 write (it writes /w/a)
            stop 1 leave it
                call 2 failed: Cancelled before it started; nothing was done.
                call 3 failed: Cancelled before it started; nothing was done.
                call 1 failed: The user denied this call: leave it
              > run 0 read [reads in the workspace are allowed]
            done 0 text
                turn 1 ended denied (The user denied this call: leave it)
              > idle
            ---
            user: build
            model: <w1 read {"path":"a"}> + <w2 bash {"command":"make"}> + <w3 bash {"command":"ls"}> + <w4 write {"path":"a"}>
            user: <w1 = text> + <w2! = The user denied this call: leave it> + <w3! = Cancelled before it started; nothing was done.> + <w4! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn a_grant_for_the_session_lets_its_like_run_and_closes_their_prompts() {
    check(
        "set mode=ask
         user build
         reply call bash make | call bash make test | call bash ls
         session 0 bash(make:*)
         done 0 built
         done 1 tested
         grant bash
         done 2 a b c
         reply call bash make
         done 0 built
         reply Built.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call bash make test | call bash ls
              > ask 0 bash (it runs the command `make`), ask 1 bash (it runs the command `make test`), ask 2 bash (it runs the command `ls`)
            session 0 bash(make:*)
                allowed 1 by rule bash(make:*) (person)
              > run 0 bash [decision of person], run 1 bash [rule bash(make:*) (person)], ask 2 bash (it runs the command `ls`)
            done 0 built
              > run 1 bash [rule bash(make:*) (person)], ask 2 bash (it runs the command `ls`)
            done 1 tested
              > ask 2 bash (it runs the command `ls`)
            grant bash
                allowed 2 by rule bash (person)
              > run 2 bash [rule bash (person)]
            done 2 a b c
              > model 1.2.1
            reply call bash make
              > run 0 bash [rule bash(make:*) (person)]
            done 0 built
              > model 1.3.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 bash {"command":"make test"}> + <w3 bash {"command":"ls"}>
            user: <w1 = built> + <w2 = tested> + <w3 = a b c>
            model: <w4 bash {"command":"make"}>
            user: <w4 = built>
            model: Built.
        "#]],
    );
}

#[test]
fn deny_wins_over_a_decision_and_over_a_grant() {
    check(
        "set mode=ask
         user clean
         reply call bash make | call bash make clean
         allow 0
         set deny=bash(make:*)
         allow 1
         done 0 built all the same
         grant bash
         reply call bash make | call bash ls
         done 1 a b
         reply Not possible.",
        expect![[r#"
            set mode=ask
              > idle
            user clean
                epoch 1 first
              > model 1.1.1
            reply call bash make | call bash make clean
              > ask 0 bash (it runs the command `make`), ask 1 bash (it runs the command `make clean`)
            allow 0
              > run 0 bash [decision of person], ask 1 bash (it runs the command `make clean`)
            set deny=bash(make:*)
                call 1 failed: Not allowed: the rule bash(make:*) (test) denies it.
              > run 0 bash [decision of person]
            allow 1
              > run 0 bash [decision of person]
            done 0 built all the same
              > model 1.2.1
            grant bash
              > model 1.2.1
            reply call bash make | call bash ls
                call 0 failed: Not allowed: the rule bash(make:*) (test) denies it.
              > run 1 bash [rule bash (person)]
            done 1 a b
              > model 1.3.1
            reply Not possible.
                turn 1 ended done: Not possible.
              > idle
            ---
            user: clean
            model: <w1 bash {"command":"make"}> + <w2 bash {"command":"make clean"}>
            user: <w1 = built all the same> + <w2! = Not allowed: the rule bash(make:*) (test) denies it.>
            model: <w3 bash {"command":"make"}> + <w4 bash {"command":"ls"}>
            user: <w3! = Not allowed: the rule bash(make:*) (test) denies it.> + <w4 = a b>
            model: Not possible.
            misfits: 1
        "#]],
    );
}

#[test]
fn a_deny_rule_that_comes_late_still_stops_what_has_not_started() {
    check(
        "set at_once=1
         user write
         reply call note n | call write a | call read a
         set deny=write
         done 0 noted
         done 2 text
         reply Not written.",
        expect![[r#"
            set at_once=1
              > idle
            user write
                epoch 1 first
              > model 1.1.1
            reply call note n | call write a | call read a
              > run 0 note [mode bypass]
            set deny=write
                call 1 failed: Not allowed: the rule write (test) denies it.
              > run 0 note [mode bypass]
            done 0 noted
              > run 2 read [mode bypass]
            done 2 text
              > model 1.2.1
            reply Not written.
                turn 1 ended done: Not written.
              > idle
            ---
            user: write
            model: <w1 note {"text":"n"}> + <w2 write {"path":"a"}> + <w3 read {"path":"a"}>
            user: <w1 = noted> + <w2! = Not allowed: the rule write (test) denies it.> + <w3 = text>
            model: Not written.
        "#]],
    );
}

#[test]
fn with_nobody_to_ask_asking_means_no() {
    check(
        "set mode=ask asks=no
         user build
         reply call bash make | call read a
         done 1 text
         reply No way.",
        expect![[r#"
            set mode=ask asks=no
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call read a
                call 0 failed: Not allowed: it runs the command `make`, and nobody can be asked.
              > run 1 read [reads in the workspace are allowed]
            done 1 text
              > model 1.2.1
            reply No way.
                turn 1 ended done: No way.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 read {"path":"a"}>
            user: <w1! = Not allowed: it runs the command `make`, and nobody can be asked.> + <w2 = text>
            model: No way.
        "#]],
    );
}

#[test]
fn an_open_prompt_is_answered_when_nobody_can_be_asked_any_more() {
    check(
        "set mode=ask
         user build
         reply call bash make
         set asks=no
         reply No way.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            set asks=no
                call 0 failed: Not allowed: it runs the command `make`, and nobody can be asked.
              > model 1.2.1
            reply No way.
                turn 1 ended done: No way.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = Not allowed: it runs the command `make`, and nobody can be asked.>
            model: No way.
        "#]],
    );
}

#[test]
fn a_second_answer_and_an_answer_nobody_asked_for_change_nothing() {
    check(
        "set mode=ask
         user build
         reply call bash make | call read a
         allow 1
         allow 0
         deny 0
         done 1 text
         done 0 built
         reply Built.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call read a
              > ask 0 bash (it runs the command `make`), run 1 read [reads in the workspace are allowed]
            allow 1
              > ask 0 bash (it runs the command `make`), run 1 read [reads in the workspace are allowed]
            allow 0
              > run 0 bash [decision of person], run 1 read [reads in the workspace are allowed]
            deny 0
              > run 0 bash [decision of person], run 1 read [reads in the workspace are allowed]
            done 1 text
              > run 0 bash [decision of person]
            done 0 built
              > model 1.2.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 read {"path":"a"}>
            user: <w1 = built> + <w2 = text>
            model: Built.
            misfits: 2
        "#]],
    );
}

#[test]
fn a_model_that_insists_on_what_is_denied_ends_its_turn() {
    check(
        "set repeats=3 deny=write
         user write
         reply call write a
         reply call write a
         reply call write a | call read b
         done 1 B",
        expect![[r#"
            set repeats=3 deny=write
              > idle
            user write
                epoch 1 first
              > model 1.1.1
            reply call write a
                call 0 failed: Not allowed: the rule write (test) denies it.
              > model 1.2.1
            reply call write a
                call 0 failed: Not allowed: the rule write (test) denies it.
              > model 1.3.1
            reply call write a | call read b
                call 0 failed: Not allowed: the rule write (test) denies it.
              > run 1 read [mode bypass]
            done 1 B
                turn 1 ended denied (the rule write (test) denies it)
              > idle
            ---
            user: write
            model: <w1 write {"path":"a"}>
            user: <w1! = Not allowed: the rule write (test) denies it.>
            model: <w2 write {"path":"a"}>
            user: <w2! = Not allowed: the rule write (test) denies it. + Note: this exact call has failed 2 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w3 write {"path":"a"}> + <w4 read {"path":"b"}>
            user: <w3! = Not allowed: the rule write (test) denies it.> + <w4 = B>
        "#]],
    );
}

#[test]
fn a_rule_a_person_gives_can_forbid_too() {
    use heeler_core::{Record, Rule, RuleEffect};

    let mut play = crate::door::Play::of("user go\nreply call bash make | call bash ls");
    let rule = Rule::parse("bash(make:*)", RuleEffect::Deny, "person").unwrap();
    play.write(Record::RuleGranted(rule));
    play.line("done 0 runs already");
    play.line("done 1 a b");
    play.line("reply call bash make");
    assert!(play.shown().contains("Not allowed: the rule bash(make:*) (person) denies it."));
}

#[test]
fn prompts_stand_in_order_of_asking() {
    use heeler_core::{CallId, PermissionId};

    let mut play = crate::door::Play::of(
        "set mode=ask
         user build
         hold
         reply call bash a | call bash b",
    );
    play.start_backwards();
    let open: Vec<PermissionId> = play.state.view().permissions.iter().map(|p| p.id).collect();
    let id = |index| PermissionId { call: CallId { turn: 1, round: 1, index } };
    assert_eq!(open, [id(1), id(0)]);
}
