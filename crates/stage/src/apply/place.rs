//! One place in the base: what is put there, and what of it is left when somebody is in the way.
//!
//! A file is written under a name of its own. When it is whole, it trades places with what stands
//! there, and what came out is looked at: it is thrown away if it is what was expected, else it goes
//! back. So nothing that somebody saves in the last moment is lost.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use heeler_attributes::{Old, Owner};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

use super::death::may_die;
use super::plan::{Names, OPEN, Step};
use crate::entry::{Entry, is_same};
use crate::sparse;

/// The bits of a mode that are nobody's permission, such as setuid.
const SPECIAL: u32 = 0o7000;

pub(super) struct Place<'a> {
    pub(super) folder: OwnedFd,
    pub(super) name: &'a OsStr,
    pub(super) names: Names,
}

impl Place<'_> {
    /// What stands there.
    pub(super) fn now(&self) -> io::Result<Option<Entry>> {
        Entry::read_at(&self.folder, self.name)
    }

    fn aside(&self) -> io::Result<Option<Entry>> {
        Entry::read_at(&self.folder, OsStr::new(&self.names.aside))
    }

    /// Whether something that somebody else made is left beside the place.
    pub(super) fn has_aside(&self) -> bool {
        rustix::fs::statat(&self.folder, &self.names.aside, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether what was written is left beside the place: some folders let nothing go that is in them.
    pub(super) fn has_written(&self) -> bool {
        rustix::fs::statat(&self.folder, &self.names.written, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Writes a file or link beside its place; nothing is left of one that fails.
    pub(super) fn write(&self, after: &Entry, bytes: &Path) -> io::Result<()> {
        let like = rustix::fs::statat(&self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let written = match after {
            Entry::File { mode, .. } => self.write_file(*mode, like.as_ref(), bytes),
            Entry::Link { target } => self.write_link(target, like.as_ref()),
            Entry::Folder { .. } | Entry::Special => Ok(()),
        };
        if written.is_err() {
            self.drop_written();
        }
        written
    }

    #[cfg_attr(
        target_os = "linux",
        expect(clippy::unnecessary_cast, reason = "a mode has other types on other systems")
    )]
    fn write_file(&self, mode: u32, like: Option<&Stat>, bytes: &Path) -> io::Result<()> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let owner = Mode::from_raw_mode(0o600);
        may_die();
        let file = rustix::fs::openat(&self.folder, &self.names.written, flags, owner)?;
        let file = File::from(file);
        may_die();
        sparse::copy(&File::open(bytes)?, &file)?;
        let is_file = |stat: &&Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        may_die();
        // Last: changing the content clears bits.
        match like.filter(is_file) {
            Some(like) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let old = rustix::fs::openat(&self.folder, self.name, flags, Mode::empty());
                let owner = Owner { user: like.st_uid, group: like.st_gid };
                let mode = mode | Mode::from_raw_mode(like.st_mode).bits() as u32 & SPECIAL;
                let old = old.ok().map(File::from);
                let old = old.as_ref().map_or(Old::Closed, Old::Open);
                heeler_attributes::keep(old, owner, &file, mode)?;
            }
            None => rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as RawMode))?,
        }
        may_die();
        file.sync_all()
    }

    fn write_link(&self, target: &Path, like: Option<&Stat>) -> io::Result<()> {
        may_die();
        rustix::fs::symlinkat(target, &self.folder, &self.names.written)?;
        if let Some(like) = like {
            let owner = rustix::fs::Uid::from_raw(like.st_uid);
            let group = rustix::fs::Gid::from_raw(like.st_gid);
            let (owner, group) = (Some(owner), Some(group));
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            let _ = rustix::fs::chownat(&self.folder, &self.names.written, owner, group, flags);
        }
        Ok(())
    }

    /// Puts what was written where nothing stands, if that is so.
    pub(super) fn fill(&self) -> io::Result<()> {
        may_die();
        let filled = self.rename_to_free(&self.names.written, self.name);
        if !matches!(filled, Ok(true)) {
            self.drop_written();
        }
        filled.map(drop)
    }

    /// Puts what was written where something stands, if that is what is expected.
    pub(super) fn replace(&self, step: &Step) -> io::Result<()> {
        let Names { written, aside } = &self.names;
        if !is_same(self.now()?.as_ref(), step.before.as_ref()) {
            self.drop_written();
            return Ok(());
        }
        may_die();
        rustix::fs::renameat(&self.folder, written, &self.folder, aside)?;
        may_die();
        self.trade(step)
    }

    /// Trades what lies beside the place for what stands there.
    pub(super) fn trade(&self, step: &Step) -> io::Result<()> {
        may_die();
        match self.exchange() {
            Ok(()) => {}
            Err(error) if cannot(error) => {
                // The look right before is all there is here.
                if is_same(self.now()?.as_ref(), step.before.as_ref()) {
                    let aside = &self.names.aside;
                    rustix::fs::renameat(&self.folder, aside, &self.folder, self.name)?;
                }
            }
            // It has just gone.
            Err(Errno::NOENT) => {}
            Err(error) => {
                self.settle(step)?;
                return Err(error.into());
            }
        }
        self.settle(step)
    }

    /// Takes away what stands there, a folder only when it is empty, if it is what is expected.
    pub(super) fn clear(&self, step: &Step) -> io::Result<()> {
        may_die();
        if step.before.as_ref().is_some_and(Entry::is_folder) {
            return match rustix::fs::unlinkat(&self.folder, self.name, AtFlags::REMOVEDIR) {
                // Whoever put more into it keeps that.
                Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
                removed => Ok(removed?),
            };
        }
        let aside = &self.names.aside;
        let flags = RenameFlags::NOREPLACE;
        may_die();
        match rustix::fs::renameat_with(&self.folder, self.name, &self.folder, aside, flags) {
            Err(error) if cannot(error) => {
                if is_same(self.now()?.as_ref(), step.before.as_ref()) {
                    rustix::fs::unlinkat(&self.folder, self.name, AtFlags::empty())?;
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
            Ok(()) => self.settle(step),
        }
    }

    /// Makes a folder, open for whoever fills it; its mode comes when that is done.
    pub(super) fn make_folder(&self, mode: u32) -> io::Result<()> {
        let written = &self.names.written;
        let owner = Mode::from_raw_mode(OPEN as RawMode);
        may_die();
        rustix::fs::mkdirat(&self.folder, written, owner)?;
        let made = || {
            // Whether its files are the group's is handed on by the folder it is in.
            let special = rustix::fs::statat(&self.folder, written, AtFlags::empty())?.st_mode
                & SPECIAL as RawMode;
            let mode = Mode::from_raw_mode(special | (mode | OPEN) as RawMode);
            Ok(rustix::fs::chmodat(&self.folder, written, mode, AtFlags::empty())?)
        };
        may_die();
        made().inspect_err(|_: &io::Error| self.drop_written())?;
        may_die();
        self.fill()
    }

    /// Clears away what a process left here that died, and what a step that failed left. What came out
    /// of the place and was not expected goes back; where somebody filled the place meanwhile, it stays
    /// beside it.
    pub(super) fn settle(&self, step: &Step) -> io::Result<()> {
        may_die();
        self.drop_written();
        let Some(aside) = self.aside()? else { return Ok(()) };
        let is_ours = |aside: &Entry| {
            !aside.is_folder()
                && (is_same(Some(aside), step.before.as_ref()) || step.is_made(Some(aside)))
        };
        may_die();
        if is_ours(&aside) {
            return self.drop_aside();
        }
        let now = self.now()?;
        if now.is_some() && step.is_made(now.as_ref()) {
            may_die();
            self.exchange()?;
            // Another one may have come in that moment.
            return match self.aside()? {
                Some(aside) if is_ours(&aside) => self.drop_aside(),
                _ => Ok(()),
            };
        }
        self.rename_to_free(&self.names.aside, self.name).map(drop)
    }

    fn exchange(&self) -> rustix::io::Result<()> {
        let aside = &self.names.aside;
        let flags = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(&self.folder, aside, &self.folder, self.name, flags)
    }

    /// Renames where nothing stands; whether nothing did.
    fn rename_to_free(&self, from: &str, to: &OsStr) -> io::Result<bool> {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.folder, from, &self.folder, to, flags) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) if cannot(error) => {
                let is_free = Entry::read_at(&self.folder, to)?.is_none();
                if is_free {
                    rustix::fs::renameat(&self.folder, from, &self.folder, to)?;
                }
                Ok(is_free)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn drop_written(&self) {
        let written = &self.names.written;
        if rustix::fs::unlinkat(&self.folder, written, AtFlags::empty()).is_err() {
            let _ = rustix::fs::unlinkat(&self.folder, written, AtFlags::REMOVEDIR);
        }
    }

    fn drop_aside(&self) -> io::Result<()> {
        may_die();
        Ok(rustix::fs::unlinkat(&self.folder, &self.names.aside, AtFlags::empty())?)
    }

    /// Removes a file of a plan that had no names of its own, if it is one: it holds no more than what
    /// the step was about to write.
    pub(super) fn drop_nameless(&self, name: &str, step: &Step, bytes: &Path) -> io::Result<()> {
        let is_ours = match (Entry::read_at(&self.folder, OsStr::new(name))?, &step.after) {
            (Some(Entry::Link { target }), Some(Entry::Link { target: after })) => target == *after,
            (Some(Entry::File { .. }), Some(Entry::File { .. })) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::openat(&self.folder, name, flags, Mode::empty())?;
                is_beginning(File::from(file), File::open(bytes)?)?
            }
            _ => false,
        };
        if is_ours {
            rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())?;
        }
        Ok(())
    }
}

/// Whether a file system has no such renaming.
fn cannot(error: Errno) -> bool {
    // Two names of one error on some systems.
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}

fn is_beginning(one: File, whole: File) -> io::Result<bool> {
    use std::io::{BufReader, Read as _};
    let length = one.metadata()?.len();
    let (one, whole) = (BufReader::new(one), BufReader::new(whole.take(length)));
    let mut whole = whole.bytes();
    for byte in one.bytes() {
        if Some(byte?) != whole.next().transpose()? {
            return Ok(false);
        }
    }
    Ok(true)
}
