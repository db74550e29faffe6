//! What others do to a base, before a stage is applied and while it is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use heeler_stage::{Applied, Conflict, Stage, Why};

use crate::{World, all, write};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_somebody_saves_while_a_stage_is_applied_is_there_afterwards() {
    for round in 0..100_u32 {
        let world = World::new(&[("f", "old\n")]);
        let mut stage = world.begin();
        fs::write(stage.workspace().join("f"), "new\n").unwrap();
        let chosen = all(&stage);
        let (base, mine) = (world.base(), world.base().join("mine"));
        let saving = std::thread::spawn(move || {
            // Somewhere between the first look and the last.
            for _ in 0..round * 20 {
                let _ = fs::metadata(&base);
            }
            fs::write(&mine, "mine\n").unwrap();
            fs::rename(&mine, base.join("f")).unwrap();
        });
        let _ = stage.apply(chosen);
        saving.join().unwrap();
        assert_eq!(text(&world.base().join("f")), "mine\n");
        let left = fs::read_dir(world.base()).unwrap().count();
        assert_eq!(left, 1, "something is left beside it");
    }
}

#[test]
fn a_folder_that_holds_somebodys_own_becomes_no_file_and_the_rest_is_applied() {
    let world = World::new(&[("sub/a", "a\n"), ("z", "old\n")]);
    let mut stage = world.begin();
    fs::remove_dir_all(stage.workspace().join("sub")).unwrap();
    fs::write(stage.workspace().join("sub"), "a file now\n").unwrap();
    fs::write(stage.workspace().join("z"), "new\n").unwrap();
    write(&world.base().join("sub/own"), "own\n");
    let applied = stage.apply(all(&stage)).unwrap();
    let conflict = Conflict { path: "sub".into(), why: Why::HoldsMore };
    assert_eq!(applied, Applied { paths: 2, conflicts: vec![conflict] });
    assert_eq!(text(&world.base().join("sub/own")), "own\n");
    assert_eq!(text(&world.base().join("z")), "new\n");
    assert_eq!(fs::read_dir(world.base()).unwrap().count(), 2);
    drop(stage);
    assert!(heeler_stage::recover(&world.stages()).unwrap().is_empty());
}

#[test]
fn what_was_applied_is_what_the_rest_is_applied_to() {
    let world = World::new(&[("f", "1\n2\n"), ("sub/a", "a\n")]);
    let mut stage = world.begin();
    fs::write(stage.workspace().join("f"), "one\ntwo\n").unwrap();
    fs::write(stage.workspace().join("new"), "new\n").unwrap();
    fs::remove_dir_all(stage.workspace().join("sub")).unwrap();
    write(&world.base().join("sub/own"), "own\n");
    let part = all(&stage).into_iter().map(|(change, _)| {
        let given = change.path.ends_with("f").then(|| b"one\n2\n".to_vec());
        (change, given)
    });
    let applied = stage.apply(part).unwrap();
    assert_eq!(applied.conflicts, [Conflict { path: "sub".into(), why: Why::HoldsMore }]);
    // Later, by another process.
    let id = stage.summary().id.clone();
    drop(stage);
    let mut stage = Stage::open(&world.stages(), &id).unwrap();
    fs::remove_file(world.base().join("sub/own")).unwrap();
    let chosen = all(&stage);
    assert!(chosen.iter().all(|(change, _)| !change.is_stale), "{chosen:?}");
    assert_eq!(stage.apply(chosen).unwrap(), Applied { paths: 2, conflicts: Vec::new() });
    assert_eq!(text(&world.base().join("f")), "one\ntwo\n");
    assert!(!world.base().join("sub").exists());
}

#[test]
fn what_no_change_is_about_is_kept() {
    let world = World::new(&[("f", "old\n"), ("sub/a", "old\n")]);
    let (file, folder) = (world.base().join("f"), world.base().join("sub"));
    if is_root() {
        std::os::unix::fs::chown(&file, Some(1234), Some(1235)).unwrap();
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o4750)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o2775)).unwrap();
    let mut stage = world.begin();
    fs::write(stage.workspace().join("f"), "new\n").unwrap();
    fs::set_permissions(stage.workspace().join("sub"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(stage.workspace().join("sub/made")).unwrap();
    assert_eq!(stage.apply(all(&stage)).unwrap().conflicts, []);
    assert_eq!((text(&file), mode(&file)), ("new\n".to_owned(), 0o4750));
    assert_eq!(mode(&folder), 0o2755);
    if cfg!(target_os = "linux") {
        assert_eq!(mode(&folder.join("made")), 0o2755);
    }
    if is_root() {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::metadata(&file).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (1234, 1235));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn nothing_is_applied_to_another_folder_of_the_same_name() {
    let world = World::new(&[("f", "old\n")]);
    let moved = world.base().with_file_name("moved");
    let mut stage = world.begin();
    fs::write(stage.workspace().join("new"), "new\n").unwrap();
    let chosen = all(&stage);
    fs::rename(world.base(), &moved).unwrap();
    fs::create_dir(world.base()).unwrap();
    let error = stage.apply(chosen.clone()).unwrap_err().to_string();
    assert!(error.contains("another folder, or a link"), "{error}");
    assert_eq!(fs::read_dir(world.base()).unwrap().count(), 0);
    fs::remove_dir(world.base()).unwrap();
    symlink(&moved, world.base()).unwrap();
    let error = stage.apply(chosen.clone()).unwrap_err().to_string();
    assert!(error.contains("another folder, or a link"), "{error}");
    assert_eq!(fs::read_dir(&moved).unwrap().count(), 1);
    fs::remove_file(world.base()).unwrap();
    fs::rename(&moved, world.base()).unwrap();
    assert_eq!(stage.apply(chosen).unwrap().paths, 1);
}
