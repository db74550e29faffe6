//! What is particular to files: modes, names, spilled outputs, files that are no journals.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Appended, CallId, Durability, SessionHeader, SessionStore, Spill, StoreErrorKind, Timestamp,
};
use heeler_store::{FileStore, HEADER_BYTES_MAX, MEDIA_CLEANED_EVERY_MILLIS, SPILL_BYTES_MAX};

use crate::support::{StoreNow, entries, header, id, now};

const CALL: CallId = CallId { turn: 1, round: 2, index: 0 };

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn everything_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("deep/home");
    let store = FileStore::open(&root).unwrap();
    store.make("a");
    let spill = Spill::write(&store, &id("a"), CALL, "long").unwrap();
    assert_eq!(spill, root.join("sessions/a.spill/1.2.0.txt"));
    for folder in [&root, &root.join("sessions"), &root.join("sessions/a.spill")] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    assert_eq!((mode(root.join("sessions/a.jsonl")), mode(spill)), (0o600, 0o600));
}

#[test]
fn a_spilled_output_is_written_again_bounded_and_deleted_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let path = Spill::write(&store, &id("a"), CALL, "first").unwrap();
    // A link that somebody put there is replaced, not followed.
    let elsewhere = folder.path().join("elsewhere");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(Spill::write(&store, &id("a"), CALL, "second").unwrap(), path);
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    assert!(!elsewhere.exists());

    let long = "x".repeat(SPILL_BYTES_MAX + 1);
    let error = Spill::write(&store, &id("a"), CALL, &long).unwrap_err().to_string();
    assert!(error.ends_with("the output is longer than 67108864 bytes"), "{error}");

    now(store.delete(id("a"))).unwrap();
    let left: Vec<_> = fs::read_dir(folder.path().join("sessions")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What a clean-up leaves, so many days after all of it was written.
fn check_left(days: u64, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let sessions = folder.path().join("sessions");
    for name in ["a", "removed", "empty"] {
        store.make(name);
        Spill::write(&store, &id(name), CALL, "long").unwrap();
    }
    fs::remove_file(sessions.join("removed.jsonl")).unwrap();
    fs::write(sessions.join("empty.jsonl"), "").unwrap();
    // Somebody is about to write into it.
    fs::write(sessions.join("locked.jsonl"), "").unwrap();
    let locked = fs::File::open(sessions.join("locked.jsonl")).unwrap();
    locked.lock().unwrap();
    // Its journal is elsewhere, on a disk that is not there now.
    Spill::write(&store, &id("linked"), CALL, "long").unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", sessions.join("linked.jsonl")).unwrap();
    fs::write(sessions.join("linked.jsonl.new"), "half").unwrap();
    for name in ["a", "removed", "linked"] {
        fs::create_dir(sessions.join(name).with_extension("media")).unwrap();
        for kind in ["checkpoint-0", "checkpoint-1", "door"] {
            fs::write(sessions.join(name).with_extension(kind), "").unwrap();
        }
    }
    // The last of them: on a busy machine they are not of one second.
    let written = fs::metadata(sessions.join("linked.door")).unwrap().mtime();
    let written = u64::try_from(written).unwrap() * 1000 + 1000;
    store.clean_media(Timestamp(written + days * MEDIA_CLEANED_EVERY_MILLIS)).unwrap();
    let mut left: Vec<_> = fs::read_dir(&sessions)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    // A line a session.
    let same = |one: &String, other: &String| one.split('.').next() == other.split('.').next();
    let lines: String = left.chunk_by(same).map(|names| names.join(" ") + "\n").collect();
    expected.assert_eq(&lines);
}

#[test]
fn what_is_left_of_sessions_that_are_gone_is_cleaned_up_once_it_is_old() {
    check_left(
        29,
        expect![[r#"
            a.checkpoint-0 a.checkpoint-1 a.door a.jsonl a.media a.spill
            empty.jsonl empty.spill
            linked.checkpoint-0 linked.checkpoint-1 linked.door linked.jsonl linked.jsonl.new linked.media linked.spill
            locked.jsonl
            removed.checkpoint-0 removed.checkpoint-1 removed.door removed.media removed.spill
        "#]],
    );
    check_left(
        30,
        expect![[r#"
            a.checkpoint-0 a.checkpoint-1 a.door a.jsonl a.media a.spill
            linked.checkpoint-0 linked.checkpoint-1 linked.door linked.jsonl linked.jsonl.new linked.media linked.spill
            locked.jsonl
        "#]],
    );
}

#[test]
fn one_broken_file_breaks_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let sessions = folder.path().join("sessions");
    for name in ["a", "b", "c", "d"] {
        store.make(name);
    }
    let line = fs::read_to_string(sessions.join("a.jsonl")).unwrap();
    fs::write(sessions.join("b.jsonl"), line.replace("/space", "/york")).unwrap();
    fs::write(sessions.join("c.jsonl"), line.replace("\"version\":1", "\"version\":2")).unwrap();
    fs::copy(sessions.join("a.jsonl"), sessions.join("d.jsonl")).unwrap();
    fs::write(sessions.join("e.jsonl"), "").unwrap();
    // Longer than a first line, and none.
    fs::write(sessions.join("zeros.jsonl"), vec![0; HEADER_BYTES_MAX]).unwrap();
    fs::write(sessions.join("half.jsonl"), vec![0; HEADER_BYTES_MAX - 1]).unwrap();
    fs::write(sessions.join("notes.txt"), "").unwrap();
    fs::write(sessions.join("not an id.jsonl"), "").unwrap();
    fs::create_dir(sessions.join("folder.jsonl")).unwrap();
    let list = now(store.list(String::new(), 0)).unwrap();
    let shown: String = list
        .iter()
        .map(|s| format!("{} in {:?}: {:?}\n", s.header.id, s.header.workspace, s.title))
        .collect();
    expect![[r#"
        a in "/space": ""
        b in "": "(the first line is damaged)"
        c in "": "(written by a newer heeler)"
        d in "": "(the file has another session's name)"
        zeros in "": "(the first line is damaged)"
    "#]]
    .assert_eq(&shown);

    let kind = |name: &str| {
        let (read, lease) = (store.load(name).unwrap_err(), store.take(name).err().unwrap());
        assert_eq!(read.to_string(), lease.to_string());
        let text = read.to_string().replace(folder.path().to_str().unwrap(), "ROOT");
        format!("{:?}: {text}", read.kind())
    };
    let all = ["b", "c", "d", "e", "missing"].map(|name| kind(name) + "\n").concat();
    expect![[r#"
        Damaged: the first line of `ROOT/sessions/b.jsonl` cannot be read (its checksum is wrong); `heeler sessions export b` prints what there is; restore the file from a backup, or remove the session with `heeler sessions delete b`
        Newer: `ROOT/sessions/c.jsonl` has format 2 of a newer heeler; update heeler to open it
        Damaged: `ROOT/sessions/d.jsonl` holds session a; give the file that name again
        NotFound: session e was never begun, or is cut off: `ROOT/sessions/e.jsonl` ends within its first line; restore the file from a backup, or remove it with `heeler sessions delete e`
        NotFound: there is no session missing (no `ROOT/sessions/missing.jsonl`); the list shows which there are
    "#]].assert_eq(&all);
    assert_eq!(now(store.create(header("b"))).unwrap_err().kind(), StoreErrorKind::Exists);
    now(store.delete(id("b"))).unwrap();
    store.make("b");
    store.make("e");
}

#[test]
fn a_session_continued_by_a_newer_heeler_is_read_but_not_leased() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    fs::write(store.journal_path(&id("a")), include_str!("newer.jsonl")).unwrap();
    let journal = store.load("a").unwrap();
    assert_eq!((journal.entries.len(), journal.damage.len()), (1, 1));
    let error = store.take("a").err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Newer);
    let text = error.to_string().replace(folder.path().to_str().unwrap(), "ROOT");
    expect!["session a was continued by a newer heeler (record 2 is of kind `dreamed`, version 1 in `ROOT/sessions/a.jsonl`): it can be read but not continued; update heeler"].assert_eq(&text);
}

#[test]
fn a_journal_of_the_first_format_opens() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    fs::write(store.journal_path(&id("a")), include_str!("golden/format_1.jsonl")).unwrap();
    assert_eq!(store.load("a").unwrap().entries, entries(1..=3));
    store.add(&store.take("a").unwrap(), entries(4..=4)).unwrap();
    assert_eq!(store.seqs("a"), [1, 2, 3, 4]);
}

#[test]
fn a_header_that_a_list_could_not_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let workspace = "w".repeat(HEADER_BYTES_MAX);
    let error = now(store.create(SessionHeader { workspace, ..header("a") })).unwrap_err();
    assert!(error.to_string().contains("shorter path"), "{error}");
    assert!(store.load("a").unwrap_err().is_not_found());
}

#[test]
fn a_journal_removed_under_its_owner_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=1)).unwrap();
    fs::remove_file(store.journal_path(&id("a"))).unwrap();
    let error = store.add(&lease, entries(2..=2)).unwrap_err();
    assert!(error.to_string().contains("was removed while session a was open"), "{error}");
}

#[test]
fn a_journal_that_a_copy_took_the_place_of_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(1..=1)).unwrap();
    let path = store.journal_path(&id("a"));
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    // Under no name it is its owner's still.
    store.add(&lease, entries(2..=2)).unwrap();
    fs::copy(&aside, &path).unwrap();
    let second = store.take("a").unwrap();
    for is_kept in [true, false] {
        let error = store.add(&lease, entries(3..=3)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Conflict);
        assert!(error.to_string().contains("another file has taken its place"), "{error}");
        if is_kept {
            fs::remove_file(&aside).unwrap();
        }
    }
    store.add(&second, entries(3..=3)).unwrap();
    drop(second);
    assert_eq!(store.seqs("a"), [1, 2, 3]);
}

#[test]
fn a_name_that_cannot_be_synced_leaves_the_journal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let lease = store.take("a").unwrap();
    let before = fs::read(store.journal_path(&id("a"))).unwrap();
    let sync = || now(store.append(Arc::clone(&lease), entries(1..=1).into(), Durability::Synced));
    let (sessions, elsewhere) = (folder.path().join("sessions"), folder.path().join("elsewhere"));
    fs::rename(&sessions, &elsewhere).unwrap();
    assert!(sync().is_err());
    fs::rename(&elsewhere, &sessions).unwrap();
    assert_eq!(fs::read(store.journal_path(&id("a"))).unwrap(), before);
    assert_eq!(sync().unwrap(), Appended::Written);
    assert_eq!(store.seqs("a"), [1]);
}
