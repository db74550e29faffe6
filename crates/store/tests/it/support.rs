//! Small words the tests are written in.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Input, Journal, Lease, Record, Seq, SessionHeader,
    SessionId, SessionStore, StoreError, Timestamp,
};

/// The result of a future that is done when it is first polled, as every future of a store is.
pub(crate) fn now<T>(mut future: BoxFuture<T>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store's future must be done when it is first polled"),
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn header(text: &str) -> SessionHeader {
    SessionHeader { id: id(text), created: Timestamp(1000), workspace: "/space".to_owned() }
}

pub(crate) fn entry(seq: Seq) -> Entry {
    let record = Record::Input(Box::new(Input::text(format!("text {seq}"))));
    Entry { seq, at: Timestamp(2000 + seq), record }
}

pub(crate) fn entries(seqs: impl IntoIterator<Item = Seq>) -> Vec<Entry> {
    seqs.into_iter().map(entry).collect()
}

/// What the tests do with a store, done at once.
pub(crate) trait StoreNow {
    fn make(&self, id: &str);
    fn take(&self, id: &str) -> Result<Arc<Lease>, StoreError>;
    fn add(&self, lease: &Arc<Lease>, entries: Vec<Entry>) -> Result<Appended, StoreError>;
    fn load(&self, id: &str) -> Result<Journal, StoreError>;
    fn seqs(&self, id: &str) -> Vec<Seq>;
}

impl<S: SessionStore + ?Sized> StoreNow for S {
    fn make(&self, id: &str) {
        now(self.create(header(id))).unwrap();
    }

    fn take(&self, text: &str) -> Result<Arc<Lease>, StoreError> {
        now(self.lease(id(text))).map(Arc::new)
    }

    fn add(&self, lease: &Arc<Lease>, entries: Vec<Entry>) -> Result<Appended, StoreError> {
        now(self.append(Arc::clone(lease), entries.into(), Durability::Written))
    }

    fn load(&self, text: &str) -> Result<Journal, StoreError> {
        now(self.read(id(text)))
    }

    /// The numbers of a session's records, none of which is damaged.
    fn seqs(&self, id: &str) -> Vec<Seq> {
        let journal = self.load(id).unwrap();
        assert_eq!((journal.damage, journal.torn_bytes), (Vec::new(), 0));
        journal.entries.iter().map(|entry| entry.seq).collect()
    }
}
