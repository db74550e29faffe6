//! Each bug seeded in the shipped code is found.

use expect_test::{ExpectFile, expect_file};
use heeler_simulator::{Arm, Broken, Bug, Invariant, Totals, run, turn_on};

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

/// All bugs of one kind are found, by these invariants: a check that no longer sees what it is there
/// for must not be covered up by another one that happens to.
fn check(arm: Arm, expected: ExpectFile) {
    let found: Vec<String> = Bug::all()
        .filter(|bug| bug.arm() == arm)
        .map(|bug| match find(bug) {
            Some((_, broken)) => format!("{}: {:?}\n", bug.name(), broken.violation.invariant),
            None => panic!("{} is not found", bug.name()),
        })
        .collect();
    expected.assert_eq(&found.concat());
}

#[test]
fn every_bug_of_the_machine_is_found() {
    check(Arm::Machine, expect_file!["bugs_of_the_machine.txt"]);
}

#[test]
fn every_bug_of_the_engine_is_found() {
    check(Arm::Engine, expect_file!["bugs_of_the_engine.txt"]);
}

/// What only ever breaks behind another check could be blind, and nobody would notice.
#[test]
fn every_invariant_is_the_first_to_see_some_bug() {
    // The other tests hold these lists to be true.
    let lists = [include_str!("bugs_of_the_machine.txt"), include_str!("bugs_of_the_engine.txt")];
    let lines = lists.iter().flat_map(|list| list.lines());
    let found: Vec<&str> =
        lines.filter_map(|line| line.split_once(": ")).map(|(_, by)| by).collect();
    let is_blind = |invariant: &&Invariant| !found.contains(&format!("{invariant:?}").as_str());
    let blind: Vec<&Invariant> = Invariant::ALL.iter().filter(is_blind).collect();
    assert!(blind.is_empty(), "no bug is first seen by {blind:?}");
}
