//! A file on its way to its place: without a name for as long as the system can do without, so
//! that a process that is killed in the middle leaves nothing behind.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// How the names start, for whoever cleans up after a power loss.
const PREFIX: &str = ".heeler-";
/// The mode of a new file, less the process's umask.
const NEW_FILE_MODE: u32 = 0o644;

/// A file in the folder it will stay in. Dropped before it has its place, it is gone.
pub(crate) struct Temporary {
    folder: PathBuf,
    kind: Kind,
}

enum Kind {
    /// Linux: the file gets a name when it is whole. A new file gets its own at once; one that
    /// takes another's place needs a passing one for as long as two calls of the system last.
    Nameless(File),
    /// Elsewhere, and on file systems that know no files without a name.
    Named(NamedTempFile),
}

impl Temporary {
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        let kind = match nameless(folder) {
            Some(file) => Kind::Nameless(file),
            None => Kind::Named(builder().tempfile_in(folder)?),
        };
        Ok(Self { folder: folder.to_owned(), kind })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        match &mut self.kind {
            Kind::Nameless(file) => file,
            Kind::Named(file) => file.as_file_mut(),
        }
    }

    /// Gives the file its place; an error of the kind `AlreadyExists` when that is taken.
    pub(crate) fn persist_new(self, real: &Path) -> io::Result<()> {
        match self.kind {
            Kind::Nameless(file) => link(&file, real),
            Kind::Named(file) => file.persist_noclobber(real).map(drop).map_err(|e| e.error),
        }
    }

    /// Puts the file into the place of what is there.
    pub(crate) fn persist(self, real: &Path) -> io::Result<()> {
        match self.kind {
            Kind::Nameless(file) => {
                let named = builder().make_in(&self.folder, |path| link(&file, path))?;
                named.persist(real).map_err(|error| error.error)
            }
            Kind::Named(file) => file.persist(real).map(drop).map_err(|error| error.error),
        }
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(Permissions::from_mode(NEW_FILE_MODE));
    builder
}

#[cfg(target_os = "linux")]
use linux::{link, nameless};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    use super::NEW_FILE_MODE;

    /// The open files of this process, by which a file without a name can be given one.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub(super) fn nameless(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(NEW_FILE_MODE)).ok()?;
        Path::new(OPEN_FILES).exists().then(|| File::from(file))
    }

    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        let own = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// There are no files without a name.
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::testing::Folder;

    /// Both kinds, whatever this system prefers.
    fn both(folder: &Path) -> Vec<Temporary> {
        let named = Kind::Named(builder().tempfile_in(folder).unwrap());
        let named = Temporary { folder: folder.to_owned(), kind: named };
        vec![named, Temporary::new_in(folder).unwrap()]
    }

    #[test]
    fn a_file_finds_its_place_and_leaves_no_other_name() {
        for kind in 0..2 {
            let folder = Folder::new(&[]);
            let (root, real) = (folder.path("."), folder.path("a.txt"));
            let make = |text: &str| {
                let mut file = both(&root).remove(kind);
                file.file().write_all(text.as_bytes()).unwrap();
                file
            };
            make("one").persist_new(&real).unwrap();
            let taken = make("two").persist_new(&real).unwrap_err();
            assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&real).unwrap(), "one");
            make("three").persist(&real).unwrap();
            assert_eq!(fs::read_to_string(&real).unwrap(), "three");
            assert!(make("four").persist(&folder.path("gone/a.txt")).is_err());
            assert_eq!(folder.listing(), ["a.txt"]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_is_killed_while_writing_leaves_nothing() {
        let folder = Folder::new(&[]);
        let mut file = Temporary::new_in(&folder.path(".")).unwrap();
        file.file().write_all(b"half").unwrap();
        // What is not in the folder now is not there after a kill either.
        assert!(folder.listing().is_empty(), "{:?}", folder.listing());
    }
}
