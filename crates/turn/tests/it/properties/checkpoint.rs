//! A checkpoint and the records after it give what all records give, taken after any record.

use heeler_core::Entry;
use heeler_turn::State;
use proptest::prelude::*;

use super::hostile;
use super::run::Run;
use super::world::World;
use super::{Dice, cases, dice};

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn a_run_goes_on_from_any_checkpoint(mut dice in dice(0..250)) {
        let mut run = Run::new(World::roll(&mut dice));
        while !dice.is_used_up() {
            run.step(&mut dice);
        }
        check(&run.journal);
    }

    #[test]
    fn so_does_a_journal_that_no_driver_wrote(mut dice in dice(0..250)) {
        check(&hostile::damaged_journal(&mut dice));
    }
}

/// After how many records all is compared; an interpreter is slow.
const COMPARED_EVERY: u64 = if cfg!(miri) { 8 } else { 1 };

/// Keeps a checkpoint after each record and folds what is left over each of them.
fn check(entries: &[Entry]) {
    let mut states = vec![State::new()];
    for entry in entries {
        // The old ones go on beside the new one, so each meets all later records.
        for state in &mut states {
            state.apply(entry);
        }
        if !entry.seq.is_multiple_of(COMPARED_EVERY) {
            continue;
        }
        let whole = &states[0];
        let again = through_bytes(whole);
        assert_same(&again, whole, entry);
        if entry.seq.is_multiple_of(8) || states.len() < 4 {
            states.push(again);
        }
        for state in &states[1..] {
            assert_eq!(state.pending(), states[0].pending(), "after {entry:?}");
        }
    }
    if let Some(last) = entries.last() {
        states[1..].iter().for_each(|state| assert_same(state, &states[0], last));
    }
}

fn through_bytes(state: &State) -> State {
    let bytes = state.to_checkpoint().unwrap();
    let again = State::from_checkpoint(&bytes).unwrap();
    assert_eq!(again.to_checkpoint().unwrap(), bytes, "the same state has the same bytes");
    again
}

fn assert_same(a: &State, b: &State, entry: &Entry) {
    assert_eq!(a.pending(), b.pending(), "after {entry:?}");
    assert_eq!(a.view(), b.view(), "after {entry:?}");
    let request = |state: &State| format!("{:?}", state.request(9));
    assert_eq!(request(a), request(b), "after {entry:?}");
    let summary = |state: &State| format!("{:?}", state.summary_request(3, None, 9));
    assert_eq!(summary(a), summary(b), "after {entry:?}");
    let tokens = |state: &State| (state.estimate_due(), state.breakdown(), state.context_limit());
    assert_eq!(tokens(a), tokens(b), "after {entry:?}");
    let chosen = heeler_turn::checkpoint::chosen(&a.to_checkpoint().unwrap()).unwrap();
    assert_eq!(chosen, b.chosen);
    let bytes = |state: &State| String::from_utf8(state.to_checkpoint().unwrap()).unwrap();
    assert_eq!(bytes(a), bytes(b), "after {entry:?}");
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let bytes = Run::new(World::roll(&mut Dice::new(Vec::new()))).state.to_checkpoint().unwrap();
    let step = if cfg!(miri) { 101 } else { 1 };
    for n in (0..bytes.len()).step_by(step) {
        assert!(State::from_checkpoint(&bytes[..n]).is_err());
    }
    assert!(State::from_checkpoint(&bytes).is_ok());
    assert!(State::from_checkpoint(b"[]").is_err());
}
