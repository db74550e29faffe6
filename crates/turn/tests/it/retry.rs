//! Failed requests: tried again when they are due, or the turn ends and says why.

use expect_test::expect;
use heeler_core::{
    Effect, EffectKind, Entry, Event, ModelFailed, Opened, ProviderErrorKind, Record, Timestamp,
    Usage,
};
use heeler_turn::state::Announcer;

use crate::door::{Play, check};

#[test]
fn a_passing_failure_is_tried_again_when_it_is_due() {
    check(
        "user hi
         lost overloaded 2000
         tick 1999
         tick 1
         lost network 4000
         tick 4000
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            lost overloaded 2000
                attempt 1 failed overloaded, again in 2000
              > retry at 2000
            tick 1999
              > retry at 2000
            tick 1
              > model 1.1.2
            lost network 4000
                attempt 2 failed network, again in 4000
              > retry at 6000
            tick 4000
              > model 1.1.3
            reply Hi.
                turn 1 ended done: Hi.
              > idle
            ---
            user: hi
            model: Hi.
        "#]],
    );
}

/// Who waited did so by a clock that nobody sets, so the time has come.
#[test]
fn a_clock_that_is_set_back_meanwhile_makes_nobody_wait_longer() {
    check(
        "user hi
         tick 9000
         lost overloaded 2000
         tick -3000
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            tick 9000
              > model 1.1.1
            lost overloaded 2000
                attempt 1 failed overloaded, again in 2000
              > retry at 11000
            tick -3000
              > model 1.1.2
            reply Hi.
                turn 1 ended done: Hi.
              > idle
            ---
            user: hi
            model: Hi.
        "#]],
    );
}

#[test]
fn a_lasting_failure_ends_the_turn_and_leaves_no_trace_in_the_history() {
    check(
        "user hi
         lost auth
         user with another key
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            lost auth
                attempt 1 failed auth, for good
                turn 1 ended provider failed auth
              > idle
            user with another key
              > model 2.1.1
            reply Hi.
                turn 2 ended done: Hi.
              > idle
            ---
            user: hi
            user: with another key
            model: Hi.
        "#]],
    );
}

#[test]
fn a_late_failure_of_an_attempt_that_is_over_changes_nothing() {
    let mut play = crate::door::Play::of("user hi\nlost overloaded 1000\ntick 1000");
    let before = play.state.pending();
    play.line("late overloaded");
    assert_eq!(play.state.pending(), before);
    assert_eq!(play.state.misfits, 1);
}

#[test]
fn a_failure_that_was_billed_is_told_and_one_that_was_not_is_not() {
    let play = Play::of("user hi");
    for (input, told) in [(0, 0), (7, 1)] {
        let failed = ModelFailed {
            turn: 1,
            round: 1,
            attempt: 1,
            kind: ProviderErrorKind::Network,
            message: "it did not work".into(),
            retry_at: None,
            usage: Usage { input, ..Usage::default() },
            cost: None,
        };
        let mut state = play.state.clone();
        let mut out = Announcer::collecting();
        let record = Record::ModelFailed(Box::new(failed));
        state.apply_announcing(&Entry { seq: state.seq + 1, at: state.now, record }, &mut out);
        let events = out.into_events();
        let usage = events.iter().filter(|event| matches!(event, Event::Usage { .. })).count();
        assert_eq!((usage, state.usage.input), (told, input));
    }
}

#[test]
fn an_overflow_compacts_once_and_is_sent_again() {
    check(
        "set keep=1 chars=1
         large 1000
         reply two | read 0
         large 300
         lost context_overflow
         summary They counted.
         lost context_overflow
         user four
         reply five | read 0",
        expect![[r#"
            set keep=1 chars=1
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            large 300
              > model 2.1.1
            lost context_overflow
                attempt 1 failed contextoverflow, again in 0
              > compact automatic cut 2
            summary They counted.
                compacted 2
                epoch 2 compaction
              > model 2.1.2
            lost context_overflow
                attempt 2 failed contextoverflow, for good
                turn 2 ended provider failed contextoverflow
              > idle
            user four
              > model 3.1.1
            reply five | read 0
                turn 3 ended done: five
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted.
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            user: four
            model: five
        "#]],
    );
}

#[test]
fn an_overflow_that_nothing_can_shorten_ends_the_turn() {
    check(
        "user one
         lost context_overflow",
        expect![[r#"
            user one
                epoch 1 first
              > model 1.1.1
            lost context_overflow
                attempt 1 failed contextoverflow, for good
                turn 1 ended provider failed contextoverflow
              > idle
            ---
            user: one
        "#]],
    );
}

#[test]
fn an_overflow_without_automatic_compaction_ends_the_turn() {
    check(
        "set keep=1 automatic=no
         user one
         reply two
         user three
         lost context_overflow",
        expect![[r#"
            set keep=1 automatic=no
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            lost context_overflow
                attempt 1 failed contextoverflow, for good
                turn 2 ended provider failed contextoverflow
              > idle
            ---
            user: one
            model: two
            user: three
        "#]],
    );
}

/// By the clock of the new process the time that was noted may be far away.
#[test]
fn a_clock_that_is_set_back_before_the_next_process_makes_nobody_wait() {
    for (at, now, is_due) in [(9_000, 9_000, false), (6_000, 6_000, true)] {
        let mut state = Play::of("user hi\ntick 9000\nlost overloaded 2000").state;
        let record = Record::Opened(Opened { incarnation: 2, build: "test".into() });
        state.apply(&Entry { seq: state.seq + 1, at: Timestamp(at), record });
        let calls = |effect: &Effect| matches!(effect.kind, EffectKind::CallModel { .. });
        assert_eq!(state.pending().iter().any(calls), is_due, "{at}");
        assert_eq!(state.now, Timestamp(now));
    }
}
