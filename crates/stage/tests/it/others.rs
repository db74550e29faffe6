//! What others do to a base, before a stage is applied and while it is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use heeler_stage::{Applied, Conflict, Stage, Why};

use crate::{World, all, told, write};

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

/// Whether the bytes are the old ones again nobody can know, so somebody has to say it.
#[test]
fn what_somebody_changed_before_is_changed_for_who_wants_that_and_what_they_change_then_is_not() {
    let world = World::new(&[("f", "old\n"), ("sub/g", "old\n")]);
    let mut stage = world.begin();
    for name in ["f", "sub/g"] {
        fs::write(stage.workspace().join(name), "new\n").unwrap();
        // Another file, however coarse the clock is.
        write(&world.base().join("other"), "old\n");
        fs::rename(world.base().join("other"), world.base().join(name)).unwrap();
    }
    assert!(stage.apply(all(&stage)).is_err());
    let (found, changed) = stage.changes_to_what_is_there().unwrap();
    assert_eq!(changed, ["f", "sub/g"].map(PathBuf::from));
    let chosen: Vec<_> = found.changes.into_iter().map(|change| (change, None)).collect();
    write(&world.base().join("f"), "mine\n");
    assert!(stage.apply(chosen).is_err());
    assert_eq!(text(&world.base().join("f")), "mine\n");
    let (found, changed) = stage.changes_to_what_is_there().unwrap();
    assert_eq!(changed, ["f"].map(PathBuf::from));
    stage.apply(found.changes.into_iter().map(|change| (change, None))).unwrap();
    assert_eq!(text(&world.base().join("f")), "new\n");
    assert_eq!(text(&world.base().join("sub/g")), "new\n");
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

fn make_fifo(path: &Path) {
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

fn staying(stage: &Stage) -> Vec<String> {
    stage.changes().unwrap().staying.iter().map(ToString::to_string).collect()
}

#[test]
fn a_pipe_in_whose_place_the_stage_has_something_else_stays() {
    let world = World::new(&[("z", "old\n")]);
    for name in ["file", "folder"] {
        make_fifo(&world.base().join(name));
    }
    let mut stage = world.begin();
    write(&stage.workspace().join("file"), "a file now\n");
    write(&stage.workspace().join("folder/in/x"), "a folder now\n");
    write(&stage.workspace().join("z"), "new\n");
    let why = "it is a socket, pipe or device, and what the stage has in its place is not applied";
    let expected = ["file", "folder"].map(|name| format!("{name} stays: {why}"));
    assert_eq!(staying(&stage), expected);
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 1, conflicts: Vec::new() });
    for name in ["file", "folder"] {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = fs::symlink_metadata(world.base().join(name)).unwrap().file_type();
        assert!(kind.is_fifo(), "{name}");
    }
}

#[test]
fn a_folder_that_holds_what_is_never_applied_stays_and_the_rest_is_applied() {
    let files =
        ["sub/.git/config", "sub/a", "top/lib/.git/config", "top/b", "pipe/c", "file/.git/x"];
    let world = World::new(&files.map(|name| (name, "old\n")));
    make_fifo(&world.base().join("pipe/fifo"));
    let mut stage = world.begin();
    for folder in ["sub", "top", "pipe", "file"] {
        fs::remove_dir_all(stage.workspace().join(folder)).unwrap();
    }
    fs::write(stage.workspace().join("file"), "a file now\n").unwrap();
    assert_eq!(
        staying(&stage),
        [
            "file stays: it holds git's own files",
            "pipe stays: it holds a socket, pipe or device",
            "sub stays: it holds git's own files",
            "top/lib stays: it holds git's own files",
        ]
    );
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 3, conflicts: Vec::new() });
    let base = world.base();
    for gone in ["sub/a", "top/b", "pipe/c"] {
        assert!(!base.join(gone).exists());
    }
    for stays in ["sub/.git/config", "top/lib/.git/config", "pipe/fifo", "file/.git/x"] {
        assert!(base.join(stays).exists());
    }
    assert_eq!(all(&stage), []);
}

#[test]
fn what_is_new_in_a_folder_does_not_make_it_anew() {
    let world = World::new(&[("dir/in/old", "old\n")]);
    let mut stage = world.begin();
    fs::write(stage.workspace().join("dir/in/new"), "new\n").unwrap();
    let before = all(&stage);
    fs::rename(world.base().join("dir"), world.base().join("moved")).unwrap();
    let error = stage.apply(all(&stage)).unwrap_err().to_string();
    assert!(error.contains("changed since the stage began: dir, dir/in, dir/in/new"), "{error}");
    // Moved after the look, too.
    let changed = Conflict { path: "dir/in/new".into(), why: Why::Changed };
    assert_eq!(stage.apply(before).unwrap().conflicts, [changed]);
    assert!(!world.base().join("dir").exists());
    // Another folder of that name.
    fs::create_dir_all(world.base().join("dir/in")).unwrap();
    assert!(stage.apply(all(&stage)).is_err());
    assert_eq!(fs::read_dir(world.base().join("dir/in")).unwrap().count(), 0);
}

#[test]
fn what_stands_in_the_place_of_a_folder_goes_for_who_wants_that_and_nothing_behind_a_link() {
    let check = |put: fn(&Path), before: &str| {
        let world = World::new(&[("d/one", "old\n"), ("d/three", "old\n")]);
        let mut stage = world.begin();
        write(&stage.workspace().join("d/one"), "new one\n");
        write(&stage.workspace().join("d/in/two"), "two\n");
        let (folder, moved) = (world.base().join("d"), world.base().join("moved"));
        fs::rename(&folder, &moved).unwrap();
        put(&folder);
        assert!(stage.apply(all(&stage)).is_err());
        let (found, changed) = stage.changes_to_what_is_there().unwrap();
        assert_eq!(changed, ["d", "d/in", "d/in/two", "d/one"].map(PathBuf::from));
        let expected =
            [&*format!("d {before} folder"), "d/in - folder", "d/in/two - 644/4", "d/one - 644/8"];
        assert_eq!(told(&found.changes), expected);
        let chosen = found.changes.into_iter().map(|change| (change, None));
        assert_eq!(stage.apply(chosen).unwrap(), Applied { paths: 4, conflicts: Vec::new() });
        assert_eq!(text(&folder.join("one")), "new one\n");
        assert_eq!(text(&folder.join("in/two")), "two\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert_eq!(text(&moved.join("one")), "old\n");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 2);
    };
    check(|place| symlink("moved", place).unwrap(), "->moved");
    check(|place| write(place, "mine\n"), "644/5");
    check(|_| {}, "-");
}
