//! Outcomes of one batch may come in any order.

use heeler_core::ToolOutput;
use heeler_turn::State;
use proptest::prelude::*;

use super::run::Run;
use super::world::World;
use super::{Dice, cases, dice};

/// Three turns of a world, performed in the order the dice say.
fn play(world: &World, order: &mut Dice) -> State {
    let mut run = Run::new(world.clone());
    for _ in 0..3 {
        run.input();
        run.finish_by(order);
    }
    run.state
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_order_gives_the_same_state(mut world in dice(0..80), mut order in dice(0..300)) {
        let world = World::roll_calm(&mut world);
        let calm = play(&world, &mut Dice::new(Vec::new()));
        let other = play(&world, &mut order);
        prop_assert_eq!(calm.view(), other.view());
        prop_assert_eq!(calm.pending(), other.pending());
        prop_assert_eq!(calm.history.request(), other.history.request());
        prop_assert_eq!(values(&calm), values(&other));
        prop_assert_eq!(calm.estimate(), other.estimate());
    }

    /// The same records give the same state, and telling watchers changes nothing.
    #[test]
    fn a_fold_is_a_fold(mut dice in dice(0..300)) {
        let mut run = Run::new(World::roll(&mut dice));
        while !dice.is_used_up() {
            run.step(&mut dice);
        }
        let mut again = State::new();
        run.journal.iter().for_each(|entry| again.apply(entry));
        prop_assert_eq!(run.state.view(), again.view());
        prop_assert_eq!(run.state.pending(), again.pending());
        prop_assert_eq!(run.state.history.request(), again.history.request());
        prop_assert_eq!(values(&run.state), values(&again));
    }
}

fn values(state: &State) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> =
        state.values().0.iter().map(|(key, raw)| (key.clone(), raw.get().to_owned())).collect();
    values.sort();
    values
}

#[test]
fn the_worlds_tools_do_everything_a_tool_may_do() {
    let mut seen: Vec<ToolOutput> = Vec::new();
    for salt in 0..=255 {
        let world = World::roll(&mut Dice::new([vec![0; 17], vec![salt; 60]].concat()));
        let call = heeler_core::CallId { turn: 1, round: 1, index: 0 };
        seen.push(world.output(call, "read", &crate::toolbox::input("read", "a")));
    }
    assert!(seen.iter().any(|output| output.is_error));
    assert!(seen.iter().any(|output| output.response_handled));
    assert!(seen.iter().any(|output| !output.for_user.is_empty()));
    assert!(seen.iter().any(|output| !output.state.is_empty()));
    assert!(seen.iter().any(|output| output.text_content().is_empty()));
}
