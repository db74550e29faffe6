//! Where a path leads: first by its letters alone, then through the links that are really there.
//!
//! Permission is decided on the letters, before any I/O. So a call looks again ([`Place::find`]): a
//! path that stays in the workspace by its letters must also end there, and what is walled off is
//! walled off wherever a link to it lies. Then exactly what was found is opened, by its real names
//! and through no link, and held: whatever is done to it is done relative to a folder that is open,
//! so nobody can put another file into its place between the look and the use.

mod expand;
mod folder;
mod found;
mod missing;
#[cfg(test)]
mod races;
#[cfg(test)]
mod tests;
mod walls;

use std::path::{Component, Path, PathBuf};

use heeler_core::{Access, Facts, Resource};

pub use expand::{DENIED_ENTRIES_MAX, DENIED_PLACES_MAX, DeniedPlaces, denied_places};
pub(crate) use found::{Below, Held, Place};
pub(crate) use missing::missing;
pub(crate) use walls::Closed;

/// `path` made absolute against `workspace`, with `.` and `..` resolved by letters. No I/O.
pub(crate) fn absolute(workspace: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut result = PathBuf::new();
    for component in workspace.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// The facts of a call that only reads `path`.
pub(crate) fn read_facts(workspace: &str, path: &str) -> Facts {
    let path = absolute(Path::new(workspace), path).display().to_string();
    Facts {
        resources: vec![Resource { key: format!("file:{path}"), write: false }],
        accesses: vec![Access::Read(path)],
        replay_safe: true,
        ..Facts::default()
    }
}

/// The facts of a call that writes `path`.
pub(crate) fn write_facts(workspace: &str, path: &str) -> Facts {
    let path = absolute(Path::new(workspace), path).display().to_string();
    Facts {
        resources: vec![Resource { key: format!("file:{path}"), write: true }],
        accesses: vec![Access::Write(path)],
        ..Facts::default()
    }
}

/// `path` as the model is told it: relative inside the workspace, else absolute.
pub(crate) fn shown(workspace: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(workspace).ok().map(Path::to_owned).or_else(|| {
        // The workspace may itself be reached through a link, so its real path counts too.
        path.strip_prefix(workspace.canonicalize().ok()?).ok().map(Path::to_owned)
    });
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.display().to_string(),
        None => path.display().to_string(),
    }
}
