//! Appends to a journal. Owns the only right to, and remembers all it needs, so that an append
//! reads nothing back.

use std::io::{self, BufReader};

use heeler_core::{Appended, Durability, Entry, Seq};

use super::line::RecordLine;
use super::line::{LineError, encode, encode_said};
use super::medium::{Medium, ReadFrom};
use super::read::scan_after;
use super::scan::{End, ScanError, Scanned, scan};

/// How much is read at once when a journal is walked.
pub(crate) const READ_BUFFER_BYTES: usize = 256 * 1024;
/// The buffer of an append is kept for the next one up to this size.
const BUFFER_KEPT_BYTES_MAX: usize = 1024 * 1024;

/// Why a journal cannot be opened for appending.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It cannot be read.
    Scan(ScanError),
    /// It holds a record that only a newer heeler can read.
    Newer(String),
}

/// Why an append did nothing.
#[derive(Debug)]
pub(crate) enum AppendError {
    /// Other records stand there, or the numbers leave a gap.
    Conflict(String),
    /// An entry cannot become a line.
    Line(Seq, LineError),
    /// The journal was removed.
    Removed,
    /// The journal cannot be read to compare.
    Scan(ScanError),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for AppendError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The only writer of one journal.
pub(crate) struct Writer<M: Medium> {
    medium: M,
    end: End,
    tail: Tail,
    buffer: Vec<u8>,
}

/// What lies behind the journal's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Nothing.
    Clean,
    /// What a dead process left of its last write; cut by the next append.
    Torn,
    /// What a failed append left because it could not be cut either; cut at every chance.
    Failed,
}

impl<M: Medium> Writer<M> {
    /// Walks the journal from `known`, or from its beginning, to its end.
    pub(crate) fn open(
        medium: M,
        known: Option<End>,
        visit: impl FnMut(&RecordLine<'_>) -> Result<(), String>,
    ) -> Result<(Self, Scanned), OpenError> {
        let scanned = scan_after(&medium, known, visit).map_err(OpenError::Scan)?;
        if let Some(what) = scanned.newer {
            return Err(OpenError::Newer(what));
        }
        let tail = if scanned.torn_bytes > 0 { Tail::Torn } else { Tail::Clean };
        let writer = Self { medium, end: scanned.end, tail, buffer: Vec::new() };
        Ok((writer, scanned))
    }

    /// Where the journal ends now.
    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Appends all entries or none.
    pub(crate) fn append(
        &mut self,
        entries: &[Entry],
        durability: Durability,
    ) -> Result<Appended, AppendError> {
        consecutive(entries)?;
        let n_there = match entries.first() {
            Some(first) if first.seq <= self.end.seq => self.compare(entries)?,
            _ => 0,
        };
        let new = &entries[n_there..];
        if new.is_empty() {
            if durability == Durability::Synced {
                self.medium.sync()?;
            }
            let already = n_there > 0;
            return Ok(if already { Appended::AlreadyThere } else { Appended::Written });
        }
        self.write(new, durability)?;
        Ok(Appended::Written)
    }

    /// Writes entries that are not there yet.
    fn write(&mut self, entries: &[Entry], durability: Durability) -> Result<(), AppendError> {
        if let Some(first) = entries.first()
            && !self.end.is_followed_by(first.seq)
        {
            let what = format!("record {} comes after record {}", first.seq, self.end.seq);
            return Err(AppendError::Conflict(what));
        }
        self.buffer.clear();
        if self.end.is_open {
            self.buffer.push(b'\n');
        }
        let mut end = End { unreadable: 0, is_open: false, ..self.end };
        for entry in entries {
            end.sum = encode(&mut self.buffer, entry, end.sum)
                .map_err(|error| AppendError::Line(entry.seq, error))?;
            end.seq = entry.seq;
            end.lines += 1;
        }
        end.length += self.buffer.len() as u64;

        self.check_end()?;
        let written = self.medium.write_at(&self.buffer, self.end.length);
        if self.buffer.capacity() > BUFFER_KEPT_BYTES_MAX {
            // Long lines are rare, and this one's room is of more use elsewhere.
            self.buffer = Vec::new();
        }
        let written = written.and_then(|()| match durability {
            Durability::Written => Ok(()),
            Durability::Synced => self.medium.sync(),
        });
        if let Err(error) = written {
            self.tail = Tail::Failed;
            self.cut_failed();
            return Err(AppendError::Io(error));
        }
        self.end = end;
        Ok(())
    }

    /// Cuts what lies behind the end, and notices whoever wrote there without the right to.
    fn check_end(&mut self) -> Result<(), AppendError> {
        if self.medium.is_replaced()? {
            return Err(AppendError::Conflict("another file has taken its place".into()));
        }
        let length = self.medium.length()?.ok_or(AppendError::Removed)?;
        if self.tail != Tail::Clean {
            self.medium.cut(self.end.length)?;
            self.tail = Tail::Clean;
        } else if length != self.end.length {
            let what = format!("the file has {length} bytes instead of {}", self.end.length);
            return Err(AppendError::Conflict(what));
        }
        Ok(())
    }

    /// Tries to cut what a failed append left; what cannot be cut now is cut by the next append.
    fn cut_failed(&mut self) {
        if self.tail == Tail::Failed && self.medium.cut(self.end.length).is_ok() {
            self.tail = Tail::Clean;
        }
    }

    /// How many of the entries stand in the journal already, as they are.
    ///
    /// Some but not all of them stand there when a process died in the middle of a write: then the
    /// rest is new.
    fn compare(&self, entries: &[Entry]) -> Result<usize, AppendError> {
        let (mut n_same, mut other) = (0, None);
        let mut said = Vec::new();
        let reader = BufReader::with_capacity(READ_BUFFER_BYTES, ReadFrom::start(&self.medium));
        let visited = scan(std::io::Read::take(reader, self.end.length), |line| {
            let Some(entry) = entries.get(n_same).filter(|entry| entry.seq <= line.seq) else {
                return Ok(());
            };
            said.clear();
            let encoded = encode_said(&mut said, entry);
            if encoded.is_ok() && said == line.said {
                n_same += 1;
            } else {
                other.get_or_insert(entry.seq);
            }
            Ok(())
        });
        visited.map_err(AppendError::Scan)?;
        let missing = entries.get(n_same).filter(|entry| entry.seq <= self.end.seq);
        match other.or(missing.map(|entry| entry.seq)) {
            Some(seq) => {
                Err(AppendError::Conflict(format!("another record {seq} is there already")))
            }
            None => Ok(n_same),
        }
    }
}

impl<M: Medium> Drop for Writer<M> {
    fn drop(&mut self) {
        self.cut_failed();
    }
}

/// Whether the entries' numbers follow each other.
fn consecutive(entries: &[Entry]) -> Result<(), AppendError> {
    match entries.windows(2).find(|pair| pair[0].seq.checked_add(1) != Some(pair[1].seq)) {
        None => Ok(()),
        Some(pair) => {
            let what = format!("record {} does not follow record {}", pair[1].seq, pair[0].seq);
            Err(AppendError::Conflict(what))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use heeler_core::{CallId, Input, Record, Timestamp};

    use super::super::header::encode_header;
    use super::super::read::{read, stands};
    use super::*;

    /// A disk that fills up, and may refuse cuts and syncs. Clones share it.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<DiskState>>);

    #[derive(Default)]
    struct DiskState {
        bytes: Vec<u8>,
        bytes_max: usize,
        refuses_cuts: bool,
        refuses_syncs: bool,
        n_writes: u32,
        n_bytes_read: u64,
        is_removed: bool,
    }

    impl Disk {
        fn set(&self, change: impl FnOnce(&mut DiskState)) {
            change(&mut self.0.lock().unwrap());
        }

        fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().bytes.clone()
        }

        fn seqs(&self) -> Vec<Seq> {
            let journal = read(&self.bytes()[..]).unwrap();
            assert_eq!(journal.damage, []);
            journal.entries.iter().map(|entry| entry.seq).collect()
        }
    }

    impl Medium for Disk {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let rest = disk.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let n = rest.len().min(buffer.len());
            buffer[..n].copy_from_slice(&rest[..n]);
            disk.n_bytes_read += n as u64;
            Ok(n)
        }

        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let mut disk = self.0.lock().unwrap();
            disk.n_writes += 1;
            assert_eq!(offset, disk.bytes.len() as u64);
            let room = disk.bytes_max - disk.bytes.len();
            disk.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if bytes.len() > room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn cut(&self, length: u64) -> io::Result<()> {
            let mut disk = self.0.lock().unwrap();
            if disk.refuses_cuts {
                return Err(io::ErrorKind::Other.into());
            }
            disk.bytes.truncate(usize::try_from(length).unwrap());
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            let refuses = self.0.lock().unwrap().refuses_syncs;
            if refuses { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
        }

        fn length(&self) -> io::Result<Option<u64>> {
            let disk = self.0.lock().unwrap();
            Ok((!disk.is_removed).then_some(disk.bytes.len() as u64))
        }
    }

    fn disk() -> Disk {
        let header = heeler_core::SessionHeader {
            id: "a".parse().unwrap(),
            created: Timestamp(0),
            workspace: "/".to_owned(),
        };
        let (bytes, _) = encode_header(&header).unwrap();
        let disk = Disk::default();
        disk.set(|disk| (disk.bytes, disk.bytes_max) = (bytes, usize::MAX));
        disk
    }

    fn entry(seq: Seq) -> Entry {
        let call = CallId { turn: 1, round: 1, index: u32::try_from(seq).unwrap() };
        Entry { seq, at: Timestamp(seq), record: Record::CallStarted { call } }
    }

    fn open(disk: &Disk) -> Result<(Writer<Disk>, Scanned), OpenError> {
        Writer::open(disk.clone(), None, |_| Ok(()))
    }

    fn append(writer: &mut Writer<Disk>, seqs: &[Seq], durability: Durability) -> String {
        let entries: Vec<Entry> = seqs.iter().copied().map(entry).collect();
        match writer.append(&entries, durability) {
            Ok(appended) => format!("{appended:?}"),
            Err(AppendError::Conflict(what)) => format!("Conflict: {what}"),
            Err(AppendError::Io(error)) => format!("Io: {}", error.kind()),
            Err(error) => format!("{error:?}"),
        }
    }

    use Durability::{Synced, Written};

    #[test]
    fn a_step_is_one_write() {
        let disk = disk();
        let (mut writer, _) = open(&disk).unwrap();
        assert_eq!(append(&mut writer, &[1, 2, 3], Written), "Written");
        assert_eq!(disk.0.lock().unwrap().n_writes, 1);
        assert_eq!(disk.seqs(), [1, 2, 3]);
    }

    #[test]
    fn a_full_disk_at_any_byte_leaves_the_journal_as_it_was() {
        let start = disk();
        let (mut writer, _) = open(&start).unwrap();
        append(&mut writer, &[1], Written);
        let before = start.bytes();
        append(&mut writer, &[2, 3], Written);
        let after = start.bytes();
        for bytes_max in before.len()..after.len() {
            for refuses_cuts in [false, true] {
                let disk = disk();
                disk.set(|disk| {
                    (disk.bytes, disk.bytes_max) = (before.clone(), bytes_max);
                    disk.refuses_cuts = refuses_cuts;
                });
                let (mut writer, _) = open(&disk).unwrap();
                assert_eq!(append(&mut writer, &[2, 3], Written), "Io: no storage space");
                if refuses_cuts {
                    assert_eq!(disk.bytes(), after[..bytes_max]);
                    assert_eq!(append(&mut writer, &[2, 3], Written), "Io: other error");
                    disk.set(|disk| disk.refuses_cuts = false);
                } else {
                    assert_eq!(disk.bytes(), before);
                }
                disk.set(|disk| disk.bytes_max = usize::MAX);
                assert_eq!(append(&mut writer, &[2, 3], Written), "Written");
                assert_eq!(disk.bytes(), after);
            }
        }
    }

    #[test]
    fn what_a_failed_append_left_is_cut_at_the_latest_when_the_lease_ends() {
        let disk = disk();
        let before = disk.bytes();
        let (mut writer, _) = open(&disk).unwrap();
        disk.set(|disk| (disk.refuses_cuts, disk.refuses_syncs) = (true, true));
        assert_eq!(append(&mut writer, &[1], Synced), "Io: other error");
        assert_ne!(disk.bytes(), before);
        disk.set(|disk| disk.refuses_cuts = false);
        drop(writer);
        assert_eq!(disk.bytes(), before);
    }

    #[test]
    fn the_same_again_is_there_already_and_anything_else_a_conflict() {
        let disk = disk();
        let (mut writer, _) = open(&disk).unwrap();
        let mut check = |seqs: &[Seq], durability, expected: &str| {
            assert_eq!(append(&mut writer, seqs, durability), expected, "{seqs:?}");
        };
        check(&[2], Written, "Conflict: record 2 comes after record 0");
        check(&[1, 3], Written, "Conflict: record 3 does not follow record 1");
        check(&[], Synced, "Written");
        check(&[1, 2], Written, "Written");
        check(&[1, 2], Synced, "AlreadyThere");
        check(&[2], Written, "AlreadyThere");
        check(&[2, 3], Written, "Written");
        check(&[0, 1], Written, "Conflict: another record 0 is there already");
        let other = Entry { at: Timestamp(9), ..entry(3) };
        let conflict = writer.append(&[other, entry(4)], Written);
        assert!(matches!(conflict, Err(AppendError::Conflict(_))), "{conflict:?}");
        assert_eq!(disk.seqs(), [1, 2, 3]);
    }

    /// However long the journal: what comes before the place is not read, but for the header.
    #[test]
    fn from_a_known_place_only_the_tail_is_read() {
        let disk = disk();
        let (mut writer, _) = open(&disk).unwrap();
        let text = Record::Input(Box::new(Input::text("x".repeat(1000))));
        let step = |seqs: std::ops::Range<Seq>| -> Vec<Entry> {
            seqs.map(|seq| Entry { record: text.clone(), ..entry(seq) }).collect()
        };
        writer.append(&step(1..1000), Written).unwrap();
        let known = writer.end();
        writer.append(&step(1000..1010), Written).unwrap();
        let end = writer.end();
        drop(writer);
        assert!(end.length > 1_000_000 && stands(&disk, &known).unwrap());
        disk.set(|disk| disk.n_bytes_read = 0);
        let mut seqs = Vec::new();
        let opened = Writer::open(disk.clone(), Some(known), |line| {
            seqs.push(line.seq);
            Ok(())
        });
        let (writer, scanned) = opened.unwrap();
        assert_eq!((writer.end(), scanned.damage), (end, vec![]));
        assert!(seqs.into_iter().eq(1000..1010));
        let n_bytes_read = disk.0.lock().unwrap().n_bytes_read;
        let tail = end.length - known.length;
        assert!((tail..=tail + 8 * 1024).contains(&n_bytes_read), "{n_bytes_read} of {tail}");
    }

    #[test]
    fn whoever_wrote_or_removed_without_the_right_to_is_noticed() {
        let disk = disk();
        let (mut writer, _) = open(&disk).unwrap();
        let (mut stale, _) = open(&disk).unwrap();
        assert_eq!(append(&mut writer, &[1], Written), "Written");
        let conflict = append(&mut stale, &[1], Written);
        assert!(conflict.starts_with("Conflict: the file has "), "{conflict}");
        disk.set(|disk| disk.is_removed = true);
        assert_eq!(append(&mut writer, &[2], Written), "Removed");
    }

    #[test]
    fn an_entry_that_cannot_be_written_leaves_nothing_of_its_step() {
        let disk = disk();
        let (mut writer, _) = open(&disk).unwrap();
        let text = "x".repeat(super::super::LINE_BYTES_MAX);
        let long = Entry { record: Record::Input(Box::new(Input::text(text))), ..entry(2) };
        let refused = writer.append(&[entry(1), long], Written);
        assert!(matches!(refused, Err(AppendError::Line(2, LineError::Size))), "{refused:?}");
        assert_eq!(append(&mut writer, &[1], Written), "Written");
        assert_eq!(disk.seqs(), [1]);
    }
}
