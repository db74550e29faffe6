//! `heeler sessions export`, and what the window's `/export` writes.

mod html;
mod json_lines;
mod markdown;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};
use clap::ValueEnum;
use heeler_core::{SessionId, SessionStore as _};
use heeler_store::FileStore;

use super::story::Story;
use crate::whole::{Existing, Unfinished, unwritten};

/// What a session is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The journal as it is stored, one JSON record a line
    Jsonl,
    /// Text to read, with the calls folded
    Markdown,
    /// One page that needs nothing else
    Html,
}

impl Format {
    /// The one that a file's name asks for.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "json" => Some(Self::Jsonl),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Writes a session to `out`. Reads only; the session may be running.
pub(crate) async fn write(
    store: &FileStore,
    id: SessionId,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    match format {
        Format::Jsonl => json_lines::print(store, id, out).await,
        Format::Markdown => Ok(markdown::write(&Story::of(store.read(id).await?), out)?),
        Format::Html => Ok(html::write(&Story::of(store.read(id).await?), out)?),
    }
}

/// Writes a session to a file, whole or not at all: for its owner only, as the journal is.
pub(crate) async fn write_file(
    store: &FileStore,
    id: SessionId,
    format: Format,
    path: &Path,
    existing: Existing,
) -> Result<()> {
    ensure!(
        !is_kept_in(store, &id, path),
        "{} is in the folder that the sessions are kept in, which an export would destroy; name a file \
         elsewhere",
        path.display()
    );
    let cannot = |error: io::Error| unwritten(path, &error);
    let mut file = Unfinished::at(path).map_err(cannot)?;
    let mut out = BufWriter::new(Named { file: file.file(), path });
    write(store, id, format, &mut out).await?;
    out.flush()?;
    drop(out);
    match file.persist(path, existing) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} is there already; name another file", path.display())
        }
        // A text alone: that nobody reads a pipe is a failure, as that of stdout is not.
        kept => kept.map_err(|error| anyhow!("{}", cannot(error))),
    }
}

/// Whether a file is, or would be, in the folder of the sessions.
fn is_kept_in(store: &FileStore, id: &SessionId, path: &Path) -> bool {
    let journal = store.journal_path(id);
    let real = |path: &Path| std::path::absolute(path).ok()?.parent()?.canonicalize().ok();
    real(&journal).zip(real(path)).is_some_and(|(sessions, folder)| folder.starts_with(sessions))
}

/// A file whose errors tell that they are its.
struct Named<'a> {
    file: &'a mut File,
    path: &'a Path,
}

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| unwritten(self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| unwritten(self.path, &error))
    }
}
