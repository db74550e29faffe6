//! A copy of a folder, for where no overlay can be had.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::entry::{Stamp, mode};
use crate::snapshot::Snapshot;
use crate::sparse;

/// The most bytes that are copied for real, where the file system cannot share them.
const BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Copies all that the snapshot names, and says what the copy is like. Sockets and the like are left
/// out.
pub(crate) fn copy(base: &Path, tree: &Path, snapshot: &Snapshot) -> io::Result<Snapshot> {
    let mut bytes = 0;
    // Parents stand before what is in them.
    for path in snapshot.paths() {
        let (from, to) = (base.join(path), tree.join(path));
        let metadata = fs::symlink_metadata(&from)?;
        if metadata.is_dir() {
            fs::create_dir(&to)?;
        } else if metadata.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if metadata.is_file() {
            bytes += file(&from, &to, &metadata, BYTES_MAX - bytes)?;
        }
    }
    // Of folders last: one that nobody may write had to be filled first.
    let mut copied = Snapshot::default();
    for path in snapshot.paths() {
        let (from, to) = (fs::symlink_metadata(base.join(path))?, tree.join(path));
        if from.is_dir() {
            fs::set_permissions(&to, fs::Permissions::from_mode(mode(&from)))?;
        }
    }
    for path in snapshot.paths() {
        match fs::symlink_metadata(tree.join(path)) {
            Ok(metadata) => copied.insert(path.to_owned(), Stamp::of(&metadata)),
            Err(error) if crate::entry::is_absent(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(copied)
}

/// Copies a file; how many bytes were not shared. Of more than these none is.
fn file(from: &Path, to: &Path, metadata: &Metadata, bytes_max: u64) -> io::Result<u64> {
    let bytes = fill(from, to, metadata, bytes_max)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode(metadata)))?;
    // Builds look at times: what is unchanged is not made again.
    File::options().read(true).open(to)?.set_modified(metadata.modified()?)?;
    Ok(bytes)
}

#[cfg(target_os = "linux")]
fn fill(from: &Path, to: &Path, metadata: &Metadata, bytes_max: u64) -> io::Result<u64> {
    let (source, target) = (File::open(from)?, File::create_new(to)?);
    let bytes = sparse::room(metadata);
    if sparse::share(&source, &target) {
        return Ok(0);
    }
    if bytes > bytes_max {
        return Err(too_much());
    }
    sparse::copy_data(&source, &target)?;
    Ok(bytes)
}

/// The system's own copy shares bytes where it can; nobody tells.
#[cfg(not(target_os = "linux"))]
fn fill(from: &Path, to: &Path, metadata: &Metadata, bytes_max: u64) -> io::Result<u64> {
    let bytes = sparse::room(metadata);
    if bytes > bytes_max {
        return Err(too_much());
    }
    fs::copy(from, to)?;
    Ok(bytes)
}

fn too_much() -> io::Error {
    io::Error::other(format!(
        "it holds more than {} GiB, and this file system shares no bytes between copies",
        BYTES_MAX >> 30
    ))
}
