//! A journal as it grows, for a process that does not own it.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use heeler_core::{Entry, Seq, SessionHeader, SessionId, StoreError};

use super::{FileStore, check_name, errors};
use crate::journal::{HEADER_BYTES_MAX, Lines, ReadFrom, entry_of_line, scan_header};

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// A place in a session's journal, from which its records are read as they are written.
///
/// Each line is checked by itself, not that it follows on the one before: what does that is a read of
/// the whole journal. A line that cannot be read is passed over.
#[derive(Debug)]
pub struct Follow {
    file: File,
    path: PathBuf,
    header: SessionHeader,
    /// Bytes of the lines that were read or passed over.
    offset: u64,
    /// Of the last record that was given.
    seq: Seq,
}

impl FileStore {
    /// Follows the journal of a session from its first record on.
    ///
    /// # Errors
    /// When there is no such session, or its file cannot be read.
    pub fn follow(&self, id: &SessionId) -> Result<Follow, StoreError> {
        let path = self.place.journal(id);
        let file = self.place.open_to_read(id)?;
        let head = BufReader::with_capacity(HEADER_BYTES_MAX, ReadFrom::start(&file));
        let header = scan_header(head).map_err(|error| errors::scan(id, &path, error))?;
        check_name(id, &path, &header)?;
        // The header is a line that holds no record, and is passed over as such.
        Ok(Follow { file, path, header, offset: 0, seq: 0 })
    }
}

impl Follow {
    /// What is fixed of the session.
    #[must_use]
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    /// Gives each record that was written since, up to that of number `to`, in order. It blocks while
    /// the disk is busy.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_to(&mut self, to: Seq, mut each: impl FnMut(Entry)) -> Result<(), StoreError> {
        if self.seq >= to {
            return Ok(());
        }
        let from = ReadFrom::offset(&self.file, self.offset);
        let mut lines = Lines::new(BufReader::with_capacity(READ_BYTES, from));
        // Of the lines since the last one that was read.
        let mut length = 0;
        loop {
            let next = lines.next();
            let next = next.map_err(|error| errors::refused("read", &self.path, error))?;
            // What has no end yet is being written, or was cut by a crash and is written anew.
            let Some(line) = next.filter(|line| line.open.is_none()) else { return Ok(()) };
            length += line.length;
            // Too long, and perhaps without its end, if no other line follows.
            let Some(whole) = line.whole else { continue };
            let entry = entry_of_line(whole);
            if entry.as_ref().is_some_and(|entry| entry.seq > to) {
                return Ok(());
            }
            self.offset += std::mem::take(&mut length);
            if let Some(entry) = entry.filter(|entry| entry.seq > self.seq) {
                self.seq = entry.seq;
                each(entry);
            }
        }
    }
}
