//! A file on its way to its place: without a name for as long as the system can do without, so
//! that a process that is killed in the middle leaves nothing behind.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// How the names start, for whoever cleans up after a power loss.
const PREFIX: &str = ".heeler-";
/// The mode of a new file, less the process's umask.
const NEW_FILE_MODE: u32 = 0o644;
/// How many names are tried.
const NAMES_MAX: usize = 100;

/// A file in the folder it will stay in. Dropped before it has its place, it is gone.
pub(crate) struct Temporary<'a> {
    folder: &'a OwnedFd,
    file: File,
    /// Its passing name. On Linux the file gets one when it is whole, and only if it takes
    /// another's place, for as long as two calls of the system last. Elsewhere, and on file systems
    /// that know no files without a name, it has one from the beginning.
    name: Option<OsString>,
}

impl<'a> Temporary<'a> {
    pub(crate) fn new_in(folder: &'a OwnedFd) -> io::Result<Self> {
        match nameless(folder) {
            Some(file) => Ok(Self { folder, file, name: None }),
            None => Self::named_in(folder),
        }
    }

    fn named_in(folder: &'a OwnedFd) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(NEW_FILE_MODE as _);
        let (file, name) =
            with_new_name(|name| Ok(rustix::fs::openat(folder, name, flags, mode)?.into()))?;
        Ok(Self { folder, file, name: Some(name) })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its place; an error of the kind `AlreadyExists` when that is taken.
    pub(crate) fn persist_new(mut self, name: &OsStr) -> io::Result<()> {
        let Some(passing) = &self.name else { return link(&self.file, self.folder, name) };
        match rename_new(self.folder, passing, name) {
            // Not on this system, or not on this file system. The passing name goes on drop.
            Err(Errno::NOSYS | Errno::INVAL) => {
                let flags = AtFlags::empty();
                rustix::fs::linkat(self.folder, passing, self.folder, name, flags)?;
            }
            renamed => {
                renamed?;
                self.name = None;
            }
        }
        Ok(())
    }

    /// Puts the file into the place of what is there.
    pub(crate) fn persist(mut self, name: &OsStr) -> io::Result<()> {
        let passing = match &self.name {
            Some(passing) => passing,
            None => {
                let ((), passing) = with_new_name(|name| link(&self.file, self.folder, name))?;
                self.name.insert(passing)
            }
        };
        rustix::fs::renameat(self.folder, passing, self.folder, name)?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // What cannot be removed is found by its name.
            let _ = rustix::fs::unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// Makes something under a name that nobody has yet.
fn with_new_name<T>(make: impl Fn(&OsStr) -> io::Result<T>) -> io::Result<(T, OsString)> {
    for number in 0..NAMES_MAX {
        let name = OsString::from(format!("{PREFIX}{}-{number}", std::process::id()));
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (made, name)),
        }
    }
    Err(io::Error::other(format!("all names like {PREFIX}{} are taken", std::process::id())))
}

#[cfg(target_os = "linux")]
use linux::{link, nameless, rename_new};

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
    use rustix::io::Errno;

    use super::NEW_FILE_MODE;

    /// The open files of this process, by which a file without a name can be given one.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub(super) fn nameless(folder: &OwnedFd) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(NEW_FILE_MODE);
        let file = rustix::fs::openat(folder, ".", flags, mode).ok()?;
        Path::new(OPEN_FILES).exists().then(|| File::from(file))
    }

    pub(super) fn link(file: &File, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let own = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, own, folder, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    pub(super) fn rename_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
        rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE)
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &OwnedFd) -> Option<File> {
    None
}

/// There are no files without a name.
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &OwnedFd, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn rename_new(_: &OwnedFd, _: &OsStr, _: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::testing::Folder;

    fn held(folder: &Folder) -> OwnedFd {
        File::open(folder.path(".")).unwrap().into()
    }

    #[test]
    fn a_file_finds_its_place_and_leaves_no_other_name() {
        // Both kinds, whatever this system prefers.
        for is_named in [true, false] {
            let folder = Folder::new(&[]);
            let (root, real, name) = (held(&folder), folder.path("a.txt"), OsStr::new("a.txt"));
            let make = |text: &str| {
                let named = is_named.then(|| Temporary::named_in(&root).unwrap());
                let mut file = named.unwrap_or_else(|| Temporary::new_in(&root).unwrap());
                file.file().write_all(text.as_bytes()).unwrap();
                file
            };
            make("one").persist_new(name).unwrap();
            let taken = make("two").persist_new(name).unwrap_err();
            assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&real).unwrap(), "one");
            make("three").persist(name).unwrap();
            assert_eq!(fs::read_to_string(&real).unwrap(), "three");
            assert!(make("four").persist(OsStr::new("gone/a.txt")).is_err());
            assert_eq!(folder.listing(), ["a.txt"]);
        }
    }

    #[test]
    fn a_name_that_is_taken_is_not_used() {
        let folder = Folder::new(&[]);
        let root = held(&folder);
        let taken = format!("{PREFIX}{}-0", std::process::id());
        fs::write(folder.path(&taken), "theirs").unwrap();
        let _other = Temporary::named_in(&root).unwrap();
        assert_eq!(folder.listing().len(), 2);
        assert_eq!(fs::read_to_string(folder.path(&taken)).unwrap(), "theirs");
        for number in 0..NAMES_MAX {
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            fs::write(folder.path(&name), "").unwrap();
        }
        let error = Temporary::named_in(&root).err().unwrap().to_string();
        assert!(error.starts_with("all names like .heeler-"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_is_killed_while_writing_leaves_nothing() {
        let folder = Folder::new(&[]);
        let root = held(&folder);
        let mut file = Temporary::new_in(&root).unwrap();
        file.file().write_all(b"half").unwrap();
        // What is not in the folder now is not there after a kill either.
        assert!(folder.listing().is_empty(), "{:?}", folder.listing());
    }
}
