//! A crash after any record, then a resume, ends as some uncrashed run could have ended, and no
//! side effect happens twice.

use std::collections::{BTreeSet, HashMap};

use heeler_core::{CallId, Entry, Event, Message, Record, output_summary};
use heeler_turn::state::Announcer;
use heeler_turn::{State, words};
use proptest::prelude::*;

use super::run::Run;
use super::world::World;
use super::{Dice, cases, dice};

const INPUTS: u32 = 2;

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_crash_after_any_record_is_survived(
        mut world in dice(0..80),
        order in dice(0..200),
        second in 0usize..12,
    ) {
        let world = World::roll_calm(&mut world);
        let whole = play(Run::new(world.clone()), &mut order.clone());
        for records in 1..=whole.journal.len() {
            let written = &whole.journal[..records];
            check_cut_off(written);
            let resumed = resume(&world, written, &mut order.clone(), second);
            check_starts(written.iter().chain(&resumed.journal));
            let mut same = world.clone();
            same.unknown = unknown_calls(written.iter().chain(&resumed.journal));
            let uncrashed = play(Run::new(same), &mut order.clone());
            let said = |run: &Run| -> Vec<Message> {
                run.state.history.messages().iter().map(|message| (**message).clone()).collect()
            };
            prop_assert_eq!(said(&resumed), said(&uncrashed), "crashed after {}", records);
            prop_assert_eq!(&resumed.state.last_outcome, &uncrashed.state.last_outcome);
        }
    }
}

/// All inputs that were not said yet, each to the end of its turn.
fn play(mut run: Run, order: &mut Dice) -> Run {
    run.finish_by(order);
    while run.said < INPUTS {
        run.input();
        run.finish_by(order);
    }
    run
}

/// Opens what was written, dies once more after some steps, and goes on to the end.
fn resume(world: &World, written: &[Entry], order: &mut Dice, second: usize) -> Run {
    let mut state = State::new();
    written.iter().for_each(|entry| state.apply(entry));
    let inputs = written.iter().filter(|entry| matches!(entry.record, Record::Input(_))).count();
    let mut run = Run::over(world.clone(), state);
    run.said = u32::try_from(inputs).unwrap();
    run.open();
    if !written.iter().any(|entry| matches!(entry.record, Record::SettingsChanged(_))) {
        run.write(Record::SettingsChanged(Box::new(world.settings.clone())));
    }
    for _ in 0..second {
        if !run.state.pending().is_empty() {
            run.work(order);
        }
    }
    if second > 0 {
        run.open();
    }
    play(run, order)
}

/// The calls that were begun and did not end are those that the next process clears away after.
fn check_cut_off(written: &[Entry]) {
    let mut state = State::new();
    let mut running = BTreeSet::new();
    for entry in written {
        state.apply(entry);
        match &entry.record {
            Record::CallStarted { call } => drop(running.insert(*call)),
            Record::CallFinished { call, .. } => drop(running.remove(call)),
            Record::Opened(_) => running.clear(),
            _ => {}
        }
    }
    let cut_off: BTreeSet<CallId> = state.cut_off_calls().iter().map(|call| call.id).collect();
    assert_eq!(cut_off, running);
}

fn check_starts<'a>(entries: impl Iterator<Item = &'a Entry>) {
    let mut names: HashMap<CallId, u32> = HashMap::new();
    let mut safe: HashMap<CallId, bool> = HashMap::new();
    for entry in entries {
        match &entry.record {
            Record::CallPlanned(planned) => {
                if let heeler_core::CallPlan::Ready { facts, .. } = &planned.plan {
                    safe.insert(planned.call, facts.replay_safe);
                }
            }
            Record::CallStarted { call } => *names.entry(*call).or_default() += 1,
            _ => {}
        }
    }
    for (call, starts) in names {
        assert!(starts == 1 || safe[&call], "{call} was started {starts} times");
    }
}

/// The calls whose outcome the crash left unknown.
fn unknown_calls<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<CallId> {
    let unknown = output_summary(words::OUTCOME_UNKNOWN);
    let mut state = State::new();
    let mut seen = Announcer::collecting();
    entries.for_each(|entry| state.apply_announcing(entry, &mut seen));
    let events = seen.into_events().into_iter();
    events
        .filter_map(|event| match event {
            Event::CallFinished { call, summary, .. } if summary == unknown => Some(call),
            _ => None,
        })
        .collect()
}
