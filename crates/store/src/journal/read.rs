//! Reads a journal into typed entries, whole or from a checkpoint on.

use std::io::{self, BufReader, Read};

use heeler_core::{Entry, Journal};

use super::HEADER_BYTES_MAX;
use super::line::{RecordLine, ending, unseal};
use super::medium::{Medium, ReadFrom};
use super::scan::{End, ScanError, Scanned, scan, scan_from, scan_header};
use super::typed;
use super::writer::READ_BUFFER_BYTES;

/// Reads a journal from any bytes.
#[cfg(test)]
pub(super) fn read(reader: impl std::io::BufRead) -> Result<Journal, ScanError> {
    let mut entries = Collected::default();
    let scanned = scan(reader, |line| entries.take(line))?;
    Ok(entries.into_journal(scanned))
}

/// Reads the records behind `known`, or all; what cannot be read is told in the journal's damage.
pub(crate) fn latest(medium: &impl Medium, known: Option<End>) -> Result<Journal, ScanError> {
    let mut entries = Collected::default();
    let scanned = scan_after(medium, known, |line| entries.take(line))?;
    Ok(entries.into_journal(scanned))
}

/// The records that a walk shows.
#[derive(Default)]
pub(crate) struct Collected(Vec<Entry>);

impl Collected {
    /// Takes a record, or says what is wrong with its body.
    pub(crate) fn take(&mut self, line: &RecordLine<'_>) -> Result<(), String> {
        let record = typed::record(line.kind, line.version, line.body)?;
        self.0.push(Entry { seq: line.seq, at: line.at, record });
        Ok(())
    }

    /// Makes a journal of them and what the walk found besides.
    pub(crate) fn into_journal(self, scanned: Scanned) -> Journal {
        Journal {
            header: scanned.header,
            entries: self.0,
            damage: scanned.damage,
            torn_bytes: scanned.torn_bytes,
        }
    }
}

/// The entry of one line, which comes without newline; `None` for what is no sound record.
pub(crate) fn entry_of_line(line: &[u8]) -> Option<Entry> {
    let line = RecordLine::parse(unseal(line)?.0)?;
    let record = typed::record(line.kind, line.version, line.body).ok()?;
    Some(Entry { seq: line.seq, at: line.at, record })
}

/// Walks a journal from a place that [`stands`], or from its beginning.
pub(super) fn scan_after(
    medium: &impl Medium,
    known: Option<End>,
    visit: impl FnMut(&RecordLine<'_>) -> Result<(), String>,
) -> Result<Scanned, ScanError> {
    // A page that is touched for nothing costs more than what a new session's journal holds.
    let length = medium.length()?.unwrap_or_default();
    let left = length.saturating_sub(known.map_or(0, |end| end.length));
    let room =
        usize::try_from(left).unwrap_or(usize::MAX).clamp(HEADER_BYTES_MAX, READ_BUFFER_BYTES);
    let buffered = |from| BufReader::with_capacity(room, from);
    let Some(end) = known else {
        return scan(buffered(ReadFrom::start(medium)), visit);
    };
    let header = BufReader::with_capacity(HEADER_BYTES_MAX, ReadFrom::start(medium));
    let header = scan_header(header)?;
    scan_from(header, end, buffered(ReadFrom::offset(medium, end.length)), visit)
}

/// Whether a line with this checksum ends in the journal where `end` says.
pub(crate) fn stands(medium: &impl Medium, end: &End) -> io::Result<bool> {
    let expected = ending(end.sum);
    let Some(start) = end.length.checked_sub(expected.len() as u64) else { return Ok(false) };
    let mut found = Vec::with_capacity(expected.len());
    ReadFrom::offset(medium, start).take(expected.len() as u64).read_to_end(&mut found)?;
    Ok(found == expected)
}
