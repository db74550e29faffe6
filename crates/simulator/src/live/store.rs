//! The journal as the engine sees it: slow at times, refusing, torn by the death of its process.

use std::sync::Arc;

use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Journal, Lease, Record, SessionHeader, SessionId,
    SessionStore, SessionSummary, StoreError, StoreErrorKind,
};

use super::judge::LATE_MILLIS_MAX;
use super::outside::{Inner, Outside};
use crate::matrix::Fault;
use crate::store::Fate;
use crate::tools;

/// How many moments of dying an append counts for.
const APPEND_CRASHES: u32 = 5;

impl SessionStore for Outside {
    fn create(&self, _: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        Box::pin(std::future::ready(Err(elsewhere())))
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        let outside = self.clone();
        Box::pin(async move {
            outside.moment().await;
            outside.take(|inner| inner.refuses_at_all()).await?;
            let was_leased = outside.take(|inner| std::mem::replace(&mut inner.is_leased, true));
            if was_leased.await {
                return Err(StoreError::new(StoreErrorKind::Busy, "somebody owns the session"));
            }
            Ok(Lease { id, guard: Box::new(Guard(outside)) })
        })
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        let outside = self.clone();
        Box::pin(async move {
            outside.moment().await;
            outside.take(|inner| inner.refuses_at_all()).await?;
            let entries = outside.take(Inner::read).await;
            let workspace = tools::WORKSPACE.to_owned();
            let header = SessionHeader { id, created: heeler_core::Timestamp(0), workspace };
            Ok(Journal { header, entries, damage: Vec::new(), torn_bytes: 0 })
        })
    }

    fn append(
        &self,
        _: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let outside = self.clone();
        Box::pin(async move {
            let begin = |inner: &mut Inner| {
                inner.writing = Arc::clone(&entries);
                inner.slowness()
            };
            let slow = outside.take(begin).await;
            outside.call_people();
            outside.pass(slow).await;
            let end = |inner: &mut Inner| {
                let appended = inner.append(&entries, durability);
                inner.writing = Arc::default();
                appended
            };
            let appended = outside.take(end).await;
            outside.call_people();
            appended
        })
    }

    fn list(&self, _: String, _: usize) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        Box::pin(std::future::ready(Err(elsewhere())))
    }

    fn delete(&self, _: SessionId) -> BoxFuture<Result<(), StoreError>> {
        Box::pin(std::future::ready(Err(elsewhere())))
    }
}

impl Inner {
    /// How long an append takes.
    fn slowness(&mut self) -> u64 {
        let slow = match self.is_rare_moment() {
            true => self.chance.pick(&[0, 1, 20, LATE_MILLIS_MAX]),
            false => self.chance.pick(&[0, 0, 0, 0, 0, 0, 1, 20, LATE_MILLIS_MAX]),
        };
        if slow > 0 {
            self.hit(Fault::SlowAppend);
        }
        slow
    }

    fn refuses_at_all(&mut self) -> Result<(), StoreError> {
        if self.scene.crashes_left == 0 || !self.chance.percent(2) {
            return Ok(());
        }
        self.scene.crashes_left -= 1;
        Err(full())
    }

    fn read(&mut self) -> Vec<Entry> {
        let (entries, synced) = (self.store.entries().to_vec(), self.store.synced());
        self.see(|judge| judge.opened(&entries, synced));
        entries
    }

    fn append(
        &mut self,
        entries: &[Entry],
        durability: Durability,
    ) -> Result<Appended, StoreError> {
        // Nowhere else can this go wrong, so it does so more often than a process dies.
        let fate = match (0..APPEND_CRASHES).any(|_| self.has_crash()) {
            true => self.chance.pick(&[
                Fate::DiesBefore,
                Fate::DiesAfter,
                Fate::Torn,
                Fate::Torn,
                Fate::Torn,
                Fate::Refused,
                Fate::Refused,
                Fate::Refused,
            ]),
            false => Fate::Lives,
        };
        if entries.iter().any(|entry| matches!(entry.record, Record::FactsChanged(_))) {
            self.matrix.hit(Fault::FactsChanged, &self.judge.pending());
        }
        let first = self.store.entries().len() as u64 + 1;
        self.see(|judge| judge.appends(entries, first));
        self.store.append(entries, durability, fate, &mut self.chance);
        match fate {
            Fate::Lives => {
                let synced = self.store.synced();
                self.see(|judge| judge.written(entries, synced));
                Ok(Appended::Written)
            }
            Fate::Refused => {
                self.hit(Fault::RefusedAppend);
                self.scene.crashes_left -= 1;
                self.judge.store_refused();
                Err(full())
            }
            Fate::Torn => {
                self.hit(Fault::TornAppend);
                self.die();
                Err(full())
            }
            Fate::DiesBefore | Fate::DiesAfter => {
                self.die();
                Err(full())
            }
        }
    }
}

/// Gives the lease back.
struct Guard(Outside);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.with(|inner| inner.is_leased = false);
    }
}

fn full() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the disk is full")
}

fn elsewhere() -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, "the simulation has one session, made beforehand")
}
