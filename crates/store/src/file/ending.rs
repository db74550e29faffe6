//! The last records of a journal, for a glance at a session.

use std::fs::File;
use std::os::unix::fs::FileExt;

use heeler_core::{Entry, SessionId, StoreError};

use super::{FileStore, errors};
use crate::journal::entry_of_line;

impl FileStore {
    /// The records in the last `bytes_max` bytes of a session's journal, in order. A glance: nothing
    /// of it is checked but each line by itself, and what cannot be read is left out.
    ///
    /// # Errors
    /// When there is no such session, or its file cannot be read.
    pub fn ending(&self, id: &SessionId, bytes_max: usize) -> Result<Vec<Entry>, StoreError> {
        let path = self.place.journal(id);
        let file = self.place.open_to_read(id)?;
        let bytes =
            last_bytes(&file, bytes_max).map_err(|error| errors::refused("read", &path, error))?;
        Ok(bytes.split(|b| *b == b'\n').filter_map(entry_of_line).collect())
    }
}

fn last_bytes(file: &File, bytes_max: usize) -> std::io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(bytes_max as u64);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(bytes_max)];
    let mut n = 0;
    while n < bytes.len() {
        match file.read_at(&mut bytes[n..], from + n as u64)? {
            0 => break,
            more => n += more,
        }
    }
    bytes.truncate(n);
    Ok(bytes)
}
