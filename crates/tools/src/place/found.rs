//! A place that was found: a folder that is held open, and a name in it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use heeler_core::{ToolContext, ToolError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::walls::{Closed, Purpose, Walls};
use super::{absolute, folder};

/// Bytes of the longest path that is looked up.
pub(crate) const PATH_BYTES_MAX: usize = 4_096;

/// How often a path is looked up again that was changed between the look and the use.
const TRIES_MAX: usize = 100;

/// What a file is opened with to be read: a link is refused, a pipe does not hold us up.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// What a call names, found and allowed to be used. It need not exist yet.
#[derive(Debug)]
pub(crate) struct Place {
    real: PathBuf,
    /// Its folder; `None` when that does not exist.
    folder: Option<OwnedFd>,
    name: OsString,
    kind: Option<FileType>,
}

impl Place {
    /// What `tool` is to read.
    pub(crate) fn to_read(
        context: &ToolContext,
        tool: &str,
        path: &str,
    ) -> Result<Self, ToolError> {
        Self::find(context, &Walls::new(context, tool, Purpose::Read), path)
    }

    /// What `tool` is to write.
    pub(crate) fn to_write(
        context: &ToolContext,
        tool: &str,
        path: &str,
    ) -> Result<Self, ToolError> {
        Self::find(context, &Walls::new(context, tool, Purpose::Write), path)
    }

    /// Where `tool` is to search, and what it leaves out there.
    pub(crate) fn to_search(
        context: &ToolContext,
        tool: &str,
        path: &str,
    ) -> Result<(Self, Closed), ToolError> {
        let walls = Walls::new(context, tool, Purpose::Read);
        let place = Self::find(context, &walls, path)?;
        if !place.exists() {
            return Err(super::missing(&context.workspace, path, &place));
        }
        let closed = walls.below(&place.real);
        Ok((place, closed))
    }

    /// Looks where `path` leads, whether that is walled off, and holds it.
    fn find(context: &ToolContext, walls: &Walls, path: &str) -> Result<Self, ToolError> {
        if path.len() > PATH_BYTES_MAX {
            return Err(ToolError::for_model(format!(
                "the path has {} bytes; at most {PATH_BYTES_MAX} are possible",
                path.len()
            )));
        }
        let named = absolute(&context.workspace, path);
        if path.split('/').next() == Some("~") && named.symlink_metadata().is_err() {
            return Err(ToolError::for_model(format!(
                "`~` is a shell's word for a home, and no path; give the absolute path in place of `{path}`"
            )));
        }
        let failed =
            |error: &io::Error| ToolError::for_model(format!("cannot look up {path}: {error}"));
        for _ in 0..TRIES_MAX {
            let real = real_path(&named).map_err(|error| failed(&error))?;
            walls.check(path, &named, &real)?;
            stays(context, path, &named, &real)?;
            match Self::hold(real) {
                // Links of a real path are new: somebody swaps a folder or file for one just now.
                Ok(Self { kind: Some(FileType::Symlink), .. }) => {}
                Err(error) if folder::is_replaced(&error) => {}
                held => return held.map_err(|error| failed(&error)),
            }
        }
        Err(ToolError::for_model(format!(
            "{path} is replaced all the time, so it cannot be told where it leads; find out what \
             does that"
        )))
    }

    fn hold(real: PathBuf) -> io::Result<Self> {
        let (parent, name) = match (real.parent(), real.file_name()) {
            (Some(parent), Some(name)) => (parent, name.to_owned()),
            // The root.
            _ => (real.as_path(), ".".into()),
        };
        let folder = match folder::open(parent) {
            Ok(folder) => Some(folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let kind = match &folder {
            Some(folder) => match stat(folder, &name) {
                Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
                Err(Errno::NOENT) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        Ok(Self { real, folder, name, kind })
    }

    /// The real path, for people and for keys.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    pub(crate) fn exists(&self) -> bool {
        self.kind.is_some()
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == Some(FileType::Directory)
    }

    /// The folder it is in; an error of the kind `NotFound` when there is none.
    pub(crate) fn folder(&self) -> io::Result<&OwnedFd> {
        self.folder.as_ref().ok_or(io::ErrorKind::NotFound.into())
    }

    /// Makes the folder it is in, if there is none.
    pub(crate) fn make_folder(&mut self) -> io::Result<()> {
        if self.folder.is_none() {
            self.folder = Some(folder::make(self.real.parent().unwrap_or(&self.real))?);
        }
        Ok(())
    }

    /// What it is by now, without opening it.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(stat(self.folder()?, &self.name)?)
    }

    /// Opens the file or folder. What it is by then has to be looked at.
    pub(crate) fn open(&self) -> io::Result<File> {
        open(self.folder()?, &self.name)
    }

    /// Opens a file that is to be read, and refuses what is none: reading a pipe or a device could
    /// block for ever, and opening some devices does something.
    pub(crate) fn open_file(&self, path: &str) -> Result<File, ToolError> {
        let path = if path.is_empty() { "an empty path" } else { path };
        let failed = |error| ToolError::for_model(format!("cannot read {path}: {error}"));
        match self.kind {
            Some(FileType::Directory) => {
                return Err(ToolError::for_model(format!("{path} is a folder; use LS to list it")));
            }
            Some(FileType::RegularFile) => {}
            _ => return Err(no_file(path)),
        }
        let file = self.open().map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(no_file(path));
        }
        Ok(file)
    }
}

fn no_file(path: &str) -> ToolError {
    ToolError::for_model(format!("{path} is not a regular file but a pipe, socket or device"))
}

/// Opens what a walk found below a folder, where it really is below it.
pub(crate) struct Below {
    base: OwnedFd,
    base_path: PathBuf,
    /// The folder of the last file: most often that of the next one, too.
    last: Option<(PathBuf, OwnedFd)>,
}

impl Below {
    pub(crate) fn new(place: &Place) -> io::Result<Self> {
        let base = OwnedFd::from(place.open()?);
        Ok(Self { base, base_path: place.real.clone(), last: None })
    }

    /// Opens the file at this path to read it; only for what the walk saw as a file. `None` when it
    /// is not there: it is gone, or somebody showed it to the walk by a link.
    pub(crate) fn open(&mut self, path: &Path) -> io::Result<Option<File>> {
        really_there(self.folder_of(path).and_then(|(folder, name)| open(folder, name)))
    }

    /// What is at this path, a link itself and not its target; `None` as for `open`.
    pub(crate) fn stat(&mut self, path: &Path) -> io::Result<Option<Stat>> {
        really_there(self.folder_of(path).and_then(|(folder, name)| Ok(stat(folder, name)?)))
    }

    fn folder_of<'a>(&mut self, path: &'a Path) -> io::Result<(&OwnedFd, &'a OsStr)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = match self.last.take() {
            // By its bytes: this is asked of every file.
            Some((path, folder)) if path.as_os_str() == parent.as_os_str() => (path, folder),
            _ => {
                let inner = parent.strip_prefix(&self.base_path).map_err(io::Error::other)?;
                (parent.to_owned(), folder::open_below(&self.base, inner)?)
            }
        };
        Ok((&self.last.insert(folder).1, name))
    }
}

/// A folder that is held open, of which only files are asked, by their names.
pub(crate) struct Held(OwnedFd);

impl Held {
    /// The folder at this path, a real one.
    pub(crate) fn real(path: &Path) -> io::Result<Self> {
        folder::open(path).map(Self)
    }

    /// The folder that this path leads to.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::real(&path.canonicalize()?)
    }

    /// Whether what has this name is a plain file; an error where nothing has it.
    pub(crate) fn is_file(&self, name: &OsStr) -> io::Result<bool> {
        let kind = FileType::from_raw_mode(stat(&self.0, name)?.st_mode);
        Ok(kind == FileType::RegularFile)
    }

    /// Opens it to be read, and no link's target. What it is by then has to be looked at.
    pub(crate) fn open(&self, name: &OsStr) -> io::Result<File> {
        open(&self.0, name)
    }
}

fn really_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if folder::is_replaced(&error) => Ok(None),
        found => found.map(Some),
    }
}

fn open(folder: &OwnedFd, name: &OsStr) -> io::Result<File> {
    Ok(rustix::fs::openat(folder, name, READ, Mode::empty())?.into())
}

fn stat(folder: &OwnedFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Refuses what only seems to lie in the workspace.
fn stays(context: &ToolContext, path: &str, named: &Path, real: &Path) -> Result<(), ToolError> {
    if !named.starts_with(absolute(&context.workspace, "")) {
        return Ok(());
    }
    let workspace = context
        .workspace
        .canonicalize()
        .map_err(|error| ToolError::for_model(format!("cannot look up the workspace: {error}")))?;
    if !real.starts_with(&workspace) {
        return Err(ToolError::for_model(format!(
            "{path} leads out of the workspace through a symbolic link, to {}; permission was \
             given for the path inside only, so name the real path if you need that file",
            real.display()
        )));
    }
    Ok(())
}

/// Follows links as far as the path exists; what is missing is appended by its letters. A link
/// to nothing is an error: writing "through" it would create a file at a place nobody named.
fn real_path(named: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = named;
    loop {
        match existing.canonicalize() {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if existing.symlink_metadata().is_ok() {
                    return Err(io::Error::other(format!(
                        "{} is a symbolic link to something that does not exist",
                        existing.display()
                    )));
                }
                let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                    return Err(error);
                };
                missing.push(name);
                existing = parent;
            }
            Err(error) => return Err(error),
        }
    }
}
