//! A store that lets nothing be written until the test says so, and remembers what was.

use std::sync::{Arc, Mutex};

use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Journal, Lease, SessionHeader, SessionId, SessionStore,
    SessionSummary, StoreError,
};
use heeler_store::MemoryStore;
use tokio::sync::Semaphore;

/// Wraps a store in memory; appends wait for [`Ledger::let_one_through`] once it is shut.
#[derive(Clone)]
pub(crate) struct Ledger {
    inner: MemoryStore,
    gate: Arc<Semaphore>,
    written: Arc<Mutex<Vec<Write>>>,
}

/// One append.
#[derive(Clone)]
pub(crate) struct Write {
    pub(crate) entries: Vec<Entry>,
    pub(crate) durability: Durability,
}

impl Ledger {
    /// A ledger that lets everything through.
    pub(crate) fn new() -> Self {
        let gate = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self { inner: MemoryStore::new(), gate, written: Arc::default() }
    }

    /// From here on, appends wait.
    pub(crate) fn shut(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn let_one_through(&self) {
        self.gate.add_permits(1);
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
        entries: Vec<Entry>,
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
