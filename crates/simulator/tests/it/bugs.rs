//! Each bug seeded in the shipped code is found.

use std::fmt::Write;

use heeler_simulator::{Broken, Bug, Totals, run, turn_on};

/// Every bug must show within so many seeds.
const SEEDS_MAX: u64 = 2000;

fn find(bug: Bug) -> Option<(u64, Broken)> {
    assert!(turn_on(Some(bug)), "the tests are built with seeded bugs");
    let broken = (0..SEEDS_MAX)
        .find_map(|seed| run(seed, &mut Totals::default()).err().map(|broken| (seed, *broken)));
    turn_on(None);
    broken
}

#[test]
fn every_bug_is_found() {
    let mut found = String::new();
    for bug in Bug::ALL {
        match find(*bug) {
            Some((seed, broken)) => {
                let invariant = broken.violation.invariant;
                writeln!(found, "{} by {invariant:?} in seed {seed}", bug.name()).unwrap();
            }
            None => writeln!(found, "{} NOT FOUND", bug.name()).unwrap(),
        }
    }
    print!("{found}");
    assert!(!found.contains("NOT FOUND"), "{found}");
}
