//! The journal as it is stored.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;

use anyhow::{Context as _, Result};
use heeler_core::{SessionId, SessionStore, StoreErrorKind};
use heeler_store::FileStore;

use crate::say::say;

/// How much of a journal is held at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Prints the journal's lines byte for byte, the unreadable ones too: who exports a damaged
/// journal wants what there is. What is wrong is told on stderr. Reads only; the session may be
/// running.
pub(super) async fn print(store: &FileStore, id: SessionId, out: &mut dyn Write) -> Result<()> {
    match store.read(id.clone()).await {
        Ok(journal) => {
            for damage in &journal.damage {
                say(format_args!("heeler: damaged: line {}: {}", damage.line, damage.what));
            }
            if journal.torn_bytes > 0 {
                say(format_args!(
                    "heeler: torn: the last {} bytes are no whole record; the next turn of the \
                     session cuts them off",
                    journal.torn_bytes
                ));
            }
        }
        Err(error) if matches!(error.kind(), StoreErrorKind::Damaged | StoreErrorKind::Newer) => {
            say(format_args!("heeler: {error}"));
        }
        Err(error) => return Err(error.into()),
    }
    let path = store.journal_path(&id);
    let cannot_read = || format!("cannot read {}", path.display());
    let file = File::open(&path).with_context(cannot_read)?;
    // What lacks its line break is no line: a torn tail, or one that is being written just now.
    let mut lines = (&file).take(whole_lines(&file).with_context(cannot_read)?);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match lines.read(&mut chunk) {
            Ok(0) => return Ok(out.flush()?),
            Ok(n) => out.write_all(&chunk[..n])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(cannot_read),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_end_with_the_last_line_break_however_far_from_the_end() {
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
