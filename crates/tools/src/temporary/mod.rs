//! A file on its way to its place: without a name for as long as the system can do without, and
//! then with one that says whose it is, so that of a process that is killed in the middle nothing
//! is left when its session goes on.

#[cfg(test)]
mod killed;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use heeler_core::{AgentPath, CallId, SessionId, ToolContext};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::guard;

/// How the names start.
const PREFIX: &str = ".heeler-";
/// Digits of the hash in a name.
const HASH_DIGITS: usize = 16;
/// The mode of a file that is new, of which the system takes what the umask or its folder's access list
/// keeps from it, as it does of every program's.
pub(crate) const NEW: u32 = 0o666;
/// The mode of a file that is to replace another, whose mode it gets when it has the content.
pub(crate) const REPLACING: u32 = 0o600;
/// How many names are tried.
const NAMES_MAX: usize = 10;

/// The names that one file of one call may have on its way, and no file of anybody else: whoever goes
/// on with the session knows from its records alone which names to look for.
#[derive(Debug, Clone)]
pub(crate) struct PassingNames(String);

impl PassingNames {
    /// Of the file that is to become `target` in its folder.
    pub(crate) fn of(context: &ToolContext, target: &OsStr) -> Self {
        let ToolContext { session, agent, call, .. } = context;
        Self(start_of_names(session, agent, *call, target))
    }

    fn all(&self) -> impl Iterator<Item = OsString> {
        (0..NAMES_MAX).map(|number| OsString::from(format!("{}-{number}", self.0)))
    }

    /// Removes what a call whose process died left under these names, as far as it can be removed.
    pub(crate) fn remove_from(&self, folder: &OwnedFd) -> io::Result<()> {
        let remove = |name| match rustix::fs::unlinkat(folder, &name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => removed,
        };
        let removed: Vec<_> = self.all().map(remove).collect();
        removed.into_iter().collect::<Result<(), Errno>>().map_err(io::Error::from)
    }
}

/// How the names start that a file may have on its way to `target`; a number follows. The same in
/// every version, or what an older one left is not found.
fn start_of_names(session: &SessionId, agent: &AgentPath, call: CallId, target: &OsStr) -> String {
    // No part but the last can hold the byte between them.
    let caller = format!("{session}\0{agent}\0{call}\0");
    let hash = Sha256::new_with_prefix(caller).chain_update(target.as_encoded_bytes());
    format!("{PREFIX}{}", &guard::hexadecimal(hash)[..HASH_DIGITS])
}

/// A file in the folder it will stay in. Dropped before it has its place, it is gone.
pub(crate) struct Temporary<'a> {
    folder: &'a OwnedFd,
    names: PassingNames,
    file: File,
    /// Its passing name. On Linux the file gets one when it is whole, and only if it takes
    /// another's place, for as long as two calls of the system last. Elsewhere, and on file systems
    /// that know no files without a name, it has one from the beginning.
    name: Option<OsString>,
}

impl<'a> Temporary<'a> {
    pub(crate) fn new_in(folder: &'a OwnedFd, names: PassingNames, mode: u32) -> io::Result<Self> {
        match nameless(folder, mode) {
            Some(file) => Ok(Self { folder, names, file, name: None }),
            None => Self::named_in(folder, names, mode),
        }
    }

    fn named_in(folder: &'a OwnedFd, names: PassingNames, mode: u32) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode as _);
        let (file, name) =
            with_new_name(
                &names,
                |name| Ok(rustix::fs::openat(folder, name, flags, mode)?.into()),
            )?;
        Ok(Self { folder, names, file, name: Some(name) })
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
        let folder = self.folder;
        rustix::fs::renameat(folder, self.passing_name()?, folder, name)?;
        self.name = None;
        Ok(())
    }

    /// Its name; it gets one if it has none yet.
    fn passing_name(&mut self) -> io::Result<&OsStr> {
        let name = match self.name.take() {
            Some(name) => name,
            None => with_new_name(&self.names, |name| link(&self.file, self.folder, name))?.1,
        };
        Ok(self.name.insert(name))
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

/// Makes something under one of these names that is not taken.
fn with_new_name<T>(
    names: &PassingNames,
    make: impl Fn(&OsStr) -> io::Result<T>,
) -> io::Result<(T, OsString)> {
    for name in names.all() {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (made, name)),
        }
    }
    Err(io::Error::other(format!("all names like {}-0 are taken", names.0)))
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

    use super::NEW;

    /// The open files of this process, by which a file without a name can be given one.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub(super) fn nameless(folder: &OwnedFd, mode: u32) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder, ".", flags, Mode::from_raw_mode(mode)).ok()?;
        // Kernels before 6.0 forget the umask here where a file system has no access lists.
        let is_forgotten = rustix::fs::fstat(&file).ok()?.st_mode & 0o777 == NEW;
        (!is_forgotten && Path::new(OPEN_FILES).exists()).then(|| File::from(file))
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
fn nameless(_: &OwnedFd, _: u32) -> Option<File> {
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

    fn names(folder: &Folder) -> PassingNames {
        PassingNames::of(&folder.context(), OsStr::new("a.txt"))
    }

    #[test]
    fn a_file_finds_its_place_and_leaves_no_other_name() {
        // Both kinds, whatever this system prefers.
        for is_named in [true, false] {
            let folder = Folder::new(&[]);
            let (root, real, name) = (held(&folder), folder.path("a.txt"), OsStr::new("a.txt"));
            let make = |text: &str| {
                let names = names(&folder);
                let named =
                    is_named.then(|| Temporary::named_in(&root, names.clone(), NEW).unwrap());
                let mut file =
                    named.unwrap_or_else(|| Temporary::new_in(&root, names.clone(), NEW).unwrap());
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
        let (root, names) = (held(&folder), names(&folder));
        let mut all = names.all();
        let taken = folder.path(all.next().unwrap().to_str().unwrap());
        fs::write(&taken, "theirs").unwrap();
        let _other = Temporary::named_in(&root, names.clone(), NEW).unwrap();
        assert_eq!(folder.listing().len(), 2);
        assert_eq!(fs::read_to_string(taken).unwrap(), "theirs");
        for name in all {
            fs::write(folder.path(name.to_str().unwrap()), "").unwrap();
        }
        let error = Temporary::named_in(&root, names.clone(), NEW).err().unwrap().to_string();
        assert!(error.starts_with("all names like .heeler-"), "{error}");
        // All of them are found by whoever cleans up, and nothing else is.
        fs::write(folder.path(".heeler-left"), "theirs").unwrap();
        names.remove_from(&root).unwrap();
        assert_eq!(folder.listing(), [".heeler-left"]);
    }

    #[test]
    fn a_name_says_whose_it_is_in_every_version_alike() {
        let start = |session: &str, agent: &[&str], call: &str, target: &str| {
            let agent = AgentPath(agent.iter().map(|call| call.parse().unwrap()).collect());
            let (session, call) = (session.parse().unwrap(), call.parse().unwrap());
            start_of_names(&session, &agent, call, OsStr::new(target))
        };
        let all = [
            start("one", &[], "1.1.0", "a.txt"),
            start("two", &[], "1.1.0", "a.txt"),
            start("one", &["1.1.0"], "1.1.0", "a.txt"),
            start("one", &[], "1.1.1", "a.txt"),
            start("one", &[], "1.1.0", "b.txt"),
        ];
        expect_test::expect![[r#"
            .heeler-bfa44226de97392e
            .heeler-cdd949472f4667a4
            .heeler-690667aee1f144f6
            .heeler-1a6261a0ab805800
            .heeler-4606474f0cbbab24"#]]
        .assert_eq(&all.join("\n"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_is_killed_while_writing_leaves_nothing() {
        let folder = Folder::new(&[]);
        let root = held(&folder);
        let mut file = Temporary::new_in(&root, names(&folder), NEW).unwrap();
        file.file().write_all(b"half").unwrap();
        // What is not in the folder now is not there after a kill either.
        assert!(folder.listing().is_empty(), "{:?}", folder.listing());
    }
}
