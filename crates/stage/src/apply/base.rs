//! The folder that is changed. Everything in it is reached from here, over no link.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;

use super::death::may_die;
use super::plan::{OPEN, Step};
use crate::entry::{Entry, Root};
use crate::gathered::gathered;

const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::RDONLY).union(OFlags::CLOEXEC);

pub(super) struct Base {
    folder: OwnedFd,
    /// Folders that are open only while something in them changes, and their own modes.
    closed: BTreeMap<PathBuf, u32>,
}

/// The mode that the folder of a step has while something in it changes, and its last one.
pub(super) fn modes(step: &Step) -> Option<(u32, u32)> {
    match (&step.before, &step.after) {
        (Some(Entry::Folder { mode: from }), Some(Entry::Folder { mode: to })) => {
            Some((*from, *to))
        }
        // It is made open.
        (_, Some(Entry::Folder { mode: to })) => Some((to | OPEN, *to)),
        _ => None,
    }
}

/// The folder a path lies in.
pub(super) enum Way<'a> {
    /// It is open; with the path's name in it.
    Open(OwnedFd, &'a OsStr),
    /// There is none.
    Missing,
    /// This stands on the way, and is no folder.
    Blocked(PathBuf),
}

/// What stands at a path.
pub(super) enum Standing {
    Is(Option<Entry>),
    /// This stands on the way, and is no folder.
    Blocked(PathBuf),
}

impl Base {
    /// Opens it, if it is the folder it was; who wrote down nothing takes what is there.
    pub(super) fn open(
        path: &Path,
        root: Option<Root>,
        closed: BTreeMap<PathBuf, u32>,
    ) -> io::Result<Self> {
        let flags = match root {
            Some(_) => FOLDER,
            None => FOLDER.difference(OFlags::NOFOLLOW),
        };
        let replaced = || {
            io::Error::other(
                "another folder, or a link, is there than when the stage began; put the folder back",
            )
        };
        let folder = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::LOOP | Errno::NOTDIR) if root.is_some() => return Err(replaced()),
            Err(error) => return Err(error.into()),
        };
        let file = File::from(folder);
        let is_other = match root {
            Some(root) => !root.is(&Root::of(&file.metadata()?)),
            None => false,
        };
        match is_other {
            true => Err(replaced()),
            false => Ok(Self { folder: file.into(), closed }),
        }
    }

    /// The folder a path lies in.
    pub(super) fn way<'a>(&self, path: &'a Path) -> io::Result<Way<'a>> {
        let Some(name) = path.file_name() else { return Ok(Way::Missing) };
        let mut folder = self.folder.try_clone()?;
        let mut walked = PathBuf::new();
        for part in path.parent().unwrap_or(Path::new("")).components() {
            walked.push(part);
            folder = match rustix::fs::openat(&folder, part.as_os_str(), FOLDER, Mode::empty()) {
                Ok(opened) => opened,
                Err(Errno::NOENT) => return Ok(Way::Missing),
                Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Way::Blocked(walked)),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Way::Open(folder, name))
    }

    /// What stands at a path.
    pub(super) fn standing(&self, path: &Path) -> io::Result<Standing> {
        Ok(match self.way(path)? {
            Way::Open(folder, name) => {
                Standing::Is(self.closed_again(path, Entry::read_at(&folder, name)?))
            }
            Way::Missing => Standing::Is(None),
            Way::Blocked(by) => Standing::Blocked(by),
        })
    }

    /// What stands at a path when nothing is open for our sake.
    pub(super) fn closed_again(&self, path: &Path, now: Option<Entry>) -> Option<Entry> {
        match (&now, self.closed.get(path)) {
            (Some(Entry::Folder { mode: open }), Some(&mode)) if *open == mode | OPEN => {
                Some(Entry::Folder { mode })
            }
            _ => now,
        }
    }

    /// Opens the folders that have to be, those above first. What cannot be opened is told of by what
    /// is done in it.
    pub(super) fn open_closed(&self, steps: &[Step]) {
        // A process that died may have given some their last mode.
        for step in steps {
            if let Some((from, to)) = modes(step).filter(|(_, to)| to & OPEN != OPEN) {
                let _ = self.set_mode(&step.path, to, from);
            }
            if let Some(folder) = step.path.parent() {
                self.open_one(folder);
            }
        }
    }

    fn open_one(&self, path: &Path) {
        if let Some(&mode) = self.closed.get(path) {
            let _ = self.set_mode(path, mode, mode | OPEN);
        }
    }

    /// Closes the folders that were opened, those in folders before these.
    pub(super) fn close(&self) {
        for (path, &mode) in self.closed.iter().rev() {
            let _ = self.set_mode(path, mode | OPEN, mode);
        }
    }

    /// Closes what was opened, and gives folders their modes, when all in them is done: those in
    /// folders before these. Says of each folder of a step what it came to, while its parent is open.
    pub(super) fn finish_modes(&self, steps: &[Step], mut then: impl FnMut(&Path, io::Result<()>)) {
        let folders = steps.iter().filter_map(|step| Some((step.path.as_path(), modes(step)?)));
        let folders: BTreeMap<&Path, (u32, u32)> = gathered(folders);
        let closed = self.closed.keys().map(PathBuf::as_path);
        let all: BTreeSet<&Path> = gathered(folders.keys().copied().chain(closed));
        for path in all.into_iter().rev() {
            let closed = match self.closed.get(path) {
                Some(&mode) => self.set_mode(path, mode | OPEN, mode),
                None => Ok(()),
            };
            if let Some(&(from, to)) = folders.get(path) {
                then(path, closed.and_then(|()| self.set_mode(path, from, to)));
            }
        }
    }

    /// Changes the mode of a folder that has this one. The bits of others, such as the group's that is
    /// handed on, stay.
    fn set_mode(&self, path: &Path, from: u32, to: u32) -> io::Result<()> {
        if from == to {
            return Ok(());
        }
        let (parent, name) = match self.way(path)? {
            Way::Open(folder, name) => (folder, name),
            // The base itself.
            Way::Missing if path.as_os_str().is_empty() => {
                (self.folder.try_clone()?, OsStr::new("."))
            }
            Way::Missing | Way::Blocked(_) => return Ok(()),
        };
        let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let now = stat.st_mode & 0o7777;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if !is_folder || now & 0o777 != from as RawMode {
            return Ok(());
        }
        let mode = Mode::from_raw_mode((now & 0o7000) | to as RawMode);
        may_die();
        match rustix::fs::openat(&parent, name, FOLDER, Mode::empty()) {
            Ok(folder) => {
                rustix::fs::fchmod(&folder, mode)?;
                rustix::fs::fsync(&folder)?;
            }
            // One that nobody may read.
            Err(Errno::ACCESS) => rustix::fs::chmodat(&parent, name, mode, AtFlags::empty())?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What was done outlives a loss of power.
    pub(super) fn sync(&self, steps: &[Step]) -> io::Result<()> {
        let folders: BTreeSet<&Path> = gathered(steps.iter().filter_map(|step| step.path.parent()));
        for path in folders {
            if path.as_os_str().is_empty() {
                rustix::fs::fsync(&self.folder)?;
            // One that is gone, or that we may not read, has nothing to sync.
            } else if let Ok(Way::Open(parent, name)) = self.way(path)
                && let Ok(folder) = rustix::fs::openat(&parent, name, FOLDER, Mode::empty())
            {
                rustix::fs::fsync(&folder)?;
            }
        }
        Ok(())
    }
}
