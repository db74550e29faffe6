//! Journals that are played again.

use heeler_core::{Entry, Record, TurnOutcome};
use heeler_turn::State;
use heeler_turn::replay::{Divergence, Replay};
use proptest::prelude::*;
use proptest::sample::Index;

use super::run::Run;
use super::world::World;
use super::{cases, dice};

/// Plays a journal whose first records are taken as they are.
fn play(journal: &[Entry], from: usize) -> Result<State, Divergence> {
    let mut state = State::new();
    journal[..from].iter().for_each(|entry| state.apply(entry));
    let mut replay = Replay::after(state);
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
    fn what_was_decided_otherwise_does_not_come(mut dice in dice(0..300), which: Index) {
        let world = World::roll(&mut dice);
        let mut run = Run::new(world);
        run.play(&mut dice);
        run.one_more_turn();
        let mut journal = run.journal;
        let at = which.index(journal.len());
        let changed = match &mut journal[at].record {
            Record::TurnFinished { outcome, .. } => {
                *outcome = TurnOutcome::Failed { message: "it was never so".into() };
                true
            }
            Record::ModelStarted(started) => {
                started.round += 1;
                true
            }
            Record::CallStarted { call } => {
                call.index += 100;
                true
            }
            Record::Trimmed(trimmed) => {
                trimmed.cut += 1;
                true
            }
            Record::Pruned(pruned) => {
                pruned.before += 1;
                true
            }
            _ => false,
        };
        prop_assume!(changed);
        let seq = journal[at].seq;
        prop_assert_eq!(play(&journal, 0).err().map(|divergence| divergence.seq), Some(seq));
    }
}
