//! Properties of all runs: a world that answers, a driver that does everything a driver may do in
//! any order and dies in between, and a watcher that knows nothing of the machine's inside.
//!
//! Everything is rolled from a list of bytes, so that a failing run shrinks to a short one.

mod checkpoint;
mod crash;
mod fork;
mod hostile;
mod invent;
mod legal;
mod order;
mod replay;
mod run;
mod verdict;
mod watch;
mod world;

use std::fmt;

use heeler_core::Entry;
use heeler_turn::State;
use proptest::prelude::*;

/// Rolls numbers from bytes; zeros when they are used up, which the world makes its calmest
/// choice.
#[derive(Clone)]
struct Dice {
    bytes: Vec<u8>,
    at: usize,
}

impl fmt::Debug for Dice {
    /// One line, without the zeros at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        write!(f, "{} rolls: {:?}", self.bytes.len(), &self.bytes[..end])
    }
}

impl Dice {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n.max(1)
    }

    /// One of these; the first is the calmest.
    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn is_used_up(&self) -> bool {
        self.bytes.len() <= self.at
    }
}

/// Runs and worlds: 60 bytes make a world, the rest what happens in it.
fn dice(length: std::ops::Range<usize>) -> impl Strategy<Value = Dice> {
    // An interpreter is slow: short runs, and as few as the environment says.
    let length = if cfg!(miri) { length.start..length.end / 4 } else { length };
    prop::collection::vec(any::<u8>(), length).prop_map(Dice::new)
}

/// What a journal leads to.
fn state_of(journal: &[Entry]) -> State {
    let mut state = State::new();
    journal.iter().for_each(|entry| state.apply(entry));
    state
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
