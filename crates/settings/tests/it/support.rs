//! Folders of a user who works somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use heeler_settings::{Context, Files, Loaded, SettingsError, Trust, load};
use tempfile::TempDir;

/// A home, heeler's home, and a workspace; gone when it is dropped.
pub(crate) struct World {
    root: PathBuf,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["me/work", "heeler"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self { root, _folder: folder }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn heeler_home(&self) -> PathBuf {
        self.path("heeler")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("me/work")
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn files(&self) -> Files {
        Files {
            home: Some(self.path("me")),
            heeler_home: self.heeler_home(),
            workspace: self.workspace(),
        }
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust::of(&self.heeler_home())
    }

    /// Everything there is, for somebody who works in the workspace.
    pub(crate) fn load(&self) -> Result<Loaded, SettingsError> {
        self.load_in(&self.files())
    }

    pub(crate) fn load_in(&self, files: &Files) -> Result<Loaded, SettingsError> {
        let mut sources = files.read()?;
        self.trust().mark(&files.workspace, &mut sources)?;
        load(&sources, Vec::new(), &self.context(&files.workspace))
    }

    pub(crate) fn context(&self, workspace: &Path) -> Context {
        Context {
            workspace: workspace.display().to_string(),
            homes: vec![self.path("me").display().to_string()],
            tools: vec!["Bash".to_owned()],
        }
    }

    /// A text without the folder of this run.
    pub(crate) fn plain(&self, text: impl ToString) -> String {
        text.to_string().replace(&*self.root.to_string_lossy(), "WORLD")
    }
}
