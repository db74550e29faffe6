//! Forks: a journal of its own with files of its own, there whole or not at all.

use std::fs;

use heeler_core::{
    CallId, MediaScope, MediaStore, NewMedia, SessionHeader, SessionStore, Spill, StoreErrorKind,
    Timestamp,
};
use heeler_store::{FileStore, MEDIA_CLEANED_EVERY_MILLIS};

use crate::support::{StoreNow, entries, header, id, now};

const CALL: CallId = CallId { turn: 1, round: 1, index: 0 };

/// A store with a session of three records, a long output and an item of media.
fn store(folder: &tempfile::TempDir) -> FileStore {
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=3)).unwrap();
    Spill::write(&store, &id("a"), CALL, "long").unwrap();
    let media = NewMedia {
        media_type: "text/plain".into(),
        name: "n".into(),
        bytes: "bytes".into(),
        at: Timestamp(1),
    };
    now(store.put(MediaScope::session(id("a")), media)).unwrap();
    store
}

#[test]
fn a_fork_outlives_its_source_with_all_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let before = fs::read(store.journal_path(&id("a"))).unwrap();
    store.fork(&id("a"), &header("b"), &entries(1..=2)).unwrap();
    assert_eq!(fs::read(store.journal_path(&id("a"))).unwrap(), before);
    now(store.delete(id("a"))).unwrap();
    assert_eq!(store.load("b").unwrap().header, header("b"));
    assert_eq!(store.seqs("b"), [1, 2]);
    let spilled = Spill::folder(&store, &id("b")).join("1.1.0.txt");
    assert_eq!(fs::read_to_string(spilled).unwrap(), "long");
    let scope = || MediaScope::session(id("b"));
    let [item] = now(store.items(scope())).unwrap().try_into().unwrap();
    assert_eq!(&now(store.get(scope(), item.reference)).unwrap().1[..], b"bytes");
    // It goes on like any other.
    let lease = store.take("b").unwrap();
    store.add(&lease, entries(3..=3)).unwrap();
    assert_eq!(store.seqs("b"), [1, 2, 3]);
}

#[test]
fn a_fork_that_cannot_be_made_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let listed = || {
        let mut names: Vec<_> = fs::read_dir(folder.path().join("sessions"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = listed();
    let error = store.fork(&id("a"), &header("a"), &entries(1..=2)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Exists);
    let long = SessionHeader { workspace: "w".repeat(10_000), ..header("b") };
    assert!(store.fork(&id("a"), &long, &entries(1..=2)).is_err());
    // Deleted since it was read: what its results name is gone.
    let error = store.fork(&id("gone"), &header("b"), &entries(1..=2)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound);
    assert_eq!(listed(), before);
}

/// A fork asks for the lock before it looks whether its source is there.
#[test]
fn who_deletes_holds_the_lock_that_forks_wait_for_in_a_home_without_media_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    now(store.delete(id("a"))).unwrap();
    assert!(folder.path().join("media.lock").exists());
    // Without room for it, or what else keeps it from being made, a session can be deleted all the same.
    store.make("b");
    fs::remove_file(folder.path().join("media.lock")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("media.lock")).unwrap();
    now(store.delete(id("b"))).unwrap();
    assert!(!store.journal_path(&id("b")).exists());
}

#[test]
fn what_a_dead_fork_left_is_cleaned_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let sessions = folder.path().join("sessions");
    for name in ["b.spill", "b.media"] {
        fs::create_dir(sessions.join(name)).unwrap();
    }
    fs::write(sessions.join("b.jsonl.new"), "half").unwrap();
    let listed = now(store.list(String::new(), 0)).unwrap();
    assert_eq!(listed.len(), 1);
    store.clean_media(Timestamp(MEDIA_CLEANED_EVERY_MILLIS)).unwrap();
    let left = fs::read_dir(&sessions).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_str().unwrap().starts_with('b')).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_fork_that_dies_while_it_copies_is_known_by_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    // So many that it is watched while it copies.
    for index in 1..2_000 {
        fs::write(Spill::folder(&store, &id("a")).join(format!("1.1.{index}.txt")), "long")
            .unwrap();
    }
    let sessions = folder.path().join("sessions");
    let is_there = |name: &str| sessions.join(name).exists();
    std::thread::scope(|threads| {
        let forks = threads.spawn(|| store.fork(&id("a"), &header("b"), &entries(1..=2)).unwrap());
        while !forks.is_finished() {
            // In this order: it may be named between two looks.
            let is_unknown =
                is_there("b.spill") && !is_there("b.jsonl.new") && !is_there("b.jsonl");
            assert!(!is_unknown);
        }
    });
}
