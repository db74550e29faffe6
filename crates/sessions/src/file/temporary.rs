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
    // For its owner only.
    let make = || tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder);
    let mut file = locked(make)?;
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

/// A new file with its lock.
fn locked(mut make: impl FnMut() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS_MAX {
        let file = make()?;
        if file.as_file().try_lock().is_ok() && is_named(file.as_file(), file.path())? {
            return Ok(file);
        }
    }
    Err(io::Error::other("temporary files are removed as fast as they are made; try again"))
}

fn remove_if_dead(path: &Path) -> io::Result<()> {
    // NFS lets nobody lock for themselves alone what they opened only to read.
    let file = File::options().read(true).write(true).open(path)?;
    if file.try_lock().is_ok() && is_named(&file, path)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_being_written_is_not_removed_and_one_that_is_left_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), b"whole").unwrap();
        remove_dead(folder.path()).unwrap();
        assert_eq!(fs::read(file.path()).unwrap(), b"whole");
        // Its writer dies: the name stays, the lock goes.
        let (closed, path) = file.keep().unwrap();
        drop(closed);
        remove_dead(folder.path()).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn who_loses_a_new_file_to_somebody_who_cleans_up_makes_another_eight_times() {
        let folder = tempfile::tempdir().unwrap();
        let check = |faster: u32| {
            let (mut made, mut held) = (0, Vec::new());
            let done = locked(|| {
                made += 1;
                let file = NamedTempFile::new_in(folder.path())?;
                if made <= faster {
                    // By turns in the middle of cleaning up, and done with it.
                    let other = File::open(file.path())?;
                    other.lock()?;
                    held.push(other);
                    if made % 2 == 0 {
                        fs::remove_file(file.path())?;
                        held.pop();
                    }
                }
                Ok(file)
            });
            (done.is_ok(), made)
        };
        assert_eq!((check(0), check(3), check(7)), ((true, 1), (true, 4), (true, 8)));
        assert_eq!(check(8), (false, 8));
    }
}
