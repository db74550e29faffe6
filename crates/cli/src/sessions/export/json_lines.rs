//! The journal as it is stored.

use std::io::{ErrorKind, Read as _, Write};

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
    let mut lines = store.lines(&id)?;
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
