//! The events some reader has not seen yet, each kept once, and where each reader stands.
//!
//! Events are kept as they were while little waits. When much does, one pass joins what may be
//! joined: a delta and its continuation where no reader stands between them, and all events about
//! a subject of which only the latest matters. The next pass waits until what is kept has grown by
//! half again, so an event costs the same however long some reader sleeps.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use heeler_core::{AgentPath, Envelope, Event};

use super::delivery::{Delivery, Stream, Subject, delivery, extend, joins, weigh};

/// How many bytes of events wait before any are merged: who is behind by less sees each as it was.
const MERGE_BYTES_MIN: usize = 64 * 1024;
/// The most bytes of events kept for slow readers.
const BACKLOG_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most bytes of text that are joined to one event, so that each stays a small step to read.
const JOINED_BYTES_MAX: usize = 64 * 1024;
/// A full log is full when merging frees less than this part of it: a pass must pay for itself.
const GAIN_DIVISOR: usize = 16;

/// How much is kept, and from when on merged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) merge_bytes_min: usize,
    pub(crate) backlog_bytes_max: usize,
    pub(crate) joined_bytes_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            merge_bytes_min: MERGE_BYTES_MIN,
            backlog_bytes_max: BACKLOG_BYTES_MAX,
            joined_bytes_max: JOINED_BYTES_MAX,
        }
    }
}

/// What a reader finds.
#[derive(Debug)]
pub(super) enum Read {
    /// The next event; the reader has passed it.
    Event(Arc<Envelope>),
    /// What comes next is no longer kept; the reader stands at the end now.
    Behind,
    /// All was seen.
    Nothing,
}

/// The kept events, in order, and the readers.
#[derive(Debug)]
pub(super) struct Backlog {
    bounds: Bounds,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// Beyond so many bytes the next pass is due.
    merge_at_bytes: usize,
    readers: Vec<Reader>,
    readers_made: u64,
}

#[derive(Debug)]
struct Kept {
    envelope: Arc<Envelope>,
    bytes: usize,
}

#[derive(Debug)]
struct Reader {
    id: u64,
    /// How many of the kept events it has seen; `None` when it needs one that is not kept.
    place: Option<usize>,
}

impl Backlog {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            kept: VecDeque::new(),
            bytes: 0,
            merge_at_bytes: bounds.merge_bytes_min,
            readers: Vec::new(),
            readers_made: 0,
        }
    }

    /// A new reader, who stands at the end.
    pub(super) fn join(&mut self) -> u64 {
        self.readers_made += 1;
        self.readers.push(Reader { id: self.readers_made, place: Some(self.kept.len()) });
        self.readers_made
    }

    /// A reader is gone.
    pub(super) fn leave(&mut self, reader: u64) {
        self.readers.retain(|other| other.id != reader);
        self.forget_seen();
    }

    /// Adds an event at the end.
    pub(super) fn push(&mut self, envelope: Envelope) {
        // Who waits for a new snapshot finds this event in it.
        if self.readers.iter().all(|reader| reader.place.is_none()) {
            return;
        }
        let bytes = weigh(&envelope);
        self.bytes += bytes;
        self.kept.push_back(Kept { envelope: Arc::new(envelope), bytes });
        if self.bytes > self.merge_at_bytes {
            self.shrink();
        }
    }

    /// What comes next for a reader.
    pub(super) fn read(&mut self, reader: u64) -> Read {
        let Some(reader) = self.readers.iter_mut().find(|other| other.id == reader) else {
            return Read::Nothing;
        };
        let Some(place) = reader.place else {
            reader.place = Some(self.kept.len());
            return Read::Behind;
        };
        let Some(kept) = self.kept.get(place) else { return Read::Nothing };
        let envelope = Arc::clone(&kept.envelope);
        reader.place = Some(place + 1);
        if place == 0 {
            self.forget_seen();
        }
        Read::Event(envelope)
    }

    /// Makes room: merges, and where that does not help, gives up the slowest readers, who will be
    /// given a new snapshot. The newest event stays, however large: who keeps up is never sent
    /// away for one event.
    fn shrink(&mut self) {
        let bytes_max = self.bounds.backlog_bytes_max;
        let was_full = self.bytes > bytes_max;
        self.merge();
        let mut allowed_bytes =
            if was_full { bytes_max - bytes_max / GAIN_DIVISOR } else { bytes_max };
        while self.bytes > allowed_bytes && self.kept.len() > 1 {
            for reader in &mut self.readers {
                reader.place = reader.place.filter(|place| *place > 0);
            }
            self.forget_seen();
            allowed_bytes = bytes_max;
        }
        self.merge_at_bytes = self.next_pass_bytes();
    }

    /// Joins what may be joined for every reader. None notices but by seeing less: who stands
    /// before both sees the joined event, who stands behind both sees neither again.
    pub(super) fn merge(&mut self) {
        let mut slots: Vec<Option<Kept>> = self.kept.drain(..).map(Some).collect();
        let mut merging = Merging::default();
        for at in 0..slots.len() {
            if self.readers.iter().any(|reader| reader.place == Some(at)) {
                merging.open.clear();
            }
            merging.take(&mut slots, at, self.bounds.joined_bytes_max);
        }
        for reader in &mut self.readers {
            reader.place = reader.place.map(|place| slots[..place].iter().flatten().count());
        }
        self.kept = slots.into_iter().flatten().collect();
        self.bytes = self.kept.iter().map(|kept| kept.bytes).sum();
    }

    /// Forgets what nobody will read.
    fn forget_seen(&mut self) {
        let places = self.readers.iter().filter_map(|reader| reader.place);
        let seen = places.min().unwrap_or(self.kept.len());
        for kept in self.kept.drain(..seen) {
            self.bytes -= kept.bytes;
        }
        for reader in &mut self.readers {
            reader.place = reader.place.map(|place| place - seen);
        }
        self.merge_at_bytes = self.merge_at_bytes.min(self.next_pass_bytes());
    }

    fn next_pass_bytes(&self) -> usize {
        let grown = self.bytes + self.bytes / 2;
        grown.max(self.bounds.merge_bytes_min).min(self.bounds.backlog_bytes_max)
    }

    /// Beyond how many bytes the next pass is due.
    #[cfg(test)]
    pub(super) fn merge_at_bytes(&self) -> usize {
        self.merge_at_bytes
    }

    /// How many events and bytes are kept. Fails when the parts do not agree.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        assert_eq!(self.bytes, self.kept.iter().map(|kept| weigh(&kept.envelope)).sum::<usize>());
        let places: Vec<usize> = self.readers.iter().filter_map(|reader| reader.place).collect();
        assert!(places.iter().all(|place| *place <= self.kept.len()), "{places:?}");
        assert_eq!(places.iter().min().copied().unwrap_or(self.kept.len()), 0, "{places:?}");
        (self.kept.len(), self.bytes)
    }
}

/// One walk over the kept events.
#[derive(Default)]
struct Merging {
    /// The deltas that may go on, by agent.
    open: HashMap<AgentPath, BTreeMap<Stream, usize>>,
    /// The latest event about each subject so far.
    latest: HashMap<(AgentPath, Subject), usize>,
}

impl Merging {
    /// Comes to the event at `at`; what is merged into another leaves an empty slot.
    fn take(&mut self, slots: &mut [Option<Kept>], at: usize, bytes_max: usize) {
        let (before, rest) = slots.split_at_mut(at);
        let Some(slot) = rest.first_mut() else { return };
        let Some(envelope) = slot.as_ref().map(|kept| Arc::clone(&kept.envelope)) else { return };
        let agent = &envelope.agent;
        match delivery(&envelope.event) {
            Delivery::Control => {
                self.open.remove(agent);
                if matches!(envelope.event, Event::TurnFinished { .. }) {
                    // Whoever sees the end of a turn has seen what it cost.
                    self.latest.remove(&(agent.clone(), Subject::Usage));
                }
            }
            // Who has not seen the earlier one will see this one, wherever it stands.
            Delivery::Latest(subject) => {
                if let Some(earlier) = self.latest.insert((agent.clone(), subject), at) {
                    before[earlier] = None;
                }
            }
            Delivery::Delta(stream) => {
                let open = self.open.entry(agent.clone()).or_default();
                let tail = open.get(&stream).and_then(|tail| before[*tail].as_mut());
                match tail {
                    Some(tail) if joins(&tail.envelope.event, &envelope.event, bytes_max) => {
                        // Copied where a reader that passed it holds it still.
                        let joined = Arc::make_mut(&mut tail.envelope);
                        extend(&mut joined.event, &envelope.event);
                        tail.bytes = weigh(joined);
                        *slot = None;
                    }
                    _ => {
                        open.insert(stream, at);
                    }
                }
            }
        }
    }
}
