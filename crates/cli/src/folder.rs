//! The folder that a command works in.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The folder to work in, absolute and without links: rules and facts compare it as text.
pub(crate) fn workspace(cwd: Option<&Path>) -> Result<PathBuf> {
    let folder = cwd.unwrap_or(Path::new("."));
    let absolute = folder
        .canonicalize()
        .with_context(|| format!("cannot work in {}; use --cwd FOLDER", folder.display()))?;
    anyhow::ensure!(absolute.is_dir(), "{} is not a folder; use --cwd FOLDER", folder.display());
    Ok(absolute)
}
