//! Protected names that no mount can hold: those that do not exist, and links.
//!
//! A mount needs a file to lie on, and a link cannot carry one. So these names are looked at while
//! a command runs and once more after its end. What came to be there is moved aside, never
//! deleted, since it may be the user's own.
//!
//! The launcher is not confined, so it must not follow a link that a command laid in its way: it
//! walks from a folder it opened before, one name at a time, and never through a link.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::Bound;

/// How many names with a number are tried for what is moved aside, before those that nobody can
/// have taken beforehand.
const NUMBERED_MAX: u32 = 100;
/// How many of the others.
const RANDOM_MAX: u32 = 100;

/// The names of a box that are looked at.
#[derive(Default)]
pub(super) struct Guard {
    names: Vec<Guarded>,
}

struct Guarded {
    /// The folder that may be written, and its name. Hundreds of names lie in the same one.
    root: Arc<OwnedFd>,
    root_path: PathBuf,
    /// The names below it, the last of which is protected.
    names: Vec<OsString>,
    /// What it links to; `None` when it must not exist.
    link: Option<OsString>,
    /// Which of the names before the last is a file, and has nothing below it, if one is.
    file: Option<usize>,
}

impl Guard {
    /// Looks after `path`, which is below `root`: today a link, or nothing.
    pub(super) fn add(&mut self, root: &Path, path: &Path) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let below = path.strip_prefix(root).map_err(io::Error::other)?;
        let is_file = |folder: &Path| folder.symlink_metadata().is_ok_and(|it| it.is_file());
        let between = below.ancestors().skip(1).filter(|name| !name.as_os_str().is_empty());
        let file = between.filter(|name| is_file(&root.join(name))).last();
        let opened = self.names.iter().find(|other| other.root_path == root);
        let opened = match opened {
            Some(other) => Arc::clone(&other.root),
            None => Arc::new(rustix::fs::open(root, flags, Mode::empty())?),
        };
        self.names.push(Guarded {
            file: file.map(|name| name.iter().count() - 1),
            root: opened,
            root_path: root.to_owned(),
            names: below.iter().map(OsStr::to_owned).collect(),
            link: path.read_link().ok().map(PathBuf::into_os_string),
        });
        Ok(())
    }

    /// Puts everything back as it was; returns the first name that was not.
    pub(super) fn restore(&self) -> Option<Bound> {
        let mut found = self.names.iter().filter_map(Guarded::restore);
        let first = found.next();
        // All of them, not only what is reported.
        found.for_each(drop);
        first
    }
}

impl Guarded {
    fn restore(&self) -> Option<Bound> {
        let mut folder: Option<OwnedFd> = None;
        let mut path = self.root_path.clone();
        let last = self.names.len().checked_sub(1)?;
        for (index, name) in self.names.iter().enumerate() {
            let parent = folder.as_ref().unwrap_or(&self.root);
            path.push(name);
            let kind = kind_of(parent, name);
            match kind {
                Ok(Some(FileType::Directory)) if index < last => {}
                Ok(None) if index < last || self.link.is_none() => return None,
                Ok(Some(FileType::Symlink)) if index == last && self.is_link(parent, name) => {
                    return None;
                }
                Ok(Some(FileType::RegularFile)) if self.file == Some(index) => return None,
                // Also a link or a file where a folder or nothing was: what is behind a link is not
                // looked at, and a file `.git` says where to look.
                Ok(_) => return Some(self.put_back(parent, name, path, index == last)),
                // Not to be told; whoever can make it so cannot be told from one who made it.
                Err(_) => return Some(Bound::Protected { path, aside: None }),
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(parent, name.as_os_str(), flags, Mode::empty()) {
                Ok(opened) => folder = Some(opened),
                // Replaced meanwhile: the next look sees by what.
                Err(_) => return None,
            }
        }
        None
    }

    fn is_link(&self, parent: &OwnedFd, name: &OsStr) -> bool {
        let is = rustix::fs::readlinkat(parent, name, Vec::new());
        self.link.as_ref().is_some_and(|was| is.is_ok_and(|is| is.as_bytes() == was.as_bytes()))
    }

    fn put_back(&self, parent: &OwnedFd, name: &OsStr, path: PathBuf, is_last: bool) -> Bound {
        let aside = move_aside(parent, name).map(|name| path.with_file_name(name));
        if let Some(link) = self.link.as_ref().filter(|_| is_last) {
            // An error means that somebody was faster; the next look tells.
            let _ = rustix::fs::symlinkat(link.as_os_str(), parent, name);
        }
        Bound::Protected { path, aside }
    }
}

fn kind_of(parent: &OwnedFd, name: &OsStr) -> Result<Option<FileType>, Errno> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Renames within the folder, onto nothing.
fn move_aside(parent: &OwnedFd, name: &OsStr) -> Option<OsString> {
    let numbered = (1..=NUMBERED_MAX).map(|number| number.to_string());
    let random =
        (0..RANDOM_MAX).map(|_| format!("{:016x}", RandomState::new().build_hasher().finish()));
    for which in numbered.chain(random) {
        let mut aside = name.as_bytes().to_vec();
        aside.extend(format!(".refused-{which}").bytes());
        let aside = OsString::from_vec(aside);
        let renamed = rustix::fs::renameat_with(
            parent,
            name,
            parent,
            aside.as_os_str(),
            RenameFlags::NOREPLACE,
        );
        match renamed {
            Ok(()) => return Some(aside),
            Err(Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}
