//! Whether git would look into repositories within the one it works in, whose settings somebody else
//! may have written.
//!
//! `git status` and its like ask each repository that the index names for what differs in it, and that
//! one's settings may name programs. An index is written with a few words in the box, so a rule that
//! lets git out would let out whatever these settings name.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use heeler_core::{ShellCommand, ShellLine};

/// Verbs that look at no files of a work tree.
const BLIND: &str = "log show branch tag remote push rev-parse rev-list blame cat-file ls-tree reflog \
    merge-base for-each-ref shortlog clone ls-remote";
/// The longest index that is read; a longer one counts as one that names a repository.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The longest file in place of a folder `.git`.
const LINK_BYTES_MAX: u64 = 4 * 1024;
/// How many parts an index has, beside itself.
const PARTS_MAX: usize = 16;
/// The mode of a repository in an index.
const MODE: [u8; 4] = [0, 0, 0xe0, 0];
/// From where on modes stand in an index, and how far they are apart at least, where it is aligned.
const MODE_AT: usize = 36;
const STEP: usize = 8;

/// Marks a line as one that may run more than it shows, where git looks into such repositories.
pub(crate) fn heed_gitlinks(line: &mut ShellLine, workspace: &str) {
    if !line.is_open_ended && line.commands.iter().any(looks) && has_gitlinks(workspace) {
        line.is_open_ended = true;
    }
}

fn looks(command: &ShellCommand) -> bool {
    let words = if command.plain.is_empty() { &command.words } else { &command.plain };
    let is_blind = |verb: &String| BLIND.split_ascii_whitespace().any(|known| known == verb);
    words.first().is_some_and(|name| name == "git") && !words.get(1).is_some_and(is_blind)
}

/// Whether the index of the repository around a folder names another one.
fn has_gitlinks(workspace: &str) -> bool {
    let found = Path::new(workspace).ancestors().map(|folder| folder.join(".git"));
    let Some(own) = found.filter_map(|path| folder_of(&path)).next() else { return false };
    // One in two parts is named by the first, and git removes old ones.
    let parts = own.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let is_part = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"sharedindex."))
    };
    let mut indices: Vec<PathBuf> = parts.filter(is_part).take(PARTS_MAX + 1).collect();
    if indices.len() > PARTS_MAX {
        return true;
    }
    indices.push(own.join("index"));
    indices.iter().any(|path| match read(path, INDEX_BYTES_MAX) {
        Some(bytes) => bytes.len() as u64 >= INDEX_BYTES_MAX || names_repository(&bytes),
        None => path.symlink_metadata().is_ok(),
    })
}

/// The folder that `.git` is, or names.
fn folder_of(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let text = read(path, LINK_BYTES_MAX)?;
    let named = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(path.parent()?.join(std::ffi::OsStr::from_bytes(named)))
}

/// The beginning of a file; nothing of what is none, such as a pipe that would never end.
fn read(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether an entry has the mode of a repository. Other numbers hardly ever look like it, and then git
/// stays in the box without need. From the fourth version on, entries may begin anywhere.
fn names_repository(index: &[u8]) -> bool {
    let is_aligned = matches!(index.get(4..8), Some([0, 0, 0, 2 | 3]));
    let step = if is_aligned { STEP } else { 1 };
    let at_modes = index.get(MODE_AT..).unwrap_or_default();
    at_modes.windows(MODE.len()).step_by(step).any(|mode| mode == MODE)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn line(text: &str) -> ShellLine {
        let words = text.split(' ').map(str::to_owned).collect();
        let commands = vec![ShellCommand { words, ..ShellCommand::default() }];
        ShellLine { commands, ..ShellLine::default() }
    }

    fn is_open(text: &str, folder: &Path) -> bool {
        let mut line = line(text);
        heed_gitlinks(&mut line, folder.to_str().unwrap());
        line.is_open_ended
    }

    #[expect(clippy::disallowed_methods, reason = "no agent is there whose launcher it could use")]
    fn git(folder: &Path, words: &str) {
        let run = Command::new("git").args(words.split(' ')).current_dir(folder).output().unwrap();
        assert!(run.status.success(), "{words}: {run:?}");
    }

    #[test]
    fn git_that_looks_at_files_is_open_ended_where_the_index_names_a_repository() {
        for version in ["2", "4"] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            let below = root.join("deep/er");
            std::fs::create_dir_all(&below).unwrap();
            assert!(!is_open("git status", &below));
            git(root, "init -q");
            std::fs::write(root.join("a"), "x".repeat(57344)).unwrap();
            git(root, "add a");
            assert!(!is_open("git status", &below), "{version}");
            let id = "1".repeat(40);
            git(root, &format!("update-index --add --cacheinfo 160000,{id},sub"));
            git(root, &format!("update-index --index-version {version}"));
            for looking in ["git status", "git diff", "git add .", "git", "git describe --dirty"] {
                assert!(is_open(looking, &below), "{version} {looking}");
            }
            for blind in ["git push", "git log", "ls git", "cargo test"] {
                assert!(!is_open(blind, &below), "{version} {blind}");
            }
            git(root, "update-index --split-index");
            assert!(is_open("git status", root), "{version}");
        }
    }

    #[test]
    fn the_index_of_a_linked_work_tree_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, "init -q main");
        std::fs::create_dir(root.join("linked")).unwrap();
        std::fs::write(root.join("linked/.git"), "gitdir: ../main/.git\n").unwrap();
        assert!(!is_open("git status", &root.join("linked")));
        let id = "1".repeat(40);
        git(&root.join("main"), &format!("update-index --add --cacheinfo 160000,{id},sub"));
        assert!(is_open("git status", &root.join("linked")));
    }
}
