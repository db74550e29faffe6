//! A copy of a folder, for where no overlay can be had.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::entry::{Stamp, mode};
use crate::snapshot::Snapshot;

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
            bytes += file(&from, &to, &metadata)?;
            if bytes > BYTES_MAX {
                return Err(io::Error::other(format!(
                    "it holds more than {} GiB, and this file system shares no bytes between copies",
                    BYTES_MAX >> 30
                )));
            }
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

/// Copies a file; how many bytes were not shared.
fn file(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<u64> {
    let shared = share(from, to)?;
    if !shared {
        fs::copy(from, to)?;
    }
    fs::set_permissions(to, fs::Permissions::from_mode(mode(metadata)))?;
    // Builds look at times: what is unchanged is not made again.
    File::options().read(true).open(to)?.set_modified(metadata.modified()?)?;
    Ok(if shared { 0 } else { metadata.size() })
}

#[cfg(target_os = "linux")]
fn share(from: &Path, to: &Path) -> io::Result<bool> {
    let (source, target) = (File::open(from)?, File::create_new(to)?);
    Ok(rustix::fs::ioctl_ficlone(&target, &source).is_ok())
}

/// The system's own copy shares bytes where it can; nobody tells.
#[cfg(not(target_os = "linux"))]
fn share(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}
