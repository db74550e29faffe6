//! Seeds run through the shipped machine.

use heeler_simulator::{Broken, Bug, Totals, run, shrink, turn_on};

#[test]
fn two_thousand_seeds_break_nothing() {
    let mut totals = Totals::default();
    for seed in 0..2000 {
        if let Err(broken) = run(seed, &mut totals) {
            panic!("seed {seed}: {}", shrink(*broken));
        }
    }
    assert_eq!((totals.runs, totals.matrix.surprising()), (2000, vec![]));
}

/// The first seed of a bug that shows at once.
fn broken() -> Broken {
    turn_on(Some(Bug::DoubleRun));
    let first = (0..100).find_map(|seed| run(seed, &mut Totals::default()).err());
    let Some(first) = first else { panic!("a hundred seeds do not show it") };
    *first
}

#[test]
fn a_seed_is_the_same_run_again() {
    assert_eq!(broken().to_string(), broken().to_string());
}

#[test]
fn what_is_shrunk_breaks_the_same_with_less() {
    let whole = broken();
    let (invariant, records) = (whole.violation.invariant, whole.journal.len());
    let shrunk = shrink(whole);
    assert_eq!(shrunk.violation.invariant, invariant);
    assert!(shrunk.journal.len() <= records.min(25), "{} records left", shrunk.journal.len());
}
