//! Journals whose lines were doubled, moved, removed or changed: nothing sound is lost by what was only
//! added, and each session goes on.

use std::fs;
use std::path::PathBuf;

use heeler_core::{Entry, Journal, Seq};
use heeler_store::FileStore;
use proptest::collection::vec;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::Index;

use crate::support::{StoreNow, entries, entry, id};

/// A store with one session whose journal is changed by its lines, the header's not among them.
struct Bench {
    _folder: tempfile::TempDir,
    store: FileStore,
    path: PathBuf,
    header: Vec<u8>,
    lines: Vec<Vec<u8>>,
}

impl Bench {
    fn new(n_records: Seq) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        store.make("a");
        store.add(&store.take("a").unwrap(), entries(1..=n_records)).unwrap();
        let path = store.journal_path(&id("a"));
        let bytes = fs::read(&path).unwrap();
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let header = lines.remove(0);
        Self { _folder: folder, store, path, header, lines }
    }

    /// What is read of these lines, after the session has gone on twice.
    fn read(&self, lines: &[Vec<u8>]) -> Journal {
        fs::write(&self.path, [&self.header[..], &lines.concat()].concat()).unwrap();
        let journal = self.store.load("a").unwrap();
        for _ in 0..2 {
            let before = self.store.load("a").unwrap();
            assert_eq!(before.damage, journal.damage);
            let next = last(&before.entries).max(before.lost_up_to()) + 1;
            let lease = self.store.take("a").unwrap();
            self.store.add(&lease, vec![entry(next)]).unwrap();
            drop(lease);
            let after = self.store.load("a").unwrap();
            assert_eq!(after.entries, [&before.entries[..], &[entry(next)]].concat());
        }
        journal
    }
}

fn last(entries: &[Entry]) -> Seq {
    entries.last().map_or(0, |entry| entry.seq)
}

fn seqs(journal: &Journal) -> Vec<Seq> {
    journal.entries.iter().map(|entry| entry.seq).collect()
}

/// The lines up to `to`, then those of `piece`, then those from `to` on.
fn inserted(lines: &[Vec<u8>], to: usize, piece: &[Vec<u8>]) -> Vec<Vec<u8>> {
    [&lines[..to], piece, &lines[to..]].concat()
}

#[derive(Debug, Clone)]
enum Change {
    Blank(Index),
    /// So many lines from there on stand twice.
    Doubled(Index, usize),
    /// So many lines from the second place on stand at the first, too.
    Copied(Index, Index, usize),
    Removed(Index, usize),
    Swapped(Index, Index),
    /// A byte of a line is another one.
    Flipped(Index, Index, u8),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let n = || prop_oneof![Just(1usize), 1..18usize];
    prop_oneof![
        at().prop_map(Change::Blank),
        (at(), n()).prop_map(|(at, n)| Change::Doubled(at, n)),
        (at(), at(), n()).prop_map(|(to, from, n)| Change::Copied(to, from, n)),
        (at(), n()).prop_map(|(at, n)| Change::Removed(at, n)),
        (at(), at()).prop_map(|(one, other)| Change::Swapped(one, other)),
        (at(), at(), 1u8..).prop_map(|(at, byte, mask)| Change::Flipped(at, byte, mask)),
        at().prop_map(Change::Cut),
    ]
}

fn changed(mut lines: Vec<Vec<u8>>, change: &Change) -> Vec<Vec<u8>> {
    let piece =
        |lines: &[Vec<u8>], from: usize, n: usize| lines[from..lines.len().min(from + n)].to_vec();
    let len = lines.len();
    if len == 0 {
        return lines;
    }
    match change {
        Change::Blank(at) => lines.insert(at.index(len + 1), b"\n".to_vec()),
        Change::Doubled(at, n) => {
            let at = at.index(len);
            lines = inserted(&lines, at, &piece(&lines, at, *n));
        }
        Change::Copied(to, from, n) => {
            let piece = piece(&lines, from.index(len), *n);
            lines = inserted(&lines, to.index(len + 1), &piece);
        }
        Change::Removed(at, n) => {
            let at = at.index(len);
            lines.drain(at..len.min(at + n));
        }
        Change::Swapped(one, other) => lines.swap(one.index(len), other.index(len)),
        Change::Flipped(at, byte, mask) => {
            let line = &mut lines[at.index(len)];
            if !line.is_empty() {
                let byte = byte.index(line.len());
                line[byte] ^= mask;
            }
        }
        Change::Cut(at) => {
            if let Some(line) = lines.last_mut() {
                line.truncate(at.index(line.len() + 1));
            }
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_session_goes_on_whatever_became_of_its_lines(
        n_records in 1u64..40,
        changes in vec(change(), 1..6),
    ) {
        let bench = Bench::new(n_records);
        let lines = changes.iter().fold(bench.lines.clone(), changed);
        let journal = bench.read(&lines);
        prop_assert!(journal.entries.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        prop_assert!(journal.entries.iter().all(|read| *read == entry(read.seq)));
    }

    #[test]
    fn a_piece_that_strayed_hides_no_record(
        to in any::<Index>(),
        from in any::<Index>(),
        n in prop_oneof![Just(1usize), 1..32usize],
        n_blank in 0usize..3,
    ) {
        let bench = Bench::new(40);
        let (from, to) = (from.index(40), to.index(41));
        let blank = vec![b"\n".to_vec(); n_blank];
        let piece = [&blank[..], &bench.lines[from..40.min(from + n)], &blank[..]].concat();
        let journal = bench.read(&inserted(&bench.lines, to, &piece));
        prop_assert_eq!(seqs(&journal), (1..=40).collect::<Vec<Seq>>());
        prop_assert!(!journal.damage.is_empty());
    }
}

#[test]
fn what_was_only_added_locks_no_session() {
    let bench = Bench::new(7);
    let blank = vec![b"\n".to_vec(); 2];
    let journal = bench.read(&inserted(&bench.lines, 6, &blank));
    assert_eq!((seqs(&journal), journal.lost_up_to()), ((1..=7).collect(), 7));
    let bench = Bench::new(27);
    let journal = bench.read(&inserted(&bench.lines, 20, &bench.lines[9..20]));
    assert_eq!((seqs(&journal), journal.lost_up_to()), ((1..=27).collect(), 21));
}

#[test]
fn the_numbers_of_lines_that_are_lost_at_the_end_stay_free() {
    let bench = Bench::new(7);
    let mut lines = bench.lines[..5].to_vec();
    lines.extend([b"x\n".to_vec(), b"y\n".to_vec()]);
    assert_eq!(bench.read(&lines).lost_up_to(), 7);
}

#[test]
fn a_stray_line_is_told_and_those_it_left_out_are_read() {
    let bench = Bench::new(27);
    let journal = bench.read(&inserted(&bench.lines, 8, &bench.lines[26..]));
    assert_eq!(seqs(&journal), (1..=27).collect::<Vec<Seq>>());
    let [damage] = &journal.damage[..] else { panic!("{:?}", journal.damage) };
    assert_eq!((damage.line, damage.seq), (10, 9));
    assert_eq!(damage.what, "record 27 stands here too early, out of order");
}

/// Of two pieces the longer one counts, and of a record behind a hole nothing is taken away.
#[test]
fn what_stands_behind_a_hole_is_read() {
    let bench = Bench::new(27);
    let hole = [&bench.lines[..8], &bench.lines[19..]].concat();
    let expected: Vec<Seq> = (1..=8).chain(20..=27).collect();
    assert_eq!(seqs(&bench.read(&hole)), expected);
    let moved = [&hole[..], &bench.lines[8..11]].concat();
    assert_eq!(seqs(&bench.read(&moved)), expected);
    let moved = [&bench.lines[..8], &bench.lines[24..], &bench.lines[10..24]].concat();
    assert_eq!(seqs(&bench.read(&moved)), (1..=8).chain(11..=24).collect::<Vec<Seq>>());
}

#[test]
fn a_look_ahead_has_an_end() {
    let bench = Bench::new(100);
    let read = |n: usize| seqs(&bench.read(&inserted(&bench.lines, 1, &bench.lines[100 - n..])));
    assert_eq!(read(32), (1..=100).collect::<Vec<Seq>>());
    assert_eq!(read(33), [1].into_iter().chain(68..=100).collect::<Vec<Seq>>());
}
