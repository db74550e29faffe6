//! Work that goes on after its call has answered: delivered once, or told as lost.

use expect_test::expect;

use crate::door::{check, check_after};

/// A call whose work goes on.
const BEGUN: &str = "user go\nreply call bash build\nbegun 0 building";

#[test]
fn a_result_joins_the_running_turn_before_the_next_request() {
    check_after(
        BEGUN,
        "reply call read a
         landed 1.1.0 built
         landed 1.1.0 built once more
         done 0 A
         reply Good.",
        expect![[r#"
            reply call read a
              > run 0 read [mode bypass]
            landed 1.1.0 built
                queued background-1.1.0
              > run 0 read [mode bypass]
            landed 1.1.0 built once more
              > run 0 read [mode bypass]
            done 0 A
                delivered background-1.1.0
              > model 1.3.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: <w2 read {"path":"a"}>
            user: <w2 = A>
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn a_result_wakes_nobody_and_comes_with_the_next_words() {
    check_after(
        BEGUN,
        "reply Later.
         landed 1.1.0 built
         unsteer background-1.1.0
         user and now?
         reply Good.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            landed 1.1.0 built
                queued background-1.1.0
              > idle
            unsteer background-1.1.0
              > idle
            user and now?
                delivered background-1.1.0
              > model 2.1.1
            reply Good.
                turn 2 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: and now?
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn a_result_begins_a_turn_where_it_shall() {
    check(
        "wakes
         user go
         reply call bash build
         begun 0 building
         reply Later.
         landed 1.1.0 built
         reply Good.",
        expect![[r#"
            wakes
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash build
              > run 0 bash [mode bypass]
            begun 0 building
              > model 1.2.1
            reply Later.
                turn 1 ended done: Later.
              > idle
            landed 1.1.0 built
                queued background-1.1.0
                delivered background-1.1.0
              > model 2.1.1
            reply Good.
                turn 2 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn what_comes_during_the_last_answer_waits_as_well() {
    check_after(
        BEGUN,
        "landed 1.1.0 built
         interrupt",
        expect![[r#"
            landed 1.1.0 built
                queued background-1.1.0
              > model 1.2.1
            interrupt
                turn 1 ended cancelled
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
        "#]],
    );
}

#[test]
fn what_a_process_leaves_is_lost_and_does_not_come_after_all() {
    check_after(
        BEGUN,
        "reply Later.
         crash
         landed 1.1.0 built
         crash
         user and now?
         reply Oh.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            crash
                queued background-1.1.0
              > idle
            landed 1.1.0 built
              > idle
            crash
              > idle
            user and now?
                delivered background-1.1.0
              > model 2.1.1
            reply Oh.
                turn 2 ended done: Oh.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: and now?
            user: [The background work of bash (call 1.1.0) was lost: the program ended before it was done. Whatever it ran has ended; ch…
            model: Oh.
        "#]],
    );
}

#[test]
fn a_failed_call_has_nothing_in_the_background() {
    check(
        "user go
         reply call bash build
         done 0 built
         landed 1.1.0 built
         reply Good.",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash build
              > run 0 bash [mode bypass]
            done 0 built
              > model 1.2.1
            landed 1.1.0 built
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = built>
            model: Good.
            misfits: 1
        "#]],
    );
}

#[test]
fn what_it_has_for_the_user_comes_at_once_and_once() {
    check_after(
        BEGUN,
        "reply call read a
         shown 1.1.0 Built.
         shown 1.1.0 Built.
         done 0 A
         reply Built.",
        expect![[r#"
            reply call read a
              > run 0 read [mode bypass]
            shown 1.1.0 Built.
                for the user 1.1.0 Built.
                queued background-1.1.0
              > run 0 read [mode bypass]
            shown 1.1.0 Built.
              > run 0 read [mode bypass]
            done 0 A
                delivered background-1.1.0
              > model 1.3.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: <w2 read {"path":"a"}>
            user: <w2 = A>
            user: said
            model: Built.
        "#]],
    );
    check_after(
        BEGUN,
        "reply Later.
         shown 1.1.0 Built.
         shown 1.2.0 Nobody began this.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            shown 1.1.0 Built.
                for the user 1.1.0 Built.
                queued background-1.1.0
              > idle
            shown 1.2.0 Nobody began this.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            misfits: 1
        "#]],
    );
}
