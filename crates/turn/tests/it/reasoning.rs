//! Reasoning that a provider cannot verify: sent no more, and no session ends with it.

use expect_test::expect;

use crate::door::{check, check_after};

/// An answer with reasoning that is sent back, as long as the provider takes it.
const REASONED: &str = "user hi\nreply think so they greet | Hello.";

#[test]
fn the_request_goes_on_without_all_of_it() {
    check_after(
        REASONED,
        "user go on
         lost refused_reasoning
         reply think anew | I do.",
        expect![[r#"
            user go on
              > model 2.1.1
            lost refused_reasoning
                attempt 1 failed refusedreasoning, again in 0
                reasoning left out: 1
                notice: the provider cannot verify its earlier reasoning in this conversation; the request goes on without
                epoch 2 refusedreasoning
              > model 2.1.2
            reply think anew | I do.
                turn 2 ended done: I do.
              > idle
            ---
            user: hi
            model: Hello.
            user: go on
            model: (anew) + I do.
        "#]],
    );
}

#[test]
fn in_the_middle_of_a_turn_its_calls_keep_their_results() {
    check(
        "user go
         reply think which | call note a
         done 0
         lost refused_reasoning
         reply Done.",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            reply think which | call note a
              > run 0 note [mode bypass]
            done 0
              > model 1.2.1
            lost refused_reasoning
                attempt 1 failed refusedreasoning, again in 0
                reasoning left out: 1
                notice: the provider cannot verify its earlier reasoning in this conversation; the request goes on without
                epoch 2 refusedreasoning
              > model 1.2.2
            reply Done.
                turn 1 ended done: Done.
              > idle
            ---
            user: go
            model: <w1 note {"text":"a"}>
            user: <w1 = >
            model: Done.
        "#]],
    );
}

#[test]
fn where_there_is_none_the_turn_ends() {
    check_after(
        REASONED,
        "user go on
         lost refused_reasoning
         lost refused_reasoning
         user again
         reply Yes.",
        expect![[r#"
            user go on
              > model 2.1.1
            lost refused_reasoning
                attempt 1 failed refusedreasoning, again in 0
                reasoning left out: 1
                notice: the provider cannot verify its earlier reasoning in this conversation; the request goes on without
                epoch 2 refusedreasoning
              > model 2.1.2
            lost refused_reasoning
                attempt 2 failed refusedreasoning, for good
                turn 2 ended provider failed refusedreasoning
              > idle
            user again
              > model 3.1.1
            reply Yes.
                turn 3 ended done: Yes.
              > idle
            ---
            user: hi
            model: Hello.
            user: go on
            user: again
            model: Yes.
        "#]],
    );
}

#[test]
fn a_summary_that_it_was_refused_for_may_be_asked_for_again() {
    check(
        "set keep=2
         user one
         reply think first | two
         user three
         reply think second | four
         compact
         no summary refused_reasoning
         compact
         summary They counted.
         user go on
         reply Five.",
        expect![[r#"
            set keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply think first | two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            reply think second | four
                turn 2 ended done: four
              > idle
            compact
              > compact manual cut 2
            no summary refused_reasoning
                compaction failed: no summary came
                reasoning left out: 2
                notice: the provider cannot verify its earlier reasoning in this conversation; the request goes on without
              > idle
            compact
              > compact manual cut 2
            summary They counted.
                compacted 2
              > idle
            user go on
                epoch 2 compaction
              > model 3.1.1
            reply Five.
                turn 3 ended done: Five.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted.
            user: three
            model: four
            user: go on
            model: Five.
        "#]],
    );
}

#[test]
fn what_was_refused_does_not_come_back_with_what_a_summary_replaced() {
    check(
        "set keep=2
         user one
         reply think first | two
         user three
         reply think second | four
         compact
         summary They counted.
         user five
         lost refused_reasoning
         reply six
         undo
         user seven
         reply eight",
        expect![[r#"
            set keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply think first | two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            reply think second | four
                turn 2 ended done: four
              > idle
            compact
              > compact manual cut 2
            summary They counted.
                compacted 2
              > idle
            user five
                epoch 2 compaction
              > model 3.1.1
            lost refused_reasoning
                attempt 1 failed refusedreasoning, again in 0
                reasoning left out: 1
                notice: the provider cannot verify its earlier reasoning in this conversation; the request goes on without
                epoch 3 refusedreasoning
              > model 3.1.2
            reply six
                turn 3 ended done: six
              > idle
            undo
                restored to 6: 25 -> 7
              > idle
            user seven
                epoch 4 compaction
              > model 4.1.1
            reply eight
                turn 4 ended done: eight
              > idle
            ---
            user: one
            model: two
            user: three
            model: four
            user: five
            model: six
            user: seven
            model: eight
        "#]],
    );
}
