//! The git folder of a workspace: where its commits go, and what of it decides what git runs.

use std::fs;
use std::path::{Component, Path, PathBuf};

use heeler_core::Reach;

/// What of a git folder decides what git runs, or where it looks for that.
const DECIDES: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "modules"];
/// Keys whose values git runs, or looks for programs in.
const RUN: [&str; 16] = [
    "hookspath",
    "fsmonitor",
    "sshcommand",
    "gitproxy",
    "askpass",
    "editor",
    "pager",
    "external",
    "textconv",
    "command",
    "driver",
    "clean",
    "smudge",
    "process",
    "program",
    "helper",
];
/// The most files of settings that are read, and the longest.
const CONFIGS_MAX: usize = 8;
const CONFIG_BYTES_MAX: u64 = 256 * 1024;
/// The folders of linked work trees; what is in each decides for that work tree.
const WORK_TREES: &str = "worktrees";
/// The most that are looked at.
const WORK_TREES_MAX: usize = 256;

/// Adds to the reach of an agent that works here what it takes to commit, and keeps from commands what
/// decides what git runs.
pub(crate) fn extend(reach: &mut Reach, workspace: &Path) {
    let own = workspace.join(".git");
    if own.is_dir() {
        reach.protected.extend(work_trees(&own));
        reach.protected.extend(programs(&own, workspace));
    } else if own.symlink_metadata().is_ok() {
        // A file says where the folder is, and nobody but a person has that changed.
        reach.protected.push(own);
    }
    let Some(Outside { folder, linked }) = outside(workspace) else { return };
    reach.protected.extend(DECIDES.map(|name| folder.join(name)));
    // A linked work tree is its own root; of a folder of a repository the root is above.
    let root = if linked.is_some() { Some(workspace) } else { folder.parent() };
    reach.protected.extend(root.into_iter().flat_map(|root| programs(&folder, root)));
    reach.protected.extend(work_trees(&folder).filter(|tree| Some(tree) != linked.as_ref()));
    if let Some(linked) = linked {
        let decides = ["commondir", "gitdir", "config.worktree"];
        reach.protected.extend(decides.map(|name| linked.join(name)));
    }
    reach.writable.push(folder);
}

/// A git folder that is not the workspace's own.
#[derive(Debug, PartialEq, Eq)]
struct Outside {
    folder: PathBuf,
    /// What is in it of the workspace, where that is a linked work tree.
    linked: Option<PathBuf>,
}

/// The git folder that a workspace's own commits go to, where it lies elsewhere: in a folder above,
/// or that of the repository whose linked work tree this is.
fn outside(workspace: &Path) -> Option<Outside> {
    let own = workspace.join(".git");
    if own.is_dir() {
        return None;
    }
    if let Ok(text) = fs::read_to_string(&own) {
        let linked = workspace.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
        let common = fs::read_to_string(linked.join("commondir")).ok()?;
        let folder = linked.join(common.trim()).canonicalize().ok()?;
        // Only what the repository itself knows and what points back is ours: the file, and whatever
        // lies in the workspace, may be somebody else's.
        let is_known = linked.parent() == Some(&folder.join(WORK_TREES));
        let back = fs::read_to_string(linked.join("gitdir")).ok()?;
        let back = linked.join(back.trim()).canonicalize().ok()?;
        let is_ours = is_known && back == own.canonicalize().ok()?;
        let is_elsewhere = !folder.starts_with(workspace.canonicalize().ok()?);
        let outside = Outside { folder, linked: Some(linked) };
        return (is_ours && is_elsewhere && is_git_folder(&outside.folder)).then_some(outside);
    }
    let above = workspace.ancestors().skip(1).map(|folder| folder.join(".git"));
    let folder = above.into_iter().find(|folder| is_git_folder(folder))?;
    Some(Outside { folder, linked: None })
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// The folders of the linked work trees.
fn work_trees(git: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = git.join(WORK_TREES).read_dir().into_iter().flatten().flatten();
    entries.take(WORK_TREES_MAX).map(|entry| entry.path())
}

/// What the settings of a repository name of its work tree and git runs, or reads more settings from.
fn programs(git: &Path, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut files = vec![git.join("config"), git.join("config.worktree")];
    let mut n_read = 0;
    while let Some(file) = files.pop().filter(|_| n_read < CONFIGS_MAX) {
        n_read += 1;
        let size = file.metadata().map_or(0, |about| about.len());
        let text = if size <= CONFIG_BYTES_MAX { fs::read_to_string(&file) } else { continue };
        for (section, key, value) in settings(&text.unwrap_or_default()) {
            let is_include = section.starts_with("include") && key == "path";
            if !is_include && !RUN.contains(&&*key) {
                continue;
            }
            let folder = if is_include { file.parent().unwrap_or(git) } else { root };
            for word in value.split(|c: char| c.is_whitespace() || "\"';|&<>()".contains(c)) {
                let place = resolved(&folder.join(word));
                // What git looks into as soon as it is there is kept from coming to be.
                let is_awaited = is_include || key == "hookspath";
                let is_there = is_awaited || place.exists();
                if place == root || !place.starts_with(root) || !is_there {
                    continue;
                }
                if is_include {
                    files.push(place.clone());
                }
                // What stands in `.husky/_` runs what stands beside it.
                let is_wrapper = key == "hookspath" && place.ends_with("_");
                let whole = place.parent().filter(|parent| is_wrapper && *parent != root);
                found.push(whole.unwrap_or(&place).to_owned());
            }
        }
    }
    found
}

/// The settings of a file of git's, as far as they stand on one line: section and key in small letters,
/// and the value.
fn settings(text: &str) -> Vec<(String, String, &str)> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.lines().map(str::trim) {
        let rest = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            Some((name, rest)) => {
                section = name.to_ascii_lowercase();
                rest.trim()
            }
            None => line,
        };
        if let Some((key, value)) = rest.split_once('=') {
            settings.push((section.clone(), key.trim().to_ascii_lowercase(), value.trim()));
        }
    }
    settings
}

/// A path without `.` and `..`, by its letters.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            Component::CurDir => {}
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_name_of_the_work_tree_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (file, text) in [
            (
                ".git/config",
                "[core]\n\thooksPath = .husky/_\n\tfsmonitor = false\n[include]\n\tpath = ../.gitconfig\n\
                 [filter \"a\"] clean = \"sh tools/clean.sh %f\"\n[remote \"o\"]\n\turl = ./other\n\
                 [core] worktree = ..\n[core] editor = vi\n",
            ),
            (
                ".gitconfig",
                "[core]\nsshCommand=./ssh.sh -v\n[includeIf \"x\"]\npath = .gitconfig\n",
            ),
            (".husky/_/h", ""),
            (".husky/pre-commit", ""),
            ("tools/clean.sh", ""),
            ("ssh.sh", ""),
            ("other/x", ""),
        ] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mut found = programs(&root.join(".git"), root);
        found.sort();
        found.dedup();
        let expected = [".gitconfig", ".husky", "ssh.sh", "tools/clean.sh"];
        assert_eq!(found, expected.map(|name| root.join(name)));
    }

    #[test]
    fn what_git_would_look_into_is_protected_before_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join(".git")).unwrap();
        let text =
            "[core]\n\thooksPath = .githooks\n\teditor = ed\n[include]\n\tpath = ../.local\n";
        fs::write(root.join(".git/config"), text).unwrap();
        let found = programs(&root.join(".git"), root);
        assert_eq!(found, [".githooks", ".local"].map(|name| root.join(name)));
    }

    /// Where commits of `workspace` go when not into it, relative to the folder that holds both.
    fn check(files: &[(&str, &str)], workspace: &str, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(workspace)).unwrap();
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.replace("ROOT", root.to_str().unwrap())).unwrap();
        }
        let found = outside(&root.join(workspace)).map(|found| found.folder);
        assert_eq!(found, expected.map(|path| root.join(path)));
    }

    #[test]
    fn a_linked_work_tree_writes_to_the_repository_that_knows_it() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        let linked = [
            ("tree/.git", "gitdir: ROOT/main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
        ];
        let back = [("main/.git/worktrees/tree/gitdir", "ROOT/tree/.git\n")];
        check(&[&repository[..], &linked, &back].concat(), "tree", Some("main/.git"));
        let elsewhere = [("main/.git/worktrees/tree/gitdir", "ROOT/other/.git\n")];
        check(&[&repository[..], &linked, &elsewhere].concat(), "tree", None);
        check(&[&repository[..], &linked].concat(), "tree", None);
    }

    #[test]
    fn a_folder_of_a_repository_writes_to_its_git_folder() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        check(&repository, "main/crates/core", Some("main/.git"));
        check(&repository, "main", None);
        check(&[("main/.git/HEAD", "ref: x")], "main/crates", None);
    }
}
