//! Where a journal is cut for a fork, and what closes the part that is taken over.
//!
//! A fork's journal begins with its source's records, whole and in their places, up to an input of the
//! person's. Behind them stands what makes them a session of its own: that it is a fork, and, where a
//! turn was cut, the turn's end.

use heeler_core::{Entry, ForkOrigin, Record, SessionId, Timestamp};

use crate::State;
use crate::state::Phase;

/// What a fork begins with.
#[derive(Debug, PartialEq)]
pub struct Fork {
    /// How many of the source's entries it takes over.
    pub taken: usize,
    /// What follows them.
    pub closing: Vec<Entry>,
    /// Where it comes from.
    pub origin: ForkOrigin,
}

/// Why there is no fork.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// There is no such input.
    #[error(
        "session {session} has {inputs} input{}, so there is no input {at} to fork before; see `heeler show {session}`",
        if *inputs == 1 { "" } else { "s" }
    )]
    NoInput {
        /// The source.
        session: SessionId,
        /// The input that is asked for.
        at: u32,
        /// How many there are.
        inputs: u32,
    },
    /// Nothing was said before that point.
    #[error("nothing was said in session {session} before input {at}; begin a new session instead")]
    Nothing {
        /// The source.
        session: SessionId,
        /// The input.
        at: u32,
    },
}

/// Cuts a session before the `at`-th of the person's inputs, from 1, or takes all of it.
///
/// The inputs are counted as turns are: what was said into a running turn is part of it.
///
/// # Errors
/// When there is no such input, or nothing before it.
pub fn fork(
    entries: &[Entry],
    session: &SessionId,
    at: Option<u32>,
    now: Timestamp,
) -> Result<Fork, ForkError> {
    let taken = at.map_or(entries.len(), |at| before_turn(entries, at));
    let mut state = State::new();
    entries[..taken].iter().for_each(|entry| state.apply(entry));
    let n_inputs = state.turns;
    // A fork of all of it begins with the input after the last.
    let at = at.unwrap_or(n_inputs.saturating_add(1));
    let session = session.clone();
    if taken == entries.len() && at > n_inputs.saturating_add(1) {
        return Err(ForkError::NoInput { session, at, inputs: n_inputs });
    }
    if state.history.is_empty() {
        return Err(ForkError::Nothing { session, at });
    }
    let origin = ForkOrigin { session, at };
    let mut closing = Vec::new();
    let mut close = |record, state: &mut State| {
        let entry = Entry { seq: state.seq + 1, at: now.max(state.now), record };
        state.apply(&entry);
        closing.push(entry);
    };
    close(Record::Forked(Box::new(origin.clone())), &mut state);
    let end = state.turn.as_ref().and_then(|turn| match &turn.phase {
        Phase::Ending(outcome) => {
            Some(Record::TurnFinished { turn: turn.number, outcome: outcome.clone() })
        }
        _ => None,
    });
    if let Some(end) = end {
        close(end, &mut state);
    }
    Ok(Fork { taken, closing, origin })
}

/// How many entries there are before the one that begins this turn, which is not always the input's own.
fn before_turn(entries: &[Entry], turn: u32) -> usize {
    // Folded once more by who asks: a state kept from before each entry would be copied for each.
    let mut state = State::new();
    let begins = |entry: &Entry| {
        state.apply(entry);
        state.turns >= turn
    };
    entries.iter().position(begins).unwrap_or(entries.len())
}
