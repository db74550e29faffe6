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

use heeler_core::{Resource, ShellCommand, ShellLine};
use heeler_shell::Place;

/// Verbs that look at no files of a work tree, once settings keep them from going on in others.
const BLIND: &str = "log show branch tag remote push fetch rev-parse rev-list blame cat-file ls-tree reflog \
    merge-base for-each-ref shortlog clone ls-remote";
/// Verbs that put into the index what lies there, and with it a repository.
const INDEXING: &str = "add stage update-index apply";
/// Verbs that look into those in the index, whatever settings say.
const THOROUGH: &str = "add stage rm describe diff-files diff-index difftool submodule";
/// Verbs that take over a tree, which may name repositories and say by itself that git looks into them.
const BRINGING: &str = "checkout switch merge pull rebase cherry-pick revert am stash reset restore read-tree \
    bisect";
/// Those of them that look afterwards.
const LOOKING_BACK: &str = "checkout switch cherry-pick revert stash";
/// What runs what is behind it, or in it, more than once, or may.
const REPEATING: [&str; 14] = [
    "alias", "eval", "fd", "find", "for", "function", "parallel", "repeat", "select", "trap",
    "until", "watch", "while", "xargs",
];
/// Words of a shell before those.
const LEADING: [&str; 6] = ["!", "do", "else", "then", "time", "elif"];
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

/// Marks a line as one that may run more than it shows, where git looks into such repositories, or would
/// once the line itself has made the index name one.
pub(crate) fn heed_gitlinks(line: &mut ShellLine, place: &Place<'_>) {
    if line.is_open_ended {
        return;
    }
    let commands: Vec<&[String]> = line.commands.iter().filter_map(git_words).collect();
    // Without a box no command is kept in that could prepare such a repository.
    let has_box = place.temp.is_some();
    line.is_open_ended = looks_at_files(line) && has_gitlinks(place.workspace)
        || has_box && names_and_looks(&commands, is_repeated(line));
}

/// Whether git looks at the files of a work tree in a line.
pub(crate) fn looks_at_files(line: &ShellLine) -> bool {
    line.commands.iter().filter_map(git_words).any(looks)
}

/// What orders the calls of a reply around git that looks at files: nothing in the box runs beside it that
/// could make the index name a repository in that moment. What changes nothing waits for nobody.
pub(crate) fn resource(line: &ShellLine, place: &Place<'_>) -> Option<Resource> {
    let key = || format!("repositories:{}", place.workspace);
    let write = looks_at_files(line);
    (place.temp.is_some() && (write || !line.is_read_only)).then(|| Resource { key: key(), write })
}

/// The words of git, from its verb on.
fn git_words(command: &ShellCommand) -> Option<&[String]> {
    let words = if command.plain.is_empty() { &command.words } else { &command.plain };
    words.split_first().filter(|(name, _)| *name == "git").map(|(_, rest)| rest)
}

fn looks(words: &[String]) -> bool {
    !is_one_of(BLIND, words)
}

/// Whether one of these makes the index name a repository, and another looks into it. In which order they
/// run nobody knows: they may stand in a loop. What is repeated has itself before it.
fn names_and_looks(commands: &[&[String]], is_repeated: bool) -> bool {
    let pairs = |from: &str, to: &dyn Fn(&[String]) -> bool| {
        commands.iter().enumerate().any(|(at, words)| {
            let mut others = commands.iter().enumerate();
            is_one_of(from, words)
                && !makes_branch(words)
                && others.any(|(other, words)| (is_repeated || other != at) && to(words))
        })
    };
    let looks_back = |words: &&[String]| is_one_of(LOOKING_BACK, words) && !makes_branch(words);
    commands.iter().any(looks_back)
        || pairs(BRINGING, &looks)
        || pairs(INDEXING, &|words| is_one_of(THOROUGH, words))
}

/// Whether a branch is made of what is checked out already.
fn makes_branch(words: &[String]) -> bool {
    let option = words.get(1).map(String::as_str);
    words.len() == 3 && matches!(option, Some("-b" | "-c" | "--create"))
}

/// Whether some of a line may run more than once: in a loop, or by another program. Lines with functions are
/// open-ended anyway.
fn is_repeated(line: &ShellLine) -> bool {
    let mut parts = line.line.split([';', '&', '|', '\n', '(', '{', '`', '\'', '"']);
    let begins = |part: &str| {
        let mut words = part.split_ascii_whitespace();
        words.find(|word| !LEADING.contains(word)).is_some_and(|word| REPEATING.contains(&word))
    };
    let repeats = |command: &ShellCommand| {
        let name = command.words.first().map_or("", |name| name.rsplit('/').next().unwrap_or(name));
        REPEATING.contains(&name)
    };
    parts.any(begins) || line.commands.iter().any(repeats)
}

fn is_one_of(verbs: &str, words: &[String]) -> bool {
    words.first().is_some_and(|verb| verbs.split_ascii_whitespace().any(|known| known == verb))
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

    fn is_open(text: &str, folder: &Path) -> bool {
        is_open_in(text, &Place { workspace: folder.to_str().unwrap(), home: None, temp: None })
    }

    fn is_open_in(text: &str, place: &Place<'_>) -> bool {
        let mut line = crate::bash::read_line(text, place);
        heed_gitlinks(&mut line, place);
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
            for blind in ["git push", "git log", "git fetch", "ls git", "cargo test"] {
                assert!(!is_open(blind, &below), "{version} {blind}");
            }
            git(root, "update-index --split-index");
            assert!(is_open("git status", root), "{version}");
        }
    }

    #[test]
    fn git_that_looks_at_files_runs_beside_nothing_that_may_change_the_index() {
        let boxed = Place { workspace: "/w", home: None, temp: Some("/tmp/x") };
        let key = |text: &str, place: &Place<'_>| {
            let line = crate::bash::read_line(text, place);
            resource(&line, place).map(|resource| (resource.key, resource.write))
        };
        let of = |write| Some(("repositories:/w".to_owned(), write));
        for looking in ["git status", "cd a && git diff", "git add ."] {
            assert_eq!(key(looking, &boxed), of(true), "{looking}");
        }
        for other in ["cargo test", "git update-index --add x | tee a; git push", "make"] {
            assert!(key(other, &boxed).is_some(), "{other}");
        }
        assert_eq!(key("cargo test", &boxed), of(false));
        assert_eq!(key("ls -l", &boxed), None);
        assert_eq!(key("git status", &Place { temp: None, ..boxed }), None);
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

    #[test]
    fn git_that_may_look_into_what_the_line_itself_adds_is_open_ended() {
        let boxed = Place { workspace: "/nowhere", home: None, temp: Some("/tmp/x") };
        for line in [
            "git add sub && git rm sub",
            "git add sub; git add .",
            "git status; git add sub; git describe --dirty",
            "git update-index --add sub; git diff-files",
            "for n in 1 2; do git add sub; done",
            "bash -c 'while true; do git add sub; done'",
            "yes | xargs git add sub",
            "git merge other && git status",
            "git pull && git diff",
            "git checkout other",
            "git switch other",
            "git stash pop",
        ] {
            assert!(is_open_in(line, &boxed), "{line}");
            let open = Place { temp: None, ..boxed };
            assert!(!is_open_in(line, &open), "{line} without a box");
        }
        for line in [
            "git add a && git commit -m 'look for x' && git push",
            "git add -A && git status",
            "git pull && git push",
            "git merge other",
            "git checkout -b new",
            "git switch -c new && git push",
            "git rm a",
            "git status && git diff",
        ] {
            assert!(!is_open_in(line, &boxed), "{line}");
        }
    }
}
