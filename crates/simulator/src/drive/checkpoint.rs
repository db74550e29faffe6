//! Checkpoints of the state, kept now and then; a process that opens the session goes on from one.

use heeler_core::Seq;
use heeler_turn::State;

use super::{Stop, World};
use crate::check::{Invariant, Violation, same_state};

/// How often a step keeps one, in percent.
const KEPT: u32 = 4;

/// The newest checkpoint.
#[derive(Default)]
pub(super) struct Checkpoint {
    seq: Seq,
    bytes: Vec<u8>,
}

impl World<'_> {
    /// What a driver does off its hot path.
    pub(super) fn keep_checkpoint(&mut self) -> Result<(), Stop> {
        if self.chance.percent(KEPT) {
            let bytes = self.state.to_checkpoint().map_err(|error| broken(&error))?;
            self.checkpoint = Checkpoint { seq: self.state.seq, bytes };
        }
        Ok(())
    }

    /// A checkpoint of records that are gone is of no journal any more.
    pub(super) fn lose_checkpoint(&mut self) {
        if self.checkpoint.seq > self.store.entries().len() as u64 {
            self.checkpoint = Checkpoint::default();
        }
    }

    /// The state as the checkpoint and the records after it give it, which is what all records
    /// give. The session goes on with this one.
    pub(super) fn resume(&self, whole: State) -> Result<State, Stop> {
        if self.checkpoint.seq == 0 {
            return Ok(whole);
        }
        let read = State::from_checkpoint(&self.checkpoint.bytes);
        let mut state = read.map_err(|error| broken(&error))?;
        for entry in
            self.store.entries().iter().skip_while(|entry| entry.seq <= self.checkpoint.seq)
        {
            state.apply(entry);
        }
        same_state(&whole, &state, Invariant::CheckpointIsFold)?;
        Ok(state)
    }
}

fn broken(error: &serde_json::Error) -> Violation {
    Violation::new(Invariant::CheckpointIsFold, format!("a checkpoint cannot be kept: {error}"))
}
