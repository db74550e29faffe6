//! A journal that tears its last write and loses what was not synced.

use heeler_core::{Durability, Entry};

use crate::chance::Chance;

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is written, and the process lives.
    Lives,
    /// The store refuses; the process stops.
    Refused,
    /// The process dies before anything is written.
    DiesBefore,
    /// The process dies while it writes: some whole records from the beginning stay.
    Torn,
    /// The process dies once all is written.
    DiesAfter,
}

/// One session's journal.
#[derive(Debug, Default)]
pub(crate) struct Store {
    entries: Vec<Entry>,
    synced: usize,
}

impl Store {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many records a loss of power leaves for certain.
    pub(crate) fn synced(&self) -> u64 {
        self.synced as u64
    }

    pub(crate) fn append(
        &mut self,
        entries: &[Entry],
        durability: Durability,
        fate: Fate,
        chance: &mut Chance,
    ) {
        let keep = match fate {
            Fate::Lives | Fate::DiesAfter => entries.len(),
            Fate::Refused | Fate::DiesBefore => 0,
            Fate::Torn => chance.index(entries.len() + 1),
        };
        self.entries.extend_from_slice(&entries[..keep]);
        if durability == Durability::Synced && keep == entries.len() {
            self.synced = self.entries.len();
        }
    }

    /// Another session goes on with these records behind its own; it is written whole or not at all.
    pub(crate) fn continue_with(&mut self, entries: Vec<Entry>) {
        self.entries.extend(entries);
        self.synced = self.entries.len();
    }

    /// Loses some of what was not synced, from the end.
    pub(crate) fn lose_power(&mut self, chance: &mut Chance) {
        let unsynced = self.entries.len() - self.synced;
        let lost = chance.index(unsynced + 1);
        self.entries.truncate(self.entries.len() - lost);
    }
}
