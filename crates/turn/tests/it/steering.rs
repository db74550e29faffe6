//! Inputs while a turn runs: delivered once, between a batch and the next request.

use expect_test::expect;
use heeler_core::SteeringId;

use crate::door::{Play, check};

#[test]
fn it_waits_for_the_whole_batch_and_is_delivered_once() {
    check(
        "user work
         reply call read a | call read b
         steer s1 be quick
         done 0 A
         done 1 B
         reply Quick.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call read a | call read b
              > run 0 read [mode bypass], run 1 read [mode bypass]
            steer s1 be quick
                queued s1
              > run 0 read [mode bypass], run 1 read [mode bypass]
            done 0 A
              > run 1 read [mode bypass]
            done 1 B
                delivered s1
              > model 1.2.1
            reply Quick.
                turn 1 ended done: Quick.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}> + <w2 read {"path":"b"}>
            user: <w1 = A> + <w2 = B>
            user: be quick
            model: Quick.
        "#]],
    );
}

#[test]
fn it_can_be_taken_back_until_then() {
    check(
        "user work
         reply call read a
         steer s1 be quick
         steer s2 be thorough
         unsteer s1
         done 0 A
         unsteer s2
         reply Thorough.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            steer s1 be quick
                queued s1
              > run 0 read [mode bypass]
            steer s2 be thorough
                queued s2
              > run 0 read [mode bypass]
            unsteer s1
                taken back s1
              > run 0 read [mode bypass]
            done 0 A
                delivered s2
              > model 1.2.1
            unsteer s2
              > model 1.2.1
            reply Thorough.
                turn 1 ended done: Thorough.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: be thorough
            model: Thorough.
        "#]],
    );
}

#[test]
fn what_is_left_opens_the_next_turn() {
    check(
        "user work
         steer s1 one more thing
         steer s2 and another
         reply Done.
         unsteer s1
         reply Both done.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            steer s1 one more thing
                queued s1
              > model 1.1.1
            steer s2 and another
                queued s2
              > model 1.1.1
            reply Done.
                turn 1 ended done: Done.
                delivered s1
                delivered s2
              > model 2.1.1
            unsteer s1
              > model 2.1.1
            reply Both done.
                turn 2 ended done: Both done.
              > idle
            ---
            user: work
            model: Done.
            user: one more thing
            user: and another
            model: Both done.
        "#]],
    );
}

#[test]
fn while_nothing_runs_it_starts_a_turn() {
    check(
        "steer s1 wake up
         unsteer s1
         reply I am awake.",
        expect![[r#"
            steer s1 wake up
                queued s1
                delivered s1
                epoch 1 first
              > model 1.1.1
            unsteer s1
              > model 1.1.1
            reply I am awake.
                turn 1 ended done: I am awake.
              > idle
            ---
            user: wake up
            model: I am awake.
        "#]],
    );
}

#[test]
fn sent_twice_it_is_one() {
    check(
        "user work
         steer s1 be quick
         steer s1 be quick
         reply call read a
         steer s1 be quick
         done 0 A
         steer s1 be quick
         reply Quick.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            steer s1 be quick
                queued s1
              > model 1.1.1
            steer s1 be quick
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            steer s1 be quick
              > run 0 read [mode bypass]
            done 0 A
                delivered s1
              > model 1.2.1
            steer s1 be quick
              > model 1.2.1
            reply Quick.
                turn 1 ended done: Quick.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: be quick
            model: Quick.
        "#]],
    );
}

#[test]
fn an_input_while_a_turn_runs_waits_like_steering() {
    check(
        "user work
         user and hurry
         reply call read a
         done 0 A
         reply Hurried.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            user and hurry
                queued input-6
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
                delivered input-6
              > model 1.2.1
            reply Hurried.
                turn 1 ended done: Hurried.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: and hurry
            model: Hurried.
        "#]],
    );
}

#[test]
fn an_input_is_never_mistaken_for_somebodys_steering() {
    check(
        "user work
         steer input-7 first
         user second
         reply call read a
         done 0 A
         reply Both.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            steer input-7 first
                queued input-7
              > model 1.1.1
            user second
                queued input-7+
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
                delivered input-7
                delivered input-7+
              > model 1.2.1
            reply Both.
                turn 1 ended done: Both.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: first
            user: second
            model: Both.
        "#]],
    );
}

#[test]
fn what_comes_after_a_request_waits_for_the_next() {
    check(
        "user work
         reply call read a
         done 0 A
         steer s1 too late for this one
         lost overloaded 1000
         steer s2 even later
         tick 1000
         reply In time for both.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1
            steer s1 too late for this one
                queued s1
              > model 1.2.1
            lost overloaded 1000
                attempt 1 failed overloaded, again in 1000
              > retry at 1000
            steer s2 even later
                queued s2
              > retry at 1000
            tick 1000
                delivered s1
                delivered s2
              > model 1.2.2
            reply In time for both.
                turn 1 ended done: In time for both.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: too late for this one
            user: even later
            model: In time for both.
        "#]],
    );
}

#[test]
fn what_was_said_by_an_id_is_known_whatever_became_of_it() {
    let mut play = Play::of("user work\nreply call read a");
    let knows =
        |play: &Play| ["s1", "s2"].map(|id| play.state.knows_steering(&SteeringId(id.into())));
    assert_eq!(knows(&play), [false, false]);
    play.line("steer s1 be quick");
    assert_eq!(knows(&play), [true, false]);
    play.line("steer s2 be thorough");
    play.line("unsteer s2");
    play.line("done 0 A");
    assert_eq!(knows(&play), [true, true]);
}
