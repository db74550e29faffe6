//! One suite for every store: what `SessionStore` promises.

use std::sync::Arc;

use heeler_core::{
    Appended, Durability, Entry, Journal, SessionStore, SessionSummary, StoreError, StoreErrorKind,
    Timestamp,
};
use heeler_store::{FailingStore, FileStore, MemoryStore};

use crate::support::{StoreNow, entries, entry, header, id, now};

/// Runs a test with each store, empty.
fn on_each_store(test: impl Fn(Arc<dyn SessionStore>)) {
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(FileStore::open(folder.path().join("file")).unwrap()));
    test(Arc::new(MemoryStore::new()));
    let inner = FileStore::open(folder.path().join("failing")).unwrap();
    test(Arc::new(FailingStore::new(Arc::new(inner))));
}

fn kind<T>(result: Result<T, StoreError>) -> StoreErrorKind {
    let error = result.err().expect("it must fail");
    assert!(error.to_string().contains("session a"), "{error}");
    error.kind()
}

#[test]
fn what_is_appended_is_read_in_order() {
    on_each_store(|store| {
        store.make("a");
        let empty =
            Journal { header: header("a"), entries: Vec::new(), damage: Vec::new(), torn_bytes: 0 };
        assert_eq!(store.load("a").unwrap(), empty);
        let lease = store.take("a").unwrap();
        assert_eq!(store.add(&lease, entries(1..=2)).unwrap(), Appended::Written);
        let synced = store.append(Arc::clone(&lease), entries(3..=3).into(), Durability::Synced);
        assert_eq!(now(synced).unwrap(), Appended::Written);
        let full = Journal { entries: entries(1..=3), ..empty };
        assert_eq!(store.load("a").unwrap(), full);
        drop(lease);
        let lease = store.take("a").unwrap();
        assert_eq!(store.add(&lease, entries(4..=4)).unwrap(), Appended::Written);
        assert_eq!(store.seqs("a"), [1, 2, 3, 4]);
    });
}

#[test]
fn a_long_session_is_read_in_order_however_it_was_appended() {
    on_each_store(|store| {
        store.make("a");
        let lease = store.take("a").unwrap();
        let mut n = 0;
        for length in (1..=40).chain([1, 1, 1, 500]) {
            // Each says the end of the one before it again, as who was cut off does.
            let from = n + 1 - n.min(length % 3);
            let added = store.add(&lease, entries(from..=n + length)).unwrap();
            assert_eq!(added, Appended::Written);
            n += length;
            assert_eq!(store.seqs("a"), Vec::from_iter(1..=n));
            assert_eq!(store.add(&lease, entries(1..=n)).unwrap(), Appended::AlreadyThere);
        }
    });
}

#[test]
fn a_session_is_made_once() {
    on_each_store(|store| {
        assert_eq!(kind(store.load("a")), StoreErrorKind::NotFound);
        assert_eq!(kind(store.take("a")), StoreErrorKind::NotFound);
        assert_eq!(kind(now(store.delete(id("a")))), StoreErrorKind::NotFound);
        store.make("a");
        assert_eq!(kind(now(store.create(header("a")))), StoreErrorKind::Exists);
        let lease = store.take("a").unwrap();
        assert_eq!(kind(now(store.create(header("a")))), StoreErrorKind::Exists);
        drop(lease);
    });
}

#[test]
fn a_lease_is_exclusive_until_it_is_dropped() {
    on_each_store(|store| {
        store.make("a");
        store.make("b");
        let lease = store.take("a").unwrap();
        assert_eq!(kind(store.take("a")), StoreErrorKind::Busy);
        assert_eq!(kind(now(store.delete(id("a")))), StoreErrorKind::Busy);
        assert_eq!(store.seqs("a"), [0; 0]);
        store.take("b").unwrap();
        drop(lease);
        store.take("a").unwrap();
        now(store.delete(id("a"))).unwrap();
        assert_eq!(kind(store.load("a")), StoreErrorKind::NotFound);
        store.make("a");
        assert_eq!(store.seqs("a"), [0; 0]);
    });
}

#[test]
fn the_same_again_is_there_already_and_others_conflict() {
    on_each_store(|store| {
        store.make("a");
        let lease = store.take("a").unwrap();
        let other = |seq| Entry { at: Timestamp(1), ..entry(seq) };
        let check = |entries: Vec<Entry>, expected: Result<Appended, StoreErrorKind>| {
            let shown = format!("{entries:?}");
            let result = store.add(&lease, entries).map_err(|error| error.kind());
            assert_eq!(result, expected, "{shown}");
        };
        check(entries(2..=2), Err(StoreErrorKind::Conflict));
        check(entries(0..=0), Err(StoreErrorKind::Conflict));
        check(Vec::new(), Ok(Appended::Written));
        check(entries(1..=3), Ok(Appended::Written));
        check(entries(1..=3), Ok(Appended::AlreadyThere));
        check(entries(2..=2), Ok(Appended::AlreadyThere));
        check(vec![other(2)], Err(StoreErrorKind::Conflict));
        check(vec![entry(2), other(3)], Err(StoreErrorKind::Conflict));
        check(vec![entry(3), entry(5)], Err(StoreErrorKind::Conflict));
        check(entries(5..=5), Err(StoreErrorKind::Conflict));
        check(entries(3..=4), Ok(Appended::Written));
        assert_eq!(store.seqs("a"), [1, 2, 3, 4]);
    });
}

#[test]
fn a_lease_of_another_store_or_session_is_refused() {
    on_each_store(|store| {
        store.make("a");
        let foreign = Arc::new(heeler_core::Lease { id: id("a"), guard: Box::new(()) });
        assert_eq!(kind(store.add(&foreign, entries(1..=1))), StoreErrorKind::Conflict);
        store.make("b");
        let lease = Arc::into_inner(store.take("b").unwrap()).unwrap();
        let renamed = Arc::new(heeler_core::Lease { id: id("a"), guard: lease.guard });
        assert_eq!(kind(store.add(&renamed, entries(1..=1))), StoreErrorKind::Conflict);
    });
}

#[test]
fn a_list_is_sorted_filtered_bounded_and_titled() {
    on_each_store(|store| {
        for name in ["chat-2", "b", "chat-1", "chat-3"] {
            store.make(name);
        }
        let lease = store.take("chat-1").unwrap();
        store.add(&lease, entries(1..=2)).unwrap();
        let list = |prefix: &str, limit| -> Vec<SessionSummary> {
            now(store.list(prefix.to_owned(), limit)).unwrap()
        };
        let ids = |list: Vec<SessionSummary>| -> Vec<String> {
            list.into_iter().map(|summary| summary.header.id.to_string()).collect()
        };
        assert_eq!(ids(list("", 0)), ["b", "chat-1", "chat-2", "chat-3"]);
        assert_eq!(ids(list("chat-", 2)), ["chat-1", "chat-2"]);
        assert_eq!(ids(list("x", 0)), [""; 0]);
        let first = list("chat-1", 1).remove(0);
        assert_eq!((first.header, first.title.as_str()), (header("chat-1"), "text 1"));
        assert!(first.updated > Timestamp(1000));
        assert_eq!(list("b", 0)[0].title, "");
    });
}

#[test]
fn a_store_that_fails_on_command_writes_nothing_and_can_be_tried_again() {
    let store = FailingStore::new(Arc::new(MemoryStore::new()));
    store.make("a");
    let lease = store.take("a").unwrap();
    store.fail_append(2);
    assert_eq!(store.add(&lease, entries(1..=1)).unwrap(), Appended::Written);
    assert_eq!(kind(store.add(&lease, entries(2..=3))), StoreErrorKind::Io);
    assert_eq!(store.seqs("a"), [1]);
    assert_eq!(store.add(&lease, entries(2..=3)).unwrap(), Appended::Written);
    store.set_full(true);
    assert_eq!(kind(store.add(&lease, entries(4..=4))), StoreErrorKind::Io);
    assert_eq!(now(store.create(header("b"))).unwrap_err().kind(), StoreErrorKind::Io);
    store.set_full(false);
    assert_eq!(store.add(&lease, entries(4..=4)).unwrap(), Appended::Written);
    assert_eq!((store.seqs("a"), store.n_appends()), (vec![1, 2, 3, 4], 5));
}
