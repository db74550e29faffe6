//! A process that dies between any two steps of applying, and who comes after it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::death::dies_after;
use super::*;
use crate::Form;

/// More places than any of these plans passes.
const PLACES_MAX: usize = 1_000;

/// Everything in a folder: modes, and what is in files and links.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&next)).unwrap() {
            let path = next.join(entry.unwrap().file_name());
            let metadata = fs::symlink_metadata(folder.join(&path)).unwrap();
            let text = match () {
                () if metadata.is_dir() => {
                    waiting.push(path.clone());
                    "folder".to_owned()
                }
                () if metadata.is_symlink() => {
                    fs::read_link(folder.join(&path)).unwrap().display().to_string()
                }
                () => fs::read_to_string(folder.join(&path)).unwrap(),
            };
            found.insert(path, format!("{:o} {text}", metadata.permissions().mode()));
        }
    }
    found
}

/// A base, its stages, and a stage with changes of every sort.
fn staged() -> (tempfile::TempDir, PathBuf, PathBuf, Stage) {
    let world = tempfile::tempdir().unwrap();
    let (base, stages) = (world.path().join("base"), world.path().join("stages"));
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["in/changed", "in/gone", "folder/a", "file", "closed/x"] {
        fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
        fs::write(base.join(name), "old").unwrap();
    }
    symlink("old", base.join("link")).unwrap();
    set_mode(&base.join("closed"), 0o555);
    let stage = Stage::begin(&base, &stages, Some(Form::Copy)).unwrap();
    let work = stage.workspace();
    fs::write(work.join("in/changed"), "new").unwrap();
    fs::remove_file(work.join("in/gone")).unwrap();
    fs::remove_dir_all(work.join("folder")).unwrap();
    fs::write(work.join("folder"), "a file now").unwrap();
    fs::remove_file(work.join("file")).unwrap();
    fs::create_dir(work.join("file")).unwrap();
    fs::write(work.join("file/in"), "new").unwrap();
    set_mode(&work.join("file"), 0o500);
    fs::remove_file(work.join("link")).unwrap();
    symlink("new", work.join("link")).unwrap();
    set_mode(&work.join("closed"), 0o755);
    fs::write(work.join("closed/x"), "new").unwrap();
    set_mode(&work.join("closed"), 0o555);
    (world, base, stages, stage)
}

/// Applies all of it.
fn apply(stage: &mut Stage) -> Result<Applied, StageError> {
    let chosen: Vec<_> =
        stage.changes().unwrap().changes.into_iter().map(|change| (change, None)).collect();
    stage.apply(chosen)
}

/// What a base is before, and when all is applied.
fn both() -> (BTreeMap<PathBuf, String>, BTreeMap<PathBuf, String>) {
    let (_world, base, _, mut stage) = staged();
    let before = tree(&base);
    assert_eq!(apply(&mut stage).unwrap().conflicts, []);
    (before, tree(&base))
}

/// Has applying die in each place, and looks what `then` makes of it.
fn die_everywhere(then: impl Fn(&Path, &Path, usize)) {
    let (before, after) = both();
    for places in 0..PLACES_MAX {
        let (_world, base, stages, mut stage) = staged();
        let has_died = dies_after(places, || drop(apply(&mut stage)));
        drop(stage);
        let now = tree(&base);
        // Whatever has its own name is whole.
        for (path, text) in now.iter().filter(|(path, _)| !is_ours(path)) {
            let whole = [before.get(path), after.get(path)];
            let is_open = text.ends_with(" folder");
            assert!(is_open || whole.contains(&Some(text)), "{places}: {} {text}", path.display());
        }
        // What both have is never away, but where a folder and a file trade places.
        for path in ["in/changed", "link", "closed/x"] {
            assert!(now.contains_key(Path::new(path)), "{places}: {path} is away");
        }
        if !has_died {
            assert!(places > 40, "it dies in {places} places only");
            assert_eq!(now, after);
            return;
        }
        then(&base, &stages, places);
        assert!(!tree(&base).keys().any(|path| is_ours(path)), "{places}: something is left");
    }
    panic!("it never comes to its end");
}

fn is_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".heeler"))
}

/// Goes on with what a process left, to its end.
fn go_on(stages: &Path) {
    for recovered in recover(stages).unwrap() {
        assert_eq!(recovered.came_to.unwrap().conflicts, []);
    }
    // One that died before its plan was written has yet to be applied, or is done.
    let id = Stage::list(stages).unwrap().pop().unwrap().id;
    assert!(!stages.join(&id).join("apply").exists(), "bytes are left that nobody needs");
    let mut stage = Stage::open(stages, &id).unwrap();
    assert_eq!(apply(&mut stage).unwrap().conflicts, []);
}

#[test]
fn who_comes_after_a_death_makes_it_whole() {
    let (_, after) = both();
    die_everywhere(|base, stages, places| {
        go_on(stages);
        assert_eq!(tree(base), after, "{places}");
    });
}

#[test]
fn who_comes_after_a_death_may_die_too() {
    let (_, after) = both();
    die_everywhere(|base, stages, places| {
        // Another place each time, until one comes to its end.
        let mut next = places % 5;
        while dies_after(next, || drop(recover(stages))) {
            next += 7;
        }
        go_on(stages);
        assert_eq!(tree(base), after, "{places}");
    });
}

#[test]
fn what_somebody_saves_after_a_death_stays() {
    die_everywhere(|base, stages, places| {
        fs::write(base.join("in/mine"), "mine").unwrap();
        fs::rename(base.join("in/mine"), base.join("in/changed")).unwrap();
        recover(stages).unwrap();
        assert_eq!(fs::read_to_string(base.join("in/changed")).unwrap(), "mine", "{places}");
    });
}

#[test]
fn who_gives_up_after_a_death_leaves_all_whole() {
    let (before, after) = both();
    die_everywhere(|base, stages, places| {
        let id = Stage::list(stages).unwrap().pop().unwrap().id;
        Stage::open(stages, &id).unwrap().discard().unwrap();
        for (path, text) in tree(base) {
            let is_whole = [before.get(&path), after.get(&path)].contains(&Some(&text));
            assert!(is_whole, "{places}: {} {text}", path.display());
        }
    });
}
