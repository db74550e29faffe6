//! What really changed: the files of commits, or of two versions of a package.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Bytes of the largest file that is taken.
const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Commits that are looked at, the newest first.
const COMMITS_MAX: usize = 3_000;

/// A file before and after a change.
pub(super) struct Change {
    /// Where it stands, for people.
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// Where changes come from.
pub(super) enum Source {
    Repository(PathBuf),
    Versions(PathBuf, PathBuf),
}

/// The repositories and the pairs of folders among these paths.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut older: Option<&PathBuf> = None;
    for path in paths {
        if !path.is_dir() {
            bail!("{} is no folder", path.display());
        }
        let is_repository = path.join(".git").exists() || path.join("HEAD").is_file();
        match older.take() {
            None if is_repository => sources.push(Source::Repository(path.clone())),
            None => older = Some(path),
            Some(older) => sources.push(Source::Versions(older.clone(), path.clone())),
        }
    }
    match older {
        Some(path) => bail!("{} is no git repository and has no newer version", path.display()),
        None => Ok(sources),
    }
}

impl Source {
    pub(super) fn name(&self) -> String {
        let last = |path: &Path| {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        match self {
            Self::Repository(path) => last(path),
            Self::Versions(older, newer) => format!("{} to {}", last(older), last(newer)),
        }
    }

    /// Changes of text files, in an order that stays; about as many as give `n_calls` calls.
    pub(super) fn changes(&self, n_calls: usize) -> Result<Vec<Change>> {
        match self {
            Self::Repository(path) => commits(path, n_calls),
            Self::Versions(older, newer) => versions(older, newer),
        }
    }
}

fn commits(repository: &Path, n_calls: usize) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let most = format!("-n{COMMITS_MAX}");
    let hashes = git(repository, &["rev-list", "--no-merges", &most, "HEAD"])?;
    for hash in String::from_utf8_lossy(&hashes).lines() {
        if n_calls < changes.len() {
            break;
        }
        let arguments =
            ["diff-tree", "-r", "--raw", "--no-abbrev", "--diff-filter=M", "--no-commit-id", hash];
        let raw = git(repository, &arguments)?;
        for line in String::from_utf8_lossy(&raw).lines() {
            let Some((meta, path)) = line.split_once('\t') else { continue };
            let ids: Vec<&str> = meta.split(' ').collect();
            let (Some(before), Some(after)) = (ids.get(2), ids.get(3)) else { continue };
            let name = format!("{path} in {}", &hash[..12.min(hash.len())]);
            // A submodule's id names no file.
            let Ok(before) = git(repository, &["cat-file", "blob", before]) else { continue };
            let Ok(after) = git(repository, &["cat-file", "blob", after]) else { continue };
            changes.extend(change(name, before, after));
        }
    }
    Ok(changes)
}

fn git(repository: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "a chore of the project runs git as people do")]
    let mut command = Command::new("git");
    let output = command
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output()
        .context("git has to be installed")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

fn versions(older: &Path, newer: &Path) -> Result<Vec<Change>> {
    let mut paths = BTreeSet::new();
    files(older, Path::new(""), &mut paths)?;
    let mut changes = Vec::new();
    for path in paths {
        let Ok(after) = std::fs::read(newer.join(&path)) else { continue };
        let before = std::fs::read(older.join(&path))?;
        changes.extend(change(path.display().to_string(), before, after));
    }
    Ok(changes)
}

fn files(root: &Path, below: &Path, paths: &mut BTreeSet<PathBuf>) -> Result<()> {
    let folder = root.join(below);
    for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {folder:?}"))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files(root, &path, paths)?;
        } else if entry.file_type()?.is_file() {
            paths.insert(path);
        }
    }
    Ok(())
}

/// Only of text that did change.
fn change(name: String, before: Vec<u8>, after: Vec<u8>) -> Option<Change> {
    let is_odd = |bytes: &Vec<u8>| FILE_BYTES_MAX < bytes.len() || bytes.contains(&0);
    if before == after || is_odd(&before) || is_odd(&after) {
        return None;
    }
    Some(Change {
        name,
        before: String::from_utf8(before).ok()?,
        after: String::from_utf8(after).ok()?,
    })
}
