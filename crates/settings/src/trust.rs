//! Which files of which repository the user trusts, byte for byte.
//!
//! `trust.toml` in heeler's home folder holds one entry a file: its workspace, its name there, the
//! SHA-256 of the content that was looked at, and what it was trusted with. Another content is
//! another file. An aspect that a later version learns of was not looked at, so it is asked for
//! again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use heeler_toml::NoToml;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::SettingsError;
use crate::files::read_file;
use crate::loaded::UntrustedFile;
use crate::locked;
use crate::source::{Aspect, Source};

/// The file in heeler's home folder.
const NAME: &str = "trust.toml";

/// Stands above what is written.
const HEAD: &str = "\
# Files of repositories that count in full, each with exactly the content that was looked at.
# Written by `heeler permissions trust`; an entry that is removed is asked for again.

";

/// The user's trust, as it is kept.
#[derive(Debug, Clone)]
pub struct Trust {
    home: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    trusted: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    workspace: String,
    file: String,
    sha256: String,
    aspects: Vec<String>,
}

impl Trust {
    /// The trust that is kept in this home folder of heeler's.
    #[must_use]
    pub fn of(heeler_home: &Path) -> Self {
        Self { home: heeler_home.to_owned() }
    }

    /// Marks sources with what they are trusted with, for [`crate::load`].
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub fn mark(&self, workspace: &Path, sources: &mut [Source]) -> Result<(), SettingsError> {
        if !sources.iter().any(|source| source.place.is_repository()) {
            return Ok(());
        }
        let path = self.home.join(NAME);
        let shown = path.display().to_string();
        let kept = read(&shown, &read_file(&path, &shown)?.unwrap_or_default())?;
        for source in sources.iter_mut().filter(|source| source.place.is_repository()) {
            let Some(file) = inside(workspace, &source.path) else { continue };
            let hash = hash(&source.content);
            let own = kept.trusted.iter().find(|entry| entry.is_of(workspace, file));
            source.trusted = own
                .filter(|entry| entry.sha256 == hash)
                .map(|entry| entry.aspects.iter().filter_map(|name| Aspect::named(name)).collect())
                .unwrap_or_default();
        }
        Ok(())
    }

    /// Trusts a file with exactly the content that was shown, and with what it asks for.
    ///
    /// # Errors
    /// When the trust cannot be kept; nothing is trusted then.
    pub fn grant(&self, workspace: &Path, shown: &UntrustedFile) -> Result<(), SettingsError> {
        let (Some(folder), Some(file)) = (workspace.to_str(), inside(workspace, &shown.path))
        else {
            let why = "this file cannot be trusted: its path is no text, or not in the workspace";
            return Err(SettingsError::of_file(&shown.name, why));
        };
        self.change(|kept| {
            let sha256 = hash(&shown.content);
            let mut aspects: BTreeSet<&str> =
                heeler_core::gathered(shown.aspects.iter().map(|aspect| aspect.name()));
            let before = kept.trusted.iter().position(|entry| entry.is_of(workspace, file));
            let before = before.map(|n| kept.trusted.remove(n)).filter(|e| e.sha256 == sha256);
            let earlier = before.map(|entry| entry.aspects).unwrap_or_default();
            aspects.extend(earlier.iter().map(String::as_str));
            kept.trusted.push(Entry {
                workspace: folder.to_owned(),
                file: file.to_owned(),
                sha256,
                aspects: aspects.into_iter().map(str::to_owned).collect(),
            });
        })
    }

    /// Takes back all trust in the files of a workspace; how many there were.
    ///
    /// # Errors
    /// When the trust cannot be kept; it is as it was then.
    pub fn revoke(&self, workspace: &Path) -> Result<usize, SettingsError> {
        let mut revoked = 0;
        self.change(|kept| {
            let before = kept.trusted.len();
            kept.trusted.retain(|entry| Path::new(&entry.workspace) != workspace);
            revoked = before - kept.trusted.len();
        })?;
        Ok(revoked)
    }

    fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<(), SettingsError> {
        let shown = self.home.join(NAME).display().to_string();
        locked::change_file(&self.home, NAME, |content| {
            let mut kept = read(&shown, content)?;
            change(&mut kept);
            let text = heeler_toml::write(&kept).map_err(|error| {
                SettingsError::of_file(&shown, format!("cannot be written: {error}"))
            })?;
            Ok(Some(format!("{HEAD}{text}")))
        })
    }
}

impl Entry {
    fn is_of(&self, workspace: &Path, file: &str) -> bool {
        Path::new(&self.workspace) == workspace && self.file == file
    }
}

/// A file's path within its workspace.
fn inside<'a>(workspace: &Path, path: &'a Path) -> Option<&'a str> {
    path.strip_prefix(workspace).ok()?.to_str()
}

fn read(shown: &str, content: &[u8]) -> Result<Kept, SettingsError> {
    let broken = |why: &str| {
        let why = format!("this cannot be read: {why}; mend it, or remove it to trust nothing");
        SettingsError::of_file(shown, why)
    };
    let text = std::str::from_utf8(content).map_err(|_| broken("it is no UTF-8 text"))?;
    heeler_toml::read(text).map_err(|NoToml { what, .. }| broken(&what))
}

fn hash(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
