//! Records no driver would write: dropped, doubled, shuffled, invented. `apply` takes them all,
//! the history stays valid, and the session can go on.

use heeler_core::{EffectKind, Entry, Timestamp};
use heeler_turn::State;
use heeler_turn::state::{Announcer, Phase};
use proptest::prelude::*;

use super::run::Run;
use super::watch::is_denied;
use super::world::World;
use super::{Dice, cases, dice, invent};
use crate::checker;

/// How long a session goes on before it is left; an interpreter is slow.
const STEPS: usize = if cfg!(miri) { 15 } else { 60 };

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn holes_repeats_and_disorder(mut dice in dice(0..350)) {
        let damaged = damaged_journal(&mut dice);
        survive(&damaged, &mut dice);
    }

    #[test]
    fn records_out_of_thin_air(mut dice in dice(0..500)) {
        let mut entries = journal(&mut Dice::new(vec![12; 40]));
        while !dice.is_used_up() {
            let record = invent::record(&mut dice);
            entries.push(Entry { seq: 0, at: invent::time(&mut dice), record });
        }
        renumber(&mut entries);
        survive(&entries, &mut dice);
    }

    #[test]
    fn records_of_two_sessions_and_some_invented(mut dice in dice(0..450)) {
        let mut entries = journal(&mut dice);
        let other = journal(&mut dice);
        for entry in other {
            let at = dice.below(entries.len());
            entries.insert(at, entry);
            if dice.below(4) == 3 {
                let record = invent::record(&mut dice);
                entries.insert(at, Entry { seq: 0, at: Timestamp(0), record });
            }
        }
        renumber(&mut entries);
        survive(&entries, &mut dice);
    }
}

/// The journal of a run, with holes, repeats and disorder.
pub(super) fn damaged_journal(dice: &mut Dice) -> Vec<Entry> {
    let journal = journal(dice);
    damage(journal, dice)
}

/// The journal of a run that was left in the middle.
fn journal(dice: &mut Dice) -> Vec<Entry> {
    let mut run = Run::new(World::roll(dice));
    for _ in 0..STEPS {
        run.step(dice);
    }
    run.journal
}

fn damage(mut journal: Vec<Entry>, dice: &mut Dice) -> Vec<Entry> {
    for _ in 0..1 + dice.below(12) {
        let (a, b) = (dice.below(journal.len()), dice.below(journal.len()));
        match dice.below(4) {
            0 => {
                journal.remove(a);
            }
            1 => journal.swap(a, b),
            2 => journal.insert(a, journal[b].clone()),
            _ => journal.truncate(a.max(journal.len() / 2)),
        }
        if journal.is_empty() {
            break;
        }
    }
    // A store gives them in order of their numbers; a machine must not rely on it.
    if dice.below(2) == 0 {
        renumber(&mut journal);
    }
    journal
}

fn renumber(entries: &mut [Entry]) {
    for (seq, entry) in (1..).zip(entries) {
        entry.seq = seq;
    }
}

/// Applies all of it, checking after each, and then goes on as if nothing had happened.
fn survive(entries: &[Entry], dice: &mut Dice) {
    let mut state = State::new();
    let mut seen = state.view();
    for entry in entries {
        let mut out = Announcer::collecting();
        state.apply_announcing(entry, &mut out);
        out.into_events().iter().for_each(|event| seen.apply(event));
        assert_eq!(seen, state.view(), "a fold of the events differs after {entry:?}");
        let open_end = state.turn.as_ref().is_some_and(|turn| turn.phase == Phase::Calls);
        let faults = checker::history_faults(&state.history, open_end);
        assert_eq!(faults, [""; 0], "after {entry:?}");
        assert_eq!(state.estimate_uncalibrated(), checker::recount(&state), "after {entry:?}");
        for effect in state.pending() {
            if let EffectKind::RunCall { call, name, .. } = &effect.kind {
                let runs = state.turn.iter().flat_map(|turn| &turn.calls).any(|own| {
                    own.id == *call
                        && matches!(own.status, heeler_turn::state::CallStatus::Started { .. })
                });
                let denied = is_denied(&state.settings.policy, &state.grants, name);
                assert!(runs || !denied, "{call} {name} is denied and may run");
            }
        }
    }
    let world = World::roll(&mut Dice::new(Vec::new()));
    let settings = world.settings.clone();
    let mut run = Run::over(world, state);
    run.open();
    run.write(heeler_core::Record::SettingsChanged(Box::new(settings)));
    for _ in 0..dice.below(20) {
        run.step(&mut Dice::new(vec![0, 12, 0]));
    }
    run.finish();
    run.one_more_turn();
    assert!(run.state.turn.is_none() && run.state.steering.is_empty());
}
