//! A fork of any run, at any of its inputs, is a session of its own that can go on.

use heeler_core::{
    Block, Entry, Input, Message, ModelReplied, ModelStarted, Record, Reply, Reserve, SessionId,
    StopReason, Timestamp, TurnOutcome, Usage,
};
use heeler_turn::State;
use heeler_turn::fork::{ForkError, fork};
use proptest::prelude::*;

use super::run::Run;
use super::world::World;
use super::{cases, dice, state_of};
use crate::checker;

fn messages(state: &State) -> Vec<Message> {
    state.history.messages().iter().map(|message| (**message).clone()).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_fork_of_any_run_begins_as_its_source_and_goes_on(
        mut rolls in dice(0..200),
        cut in 0usize..400,
        at in proptest::option::of(1u32..5),
    ) {
        let world = World::roll(&mut rolls);
        let mut run = Run::new(world.clone());
        run.play(&mut rolls);
        // The source may be in the middle of anything.
        let source = &run.journal[..cut.min(run.journal.len())];
        let id: SessionId = "source".parse().unwrap();
        let whole = state_of(source);
        let made = match fork(source, &id, at, Timestamp(7)) {
            Ok(made) => made,
            Err(ForkError::NoInput { at, inputs, .. }) => {
                prop_assert_eq!(inputs, whole.turns);
                prop_assert!(at > inputs + 1);
                return Ok(());
            }
            Err(ForkError::Nothing { .. }) => {
                let none = at.is_some_and(|at| at <= 1) || messages(&whole).is_empty();
                prop_assert!(none || at.is_some());
                return Ok(());
            }
        };
        let journal: Vec<Entry> =
            source[..made.taken].iter().chain(&made.closing).cloned().collect();
        for (seq, entry) in (1..).zip(&journal) {
            prop_assert_eq!(entry.seq, seq);
        }
        let before = state_of(&source[..made.taken]);
        let state = state_of(&journal);
        prop_assert_eq!(state.misfits, before.misfits);
        prop_assert_eq!(state.turns + 1, made.origin.at);
        prop_assert!(at.is_none_or(|at| at == made.origin.at));
        prop_assert_eq!(state.forked.as_ref(), Some(&made.origin));
        // Nothing runs, waits or was allowed.
        prop_assert!(state.turn.is_none() && state.pending().is_empty());
        prop_assert!(state.steering.is_empty() && state.background.is_empty());
        prop_assert!(state.grants.is_empty() && state.left_plan.is_none() && state.name.is_none());
        prop_assert_eq!(checker::history_faults(&state.history, false), Vec::<String>::new());
        // What was said stands, and only answers to open calls come after it.
        let (was, is) = (messages(&before), messages(&state));
        prop_assert_eq!(&is[..was.len()], &was[..]);
        prop_assert!(is.len() <= was.len() + 1);
        // It goes on in a process of its own.
        let mut own = Run::over(world, state);
        own.open();
        let n_before = own.state.turns;
        own.one_more_turn();
        prop_assert!(own.state.turn.is_none());
        prop_assert_eq!(own.state.turns, n_before + 1);
    }
}

#[test]
fn what_is_forked_is_told_by_its_inputs() {
    let input = |seq, text: &str| {
        let input = Input::text(text);
        Entry { seq, at: Timestamp(seq), record: Record::Input(Box::new(input)) }
    };
    let ended = |seq, turn| {
        let outcome = TurnOutcome::Cancelled;
        Entry { seq, at: Timestamp(seq), record: Record::TurnFinished { turn, outcome } }
    };
    let journal = [input(1, "one"), ended(2, 1), input(3, "two"), ended(4, 2)];
    let id: SessionId = "a".parse().unwrap();
    let check = |at, expected: Result<(usize, u32), &str>| {
        let made = fork(&journal, &id, at, Timestamp(9));
        let told = made.map(|made| (made.taken, made.origin.at)).map_err(|error| error.to_string());
        assert_eq!(told, expected.map_err(str::to_owned), "{at:?}");
    };
    check(None, Ok((4, 3)));
    check(Some(3), Ok((4, 3)));
    check(Some(2), Ok((2, 2)));
    check(
        Some(1),
        Err("nothing was said in session a before input 1; begin a new session instead"),
    );
    check(
        Some(4),
        Err("session a has 2 inputs, so there is no input 4 to fork before; see `heeler show a`"),
    );
    let one = fork(&journal[..2], &id, Some(3), Timestamp(9)).unwrap_err().to_string();
    assert!(one.starts_with("session a has 1 input, so"), "{one}");
}

/// An end that stands and was only not written yet is the end, whatever was interrupted elsewhere.
#[test]
fn a_turn_that_was_ending_ends_as_it_would_have() {
    let (turn, round, attempt) = (1, 1, 1);
    let reserve = Reserve::default();
    let reply = Reply {
        blocks: vec![Block::text("cut")],
        stop: StopReason::MaxTokens,
        usage: Usage::default(),
        provider_id: None,
    };
    let records = [
        Record::Input(Box::new(Input::text("go"))),
        Record::ModelStarted(ModelStarted { turn, round, attempt, epoch: 0, up_to: 1, reserve }),
        Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt, reply, cost: None })),
    ];
    let journal: Vec<Entry> =
        (1..).zip(records).map(|(seq, record)| Entry { seq, at: Timestamp(seq), record }).collect();
    let made = fork(&journal, &"a".parse().unwrap(), None, Timestamp(9)).unwrap();
    let closing: Vec<&Record> = made.closing.iter().map(|entry| &entry.record).collect();
    let outcome = TurnOutcome::Truncated;
    assert_eq!(made.taken, journal.len());
    assert!(
        matches!(closing[..], [Record::Forked(_), Record::TurnFinished { turn: 1, outcome: end }]
            if *end == outcome),
        "{closing:?}"
    );
}
