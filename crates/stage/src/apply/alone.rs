//! One base is changed by one stage at a time.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::entry::Content;

/// The right to change a base, until it is dropped. The system drops that of who dies.
pub(super) struct Alone {
    path: PathBuf,
    _lock: File,
}

/// The right to change a base; none when somebody has it.
pub(super) fn alone(stages: &Path, base: &Path) -> io::Result<Option<Alone>> {
    let digest = Content::of(base.as_os_str().as_bytes()).sha256;
    let path = stages.join(format!(".base-{digest}.lock"));
    loop {
        let file = File::options().create(true).append(true).open(&path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // Whoever had it before may have removed it, and another one made it anew.
        let is_there = match fs::metadata(&path) {
            Ok(now) => now.ino() == file.metadata()?.ino(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_there {
            return Ok(Some(Alone { path, _lock: file }));
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // While it is held: nobody else has the right to this name.
        let _ = fs::remove_file(&self.path);
    }
}
