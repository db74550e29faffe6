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
    let id = |index| PermissionId::first(CallId { turn: 1, round: 1, index });
    assert_eq!(open, [id(1), id(0)]);
}
