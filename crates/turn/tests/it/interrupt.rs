//! Interrupts: in every phase the effects vanish and the next turn can go on.

use expect_test::expect;

use crate::door::check;

#[test]
fn while_the_model_answers() {
    check(
        "user hi
         interrupt
         reply Too late.
         user again
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            interrupt
                turn 1 ended cancelled
              > idle
            reply Too late.
              > idle
            user again
              > model 2.1.1
            reply Hi.
                turn 2 ended done: Hi.
              > idle
            ---
            user: hi
            user: again
            model: Hi.
            misfits: 1
        "#]],
    );
}

#[test]
fn with_what_had_been_said_so_far() {
    check(
        "user hi
         reply The answer is | call read a | stop interrupted
         interrupt
         user go on
         reply 42.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply The answer is | call read a | stop interrupted
                call 0 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            interrupt
              > idle
            user go on
              > model 2.1.1
            reply 42.
                turn 2 ended done: 42.
              > idle
            ---
            user: hi
            model: The answer is + <w1 read {"path":"a"}>
            user: <w1! = Cancelled before it started; nothing was done.>
            user: go on
            model: 42.
        "#]],
    );
}

#[test]
fn before_the_first_epoch_and_before_a_request() {
    check(
        "hold
         user hi
         interrupt
         go
         user again
         hold
         reply call read a
         interrupt
         go
         user and again
         reply Hi.",
        expect![[r#"
            hold
              > idle
            user hi
              > epoch first
            interrupt
              > finish cancelled
            go
                turn 1 ended cancelled
              > idle
            user again
                epoch 1 first
              > model 2.1.1
            hold
              > model 2.1.1
            reply call read a
              > plan 0 read
            interrupt
                call 0 failed: Cancelled before it started; nothing was done.
              > finish cancelled
            go
                turn 2 ended cancelled
              > idle
            user and again
              > model 3.1.1
            reply Hi.
                turn 3 ended done: Hi.
              > idle
            ---
            user: hi
            user: again
            model: <w1 read {"path":"a"}>
            user: <w1! = Cancelled before it started; nothing was done.>
            user: and again
            model: Hi.
        "#]],
    );
}

#[test]
fn while_calls_are_planned_asked_ready_and_running() {
    check(
        "set mode=ask at_once=1
         user hi
         reply call read a | call read b | call bash make
         interrupt
         done 0 too late
         user go on
         reply Fine.",
        expect![[r#"
            set mode=ask at_once=1
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | call read b | call bash make
              > run 0 read [reads in the workspace are allowed], ask 2 bash (it runs the command `make`)
            interrupt
                call 0 failed: Cancelled before it finished. Anything it had already changed is still changed.
                call 1 failed: Cancelled before it started; nothing was done.
                call 2 failed: Cancelled before it started; nothing was done.
                turn 1 ended cancelled
              > idle
            done 0 too late
              > idle
            user go on
              > model 2.1.1
            reply Fine.
                turn 2 ended done: Fine.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}> + <w2 read {"path":"b"}> + <w3 bash {"command":"make"}>
            user: <w1! = Cancelled before it finished. Anything it had already changed is still changed.> + <w2! = Cancelled before it started; nothing was done.> + <w3! = Cancelled before it started; nothing was done.>
            user: go on
            model: Fine.
            misfits: 1
        "#]],
    );
}

#[test]
fn while_a_retry_waits() {
    check(
        "user hi
         lost overloaded 4000
         interrupt
         tick 4000
         user again
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            lost overloaded 4000
                attempt 1 failed overloaded, again in 4000
              > retry at 4000
            interrupt
                turn 1 ended cancelled
              > idle
            tick 4000
              > idle
            user again
              > model 2.1.1
            reply Hi.
                turn 2 ended done: Hi.
              > idle
            ---
            user: hi
            user: again
            model: Hi.
        "#]],
    );
}

#[test]
fn while_a_compaction_runs() {
    check(
        "set keep=1 chars=1 context=2000
         large 1000
         reply two | read 0
         compact
         interrupt
         summary too late
         large 1000
         interrupt
         summary too late
         set context=9000
         user four
         reply five | read 0",
        expect![[r#"
            set keep=1 chars=1 context=2000
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            compact
              > compact manual cut 1
            interrupt
                compaction failed: interrupted
              > idle
            summary too late
              > idle
            large 1000
              > compact automatic cut 2
            interrupt
                compaction failed: interrupted
                turn 2 ended cancelled
              > idle
            summary too late
              > idle
            set context=9000
              > idle
            user four
              > model 3.1.1
            reply five | read 0
                turn 3 ended done: five
              > idle
            ---
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            model: two
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            user: four
            model: five
            misfits: 2
        "#]],
    );
}

#[test]
fn with_a_queue_that_opens_the_next_turn() {
    check(
        "user hi
         steer s1 something else
         interrupt
         interrupt
         user again
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            steer s1 something else
                queued s1
              > model 1.1.1
            interrupt
                turn 1 ended cancelled
                delivered s1
              > model 2.1.1
            interrupt
                turn 2 ended cancelled
              > idle
            user again
              > model 3.1.1
            reply Hi.
                turn 3 ended done: Hi.
              > idle
            ---
            user: hi
            user: something else
            user: again
            model: Hi.
        "#]],
    );
}

#[test]
fn while_nothing_runs() {
    check(
        "interrupt
         user hi
         reply Hi.
         interrupt",
        expect![[r#"
            interrupt
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply Hi.
                turn 1 ended done: Hi.
              > idle
            interrupt
              > idle
            ---
            user: hi
            model: Hi.
        "#]],
    );
}
