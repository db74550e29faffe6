//! A session's journal as it is found on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_core::{Block, CallId, Entry, Record, SessionId, SessionStore as _};
use heeler_store::FileStore;

/// A journal: its bytes and what they say.
#[derive(Default)]
pub(super) struct Found {
    /// The session's id; empty while there is none.
    pub(super) session: String,
    /// The whole lines; a torn tail is left out.
    pub(super) whole: Vec<u8>,
    /// Bytes of a torn tail.
    pub(super) torn_bytes: usize,
    pub(super) entries: Vec<Entry>,
}

/// What was going on at the end of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The process had written nothing yet, or only that it is there.
    Starting,
    /// A request was sent.
    InStream,
    /// A call was running.
    InCall,
    /// Neither.
    Between,
}

/// A call as the journal knows it.
#[derive(Default)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) input: String,
    /// How often it was begun.
    pub(super) starts: usize,
    /// How often it finished.
    pub(super) ends: usize,
    /// Whether it gave an error, once it has finished.
    pub(super) is_error: Option<bool>,
}

impl Found {
    /// Reads the journal of the only session below `home`; empty when there is none yet.
    pub(super) fn read(home: &Path) -> Result<Self> {
        let Some((path, mut whole)) = only(home)? else { return Ok(Self::default()) };
        let length = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn_bytes = whole.len() - length;
        whole.truncate(length);
        let session = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let id: SessionId = session.parse().with_context(|| format!("{}", path.display()))?;
        let mut reading = FileStore::open(home)?.read(id);
        // The store does its work at the first poll.
        let read = reading.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(journal) = read else { bail!("reading {} blocks", path.display()) };
        let journal = journal?;
        ensure!(journal.damage.is_empty(), "the journal is damaged: {:?}", journal.damage);
        let entries = journal.entries;
        Ok(Self { session: session.to_owned(), whole, torn_bytes, entries })
    }

    /// Refuses a journal of which not every line was read, when nobody writes it any more. Counted
    /// without the code that is judged: what that passes over is lost, too.
    pub(super) fn check_all_read(&self) -> Result<()> {
        let lines = self.whole.iter().filter(|byte| **byte == b'\n').count();
        let (written, read) = (lines.saturating_sub(1), self.entries.len());
        ensure!(read == written, "{written} records are written, and {read} of them read");
        let gap = (1..).zip(&self.entries).find(|(n, entry)| *n != entry.seq);
        ensure!(gap.is_none(), "record {} is missing", gap.map_or(0, |(n, _)| n));
        Ok(())
    }

    /// How many records and bytes stand in the journal now, without a look at what they say.
    pub(super) fn measure(home: &Path) -> (usize, usize) {
        // What cannot be read now is read after the strike, which tells.
        let Ok(Some((_, bytes))) = only(home) else { return (0, 0) };
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        (lines.saturating_sub(1), bytes.len())
    }

    /// The last record's number.
    pub(super) fn last_seq(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// Whose it is, and its last record.
    pub(super) fn shown(&self) -> String {
        match self.entries.last() {
            Some(Entry { seq, record, .. }) => {
                format!("session {}, its last record {seq} {}", self.session, record.kind())
            }
            None => "a session without a record".to_owned(),
        }
    }

    /// Whether a turn is unfinished.
    pub(super) fn is_pending(&self) -> bool {
        self.entries.iter().fold(false, |pending, entry| match entry.record {
            Record::Input(_) => true,
            Record::TurnFinished { .. } => false,
            _ => pending,
        })
    }

    /// Whether the unfinished turn was told to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.entries.iter().fold(false, |stopping, entry| match entry.record {
            Record::Interrupted { .. } => true,
            Record::TurnFinished { .. } => false,
            _ => stopping,
        })
    }

    /// How many records of this kind there are.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.entries.iter().filter(|entry| entry.record.kind() == kind).count()
    }

    /// What was going on when the journal ended; `begun` is what it was when the process began.
    pub(super) fn place(&self, begun: &Found) -> Place {
        let new = self.entries.get(begun.entries.len()..).unwrap_or_default();
        let only_begun =
            |entry: &Entry| matches!(entry.record, Record::Opened(_) | Record::SettingsChanged(_));
        if new.iter().all(only_begun) {
            return Place::Starting;
        }
        let mut is_asking = false;
        let mut running = BTreeSet::new();
        for entry in new {
            match &entry.record {
                Record::ModelStarted(_) => is_asking = true,
                Record::ModelReplied(_) | Record::ModelFailed(_) => is_asking = false,
                Record::CallStarted { call } => drop(running.insert(*call)),
                Record::CallFinished { call, .. } => drop(running.remove(call)),
                Record::Interrupted { .. } | Record::TurnFinished { .. } => {
                    is_asking = false;
                    running.clear();
                }
                _ => {}
            }
        }
        match (running.is_empty(), is_asking) {
            (false, _) => Place::InCall,
            (true, true) => Place::InStream,
            (true, false) => Place::Between,
        }
    }

    /// Every call the model made.
    pub(super) fn calls(&self) -> BTreeMap<CallId, Call> {
        let mut calls: BTreeMap<CallId, Call> = BTreeMap::new();
        for entry in &self.entries {
            match &entry.record {
                Record::ModelReplied(replied) => {
                    let (turn, round) = (replied.turn, replied.round);
                    let uses = replied.reply.blocks.iter().filter_map(|block| match block {
                        Block::ToolUse(call) => Some(call),
                        _ => None,
                    });
                    for (index, call) in (0..).zip(uses) {
                        let known = calls.entry(CallId { turn, round, index }).or_default();
                        known.tool.clone_from(&call.name);
                        known.input = call.input.get().to_owned();
                    }
                }
                Record::CallStarted { call } => calls.entry(*call).or_default().starts += 1,
                Record::CallFinished { call, output, .. } => {
                    let known = calls.entry(*call).or_default();
                    known.ends += 1;
                    known.is_error = Some(output.is_error);
                }
                _ => {}
            }
        }
        calls
    }
}

/// The bytes of the only journal; `None` while there is none.
fn only(home: &Path) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let mut made = Vec::new();
    let Ok(listed) = fs::read_dir(home.join("sessions")) else { return Ok(None) };
    for entry in listed {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let bytes = fs::read(&path).with_context(|| format!("{}", path.display()))?;
            // Whose maker died before the first line never was a session.
            made.extend(bytes.contains(&b'\n').then_some((path, bytes)));
        }
    }
    ensure!(made.len() <= 1, "there are {} sessions instead of one", made.len());
    Ok(made.pop())
}

#[cfg(test)]
mod tests {
    use heeler_core::Timestamp;

    use super::*;

    /// What is found wrong with a journal of so many lines, read as records of these numbers.
    fn check(lines: usize, seqs: &[u64], expected: &str) {
        let call = CallId { turn: 1, round: 1, index: 0 };
        let record = Record::CallStarted { call };
        let entry = |seq: &u64| Entry { seq: *seq, at: Timestamp(0), record: record.clone() };
        let entries = seqs.iter().map(entry).collect();
        let found = Found { whole: b"x\n".repeat(lines), entries, ..Found::default() };
        let wrong = found.check_all_read().map_err(|error| error.to_string());
        assert_eq!(wrong.err().unwrap_or_default(), expected);
    }

    #[test]
    fn every_line_is_read() {
        check(0, &[], "");
        check(1, &[], "");
        check(3, &[1, 2], "");
        check(3, &[1], "2 records are written, and 1 of them read");
        check(3, &[1, 3], "record 2 is missing");
        check(3, &[2, 3], "record 1 is missing");
    }
}
