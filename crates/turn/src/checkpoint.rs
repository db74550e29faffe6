//! A state as bytes and back, so that opening a long session folds only the end of its journal.
//!
//! The derives of [`State`] and its parts say what is kept, so a new field is kept without anybody
//! thinking of it. What follows from other fields is skipped there and made again here.
//!
//! Invariant: the state that comes back goes on exactly as the one that was kept.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::io::Write;

use heeler_core::{from_json_bytes, gathered};
use rpds::{HashTrieMapSync, HashTrieSetSync};
use serde::{Deserialize, Serialize, Serializer};

use crate::State;
use crate::bugs::{Bug, is_on};
use crate::chosen::Chosen;

/// Names the bytes of a checkpoint and the fold that led to them.
///
/// It is a hash of the sources of this crate and of core, taken by the build script: whatever
/// changes there, checkpoints of before are of another format and the journal is folded whole,
/// once.
pub const FORMAT: &str = env!("HEELER_STATE_FORMAT");

impl State {
    /// The format of this state's checkpoints; none when it estimates with somebody's own
    /// tokenizer, since nothing says that the next process comes with the same one.
    #[must_use]
    pub fn checkpoint_format(&self) -> Option<&'static str> {
        (!self.has_own_estimate()).then_some(FORMAT)
    }

    /// Writes the state as bytes; the same state gives the same bytes.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn write_checkpoint(&self, out: impl Write) -> Result<(), serde_json::Error> {
        if is_on(Bug::ForgetfulCheckpoint) {
            let mut forgetful = self.clone();
            forgetful.grants.clear();
            return serde_json::to_writer(out, &forgetful);
        }
        serde_json::to_writer(out, self)
    }

    /// As [`State::write_checkpoint`], in memory.
    ///
    /// # Errors
    /// Never for a state that a journal can hold.
    pub fn to_checkpoint(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = Vec::new();
        self.write_checkpoint(&mut bytes)?;
        Ok(bytes)
    }

    /// The state that [`State::write_checkpoint`] wrote in a process of the same [`FORMAT`].
    ///
    /// # Errors
    /// When the bytes are something else.
    pub fn from_checkpoint(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut state: Self = from_json_bytes(bytes)?;
        state.restore();
        Ok(state)
    }
}

/// The chosen model in a checkpoint, for who does not need the rest.
///
/// # Errors
/// When the bytes are something else.
pub fn chosen(bytes: &[u8]) -> Result<Chosen, serde_json::Error> {
    #[derive(Deserialize)]
    struct Part {
        chosen: Chosen,
    }
    Ok(from_json_bytes::<Part>(bytes)?.chosen)
}

/// Writes a set in an order of its own, not in that of its hashes.
pub(crate) fn set_in_order<S: Serializer, T: Serialize + Ord + Eq + Hash>(
    set: &HashTrieSetSync<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    gathered::<BTreeSet<&T>, _>(set.iter()).serialize(serializer)
}

/// Writes a map in the order of its keys.
pub(crate) fn map_in_order<S: Serializer, K: Serialize + Ord + Eq + Hash, V: Serialize>(
    map: &HashTrieMapSync<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    gathered::<BTreeMap<&K, &V>, _>(map.iter()).serialize(serializer)
}
