//! Seeds run through the shipped machine and the shipped engine.

use heeler_engine::bugs::Bug as EngineBug;
use heeler_simulator::{Arm, Broken, Bug, Totals, run, shrink, turn_on};
use heeler_turn::bugs::Bug as MachineBug;

fn check(arm: Arm, seeds: u64) {
    let mut totals = Totals::of(arm);
    for seed in 0..seeds {
        if let Err(broken) = run(seed, &mut totals) {
            panic!("seed {seed}: {}", shrink(*broken));
        }
    }
    assert_eq!((totals.runs, totals.matrix.surprising()), (seeds, vec![]));
}

#[test]
fn two_thousand_seeds_of_the_machine_break_nothing() {
    check(Arm::Machine, 2000);
}

#[test]
fn two_thousand_seeds_of_the_engine_break_nothing() {
    check(Arm::Engine, 2000);
}

/// The first seed of a bug that shows at once.
fn broken(bug: Bug) -> Broken {
    turn_on(Some(bug));
    let first = (0..100).find_map(|seed| run(seed, &mut Totals::of(bug.arm())).err());
    let Some(first) = first else { panic!("a hundred seeds do not show it") };
    *first
}

const BUGS: [Bug; 2] =
    [Bug::Machine(MachineBug::DoubleRun), Bug::Engine(EngineBug::WidenedConcurrency)];

#[test]
fn a_seed_is_the_same_run_again() {
    for bug in BUGS {
        assert_eq!(broken(bug).to_string(), broken(bug).to_string());
    }
}

#[test]
fn what_is_shrunk_breaks_the_same_with_less() {
    for bug in BUGS {
        let whole = broken(bug);
        let (invariant, records) = (whole.violation.invariant, whole.journal.len());
        let shrunk = shrink(whole);
        assert_eq!(shrunk.violation.invariant, invariant);
        assert!(shrunk.journal.len() <= records.min(40), "{} records left", shrunk.journal.len());
    }
}
