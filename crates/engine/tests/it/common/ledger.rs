//! A store that lets nothing be written until the test says so, and remembers what was.

use std::sync::{Arc, Mutex};

use heeler_core::{
    Appended, BoxFuture, CheckpointDraft, Durability, Entry, Journal, Lease, Seq, SessionHeader,
    SessionId, SessionStore, SessionSummary, StoreError, StoreErrorKind,
};
use heeler_store::MemoryStore;
use tokio::sync::Semaphore;

/// Wraps a store in memory; appends wait for [`Ledger::let_one_through`] once it is shut.
#[derive(Clone)]
pub(crate) struct Ledger {
    inner: MemoryStore,
    gate: Arc<Semaphore>,
    written: Arc<Mutex<Vec<Write>>>,
    /// Checkpoints wait for it as appends for theirs.
    checkpoint_gate: Arc<Semaphore>,
    checkpoints: Arc<Mutex<Vec<Seq>>>,
}

/// One append.
#[derive(Clone)]
pub(crate) struct Write {
    pub(crate) entries: Arc<[Entry]>,
    pub(crate) durability: Durability,
}

impl Ledger {
    /// A ledger that lets everything through.
    pub(crate) fn new() -> Self {
        let gate = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self {
            inner: MemoryStore::new(),
            gate,
            written: Arc::default(),
            checkpoint_gate: Arc::new(Semaphore::new(0)),
            checkpoints: Arc::default(),
        }
    }

    /// From here on, appends wait.
    pub(crate) fn shut(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn let_one_through(&self) {
        self.gate.add_permits(1);
    }

    /// Lets so many checkpoints come to their end, which is a failure.
    pub(crate) fn let_checkpoints_through(&self, n: usize) {
        self.checkpoint_gate.add_permits(n);
    }

    /// The records after which checkpoints were begun.
    pub(crate) fn checkpoints(&self) -> Vec<Seq> {
        self.checkpoints.lock().unwrap().clone()
    }

    pub(crate) fn writes(&self) -> Vec<Write> {
        self.written.lock().unwrap().clone()
    }

    /// The kinds of all records written, in order.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let writes = self.writes();
        writes.iter().flat_map(|write| write.entries.iter().map(|e| e.record.kind())).collect()
    }

    /// One line for each append: how durable, and the kinds of its records.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |write: &Write| {
            let kinds: Vec<&str> = write.entries.iter().map(|e| e.record.kind()).collect();
            format!("{:?} {}", write.durability, kinds.join(" + "))
        };
        self.writes().iter().map(line).collect()
    }
}

impl SessionStore for Ledger {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        self.inner.create(header)
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        self.inner.lease(id)
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        self.inner.read(id)
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let this = self.clone();
        Box::pin(async move {
            this.gate.acquire().await.unwrap().forget();
            let appended = this.inner.append(lease, entries.clone(), durability).await?;
            this.written.lock().unwrap().push(Write { entries, durability });
            Ok(appended)
        })
    }

    fn keep_checkpoint(
        &self,
        lease: Arc<Lease>,
        draft: CheckpointDraft,
    ) -> BoxFuture<Result<(), StoreError>> {
        self.checkpoints.lock().unwrap().push(draft.seq);
        let gate = Arc::clone(&self.checkpoint_gate);
        Box::pin(async move {
            gate.acquire().await.unwrap().forget();
            drop(lease);
            Err(StoreError::new(StoreErrorKind::Io, "the test wants no checkpoint"))
        })
    }

    fn list(
        &self,
        prefix: String,
        limit: usize,
    ) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        self.inner.list(prefix, limit)
    }

    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>> {
        self.inner.delete(id)
    }
}
