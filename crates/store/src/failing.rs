//! A store that fails on command, to see what an agent does when the disk is full.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use heeler_core::{
    Appended, BoxFuture, CheckpointDraft, Durability, Entry, Journal, Latest, Lease, Resumed,
    SessionHeader, SessionId, SessionStore, SessionSummary, StoreError,
};

/// Wraps a store and makes appends and checkpoints fail as on a full disk: nothing is written, and the same append
/// may be tried again. Clones share their commands.
///
/// ```
/// # use std::sync::Arc;
/// # use heeler_store::{FailingStore, MemoryStore};
/// let store = FailingStore::new(Arc::new(MemoryStore::new()));
/// store.fail_append(3); // the third append from now fails, once
/// store.set_full(true); // every create, append and checkpoint fails until there is room again
/// ```
#[derive(Clone)]
pub struct FailingStore {
    inner: Arc<dyn SessionStore>,
    commands: Arc<Commands>,
}

#[derive(Default)]
struct Commands {
    n_appends: AtomicU64,
    /// The count of appends at which one fails; 0 for none.
    failing_append: AtomicU64,
    is_full: AtomicBool,
}

impl FailingStore {
    /// Wraps `inner`; nothing fails yet.
    pub fn new(inner: Arc<dyn SessionStore>) -> Self {
        Self { inner, commands: Arc::default() }
    }

    /// Makes the `nth` append from now fail, once; 1 is the next one.
    pub fn fail_append(&self, nth: u64) {
        let at = self.n_appends().saturating_add(nth);
        self.commands.failing_append.store(at, Ordering::SeqCst);
    }

    /// Makes every create, append and checkpoint fail, or none.
    pub fn set_full(&self, is_full: bool) {
        self.commands.is_full.store(is_full, Ordering::SeqCst);
    }

    /// How many appends were asked for, failed ones included.
    #[must_use]
    pub fn n_appends(&self) -> u64 {
        self.commands.n_appends.load(Ordering::SeqCst)
    }
}

impl SessionStore for FailingStore {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        let (inner, commands) = (Arc::clone(&self.inner), Arc::clone(&self.commands));
        Box::pin(async move {
            if commands.is_full.load(Ordering::SeqCst) {
                return Err(full(&header.id));
            }
            inner.create(header).await
        })
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        self.inner.lease(id)
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        self.inner.read(id)
    }

    fn latest(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Latest, StoreError>> {
        self.inner.latest(id, format)
    }

    fn resume(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Resumed, StoreError>> {
        self.inner.resume(id, format)
    }

    fn keep_checkpoint(
        &self,
        lease: Arc<Lease>,
        draft: CheckpointDraft,
    ) -> BoxFuture<Result<(), StoreError>> {
        if self.commands.is_full.load(Ordering::SeqCst) {
            let refused = full(&lease.id);
            return Box::pin(async { Err(refused) });
        }
        self.inner.keep_checkpoint(lease, draft)
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let (inner, commands) = (Arc::clone(&self.inner), Arc::clone(&self.commands));
        Box::pin(async move {
            let n = commands.n_appends.fetch_add(1, Ordering::SeqCst) + 1;
            let fails = n == commands.failing_append.load(Ordering::SeqCst);
            if fails || commands.is_full.load(Ordering::SeqCst) {
                return Err(full(&lease.id));
            }
            inner.append(lease, entries, durability).await
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

fn full(id: &SessionId) -> StoreError {
    let error = io::Error::from(io::ErrorKind::StorageFull);
    StoreError::io(
        format_args!("cannot append to session {id} (the store fails on command)"),
        error,
    )
}
