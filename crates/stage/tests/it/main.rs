//! Stages of real folders, as copies; overlays are tested through the program, which has one thread.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its files fails")]

mod attributes;
mod closed;
mod others;
mod sparse;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use heeler_stage::{Applied, Change, Form, Stage};
use tempfile::TempDir;

/// A base and a place for stages.
struct World(TempDir);

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir(world.base()).unwrap();
        files.iter().for_each(|(name, text)| write(&world.base().join(name), text));
        world
    }

    fn base(&self) -> PathBuf {
        self.0.path().join("base")
    }

    fn stages(&self) -> PathBuf {
        self.0.path().join("stages")
    }

    fn begin(&self) -> Stage {
        Stage::begin(&self.base(), &self.stages(), Some(Form::Copy)).unwrap()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What differs, as `path before after`.
fn told(changes: &[Change]) -> Vec<String> {
    let kind = |entry: &Option<heeler_stage::Entry>| match entry {
        None => "-".to_owned(),
        Some(heeler_stage::Entry::File { mode, content }) => format!("{mode:o}/{}", content.bytes),
        Some(heeler_stage::Entry::Link { target }) => format!("->{}", target.display()),
        Some(heeler_stage::Entry::Folder { .. }) => "folder".to_owned(),
        Some(heeler_stage::Entry::Special) => "special".to_owned(),
    };
    let told = |change: &Change| {
        let stale = if change.is_stale { " stale" } else { "" };
        let (before, after) = (kind(&change.before), kind(&change.after));
        format!("{} {before} {after}{stale}", change.path.display())
    };
    changes.iter().map(told).collect()
}

/// Everything that differs, as it is.
fn all(stage: &Stage) -> Vec<(Change, Option<Vec<u8>>)> {
    stage.changes().unwrap().changes.into_iter().map(|change| (change, None)).collect()
}

/// Whether two folders hold the same, by `diff`.
fn same(one: &Path, other: &Path) -> bool {
    let list = |folder: &Path| {
        let mut found = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(next) = waiting.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(folder).unwrap().to_owned();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = match () {
                    () if metadata.is_dir() => {
                        waiting.push(path.clone());
                        Vec::new()
                    }
                    () if metadata.is_symlink() => {
                        fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                    }
                    () => fs::read(&path).unwrap(),
                };
                found.push((name, metadata.permissions().mode(), content));
            }
        }
        found.sort();
        found
    };
    list(one) == list(other)
}

/// Changes of every sort.
fn change_all(tree: &Path) {
    fs::write(tree.join("text"), "other\n").unwrap();
    fs::set_permissions(tree.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(tree.join("gone")).unwrap();
    write(&tree.join("new/deep/file"), "new\n");
    fs::create_dir(tree.join("empty")).unwrap();
    fs::remove_dir_all(tree.join("folder")).unwrap();
    fs::write(tree.join("folder"), "a file now\n").unwrap();
    fs::remove_file(tree.join("file")).unwrap();
    write(&tree.join("file/inside"), "a folder now\n");
    fs::remove_file(tree.join("link")).unwrap();
    symlink("elsewhere", tree.join("link")).unwrap();
    fs::remove_dir_all(tree.join("tree")).unwrap();
    symlink("folder", tree.join("tree")).unwrap();
    write(&tree.join(".git/index"), "git's own");
}

fn every_sort() -> World {
    let files = ["text", "tool", "gone", "file", "folder/a", "folder/b/c", "tree/x", "same"];
    let world = World::new(&files.map(|name| (name, "old\n")));
    symlink("text", world.base().join("link")).unwrap();
    world
}

#[test]
fn changes_of_every_sort_are_found_and_applied() {
    let world = every_sort();
    let mut stage = world.begin();
    change_all(&stage.workspace());
    stage.end_work().unwrap();
    let changes = stage.changes().unwrap();
    assert_eq!(changes.in_git, 2);
    assert_eq!(
        told(&changes.changes),
        [
            "empty - folder",
            "file 644/4 folder",
            "file/inside - 644/13",
            "folder folder 644/11",
            "folder/a 644/4 -",
            "folder/b folder -",
            "folder/b/c 644/4 -",
            "gone 644/4 -",
            "link ->text ->elsewhere",
            "new - folder",
            "new/deep - folder",
            "new/deep/file - 644/4",
            "text 644/4 644/6",
            "tool 644/4 755/4",
            "tree folder ->folder",
            "tree/x 644/4 -",
        ]
    );
    let applied = stage.apply(all(&stage)).unwrap();
    assert_eq!(applied, Applied { paths: 16, conflicts: Vec::new() });
    fs::remove_dir_all(stage.workspace().join(".git")).unwrap();
    assert!(same(&world.base(), &stage.workspace()));
    stage.discard().unwrap();
    assert_eq!(fs::read_dir(world.stages()).unwrap().count(), 0);
}

#[test]
fn nothing_is_applied_where_the_base_was_changed_and_what_was_given_is_taken() {
    let world = every_sort();
    let mut stage = world.begin();
    change_all(&stage.workspace());
    stage.end_work().unwrap();
    // The same bytes, written by somebody else.
    fs::write(world.base().join("text"), "old\n").unwrap();
    write(&world.base().join("new/deep/file"), "theirs\n");
    let error = stage.apply(all(&stage)).unwrap_err().to_string();
    assert!(error.starts_with("nothing was applied"), "{error}");
    assert!(error.contains("since the stage began: new/deep/file, text; "), "{error}");
    assert_eq!(fs::read_to_string(world.base().join("gone")).unwrap(), "old\n");
    let sound = all(&stage).into_iter().filter(|(change, _)| change.path == Path::new("tool"));
    let given = sound.map(|(change, _)| (change, Some(b"given".to_vec())));
    assert_eq!(stage.apply(given).unwrap().paths, 1);
    assert_eq!(fs::read_to_string(world.base().join("tool")).unwrap(), "given");
}

#[test]
fn a_stage_in_use_is_nobody_elses_and_one_within_its_base_is_none() {
    let world = World::new(&[("a", "a\n")]);
    let stage = world.begin();
    let id = stage.summary().id.clone();
    let error = Stage::open(&world.stages(), &id).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    drop(stage);
    assert_eq!(Stage::open(&world.stages(), &id).unwrap().changes().unwrap().changes, []);
    assert!(Stage::open(&world.stages(), "stage-none").is_err());
    let inside = world.base().join("stages");
    let error = Stage::begin(&world.base(), &inside, Some(Form::Copy)).unwrap_err().to_string();
    assert!(error.contains("lies in it"), "{error}");
}
