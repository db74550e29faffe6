//! Runs a driver may make.

use proptest::prelude::*;

use super::run::Run;
use super::world::World;
use super::{cases, dice};

proptest! {
    #![proptest_config(cases(300))]

    /// The watcher holds every invariant after every record; whatever happened, the session comes
    /// to rest and the next turn can go on.
    #[test]
    fn every_run_keeps_every_promise(mut dice in dice(0..400)) {
        let world = World::roll(&mut dice);
        let mut run = Run::new(world);
        run.play(&mut dice);
        run.one_more_turn();
        prop_assert!(run.state.turn.is_none() && run.state.steering.is_empty());
    }
}
