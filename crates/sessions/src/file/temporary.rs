//! Temporary files beside the sessions, and what is left of those whose writer died.
//!
//! A writer holds the lock of its file from its first byte until it has its name, so a file whose
//! lock is free has no writer any more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::folder::is_named;

/// What the name of a temporary file begins with; no session's does.
const PREFIX: &str = ".heeler-session-";
/// What it ends in.
const SUFFIX: &str = ".tmp";
/// How often a new file is made when somebody who cleans up was faster than its lock.
const ATTEMPTS_MAX: u32 = 8;

/// A file with these bytes that has reached the disk, and is locked.
pub(super) fn write(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = locked(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Removes the files of writers that died.
pub(super) fn remove_dead(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            // One that cannot be removed now is there the next time.
            let _ = remove_if_dead(&entry.path());
        }
    }
    Ok(())
}

fn locked(folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS_MAX {
        // For its owner only.
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
        if file.as_file().try_lock().is_ok() && is_named(file.as_file(), file.path())? {
            return Ok(file);
        }
    }
    Err(io::Error::other("temporary files are removed as fast as they are made; try again"))
}

fn remove_if_dead(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    if file.try_lock().is_ok() && is_named(&file, path)? {
        fs::remove_file(path)?;
    }
    Ok(())
}
