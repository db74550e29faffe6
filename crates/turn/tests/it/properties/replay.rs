//! Journals that are played again.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use heeler_core::{
    CallId, Decision, Entry, EpochCause, EpochStarted, Input, ModelStarted, PermissionDecided,
    PermissionId, Record, Reserve, Timestamp, TurnOutcome,
};
use heeler_turn::State;
use heeler_turn::replay::{Divergence, Replay};
use proptest::prelude::*;
use proptest::sample::Index;

use super::run::Run;
use super::world::World;
use super::{Dice, cases, dice, state_of};
use crate::decided;

/// Plays a journal whose first records are taken as they are.
fn play(journal: &[Entry], from: usize) -> Result<State, Divergence> {
    let mut replay = Replay::after(state_of(&journal[..from]));
    journal[from..].iter().try_for_each(|entry| replay.follow(entry))?;
    Ok(replay.state().clone())
}

proptest! {
    #![proptest_config(cases(300))]

    /// From wherever it is played, and whatever happened in it.
    #[test]
    fn what_a_driver_wrote_comes_again(mut dice in dice(0..400), from: Index) {
        let world = World::roll(&mut dice);
        let mut run = Run::new(world);
        run.play(&mut dice);
        let from = from.index(run.journal.len() + 1);
        match play(&run.journal, from) {
            Ok(state) => prop_assert_eq!(state.view(), run.state.view()),
            Err(divergence) => prop_assert!(false, "{}", divergence),
        }
    }

    /// A decision that is another one is noticed where it stands.
    #[test]
    fn what_was_decided_otherwise_does_not_come(mut dice in dice(0..300)) {
        try_otherwise(&mut dice);
    }
}

/// Tries every record of a run as another one. Says which kinds could have been one.
fn try_otherwise(dice: &mut Dice) -> BTreeSet<&'static str> {
    let mut tried = BTreeSet::new();
    let mut run = Run::new(World::roll(dice));
    run.play(dice);
    run.one_more_turn();
    let mut replay = Replay::after(State::new());
    for entry in &run.journal {
        if decided::check(replay.state(), entry) > 0 {
            tried.insert(entry.record.kind());
        }
        replay.follow(entry).unwrap_or_else(|divergence| panic!("{divergence}"));
    }
    tried
}

/// The same runs each time: in each, every record that could have been another one is tried so.
#[test]
fn every_decision_that_is_another_one_is_noticed() {
    let n_runs = if cfg!(miri) { 2 } else { 150 };
    let mut tried = BTreeSet::new();
    for seed in 0..n_runs {
        // Knuth's generator; its high bits are good enough to choose by.
        let mut rolls = seed;
        let mut roll = || {
            rolls = u64::wrapping_mul(rolls, 6_364_136_223_846_793_005).wrapping_add(seed | 1);
            rolls.to_be_bytes()[0]
        };
        let mut dice = Dice::new((0..300).map(|_| roll()).collect());
        tried.append(&mut try_otherwise(&mut dice));
    }
    if !cfg!(miri) {
        expect![[r#"
            {
                "call_finished",
                "call_planned",
                "call_started",
                "compaction_started",
                "epoch_started",
                "facts_changed",
                "model_accepted",
                "model_failed",
                "model_replied",
                "model_started",
                "permission_asked",
                "trimmed",
                "turn_finished",
            }
        "#]]
        .assert_debug_eq(&tried);
    }
}

/// What whoever drives was given may change before any request, and nothing else without being due.
#[test]
fn other_tools_may_come_where_a_request_is_due() {
    let mut dice = Dice::new(Vec::new());
    let mut run = Run::new(World::roll_calm(&mut dice));
    run.one_more_turn();
    let is_epoch = |entry: &Entry| matches!(entry.record, Record::EpochStarted(_));
    let begun = run.journal.iter().position(is_epoch).unwrap();
    let Record::EpochStarted(epoch) = &run.journal[begun].record else { panic!("an epoch") };
    let state = state_of(&run.journal[..=begun]);
    for (cause, comes) in [
        (EpochCause::SystemPrompt, true),
        (EpochCause::Tools, true),
        (EpochCause::Model, false),
        (EpochCause::Compaction, false),
    ] {
        let next = EpochStarted { epoch: epoch.epoch + 1, cause, ..(**epoch).clone() };
        let record = Record::EpochStarted(Box::new(next));
        let entry = Entry { seq: state.seq + 1, at: state.now, record };
        assert_eq!(Replay::after(state.clone()).follow(&entry).is_ok(), comes, "{cause:?}");
    }
}

/// What is said of a record that comes after a request to the model.
#[test]
fn a_divergence_says_what_is_due_instead() {
    let check = |record: Record, expected: Expect| {
        let (turn, round, attempt, epoch, up_to) = (1, 1, 1, 0, 1);
        let reserve = Reserve::default();
        let started = ModelStarted { turn, round, attempt, epoch, up_to, reserve };
        let records = [Record::Input(Box::new(Input::text("go"))), Record::ModelStarted(started)];
        let entry = |(seq, record)| Entry { seq, at: Timestamp(0), record };
        let mut state = State::new();
        (1..).zip(records).map(entry).for_each(|entry| state.apply(&entry));
        let mut replay = Replay::after(state);
        expected.assert_eq(&replay.follow(&entry((3, record))).unwrap_err().to_string());
    };
    let call = CallId { turn: 1, round: 1, index: 0 };
    check(
        Record::CallStarted { call },
        expect![
            "record 3 (call_started) expected run of call 1.1.0, found model call of turn 1, round 1, attempt 1"
        ],
    );
    let outcome = TurnOutcome::Done;
    check(
        Record::TurnFinished { turn: 1, outcome },
        expect![[
            r#"record 3 (turn_finished) expected {"turn":1,"outcome":"done"}, found model call of turn 1, round 1, attempt 1"#
        ]],
    );
    check(
        Record::CompactionFailed(Box::default()),
        expect![
            "record 3 (compaction_failed) expected a compaction to end, found model call of turn 1, round 1, attempt 1"
        ],
    );
    let id = PermissionId { call, answered_before: 0 };
    let decided = PermissionDecided { id, decision: Decision::Once, by: "nobody".into() };
    check(
        Record::PermissionDecided(Box::new(decided)),
        expect![
            "record 3 (permission_decided) expected the record, found a session it does not fit"
        ],
    );
}
