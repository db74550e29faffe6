//! Answers that a provider writes by itself: after a crash or a broken connection they are read, not
//! asked for again.

use expect_test::expect;

use crate::door::check;

#[test]
fn after_a_crash_the_answer_is_gone_on_with() {
    check(
        "user hi
         accepted r1
         steer s1 more
         crash
         reply hello
         reply more to say",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            accepted r1
              > model 1.1.1
            steer s1 more
                queued s1
              > model 1.1.1
            crash
              > model 1.1.2 resumes r1
            reply hello
                turn 1 ended done: hello
                delivered s1
              > model 2.1.1
            reply more to say
                turn 2 ended done: more to say
              > idle
            ---
            user: hi
            model: hello
            user: more
            model: more to say
        "#]],
    );
}

#[test]
fn a_connection_that_breaks_costs_nothing() {
    check(
        "user hi
         accepted r1
         lost network 100
         tick 100
         lost network 500
         steer s1 more
         tick 500
         reply hello
         reply more to say",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            accepted r1
              > model 1.1.1
            lost network 100
                attempt 1 failed network, again in 100
              > retry at 100
            tick 100
              > model 1.1.2 resumes r1
            lost network 500
                attempt 2 failed network, again in 500
              > retry at 600
            steer s1 more
                queued s1
              > retry at 600
            tick 500
              > model 1.1.3 resumes r1
            reply hello
                turn 1 ended done: hello
                delivered s1
              > model 2.1.1
            reply more to say
                turn 2 ended done: more to say
              > idle
            ---
            user: hi
            model: hello
            user: more
            model: more to say
        "#]],
    );
}

#[test]
fn what_cannot_be_had_is_asked_for_anew() {
    check(
        "user hi
         accepted r1
         lost format 1
         tick 1
         lost format 1
         tick 1
         lost format 1
         tick 1
         accepted r2
         lost server 1
         tick 1
         reply hello",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            accepted r1
              > model 1.1.1
            lost format 1
                attempt 1 failed format, again in 1
              > retry at 1
            tick 1
              > model 1.1.2 resumes r1
            lost format 1
                attempt 2 failed format, again in 1
              > retry at 2
            tick 1
              > model 1.1.3 resumes r1
            lost format 1
                attempt 3 failed format, again in 1
              > retry at 3
            tick 1
              > model 1.1.4
            accepted r2
              > model 1.1.4
            lost server 1
                attempt 4 failed server, again in 1
              > retry at 4
            tick 1
              > model 1.1.5
            reply hello
                turn 1 ended done: hello
              > idle
            ---
            user: hi
            model: hello
        "#]],
    );
}

#[test]
fn the_next_round_and_another_model_have_answers_of_their_own() {
    check(
        "user hi
         accepted r1
         reply call note a
         done 0 ok
         crash
         reply done
         user more
         accepted r2
         set model=other
         crash
         reply so",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            accepted r1
              > model 1.1.1
            reply call note a
              > run 0 note [mode bypass]
            done 0 ok
              > model 1.2.1
            crash
              > model 1.2.2
            reply done
                turn 1 ended done: done
              > idle
            user more
              > model 2.1.1
            accepted r2
              > model 2.1.1
            set model=other
              > model 2.1.1
            crash
                epoch 2 model
              > model 2.1.2
            reply so
                turn 2 ended done: so
              > idle
            ---
            user: hi
            model: <w1 note {"text":"a"}>
            user: <w1 = ok>
            model: done
            user: more
            model: so
        "#]],
    );
}

#[test]
fn what_is_paid_for_is_asked_about_nothing() {
    check(
        "user hi
         accepted r1
         hold
         crash
         set tokens=1
         go
         reply hello",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            accepted r1
              > model 1.1.1
            hold
              > model 1.1.1
            crash
              > model 1.1.2 resumes r1
            set tokens=1
              > model 1.1.2 max 0 resumes r1
            go
              > model 1.1.2 max 0 resumes r1
            reply hello
                turn 1 ended done: hello
              > idle
            ---
            user: hi
            model: hello
        "#]],
    );
}

#[test]
fn a_word_of_another_attempt_changes_nothing() {
    check(
        "user hi
         lost network 1
         accepted r1
         interrupt
         accepted r2",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            lost network 1
                attempt 1 failed network, again in 1
              > retry at 1
            accepted r1
              > retry at 1
            interrupt
                turn 1 ended cancelled
              > idle
            accepted r2
              > idle
            ---
            user: hi
            misfits: 2
        "#]],
    );
}
