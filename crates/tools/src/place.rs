//! Where a path leads: first by its letters alone, then through the links that are really there.
//!
//! Permission is decided on the letters, before any I/O. So a call looks again: a path that stays
//! in the workspace by its letters must also end there. Between that look and the use of the path
//! somebody could still swap a folder for a link; closing that gap needs the kernel's help.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use heeler_core::{Access, Facts, Resource, ToolError};

/// Bytes of the longest path that is looked up.
pub(crate) const PATH_BYTES_MAX: usize = 4_096;

/// How many entries of a folder are looked at for a name that resembles a missing one.
const RESEMBLING_ENTRIES_MAX: usize = 2_000;

/// How much alike two names must be, from 0 to 1: one swapped pair in three letters still is.
const RESEMBLANCE_MIN: f32 = 0.6;

/// How many resembling names are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// `path` made absolute against `workspace`, with `.` and `..` resolved by letters. No I/O.
pub(crate) fn absolute(workspace: &Path, path: &str) -> PathBuf {
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

/// The real path behind `path`, which need not exist yet.
pub(crate) fn resolve(workspace: &Path, path: &str) -> Result<PathBuf, ToolError> {
    if path.len() > PATH_BYTES_MAX {
        return Err(ToolError::for_model(format!(
            "the path has {} bytes; at most {PATH_BYTES_MAX} are possible",
            path.len()
        )));
    }
    let lexical = absolute(workspace, path);
    let failed =
        |error: &io::Error| ToolError::for_model(format!("cannot look up {path}: {error}"));
    let real = real_path(&lexical).map_err(|error| failed(&error))?;
    if lexical.starts_with(absolute(workspace, "")) {
        let workspace = workspace.canonicalize().map_err(|error| failed(&error))?;
        if !real.starts_with(&workspace) {
            return Err(ToolError::for_model(format!(
                "{path} leads out of the workspace through a symbolic link, to {}; permission was \
                 given for the path inside only, so name the real path if you need that file",
                real.display()
            )));
        }
    }
    Ok(real)
}

/// Follows links as far as the path exists; what is missing is appended by its letters. A link
/// to nothing is an error: writing "through" it would create a file at a place nobody named.
fn real_path(lexical: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = lexical;
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

/// `path` as the model is told it: relative inside the workspace, else absolute.
pub(crate) fn shown(workspace: &Path, path: &Path) -> String {
    // The workspace may itself be reached through a link, so its real path counts too.
    let real = workspace.canonicalize();
    let inside = path
        .strip_prefix(workspace)
        .ok()
        .or_else(|| real.as_ref().ok().and_then(|real| path.strip_prefix(real).ok()));
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.display().to_string(),
        None => path.display().to_string(),
    }
}

/// The error for a path that does not exist, with names nearby that resemble it.
pub(crate) fn missing(workspace: &Path, path: &str, real: &Path) -> ToolError {
    let mut text = format!("{path} does not exist");
    let parent = real.parent().unwrap_or(real);
    if !parent.is_dir() {
        let known = parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(workspace);
        text.push_str(&format!("; the deepest folder there is {}", shown(workspace, known)));
        return ToolError::ForModel(text);
    }
    let names = resembling(parent, real.file_name().unwrap_or_default());
    if names.is_empty() {
        text.push_str("; use Glob or LS to find it");
    } else {
        let paths: Vec<_> = names.iter().map(|name| shown(workspace, &parent.join(name))).collect();
        text.push_str(&format!("; did you mean {}?", paths.join(", ")));
    }
    ToolError::ForModel(text)
}

/// The names in `folder` most like `name`, best first.
fn resembling(folder: &Path, name: &OsStr) -> Vec<String> {
    let wanted = name.to_string_lossy().to_lowercase();
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut scored: Vec<(u32, String)> = entries
        .take(RESEMBLING_ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some((resemblance(&wanted, &name.to_lowercase())?, name)))
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

/// 1 to 1000; `None` when the two have little in common.
fn resemblance(wanted: &str, name: &str) -> Option<u32> {
    let stem = |text: &str| text.split('.').find(|part| !part.is_empty()).map(str::to_owned);
    if wanted == name {
        return Some(1_000);
    }
    if stem(wanted) == stem(name) {
        return Some(900);
    }
    let ratio = similar::TextDiff::from_chars(wanted, name).ratio();
    // Both are short file names, so the cast keeps every digit that matters.
    (ratio >= RESEMBLANCE_MIN).then_some((ratio * 800.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_alone_make_a_path_absolute() {
        let cases = [
            ("a.rs", "/w/a.rs"),
            ("./a/../b", "/w/b"),
            ("../up", "/up"),
            ("../../../../etc/passwd", "/etc/passwd"),
            ("/x//y/./z/", "/x/y/z"),
            ("", "/w"),
            (".", "/w"),
        ];
        for (path, expected) in cases {
            assert_eq!(absolute(Path::new("/w"), path), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn facts_name_the_absolute_path() {
        let facts = write_facts("/w", "src/../a.rs");
        assert_eq!(facts.accesses, [Access::Write("/w/a.rs".into())]);
        assert_eq!(facts.resources, [Resource { key: "file:/w/a.rs".into(), write: true }]);
        assert!(!facts.replay_safe);
        assert!(read_facts("/w", "a.rs").replay_safe);
    }

    #[test]
    fn a_path_too_long_is_refused() {
        let error = resolve(Path::new("/"), &"x".repeat(PATH_BYTES_MAX + 1)).unwrap_err();
        assert_eq!(error.to_string(), "the path has 4097 bytes; at most 4096 are possible");
    }

    #[test]
    fn a_path_with_a_nul_is_an_error_not_a_panic() {
        let error = resolve(Path::new("/"), "a\0b").unwrap_err().to_string();
        assert!(error.starts_with("cannot look up a\0b"), "{error}");
    }
}
