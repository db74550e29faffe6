//! Sessions in memory, gone with the process; for tests and for runs nobody continues.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Journal, Lease, Record, SessionHeader, SessionId,
    SessionStore, SessionSummary, StoreError, StoreErrorKind, Timestamp,
};

use crate::journal::Label;
use crate::on_first_poll;

/// Records are kept in blocks of so many: no block is copied to grow, and only the last has room
/// that nothing uses.
const BLOCK_RECORDS: usize = 16;

/// Keeps sessions in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

impl MemoryStore {
    /// A store without sessions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl SessionStore for MemoryStore {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || match shared.sessions().entry(header.id.clone()) {
            btree_map::Entry::Occupied(_) => Err(exists(&header.id)),
            btree_map::Entry::Vacant(vacant) => {
                vacant.insert(Box::new(Session::new(header)));
                Ok(())
            }
        })
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || {
            let mut sessions = shared.sessions();
            let session = sessions.get_mut(&id).ok_or_else(|| not_found(&id))?;
            if std::mem::replace(&mut session.is_leased, true) {
                return Err(busy(&id));
            }
            drop(sessions);
            let guard = Guard { id: id.clone(), shared };
            Ok(Lease { id, guard: Box::new(guard) })
        })
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || {
            let sessions = shared.sessions();
            let session = sessions.get(&id).ok_or_else(|| not_found(&id))?;
            Ok(Journal {
                header: session.header.clone(),
                entries: session.entries(),
                damage: Vec::new(),
                torn_bytes: 0,
            })
        })
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        _: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || {
            let guard = (*lease.guard).downcast_ref::<Guard>();
            let is_ours =
                |guard: &&Guard| guard.id == lease.id && Arc::ptr_eq(&guard.shared, &shared);
            guard.filter(is_ours).ok_or_else(|| foreign_lease(&lease.id))?;
            let mut sessions = shared.sessions();
            let session = sessions.get_mut(&lease.id).ok_or_else(|| not_found(&lease.id))?;
            session.append(entries)
        })
    }

    fn list(
        &self,
        prefix: String,
        limit: usize,
    ) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || {
            let sessions = shared.sessions();
            let limit = if limit == 0 { usize::MAX } else { limit };
            let listed = sessions.values().filter(|s| s.header.id.as_str().starts_with(&prefix));
            Ok(listed.take(limit).map(|session| session.summary()).collect())
        })
    }

    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>> {
        let shared = Arc::clone(&self.shared);
        on_first_poll(move || {
            let mut sessions = shared.sessions();
            if sessions.get(&id).ok_or_else(|| not_found(&id))?.is_leased {
                return Err(busy(&id));
            }
            sessions.remove(&id);
            Ok(())
        })
    }
}

/// Boxed: a map has room for eleven from the first on.
type Sessions = BTreeMap<SessionId, Box<Session>>;

#[derive(Debug, Default)]
struct Shared {
    sessions: Mutex<Sessions>,
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Every change is made in one step, so a panic leaves nothing half done.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Session {
    header: SessionHeader,
    /// All but the last append, in full blocks and one that fills. Their numbers are their places,
    /// from 1 on.
    settled: Vec<Vec<Settled>>,
    /// As it came, since whoever appends keeps it for a moment: its records are taken over with the
    /// next append.
    last: Arc<[Entry]>,
    is_leased: bool,
}

#[derive(Debug, Clone)]
struct Settled {
    at: Timestamp,
    record: Record,
}

impl Session {
    fn new(header: SessionHeader) -> Self {
        Self { header, settled: Vec::new(), last: Arc::new([]), is_leased: false }
    }

    fn entries(&self) -> Vec<Entry> {
        let settled = (1..).zip(self.settled.iter().flatten().cloned());
        let settled = settled.map(|(seq, Settled { at, record })| Entry { seq, at, record });
        settled.chain(self.last.iter().cloned()).collect()
    }

    fn records(&self) -> impl Iterator<Item = (Timestamp, &Record)> {
        let settled = self.settled.iter().flatten().map(|settled| (settled.at, &settled.record));
        settled.chain(self.last.iter().map(|entry| (entry.at, &entry.record)))
    }

    fn keep(&mut self, entries: Arc<[Entry]>) {
        let mut before = std::mem::replace(&mut self.last, entries);
        match Arc::get_mut(&mut before) {
            Some(entries) => entries.iter_mut().map(taken).for_each(|record| self.settle(record)),
            None => before.iter().map(copied).for_each(|record| self.settle(record)),
        }
    }

    fn settle(&mut self, record: Settled) {
        match self.settled.last_mut() {
            Some(block) if block.len() < BLOCK_RECORDS => block.push(record),
            _ => {
                let mut block = Vec::with_capacity(BLOCK_RECORDS);
                block.push(record);
                self.settled.push(block);
            }
        }
    }

    fn append(&mut self, entries: Arc<[Entry]>) -> Result<Appended, StoreError> {
        let Some(first) = entries.first() else { return Ok(Appended::Written) };
        let n = self.last().map_or(0, |entry| entry.seq);
        let consecutive = (first.seq..).zip(&*entries).all(|(seq, entry)| seq == entry.seq);
        if !consecutive || !(1..=n + 1).contains(&first.seq) {
            return Err(self.conflict(&format!("record {} comes after record {n}", first.seq)));
        }
        if first.seq == n + 1 {
            self.keep(entries);
            return Ok(Appended::Written);
        }
        let before = usize::try_from(first.seq - 1).unwrap_or(usize::MAX);
        let mut n_there = 0;
        for (there, new) in self.records().skip(before).zip(&*entries) {
            if there != (new.at, &new.record) {
                return Err(self.conflict("another record is there already"));
            }
            n_there += 1;
        }
        let new = &entries[n_there..];
        if new.is_empty() {
            return Ok(Appended::AlreadyThere);
        }
        self.keep(new.into());
        Ok(Appended::Written)
    }

    fn last(&self) -> Option<&Entry> {
        self.last.last()
    }

    fn conflict(&self, what: &str) -> StoreError {
        let message = format!("somebody else wrote to session {}: {what}", self.header.id);
        StoreError::new(StoreErrorKind::Conflict, message)
    }

    fn summary(&self) -> SessionSummary {
        let mut label = Label::default();
        self.records().for_each(|(_, record)| label.take(record));
        let updated = self.last().map_or(self.header.created, |entry| entry.at);
        label.summary(self.header.clone(), updated)
    }
}

fn copied(entry: &Entry) -> Settled {
    Settled { at: entry.at, record: entry.record.clone() }
}

/// What an entry says, out of a place that is about to go.
fn taken(entry: &mut Entry) -> Settled {
    Settled { at: entry.at, record: std::mem::replace(&mut entry.record, Record::TimePassed) }
}

/// What a lease of this store holds.
struct Guard {
    id: SessionId,
    shared: Arc<Shared>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(session) = self.shared.sessions().get_mut(&self.id) {
            session.is_leased = false;
        }
    }
}

fn not_found(id: &SessionId) -> StoreError {
    let message = format!("there is no session {id}; the list shows which there are");
    StoreError::new(StoreErrorKind::NotFound, message)
}

fn exists(id: &SessionId) -> StoreError {
    let message = format!("session {id} exists already; continue it, or take another id");
    StoreError::new(StoreErrorKind::Exists, message)
}

fn busy(id: &SessionId) -> StoreError {
    let message = format!("session {id} is in use; await `Session::close` first, or begin another");
    StoreError::new(StoreErrorKind::Busy, message)
}

fn foreign_lease(id: &SessionId) -> StoreError {
    let message =
        format!("the lease of session {id} is of another store; take one from this store");
    StoreError::new(StoreErrorKind::Conflict, message)
}
