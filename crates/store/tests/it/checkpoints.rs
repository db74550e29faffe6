//! Checkpoints of a file store: what is read back, and from what nobody is ever misled.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Checkpoint, CheckpointDraft, Lease, Seq, SessionStore, StoreError, StoreErrorKind,
};
use heeler_store::{FailingStore, FileStore, MemoryStore};

use crate::support::{StoreNow, entries, id, now};

const FORMAT: &str = "form-1";

/// A store whose session `a` has ten records and checkpoints after the fourth and the seventh.
struct Bench {
    folder: tempfile::TempDir,
    store: FileStore,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        let bench = Self { folder, store };
        bench.store.make("a");
        let lease = bench.take();
        bench.store.add(&lease, entries(1..=4)).unwrap();
        bench.keep(&lease, 4).unwrap();
        bench.store.add(&lease, entries(5..=7)).unwrap();
        bench.keep(&lease, 7).unwrap();
        bench.store.add(&lease, entries(8..=10)).unwrap();
        bench
    }

    fn take(&self) -> Arc<Lease> {
        Arc::new(now(self.store.resume(id("a"), Some(FORMAT))).unwrap().lease)
    }

    fn keep(&self, lease: &Arc<Lease>, seq: Seq) -> Result<(), StoreError> {
        now(self.store.keep_checkpoint(Arc::clone(lease), draft(seq)))
    }

    fn journal(&self) -> PathBuf {
        self.store.journal_path(&id("a"))
    }

    /// The file of the checkpoint after the fourth record, and of that after the seventh.
    fn checkpoints(&self) -> [PathBuf; 2] {
        [0, 1].map(|slot| self.folder.path().join(format!("sessions/a.checkpoint-{slot}")))
    }

    /// Where a fold begins and which records it reads, by a reader and by an owner alike.
    fn resumed(&self) -> String {
        let read = now(self.store.latest(id("a"), Some(FORMAT))).unwrap();
        let owned = now(self.store.resume(id("a"), Some(FORMAT))).unwrap();
        assert_eq!(read, owned.latest);
        let seqs: Vec<Seq> = read.journal.entries.iter().map(|entry| entry.seq).collect();
        let from = read.checkpoint.map_or(0, |checkpoint| {
            assert_eq!(checkpoint.state, state(checkpoint.seq));
            checkpoint.seq
        });
        let damage: Vec<String> = read
            .journal
            .damage
            .iter()
            .map(|damage| format!("line {}: {}", damage.line, damage.what))
            .collect();
        format!("from {from}: {seqs:?} {damage:?} torn {}\n", read.journal.torn_bytes)
    }
}

fn state(seq: Seq) -> Vec<u8> {
    format!("state {seq}\n").repeat(50).into_bytes()
}

fn draft(seq: Seq) -> CheckpointDraft {
    CheckpointDraft { seq, format: FORMAT, encode: Box::new(move |out| out.write_all(&state(seq))) }
}

fn check(change: impl FnOnce(&Bench), expected: Expect) {
    let bench = Bench::new();
    change(&bench);
    expected.assert_eq(&bench.resumed());
}

/// Replaces a piece of a file by one of the same length.
fn edit(path: &PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from) && from.len() == to.len());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn the_newest_one_that_fits_is_read_with_what_follows() {
    check(
        |_| {},
        expect![[r#"
        from 7: [8, 9, 10] [] torn 0
    "#]],
    );
    let torn = |bench: &Bench, slot: usize, bytes| {
        let path = &bench.checkpoints()[slot];
        let whole = fs::read(path).unwrap();
        fs::write(path, &whole[..whole.len() - bytes]).unwrap();
    };
    check(
        |bench| torn(bench, 1, 1),
        expect![[r#"
        from 4: [5, 6, 7, 8, 9, 10] [] torn 0
    "#]],
    );
    check(
        |bench| torn(bench, 0, 600),
        expect![[r#"
        from 7: [8, 9, 10] [] torn 0
    "#]],
    );
    check(
        |bench| {
            torn(bench, 0, 600);
            edit(&bench.checkpoints()[1], "state 7", "state 8");
        },
        expect![[r#"
            from 0: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] [] torn 0
        "#]],
    );
    check(
        |bench| bench.checkpoints().iter().for_each(|path| edit(path, "form-1", "form-2")),
        expect![[r#"
            from 0: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] [] torn 0
        "#]],
    );
}

#[test]
fn one_that_the_journal_does_not_bear_out_is_passed_over() {
    let cut = |bench: &Bench, lines: usize| {
        let text = fs::read_to_string(bench.journal()).unwrap();
        let kept: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
        fs::write(bench.journal(), kept.concat()).unwrap();
    };
    // Shorter than the newest, and then grown beyond it by others.
    check(
        |bench| cut(bench, 6),
        expect![[r#"
        from 4: [5] [] torn 0
    "#]],
    );
    check(
        |bench| {
            cut(bench, 6);
            let lease = bench.store.take("a").unwrap();
            let mut others = entries(6..=12);
            others.iter_mut().for_each(|entry| entry.at.0 += 1);
            bench.store.add(&lease, others).unwrap();
        },
        expect![[r#"
            from 4: [5, 6, 7, 8, 9, 10, 11, 12] [] torn 0
        "#]],
    );
    // Another session's, under this one's name.
    check(
        |bench| {
            fs::remove_file(bench.journal()).unwrap();
            bench.store.make("a");
        },
        expect![[r#"
            from 0: [] [] torn 0
        "#]],
    );
}

#[test]
fn the_tail_is_checked_like_any_journal() {
    check(
        |bench| edit(&bench.journal(), "text 9", "test 9"),
        expect![[r#"
        from 7: [8, 10] ["line 10: the line's checksum is wrong"] torn 0
    "#]],
    );
    check(
        |bench| edit(&bench.journal(), "text 10", "test 10"),
        expect![[r#"
            from 7: [8, 9] ["line 11: the line's checksum is wrong"] torn 0
        "#]],
    );
}

#[test]
fn a_flip_before_the_checkpoint_is_found_by_who_reads_it_all() {
    let bench = Bench::new();
    edit(&bench.journal(), "text 3", "test 3");
    expect![[r#"
        from 7: [8, 9, 10] [] torn 0
    "#]]
    .assert_eq(&bench.resumed());
    let journal = bench.store.load("a").unwrap();
    assert_eq!(journal.damage.len(), 1);
    assert_eq!((journal.damage[0].line, journal.damage[0].seq), (4, 3));
    // The owner appends as if nothing were, and the chain goes on.
    bench.store.add(&bench.take(), entries(11..=12)).unwrap();
    assert_eq!(bench.store.load("a").unwrap().damage.len(), 1);
}

#[test]
fn a_damaged_journal_keeps_none_so_that_its_damage_is_told_each_time() {
    let bench = Bench::new();
    edit(&bench.journal(), "text 9", "test 9");
    let lease = bench.take();
    bench.store.add(&lease, entries(11..=11)).unwrap();
    let never = CheckpointDraft { seq: 11, format: FORMAT, encode: Box::new(|_| panic!("asked")) };
    now(bench.store.keep_checkpoint(Arc::clone(&lease), never)).unwrap();
    drop(lease);
    assert!(bench.resumed().starts_with("from 7: [8, 10, 11] [\"line 10"));
    // Nor does a lease that did not look at what the records say.
    let bench = Bench::new();
    let never = CheckpointDraft { seq: 10, format: FORMAT, encode: Box::new(|_| panic!("asked")) };
    now(bench.store.keep_checkpoint(bench.store.take("a").unwrap(), never)).unwrap();
}

#[test]
fn two_are_kept_the_older_is_replaced_and_both_go_with_the_session() {
    let bench = Bench::new();
    let files = || {
        let folder = fs::read_dir(bench.folder.path().join("sessions")).unwrap();
        let mut names: Vec<_> = folder.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let all = ["a.checkpoint-0", "a.checkpoint-1", "a.jsonl"];
    let lease = bench.take();
    bench.keep(&lease, 10).unwrap();
    assert_eq!(files(), all);
    let newest = |slot: usize| fs::read_to_string(&bench.checkpoints()[slot]).unwrap();
    assert!(newest(0).contains("state 10") && newest(1).contains("state 7"));
    // A link that somebody put there is replaced, not followed.
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::remove_file(&bench.checkpoints()[1]).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &bench.checkpoints()[1]).unwrap();
    bench.keep(&lease, 10).unwrap();
    assert!(newest(1).contains("state 10") && !elsewhere.exists());
    drop(lease);
    assert_eq!(now(bench.store.list(String::new(), 0)).unwrap().len(), 1);
    now(bench.store.delete(id("a"))).unwrap();
    assert_eq!(files(), [""; 0]);
}

#[test]
fn one_that_comes_too_late_or_from_elsewhere_is_refused() {
    let bench = Bench::new();
    let lease = bench.take();
    let late = bench.keep(&lease, 9).unwrap_err();
    assert_eq!(late.kind(), StoreErrorKind::Conflict);
    expect!["a checkpoint of session a after record 9 comes too late, the last record is 10; ask for it before the next append"]
        .assert_eq(&late.to_string());
    // The place counts at which it was asked for, not that at which it is written.
    let asked = bench.store.keep_checkpoint(Arc::clone(&lease), draft(10));
    bench.store.add(&lease, entries(11..=12)).unwrap();
    now(asked).unwrap();
    // A state that breaks off leaves nothing of itself.
    let refuse = |out: &mut dyn Write| out.write_all(b"some").and(Err(io::ErrorKind::Other.into()));
    let unwritten = CheckpointDraft { seq: 12, format: FORMAT, encode: Box::new(refuse) };
    assert!(now(bench.store.keep_checkpoint(Arc::clone(&lease), unwritten)).is_err());
    assert!(!bench.checkpoints()[1].exists());
    drop(lease);
    assert!(bench.resumed().starts_with("from 10: [11, 12]"));

    let memory = MemoryStore::new();
    memory.make("a");
    let foreign = memory.take("a").unwrap();
    assert!(bench.keep(&foreign, 10).is_err());
    // A store without checkpoints takes none and gives none.
    memory.add(&foreign, entries(1..=2)).unwrap();
    now(memory.keep_checkpoint(Arc::clone(&foreign), draft(2))).unwrap();
    drop(foreign);
    let resumed = now(memory.resume(id("a"), Some(FORMAT))).unwrap().latest;
    assert_eq!((resumed.checkpoint, resumed.journal.entries.len()), (None, 2));
}

#[test]
fn without_a_format_all_is_read() {
    let bench = Bench::new();
    let latest = now(bench.store.latest(id("a"), None)).unwrap();
    assert_eq!((latest.checkpoint, latest.journal.entries.len()), (None, 10));
}

#[test]
fn a_full_store_keeps_none() {
    let bench = Bench::new();
    let failing = FailingStore::new(Arc::new(bench.store.clone()));
    let lease = Arc::new(now(failing.resume(id("a"), Some(FORMAT))).unwrap().lease);
    failing.set_full(true);
    assert!(now(failing.keep_checkpoint(Arc::clone(&lease), draft(10))).is_err());
    failing.set_full(false);
    now(failing.keep_checkpoint(lease, draft(10))).unwrap();
    let latest = now(failing.latest(id("a"), Some(FORMAT))).unwrap();
    assert_eq!(latest.checkpoint, Some(Checkpoint { seq: 10, state: state(10) }));
}
