//! A journal that is read as it grows, by somebody who does not own it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use heeler_core::Seq;
use heeler_store::{FileStore, Follow, LINE_BYTES_MAX};

use crate::support::{StoreNow, entries, id};

fn read(follow: &mut Follow, to: Seq) -> Vec<Seq> {
    let mut seqs = Vec::new();
    follow.read_to(to, |entry| seqs.push(entry.seq)).unwrap();
    seqs
}

#[test]
fn records_are_given_once_as_far_as_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    let mut follow = store.follow(&id("a")).unwrap();
    assert_eq!(follow.header().id, id("a"));
    assert_eq!(read(&mut follow, Seq::MAX), [0; 0]);
    store.add(&lease, entries(1..=4)).unwrap();
    assert_eq!(read(&mut follow, 2), [1, 2]);
    assert_eq!(read(&mut follow, 1), [0; 0]);
    store.add(&lease, entries(5..=5)).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [3, 4, 5]);
    assert_eq!(read(&mut follow, Seq::MAX), [0; 0]);
    assert!(store.follow(&id("b")).unwrap_err().is_not_found());
}

#[test]
fn a_line_without_its_end_is_waited_for_and_one_that_is_damaged_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=3)).unwrap();
    let path = store.journal_path(&id("a"));
    let whole = fs::read(&path).unwrap();
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let damaged = [&b"x"[..], &lines[2][1..]].concat();
    lines[2] = &damaged;
    let last = lines.pop().unwrap();
    let (begun, rest) = last.split_at(last.len() / 2);
    fs::write(&path, [&lines.concat()[..], begun].concat()).unwrap();
    let mut follow = store.follow(&id("a")).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [1]);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(rest).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [3]);
}

#[test]
fn a_line_that_is_too_long_is_passed_over_once_another_one_follows() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=3)).unwrap();
    let path = store.journal_path(&id("a"));
    let whole = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(&path, lines[..2].concat()).unwrap();
    let mut follow = store.follow(&id("a")).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() + LINE_BYTES_MAX as u64).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [1]);
    file.write_all(b"\n").unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [0; 0]);
    file.write_all(lines[2]).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [2]);
    file.write_all(lines[3]).unwrap();
    assert_eq!(read(&mut follow, Seq::MAX), [3]);
}

#[test]
fn a_door_is_found_by_its_session_and_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    for name in ["b", "a"] {
        store.make(name);
        fs::write(store.door_path(&id(name)), "").unwrap();
    }
    assert_eq!(store.sessions_with_doors().unwrap(), [id("a"), id("b")]);
    crate::support::now(heeler_core::SessionStore::delete(&store, id("a"))).unwrap();
    assert_eq!(store.sessions_with_doors().unwrap(), [id("b")]);
}
