//! Calls that are about to start and do not touch any more what they were judged by.

use expect_test::expect;

use crate::door::{Play, check};

#[test]
fn what_touches_more_is_asked_about_and_what_touches_no_more_runs_on() {
    check(
        "set mode=ask allow=solo
         user go
         reply call solo x | call read a | call read b
         touches 1 read a
         touches 2 write b
         done 0 ok
         deny 2 not there
         done 1 text
         reply Well.",
        expect![[r#"
            set mode=ask allow=solo
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call read a | call read b
              > run 0 solo [rule solo (test)]
            touches 1 read a
              > run 0 solo [rule solo (test)]
            touches 2 write b
              > run 0 solo [rule solo (test)], ask 2 read (what it touches has changed since it was let run: it writes /w/b)
            done 0 ok
              > run 1 read [reads in the workspace are allowed], ask 2 read (what it touches has changed since it was let run: it writes /w/b)
            deny 2 not there
                call 2 failed: The user denied this call: not there
              > run 1 read [reads in the workspace are allowed]
            done 1 text
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 read {"path":"a"}> + <w3 read {"path":"b"}>
            user: <w1 = ok> + <w2 = text> + <w3! = The user denied this call: not there>
            model: Well.
        "#]],
    );
}

#[test]
fn who_let_it_is_asked_again_under_another_id_and_an_old_answer_is_none() {
    check(
        "set mode=ask allow=solo
         user go
         reply call solo x | call write a
         allow 1
         touches 1 write b
         done 0 ok
         deny 1
         reply Well.",
        expect![[r#"
            set mode=ask allow=solo
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call write a
              > run 0 solo [rule solo (test)], ask 1 write (it writes /w/a)
            allow 1
              > run 0 solo [rule solo (test)]
            touches 1 write b
              > run 0 solo [rule solo (test)], ask 1 write (what it touches has changed since it was let run: it writes /w/b)
            done 0 ok
              > ask 1 write (what it touches has changed since it was let run: it writes /w/b)
            deny 1
                call 1 failed: The user denied this call.
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 write {"path":"a"}>
            user: <w1 = ok> + <w2! = The user denied this call.>
            model: Well.
        "#]],
    );
}

#[test]
fn what_is_denied_by_now_does_not_run_and_where_nobody_is_asked_neither_does_the_rest() {
    check(
        "set mode=ask asks=no allow=solo deny=edit(c)
         user go
         reply call solo x | call read a | call read b
         touches 1 write c
         touches 2 write b
         done 0 ok
         reply Well.",
        expect![[r#"
            set mode=ask asks=no allow=solo deny=edit(c)
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call read a | call read b
              > run 0 solo [rule solo (test)]
            touches 1 write c
                call 1 failed: Not allowed: the rule edit(c) (test) denies it.
              > run 0 solo [rule solo (test)]
            touches 2 write b
                call 2 failed: Not allowed: it writes /w/b, and nobody can be asked.
              > run 0 solo [rule solo (test)]
            done 0 ok
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 read {"path":"a"}> + <w3 read {"path":"b"}>
            user: <w1 = ok> + <w2! = Not allowed: the rule edit(c) (test) denies it.> + <w3! = Not allowed: it writes /w/b, and nobody can be asked.>
            model: Well.
        "#]],
    );
}

#[test]
fn it_is_judged_again_only_so_often() {
    let changes = "touches 1 read b\ntouches 1 read c\n".repeat(5);
    let script = format!(
        "set mode=ask allow=solo
         user go
         reply call solo x | call read a
         {changes}
         done 0 ok
         reply Well."
    );
    check(
        &script,
        expect![[r#"
        set mode=ask allow=solo
          > idle
        user go
            epoch 1 first
          > model 1.1.1
        reply call solo x | call read a
          > run 0 solo [rule solo (test)]
        touches 1 read b
          > run 0 solo [rule solo (test)]
        touches 1 read c
          > run 0 solo [rule solo (test)]
        touches 1 read b
          > run 0 solo [rule solo (test)]
        touches 1 read c
          > run 0 solo [rule solo (test)]
        touches 1 read b
          > run 0 solo [rule solo (test)]
        touches 1 read c
          > run 0 solo [rule solo (test)]
        touches 1 read b
          > run 0 solo [rule solo (test)]
        touches 1 read c
          > run 0 solo [rule solo (test)]
        touches 1 read b
            call 1 failed: Not run: what this call touches changed each time it was about to start. End wh…
          > run 0 solo [rule solo (test)]
        touches 1 read c
          > run 0 solo [rule solo (test)]
        done 0 ok
          > model 1.2.1
        reply Well.
            turn 1 ended done: Well.
          > idle
        ---
        user: go
        model: <w1 solo {"text":"x"}> + <w2 read {"path":"a"}>
        user: <w1 = ok> + <w2! = Not run: what this call touches changed each time it was about to start. End what changes files or runs in the backgrou…>
        model: Well.
        misfits: 1
    "#]],
    );
}

#[test]
fn a_hook_let_run_what_it_was_shown_and_nothing_else() {
    check(
        "set mode=ask allow=solo
         user go
         reply call solo x | call bash hook-allow | call read hook-ask | call read hook-allow
         allow 2
         touches 1 bash b
         touches 2 read b
         touches 3 read b
         done 0 ok
         deny 1
         deny 2
         done 3 text
         reply Well.",
        expect![[r#"
            set mode=ask allow=solo
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call bash hook-allow | call read hook-ask | call read hook-allow
              > run 0 solo [rule solo (test)], ask 2 read (the rule read (the hook `guard`: so it says) asks)
            allow 2
              > run 0 solo [rule solo (test)]
            touches 1 bash b
              > run 0 solo [rule solo (test)], ask 1 bash (what it touches has changed since it was let run: it runs the command `b`)
            touches 2 read b
              > run 0 solo [rule solo (test)], ask 1 bash (what it touches has changed since it was let run: it runs the command `b`), ask 2 read (what it touches has changed since it was let run: the rule read (the hook `guard`: so it says) asks)
            touches 3 read b
              > run 0 solo [rule solo (test)], ask 1 bash (what it touches has changed since it was let run: it runs the command `b`), ask 2 read (what it touches has changed since it was let run: the rule read (the hook `guard`: so it says) asks)
            done 0 ok
              > ask 1 bash (what it touches has changed since it was let run: it runs the command `b`), ask 2 read (what it touches has changed since it was let run: the rule read (the hook `guard`: so it says) asks), run 3 read [reads in the workspace are allowed]
            deny 1
                call 1 failed: The user denied this call.
              > ask 2 read (what it touches has changed since it was let run: the rule read (the hook `guard`: so it says) asks), run 3 read [reads in the workspace are allowed]
            deny 2
                call 2 failed: The user denied this call.
              > run 3 read [reads in the workspace are allowed]
            done 3 text
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 bash {"command":"hook-allow"}> + <w3 read {"path":"hook-ask"}> + <w4 read {"path":"hook-allow"}>
            user: <w1 = ok> + <w2! = The user denied this call.> + <w3! = The user denied this call.> + <w4 = text>
            model: Well.
        "#]],
    );
}

#[test]
fn in_an_old_journal_what_a_hook_let_run_ran_on() {
    check(
        "set mode=ask allow=solo
         user go
         reply call solo x | call bash hook-allow
         touched 1 bash b
         done 0 ok
         done 1 made
         reply Well.",
        expect![[r#"
            set mode=ask allow=solo
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call bash hook-allow
              > run 0 solo [rule solo (test)]
            touched 1 bash b
              > run 0 solo [rule solo (test)]
            done 0 ok
              > run 1 bash [rule bash (the hook `guard`)]
            done 1 made
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 bash {"command":"hook-allow"}>
            user: <w1 = ok> + <w2 = made>
            model: Well.
        "#]],
    );
}

#[test]
fn what_touches_the_same_runs_as_it_was_let() {
    check(
        "set mode=ask allow=solo
         user go
         reply call solo x | call write a
         allow 1
         touches 1 write a
         done 0 ok
         done 1 written
         reply Well.",
        expect![[r#"
            set mode=ask allow=solo
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call solo x | call write a
              > run 0 solo [rule solo (test)], ask 1 write (it writes /w/a)
            allow 1
              > run 0 solo [rule solo (test)]
            touches 1 write a
              > run 0 solo [rule solo (test)]
            done 0 ok
              > run 1 write [decision of person]
            done 1 written
              > model 1.2.1
            reply Well.
                turn 1 ended done: Well.
              > idle
            ---
            user: go
            model: <w1 solo {"text":"x"}> + <w2 write {"path":"a"}>
            user: <w1 = ok> + <w2 = written>
            model: Well.
        "#]],
    );
}

#[test]
fn an_answer_to_what_a_rule_let_run_meanwhile_is_none_to_what_it_touches_later() {
    let play = Play::of(
        "set mode=ask allow=solo
         user go
         reply call solo x | call write a | call write b
         session 1 write(b)
         touches 2 write c",
    );
    let asked = play.state.view().permissions;
    let asked: Vec<u32> = asked.iter().map(|open| open.id.answered_before).collect();
    assert_eq!(asked, [1], "the first request had the number 0");
}
