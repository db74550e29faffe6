//! A folder for the temporary files of one agent's commands, gone when the agent is.
//!
//! All of a user lie in one folder. Each is locked as long as its owner lives, so whoever comes next
//! removes what a killed one left.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

/// The most leftovers that are removed at once, so that no start takes long.
const SWEPT_MAX: usize = 16;

/// How often a folder is made whose parent disappears meanwhile.
const ATTEMPTS_MAX: usize = 8;

/// The folder; removed when dropped.
#[derive(Debug)]
pub struct PrivateTemp {
    folder: Option<TempDir>,
    path: PathBuf,
    /// Held open for its lock.
    _lock: File,
}

impl PrivateTemp {
    /// Makes a folder below `temp`, such as `/tmp`, that nobody else can enter.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(temp: &Path) -> io::Result<Self> {
        // Whoever leaves last takes the shared folder away, maybe just now.
        for _ in 1..ATTEMPTS_MAX {
            match Self::make(temp) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                made => return made,
            }
        }
        Self::make(temp)
    }

    fn make(temp: &Path) -> io::Result<Self> {
        let shared = own_folder(temp)?;
        // Held until the new folder is locked, so that nobody takes it for a leftover.
        let guard = File::open(&shared)?;
        flock(&guard, FlockOperation::LockExclusive)?;
        sweep(&shared);
        let folder = tempfile::Builder::new().prefix("agent-").tempdir_in(&shared)?;
        let path = folder.path().to_owned();
        let lock = File::open(&path)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { folder: Some(folder), path, _lock: lock })
    }

    /// Where it is, absolute and without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateTemp {
    fn drop(&mut self) {
        drop(self.folder.take());
        // Fails while somebody else has a folder in it.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

/// The user's folder below `temp`. One that somebody else made in its place is not used.
fn own_folder(temp: &Path) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = temp.canonicalize()?.join(format!("heeler-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = folder.symlink_metadata()?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "{} is not a folder of this user alone; remove it, or set TMPDIR to another folder",
            folder.display()
        )));
    }
    Ok(folder)
}

/// Removes what nobody holds any more; what cannot be removed stays for the next.
fn sweep(shared: &Path) {
    let Ok(entries) = fs::read_dir(shared) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())).take(SWEPT_MAX) {
        let is_held = File::open(&path)
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_err());
        if !is_held {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(temp: &Path) -> usize {
        fs::read_dir(own_folder(temp).unwrap()).unwrap().count()
    }

    #[test]
    fn it_is_gone_with_its_owner_and_leftovers_go_with_the_next() {
        let temp = tempfile::tempdir().unwrap();
        let one = PrivateTemp::new(temp.path()).unwrap();
        let other = PrivateTemp::new(temp.path()).unwrap();
        fs::write(one.path().join("a"), "a").unwrap();
        let shared = one.path().parent().unwrap();
        assert_eq!(shared.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(names(temp.path()), 2);
        drop(other);
        assert_eq!(names(temp.path()), 1);
        let leftover = own_folder(temp.path()).unwrap().join("agent-dead");
        fs::create_dir_all(leftover.join("deep")).unwrap();
        let next = PrivateTemp::new(temp.path()).unwrap();
        assert!(!leftover.exists() && one.path().join("a").exists() && next.path().exists());
        drop((one, next));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_used() {
        let temp = tempfile::tempdir().unwrap();
        let folder = own_folder(temp.path()).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let error = PrivateTemp::new(temp.path()).unwrap_err().to_string();
        assert!(error.contains("is not a folder of this user alone"), "{error}");
    }

    #[test]
    fn one_start_sweeps_no_more_than_its_limit() {
        let temp = tempfile::tempdir().unwrap();
        let shared = own_folder(temp.path()).unwrap();
        for n in 0..=SWEPT_MAX {
            fs::create_dir(shared.join(format!("agent-{n}"))).unwrap();
        }
        let _one = PrivateTemp::new(temp.path()).unwrap();
        assert_eq!(names(temp.path()), 2);
    }
}
