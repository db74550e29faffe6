//! The folder of a file store: names, locks, and replacing a file in one step.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Tried, temporary};
use crate::encoded::{Encoded, SESSION_BYTES_MAX, decode_version};
use crate::{SessionError, SessionVersion, check_id};

/// What to do about a file that cannot be read.
pub(super) const MEND: &str = "mend it, or delete the session";

/// What a session's file name ends in.
const SUFFIX: &str = ".json";
/// For the owner only.
const FOLDER_MODE: u32 = 0o700;

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        let refused =
            |error| SessionError::io(format!("open the folder `{}`", path.display()), error);
        let path = std::path::absolute(path).map_err(refused)?;
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&path).map_err(refused)?;
        // What is made here lasts only as long as its name in the folder above.
        for made_in in missing.into_iter().filter_map(Path::parent) {
            sync(made_in).map_err(refused)?;
        }
        temporary::remove_dead(&path).map_err(refused)?;
        Ok(Self { path })
    }

    pub(super) fn path(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}{SUFFIX}"))
    }

    pub(super) fn create(&self, encoded: &Encoded) -> Result<SessionVersion, SessionError> {
        let path = self.path(&encoded.id);
        let refused = |error| refused("write", &path, error);
        let file = temporary::write(&self.path, &encoded.json).map_err(refused)?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                return Err(SessionError::already_exists(&encoded.id));
            }
            Err(error) => return Err(refused(error.error)),
        }
        sync(&self.path).map_err(refused)?;
        Ok(encoded.version)
    }

    /// The bytes of a session's file.
    pub(super) fn read(&self, id: &str) -> Result<Vec<u8>, SessionError> {
        read(&self.open_file(id, Access::Read)?, id, &self.path(id), SESSION_BYTES_MAX)
    }

    pub(super) fn replace(
        &self,
        expected: SessionVersion,
        encoded: &Encoded,
    ) -> Result<Tried<SessionVersion>, SessionError> {
        let (id, path) = (&*encoded.id, self.path(&encoded.id));
        let Some(current) = self.lock(id)? else { return Ok(Tried::Held) };
        let json = read(&current, id, &path, SESSION_BYTES_MAX)?;
        let place = format!("`{}`", path.display());
        if decode_version(id, &json, place, MEND)? != expected {
            return Err(SessionError::conflict(id));
        }
        let refused = |error| refused("write", &path, error);
        let file = temporary::write(&self.path, &encoded.json).map_err(refused)?;
        // The new file is locked as well, until its name is on the disk: the next writer builds on
        // nothing that could still be lost.
        let _written = file.persist(&path).map_err(|error| refused(error.error))?;
        sync(&self.path).map_err(refused)?;
        Ok(Tried::Done(encoded.version))
    }

    pub(super) fn delete(&self, id: &str) -> Result<Tried<()>, SessionError> {
        let path = self.path(id);
        let Some(_current) = self.lock(id)? else { return Ok(Tried::Held) };
        let removed = fs::remove_file(&path).and_then(|()| sync(&self.path));
        removed.map_err(|error| refused("remove", &path, error))?;
        Ok(Tried::Done(()))
    }

    pub(super) fn list(&self, prefix: &str, limit: usize) -> Result<Vec<String>, SessionError> {
        let refused = |error| refused("read the folder", &self.path, error);
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else {
                continue;
            };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if id.starts_with(prefix) && check_id(id).is_ok() && !is_folder {
                ids.push(id.to_owned());
            }
        }
        heeler_core::sort(&mut ids);
        ids.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(ids)
    }

    /// Opens and locks a session's file, unless somebody else has it or has just replaced it.
    fn lock(&self, id: &str) -> Result<Option<File>, SessionError> {
        lock(self.open_file(id, Access::Lock)?, &self.path(id))
    }

    fn open_file(&self, id: &str, access: Access) -> Result<File, SessionError> {
        let path = self.path(id);
        // No kind of file makes this wait.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let is_locked = access == Access::Lock;
        let opened = OpenOptions::new().read(true).write(is_locked).custom_flags(flags).open(&path);
        let file = opened.map_err(|error| unopened(id, &path, access, error))?;
        let metadata = file.metadata().map_err(|error| refused("open", &path, error))?;
        if metadata.is_file() { Ok(file) } else { Err(no_file(&path)) }
    }
}

/// What a session's file is opened for.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    /// NFS lets nobody lock for themselves alone what they opened only to read.
    Lock,
}

/// Why a session's file could not be opened.
fn unopened(id: &str, path: &Path, access: Access, error: io::Error) -> SessionError {
    match (error.kind(), access) {
        (ErrorKind::NotFound, _) => SessionError::not_found(id),
        // Nobody can open a folder to write.
        (ErrorKind::IsADirectory, _) => no_file(path),
        (ErrorKind::PermissionDenied, Access::Lock) => {
            let shown = path.display();
            let what = format!(
                "lock `{shown}` (only who may write it can; if it is yours, `chmod u+rw` on it allows it)"
            );
            SessionError::io(what, error)
        }
        _ => refused("open", path, error),
    }
}

/// Makes the names in a folder survive the loss of power.
fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems know no sync of folders, and some folders let nobody read their names;
        // there is nothing more to be had.
        Err(error)
            if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn no_file(path: &Path) -> SessionError {
    let place = format!("`{}`", path.display());
    SessionError::corrupt(place, "it is no file", "move it away")
}

fn refused(what: &str, path: &Path, error: io::Error) -> SessionError {
    SessionError::io(format!("{what} `{}`", path.display()), error)
}

fn read(mut file: &File, id: &str, path: &Path, bytes_max: usize) -> Result<Vec<u8>, SessionError> {
    let mut bytes = Vec::new();
    let limit = bytes_max as u64 + 1;
    file.by_ref()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| refused("read", path, error))?;
    if bytes.len() > bytes_max { Err(SessionError::too_large(id)) } else { Ok(bytes) }
}

/// Locks the file that was opened at `path`, unless somebody else has it, or it is no longer there:
/// what stands in it then is old.
fn lock(file: File, path: &Path) -> Result<Option<File>, SessionError> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(refused("lock", path, error)),
    }
    let is_named = is_named(&file, path).map_err(|error| refused("lock", path, error))?;
    Ok(is_named.then_some(file))
}

/// Whether `path` still names this file.
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(named) => {
            let opened = file.metadata()?;
            Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Session;

    #[test]
    fn a_file_that_was_replaced_before_it_was_locked_is_not_taken() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let mut session = Session::new("a");
        session.version = folder.create(&Encoded::first(&session).unwrap()).unwrap();
        let lock = |file| lock(file, &folder.path("a")).unwrap();
        let opened = || folder.open_file("a", Access::Lock).unwrap();

        let held = lock(opened()).unwrap();
        assert!(lock(opened()).is_none());
        drop(held);
        let early = opened();
        let next = Encoded::next(&session).unwrap();
        assert!(matches!(folder.replace(session.version, &next), Ok(Tried::Done(_))));
        assert!(lock(early).is_none());
        let early = opened();
        assert!(matches!(folder.delete("a"), Ok(Tried::Done(()))));
        assert!(lock(early).is_none());
    }

    #[test]
    fn what_is_locked_can_be_written_as_nfs_wants_it() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let _made = folder.create(&Encoded::first(&Session::new("a")).unwrap()).unwrap();
        let locked = folder.lock("a").unwrap().unwrap();
        let flags = rustix::fs::fcntl_getfl(&locked).unwrap();
        assert!(flags.contains(rustix::fs::OFlags::RDWR), "{flags:?}");
    }

    fn check_unopened(access: Access, error: ErrorKind, expected: Expect) {
        let error = unopened("a", Path::new("/space/a.json"), access, error.into());
        expected.assert_eq(&format!("{:?}: {error}", error.kind()));
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_told_by_what_it_was_to_be_opened_for() {
        use ErrorKind::{IsADirectory, NotFound, PermissionDenied};
        check_unopened(
            Access::Read,
            NotFound,
            expect!["NotFound: there is no session `a`; create it first"],
        );
        check_unopened(
            Access::Read,
            PermissionDenied,
            expect!["Io: cannot open `/space/a.json`: permission denied"],
        );
        check_unopened(
            Access::Lock,
            PermissionDenied,
            expect![
                "Io: cannot lock `/space/a.json` (only who may write it can; if it is yours, `chmod u+rw` on it allows it): permission denied"
            ],
        );
        check_unopened(
            Access::Lock,
            IsADirectory,
            expect!["Corrupt: cannot read `/space/a.json`: it is no file; move it away"],
        );
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, b"1234").unwrap();
        let read = |bytes_max| read(&File::open(&path).unwrap(), "a", &path, bytes_max);
        assert_eq!(read(4).unwrap(), b"1234");
        assert_eq!(read(3).unwrap_err().kind(), crate::SessionErrorKind::TooLarge);
    }
}
