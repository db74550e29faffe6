//! Lists: names and forks from wherever they stand, and an index that is never believed too much.

use std::fs;
use std::sync::Arc;

use heeler_core::{
    Entry, ForkOrigin, Input, Opened, Record, Seq, SessionName, SessionStore, SessionSummary,
    SteeringId, SteeringQueued, Timestamp,
};
use heeler_store::{FileStore, MemoryStore};

use crate::support::{StoreNow, entries, id, now};

/// More than a list reads of journals before it keeps what it read.
const LARGE: usize = 1024 * 1024;

fn named(seq: Seq, name: &str) -> Entry {
    Entry { seq, at: Timestamp(seq), record: Record::Named { name: name.parse().ok() } }
}

fn said(seq: Seq, text: &str) -> Entry {
    Entry { seq, at: Timestamp(seq), record: Record::Input(Box::new(Input::text(text))) }
}

fn forked(seq: Seq, from: &str, at: u32) -> Entry {
    let origin = ForkOrigin { session: id(from), at };
    Entry { seq, at: Timestamp(seq), record: Record::Forked(Box::new(origin)) }
}

/// The list as text: id, title, name, origin.
fn told(store: &dyn SessionStore) -> Vec<String> {
    let one = |session: SessionSummary| {
        let name = session.name.as_ref().map_or("-", SessionName::as_str).to_owned();
        let origin = session.forked.map(|origin| format!(" from {origin}")).unwrap_or_default();
        format!(
            "{} `{}` {name}{origin}",
            session.header.id,
            &session.title[..session.title.len().min(9)]
        )
    };
    now(store.list(String::new(), 0)).unwrap().into_iter().map(one).collect()
}

#[test]
fn the_last_name_and_the_origin_are_listed_by_each_store() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn SessionStore>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FileStore::open(folder.path()).unwrap())];
    for store in stores {
        for (id, records) in [
            ("a", vec![said(1, "first"), named(2, "one"), named(3, "the two")]),
            ("b", vec![said(1, "first"), named(2, "one"), forked(3, "a", 2)]),
            ("c", entries(1..=2)),
        ] {
            store.make(id);
            let lease = store.take(id).unwrap();
            store.add(&lease, records).unwrap();
        }
        let expected = ["a `first` the two", "b `first` - from a at 2", "c `text 1` -"];
        assert_eq!(told(&*store), expected);
    }
}

#[test]
fn what_was_said_first_is_the_title_wherever_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn SessionStore>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FileStore::open(folder.path()).unwrap())];
    for store in stores {
        let opened = || {
            let opened = Opened { incarnation: 1, build: "x".repeat(100_000) };
            Entry { seq: 1, at: Timestamp(1), record: Record::Opened(opened) }
        };
        let waits = SteeringQueued::said(SteeringId("s".into()), Input::text("waits"));
        let record = Record::SteeringQueued(Box::new(waits));
        for (id, records) in [
            ("a", vec![opened(), said(2, "far")]),
            ("b", vec![opened(), Entry { seq: 2, at: Timestamp(2), record }, said(3, "then")]),
            ("c", vec![opened()]),
        ] {
            store.make(id);
            let lease = store.take(id).unwrap();
            store.add(&lease, records).unwrap();
        }
        assert_eq!(told(&*store), ["a `far` -", "b `waits` -", "c `` -"]);
        let is_begun = |session: &SessionSummary| session.is_begun;
        let begun: Vec<_> =
            now(store.list(String::new(), 0)).unwrap().iter().map(is_begun).collect();
        assert_eq!(begun, [true, true, false]);

        // One that was listed before anything was said.
        let lease = store.take("c").unwrap();
        store.add(&lease, vec![said(2, "late")]).unwrap();
        assert_eq!(told(&*store)[2], "c `late` -");
    }
}

#[test]
fn a_name_behind_megabytes_is_found_once_and_known_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    let long = "x".repeat(LARGE);
    store.add(&lease, vec![said(1, "first"), said(2, &long), named(3, "far away")]).unwrap();
    assert_eq!(told(&store), ["a `first` far away"]);
    let index = folder.path().join("sessions.index");
    assert!(index.exists());
    // It is the index that says so, as long as the journal is the one it was made of.
    let mut text = String::from_utf8_lossy(&fs::read(&index).unwrap()).into_owned();
    text.truncate(text.rfind('\n').unwrap() + 1);
    assert!(text.contains("far away"), "{text}");
    assert_eq!(told(&store), ["a `first` far away"]);

    store.add(&lease, vec![named(4, "near")]).unwrap();
    assert_eq!(told(&store), ["a `first` near"], "what was appended since counts");

    // A journal that is another one is read anew, and one that is gone is not listed.
    drop(lease);
    let path = store.journal_path(&id("a"));
    let other = folder.path().join("other");
    let journal = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    fs::write(&other, lines[..2].concat()).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(told(&store), ["a `first` -"]);
    now(store.delete(id("a"))).unwrap();
    assert_eq!(told(&store), [""; 0]);
}

#[test]
fn a_deleted_session_leaves_no_word_in_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let index = folder.path().join("sessions.index");
    let says = |word: &str| {
        let bytes = fs::read(&index).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(word)
    };
    let make = |name: &str| {
        store.make(name);
        let lease = store.take(name).unwrap();
        let long = "x".repeat(LARGE);
        let title = format!("said in {name}");
        store.add(&lease, vec![said(1, &title), said(2, &long), named(3, name)]).unwrap();
    };
    ["a", "b", "c"].into_iter().for_each(make);
    told(&store);
    assert!(says("said in a") && says("said in b"));
    now(store.delete(id("a"))).unwrap();
    assert!(!says("said in a") && says("said in b"), "of the others it still knows");

    // Of one that cannot be read it is not known what it says.
    let text = String::from_utf8_lossy(&fs::read(&index).unwrap()).into_owned();
    fs::write(&index, text.replace("heeler-sessions", "heeler-seasons")).unwrap();
    now(store.delete(id("b"))).unwrap();
    assert!(!index.exists());
    now(store.delete(id("c"))).unwrap();
    assert!(!index.exists(), "none is made");
}

#[test]
fn an_index_of_any_content_changes_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let index = folder.path().join("sessions.index");
    for name in ["a", "b"] {
        store.make(name);
        let lease = store.take(name).unwrap();
        let long = "x".repeat(LARGE);
        store.add(&lease, vec![said(1, name), said(2, &long), named(3, name)]).unwrap();
    }
    let expected = told(&store);
    let good = fs::read(&index).unwrap();
    let mut flipped = good.clone();
    flipped[40] ^= 1;
    let cut = good[..good.len() / 2].to_vec();
    for bytes in [b"".to_vec(), b"nonsense".to_vec(), flipped, cut] {
        fs::write(&index, bytes).unwrap();
        assert_eq!(told(&store), expected);
        assert_eq!(fs::read(&index).unwrap(), good, "it is made again");
    }
    // A place that cannot be written costs time alone.
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_eq!(told(&store), expected);
}

#[test]
fn the_ending_is_what_stands_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=9)).unwrap();
    let seqs = |bytes_max| -> Vec<Seq> {
        let ending = store.ending(&id("a"), bytes_max).unwrap();
        ending.iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(seqs(1024 * 1024), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(seqs(400), [8, 9]);
    assert_eq!(seqs(0), [0; 0]);
    assert!(store.ending(&id("b"), 1).unwrap_err().is_not_found());
}

#[test]
fn ten_thousand_sessions_are_listed_from_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    for n in 0..10_000 {
        let id = format!("{n:05}");
        store.make(&id);
        let lease = store.take(&id).unwrap();
        store.add(&lease, vec![said(1, &format!("question {n} {}", "x".repeat(4_000)))]).unwrap();
    }
    let listed = || {
        let began = std::time::Instant::now();
        (told(&store), began.elapsed())
    };
    let (first, anew) = listed();
    let (second, known) = listed();
    println!("10,000 sessions: read anew in {anew:?}, known in {known:?}");
    assert_eq!(first.len(), 10_000);
    assert_eq!(first, second);
}
