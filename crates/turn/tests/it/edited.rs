//! Inputs that somebody changed when they were asked: looked up and judged like the model's.

use expect_test::expect;

use crate::door::check;

#[test]
fn a_call_runs_with_the_input_it_was_given_and_the_model_is_told() {
    check(
        "set mode=ask
         user build
         reply call bash make | call read a
         edit 0 make -n
         done 0 built
         done 1 text
         reply Built.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call read a
              > ask 0 bash (it runs the command `make`), run 1 read [reads in the workspace are allowed]
            edit 0 make -n
              > run 0 bash [decision of person], run 1 read [reads in the workspace are allowed]
            done 0 built
              > run 1 read [reads in the workspace are allowed]
            done 1 text
              > model 1.2.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 read {"path":"a"}>
            user: <w1 = built + \nNote: the user changed the input of this call to {"command":"make -n"}> + <w2 = text>
            model: Built.
        "#]],
    );
}

#[test]
fn an_edited_input_is_judged_whoever_gave_it() {
    check(
        "set mode=ask deny=bash(rm:*)
         user build
         reply call bash make | call bash make test | call write a
         edit 0 rm -r src
         edit 1 hook-deny
         edit 2 bad
         reply Then not.",
        expect![[r#"
            set mode=ask deny=bash(rm:*)
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call bash make test | call write a
              > ask 0 bash (it runs the command `make`), ask 1 bash (it runs the command `make test`), ask 2 write (it writes /w/a)
            edit 0 rm -r src
                call 0 failed: Not allowed: the rule bash(rm:*) (test) denies it.
              > ask 1 bash (it runs the command `make test`), ask 2 write (it writes /w/a)
            edit 1 hook-deny
                call 1 failed: Not allowed: the hook `guard` denies it: so it says.
              > ask 2 write (it writes /w/a)
            edit 2 bad
                call 2 failed: the input does not fit the schema
              > model 1.2.1
            reply Then not.
                turn 1 ended done: Then not.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 bash {"command":"make test"}> + <w3 write {"path":"a"}>
            user: <w1! = Not allowed: the rule bash(rm:*) (test) denies it. + \nNote: the user changed the input of this call to {"command":"rm -r src"}> + <w2! = Not allowed: the hook `guard` denies it: so it says. + \nNote: the user changed the input of this call to {"command":"hook-deny"}> + <w3! = the input does not fit the schema + \nNote: the user changed the input of this call to {"path":"bad"}>
            model: Then not.
        "#]],
    );
}

#[test]
fn what_a_hook_made_of_it_has_to_be_seen_by_somebody() {
    check(
        "set mode=ask
         user build
         reply call bash make
         edit 0 fixme
         allow 0
         done 0 built
         reply Built.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            edit 0 fixme
              > ask 0 bash (it runs the command `fixme`)
            allow 0
              > run 0 bash [decision of person]
            done 0 built
              > model 1.2.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1 = built + \nNote: the user changed the input of this call to {"command":"fixme"} + \nThe input was read as `fixed`.>
            model: Built.
        "#]],
    );
}

#[test]
fn a_hook_that_stops_the_turn_does_so_after_an_edit_too() {
    check(
        "set mode=ask
         user build
         reply call bash make
         edit 0 hook-stop",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            edit 0 hook-stop
                call 0 failed: The hook `guard` stopped the turn: so it says
                turn 1 ended denied (The hook `guard` stopped the turn: so it says)
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = The hook `guard` stopped the turn: so it says + \nNote: the user changed the input of this call to {"command":"hook-stop"}>
        "#]],
    );
}

#[test]
fn an_edit_that_was_not_looked_up_yet_is_after_a_crash() {
    check(
        "set mode=ask
         user build
         reply call bash make | call write a
         hold
         edit 0 make -n
         crash
         go
         interrupt",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call write a
              > ask 0 bash (it runs the command `make`), ask 1 write (it writes /w/a)
            hold
              > ask 0 bash (it runs the command `make`), ask 1 write (it writes /w/a)
            edit 0 make -n
              > plan 0 bash, ask 1 write (it writes /w/a)
            crash
              > plan 0 bash, ask 1 write (it writes /w/a)
            go
              > run 0 bash [decision of person], ask 1 write (it writes /w/a)
            interrupt
                call 0 failed: Cancelled before it finished. Anything it had already changed is still changed.
                call 1 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 write {"path":"a"}>
            user: <w1! = Cancelled before it finished. Anything it had already changed is still changed. + \nNote: the user changed the input of this call to {"command":"make -n"}> + <w2! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn an_answer_to_an_earlier_request_is_none_to_a_later_one() {
    use heeler_core::{Decision, PermissionDecided, Record};

    let mut play = crate::door::Play::of(
        "set mode=ask
         user build
         reply call bash make
         edit 0 fixme",
    );
    let open = play.state.view().permissions[0].id;
    let mut first = open;
    first.answered_before = 0;
    let (decision, by) = (Decision::Once, "late".to_owned());
    play.write(Record::PermissionDecided(Box::new(PermissionDecided { id: first, decision, by })));
    assert_eq!(play.state.view().permissions[0].id, open);
    assert_eq!((open.to_string().as_str(), play.state.misfits), ("1.1.0+1", 1));
}

#[test]
fn an_input_is_changed_so_often_and_no_more() {
    use heeler_turn::limits::EDITS_MAX;

    let mut play = crate::door::Play::of(
        "set mode=ask
         user build
         reply call bash make",
    );
    for _ in 0..=EDITS_MAX {
        assert_eq!(play.state.misfits, 0);
        // What is put right on the way is asked about again.
        play.line("edit 0 fixme");
    }
    let view = play.state.view();
    assert_eq!((play.state.misfits, view.permissions[0].id.answered_before), (1, EDITS_MAX));
    let words = heeler_turn::words::edited_too_often();
    assert!(words.contains("8 times"), "{words}");
}
