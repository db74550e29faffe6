//! Finding the files of settings and reading their bytes.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::SettingsError;
use crate::document::FILE_BYTES_MAX;
use crate::source::{Place, Source};

/// Where the files of settings are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The user's home folder, where `~/.claude` is.
    pub home: Option<PathBuf>,
    /// Heeler's home folder.
    pub heeler_home: PathBuf,
    /// The folder that is worked in, absolute.
    pub workspace: PathBuf,
}

impl Files {
    /// The file of a place; none for what is no file, or when there is no home folder.
    #[must_use]
    pub fn path(&self, place: Place) -> Option<PathBuf> {
        let (folder, name) = match place {
            Place::UserClaude => (self.home.as_ref()?, ".claude/settings.json"),
            Place::User => (&self.heeler_home, "settings.toml"),
            Place::ProjectClaude => (&self.workspace, ".claude/settings.json"),
            Place::Project => (&self.workspace, ".heeler/settings.toml"),
            Place::LocalClaude => (&self.workspace, ".claude/settings.local.json"),
            Place::Local => (&self.workspace, ".heeler/settings.local.toml"),
            Place::Saved => (&self.heeler_home, "projects.toml"),
            Place::Given | Place::Variables | Place::Flags => return None,
        };
        Some(folder.join(name))
    }

    /// Every file there is, the least specific first. A file of the user's that lies in the
    /// workspace, as it does when somebody works in their home folder, stays the user's.
    ///
    /// # Errors
    /// When a file is there and cannot be read: what it forbids would be unknown.
    pub fn read(&self) -> Result<Vec<Source>, SettingsError> {
        let (sources, mistakes) = self.read_each();
        mistakes.into_iter().next().map_or(Ok(sources), Err)
    }

    /// Every file that can be read, and why others cannot: nothing may run by the one without the
    /// other.
    #[must_use]
    pub fn read_each(&self) -> (Vec<Source>, Vec<SettingsError>) {
        const PLACES: [Place; 7] = [
            Place::UserClaude,
            Place::User,
            Place::ProjectClaude,
            Place::Project,
            Place::LocalClaude,
            Place::Local,
            Place::Saved,
        ];
        let (mut sources, mut mistakes): (Vec<Source>, _) = (Vec::new(), Vec::new());
        for place in PLACES {
            let Some(path) = self.path(place) else { continue };
            let is_the_users = place.is_repository()
                && sources.iter().any(|known| is_same_file(&known.path, &path));
            if is_the_users {
                continue;
            }
            let name = self.name(&path);
            match read_file(&path, &name) {
                Ok(None) => {}
                Ok(Some(content)) => {
                    let trusted = BTreeSet::new();
                    sources.push(Source { place, path, name, content, trusted });
                }
                Err(error) => mistakes.push(error),
            }
        }
        (sources, mistakes)
    }

    /// A file that the command line names.
    ///
    /// # Errors
    /// When it is not there, or cannot be read.
    pub fn given(&self, path: &Path) -> Result<Source, SettingsError> {
        let name = path.display().to_string();
        let Some(content) = read_file(path, &name)? else {
            return Err(SettingsError::of_file(&name, "there is no such file; correct --settings"));
        };
        let path = path.to_owned();
        Ok(Source { place: Place::Given, path, name, content, trusted: BTreeSet::new() })
    }

    /// A file as rules and errors call it: within the workspace and the home folder as people
    /// write it.
    pub(crate) fn name(&self, path: &Path) -> String {
        if let Ok(inner) = path.strip_prefix(&self.workspace) {
            return inner.display().to_string();
        }
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(inner) => format!("~/{}", inner.display()),
            None => path.display().to_string(),
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// A file's bytes, of one that is too long no more than shows it; `None` when there is none. `name` is
/// what errors call it.
///
/// # Errors
/// When it is no plain file, or cannot be read.
pub fn read_file(path: &Path, name: &str) -> Result<Option<Vec<u8>>, SettingsError> {
    let refused = |error: io::Error| {
        let why = format!("cannot read the file: {error}; make it readable, or move it away");
        SettingsError::of_file(name, why)
    };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(refused(error)),
    };
    if !file.metadata().map_err(refused)?.is_file() {
        return Err(SettingsError::of_file(name, "this is no file; move it away"));
    }
    let mut content = Vec::new();
    // One byte more, so that what is too long is seen to be.
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).map_err(refused)?;
    Ok(Some(content))
}

/// Opens a file to read it; no kind of file makes this wait.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
