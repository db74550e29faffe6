//! The lines of a journal as they are stored, the unreadable ones too.

use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::os::unix::fs::FileExt;

use heeler_core::{SessionId, StoreError};

use super::{FileStore, errors};
use crate::journal::{Lines, ReadFrom, unseal_open};

/// How much is looked at at once.
const CHUNK_BYTES: usize = 64 * 1024;

impl FileStore {
    /// The whole lines of a session's journal, byte for byte. What of a torn tail, or of a line that is
    /// being written just now, is a whole record comes with its newline; the rest is left out.
    ///
    /// # Errors
    /// When there is no such session, or its file cannot be read.
    pub fn lines(&self, id: &SessionId) -> Result<impl Read + use<>, StoreError> {
        let path = self.place.journal(id);
        let file = self.place.open_to_read(id)?;
        let found = whole_lines(&file).and_then(|end| Ok((end, open_line(&file, end)?)));
        let (end, last) = found.map_err(|error| errors::refused("read", &path, error))?;
        Ok(file.take(end).chain(Cursor::new(last)))
    }
}

/// How many bytes the whole lines of a file take. Their end is looked for from that of the file: what
/// lies behind it may be longer than memory has room for.
fn whole_lines(file: &File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut chunk = vec![0; CHUNK_BYTES];
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES as u64);
        let bytes = &mut chunk[..usize::try_from(end - start).unwrap_or(CHUNK_BYTES)];
        match file.read_exact_at(bytes, start) {
            Ok(()) => {}
            // Whoever goes on with the session cut its torn tail meanwhile.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                end = file.metadata()?.len().min(end);
                continue;
            }
            Err(error) => return Err(error),
        }
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The record behind the last newline, with one of its own.
fn open_line(file: &File, start: u64) -> io::Result<Vec<u8>> {
    let mut lines = Lines::new(BufReader::new(ReadFrom::offset(file, start)));
    let Some(open) = lines.next()?.and_then(|line| line.open) else { return Ok(Vec::new()) };
    // Without a whole line before it, it is a header, and there is no session yet.
    let whole = unseal_open(open).filter(|_| start > 0);
    Ok(whole.map_or_else(Vec::new, |whole| [whole.line, b"\n"].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_end_with_the_last_newline_however_far_from_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (whole, torn) in [
            (0, 0),
            (0, 1),
            (1, 0),
            (9, 9),
            (9, CHUNK_BYTES - 1),
            (9, CHUNK_BYTES),
            (CHUNK_BYTES, 3 * CHUNK_BYTES),
            (2 * CHUNK_BYTES + 1, 0),
        ] {
            let mut bytes = vec![b'\n'; whole];
            bytes.resize(whole + torn, 0);
            std::fs::write(&path, bytes).unwrap();
            let found = whole_lines(&File::open(&path).unwrap()).unwrap();
            assert_eq!(found, whole as u64, "{torn} bytes behind them");
        }
    }
}
