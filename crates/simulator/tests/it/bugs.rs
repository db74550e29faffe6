//! Each bug seeded in the shipped code is found.

use heeler_simulator::{Arm, Broken, Bug, Totals, run, turn_on};

/// Every bug must show within so many seeds.
const SEEDS_MAX: u64 = 2000;

fn find(bug: Bug) -> Option<(u64, Broken)> {
    assert!(turn_on(Some(bug)), "the tests are built with seeded bugs");
    let mut totals = Totals::of(bug.arm());
    let broken =
        (0..SEEDS_MAX).find_map(|seed| run(seed, &mut totals).err().map(|broken| (seed, *broken)));
    turn_on(None);
    broken
}

/// All bugs of one kind are found; those that are not are told.
fn check(arm: Arm) {
    let missed: Vec<&str> = Bug::all()
        .filter(|bug| bug.arm() == arm)
        .filter_map(|bug| match find(bug) {
            Some((seed, broken)) => {
                let invariant = broken.violation.invariant;
                println!("{} by {invariant:?} in seed {seed}", bug.name());
                None
            }
            None => Some(bug.name()),
        })
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn every_bug_of_the_machine_is_found() {
    check(Arm::Machine);
}

#[test]
fn every_bug_of_the_engine_is_found() {
    check(Arm::Engine);
}
