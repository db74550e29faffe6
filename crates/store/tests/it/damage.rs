//! Journals of arbitrary records: whole, cut, flipped, and no journals at all.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use heeler_core::{Appended, Entry, Input, Record, Seq, Timestamp};
use heeler_store::FileStore;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::Index;

use crate::records::record;
use crate::support::{StoreNow, entry, id};

/// A store with one session whose journal is `bytes`.
struct Bench {
    _folder: tempfile::TempDir,
    store: FileStore,
    path: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        let path = store.journal_path(&id("a"));
        Self { _folder: folder, store, path }
    }

    /// Writes a journal of these records, two a step, and gives its bytes.
    fn write(&self, entries: &[Entry]) -> Vec<u8> {
        self.store.make("a");
        let lease = self.store.take("a").unwrap();
        for step in entries.chunks(2) {
            self.store.add(&lease, step.to_vec()).unwrap();
        }
        fs::read(&self.path).unwrap()
    }
}

fn numbered(records: Vec<Record>) -> Vec<Entry> {
    let at = |seq: Seq| Timestamp(seq * 1000);
    (1..).zip(records).map(|(seq, record)| Entry { seq, at: at(seq), record }).collect()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn arbitrary_records_come_back_as_they_were(records in vec(record(), 1..12)) {
        let (bench, entries) = (Bench::new(), numbered(records));
        bench.write(&entries);
        let journal = bench.store.load("a").unwrap();
        prop_assert_eq!((journal.damage.len(), journal.torn_bytes), (0, 0));
        prop_assert_eq!(journal.entries, entries);
    }

    #[test]
    fn no_flipped_byte_alters_a_record_silently(
        records in vec(record(), 1..8),
        flips in vec((any::<Index>(), 1u8..), 1..4),
    ) {
        let (bench, entries) = (Bench::new(), numbered(records));
        let mut bytes = bench.write(&entries);
        let sound = bytes.clone();
        for (at, mask) in &flips {
            bytes[at.index(sound.len())] ^= mask;
        }
        fs::write(&bench.path, &bytes).unwrap();
        let Ok(journal) = bench.store.load("a") else { return Ok(()) };
        for entry in &journal.entries {
            prop_assert!(entries.contains(entry), "altered: {entry:?}");
        }
        if bytes != sound {
            let told = !journal.damage.is_empty() || journal.torn_bytes > 0;
            prop_assert!(told, "a flipped byte is not told");
        }
        // The session goes on, with what could be read and what is new.
        let Ok(lease) = bench.store.take("a") else { return Ok(()) };
        let next = journal.entries.last().map_or(1, |entry| entry.seq + 1);
        bench.store.add(&lease, vec![entry(next)]).unwrap();
        let again = bench.store.load("a").unwrap();
        // That it took this number shows that no more was lost before it.
        let mut damage = journal.damage;
        damage.iter_mut().for_each(|damage| damage.seq = damage.seq.min(next));
        prop_assert_eq!((again.damage, again.torn_bytes), (damage, 0));
        let mut expected = journal.entries;
        expected.push(entry(next));
        prop_assert_eq!(again.entries, expected);
    }

    #[test]
    fn arbitrary_bytes_are_read_without_panic(
        bytes in vec(any::<u8>(), 0..400),
        keeps in 0usize..6,
        lines in vec("[ -~]{0,60}\n", 0..4),
    ) {
        let bench = Bench::new();
        let sound = bench.write(&numbered(vec![Record::TimePassed; 4]));
        let kept = sound.split_inclusive(|b| *b == b'\n').take(keeps).flatten();
        let all: Vec<u8> = kept.copied().chain(lines.concat().into_bytes()).chain(bytes).collect();
        fs::write(&bench.path, &all).unwrap();
        if let Ok(journal) = bench.store.load("a") {
            prop_assert_eq!(journal.entries.len(), keeps.saturating_sub(1).min(4));
        }
        let _ = bench.store.take("a");
        heeler_listed(&bench.store);
    }
}

/// A list never fails because of one file.
fn heeler_listed(store: &FileStore) {
    crate::support::now(heeler_core::SessionStore::list(store, String::new(), 0)).unwrap();
}

#[test]
fn a_journal_cut_at_any_byte_keeps_every_whole_record_and_goes_on() {
    let bench = Bench::new();
    let texts = ["", "short", "é\n\"😀\"", "a longer text of a few more words"];
    let records = texts.map(|text| Record::Input(Box::new(Input::text(text))));
    let entries = numbered([Record::TimePassed].into_iter().chain(records).collect());
    let bytes = bench.write(&entries);
    let header_length = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in 0..=bytes.len() {
        fs::write(&bench.path, &bytes[..cut]).unwrap();
        if cut < header_length {
            // Its maker died before it was a session; it can be made again.
            assert!(bench.store.load("a").unwrap_err().is_not_found());
            assert!(bench.store.take("a").err().unwrap().is_not_found());
            bench.store.make("a");
            assert_eq!(bench.store.seqs("a"), [0; 0]);
            continue;
        }
        // A record that lacks its newline alone is whole.
        let is_open = bytes[cut..].starts_with(b"\n");
        let n_lines = bytes[header_length..cut].iter().filter(|b| **b == b'\n').count();
        let n_whole = n_lines + usize::from(is_open);
        let last = bytes[..cut].iter().rposition(|b| *b == b'\n').unwrap() + 1;
        let end = if is_open { cut } else { last };
        let journal = bench.store.load("a").unwrap();
        assert_eq!((&journal.entries[..], &journal.damage[..]), (&entries[..n_whole], &[][..]));
        assert_eq!(journal.torn_bytes, (cut - end) as u64);

        let lease = bench.store.take("a").unwrap();
        assert_eq!(fs::read(&bench.path).unwrap(), bytes[..cut], "a lease alone cuts nothing");
        let next = entry(entries.len() as Seq + 1);
        let rest = [&entries[n_whole..], &[next]].concat();
        bench.store.add(&lease, rest).unwrap();
        assert_eq!(fs::read(&bench.path).unwrap()[..bytes.len()], bytes);
    }
}

#[test]
fn a_changed_last_newline_loses_no_record_and_is_mended() {
    let bench = Bench::new();
    let entries = numbered(vec![Record::TimePassed; 3]);
    let bytes = bench.write(&entries);
    for mask in 1..=u8::MAX {
        let mut changed = bytes.clone();
        changed[bytes.len() - 1] ^= mask;
        fs::write(&bench.path, &changed).unwrap();
        let journal = bench.store.load("a").unwrap();
        assert_eq!((&journal.entries, journal.torn_bytes), (&entries, 1));
        let mut lines = Vec::new();
        bench.store.lines(&id("a")).unwrap().read_to_end(&mut lines).unwrap();
        assert_eq!(lines, bytes);
        let lease = bench.store.take("a").unwrap();
        // What is there already is known as such.
        assert_eq!(bench.store.add(&lease, entries.clone()).unwrap(), Appended::AlreadyThere);
        bench.store.add(&lease, vec![entry(4)]).unwrap();
        assert_eq!(bench.store.seqs("a"), [1, 2, 3, 4]);
        assert_eq!(fs::read(&bench.path).unwrap()[..bytes.len()], bytes);
    }
}
