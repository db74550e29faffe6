//! Folders and files that their owner may not write or read. Root is kept out of nothing, so what these
//! tests prove besides the modes at the end they prove for everybody else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use heeler_stage::Applied;

use crate::{World, all, write};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Opens a tree so that it can be removed.
fn open(folder: &Path) {
    set_mode(folder, 0o755);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            open(&entry.path());
        }
    }
}

#[test]
fn folders_that_nobody_may_write_are_made_changed_and_stay_so() {
    let world =
        World::new(&[("cache/old/a", "old\n"), ("cache/old/b", "old\n"), ("gone/a", "a\n")]);
    let (base, cache) = (world.base(), world.base().join("cache"));
    for folder in ["cache/old", "cache", "gone"] {
        set_mode(&base.join(folder), 0o555);
    }
    let mut stage = world.begin();
    let tree = stage.workspace();
    open(&tree);
    fs::write(tree.join("cache/old/a"), "new\n").unwrap();
    fs::remove_file(tree.join("cache/old/b")).unwrap();
    write(&tree.join("cache/new/deep/c"), "new\n");
    fs::remove_dir_all(tree.join("gone")).unwrap();
    for folder in ["cache/new/deep", "cache/new", "cache/old", "cache"] {
        set_mode(&tree.join(folder), 0o555);
    }
    set_mode(&tree, 0o755);
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 7, conflicts: Vec::new() });
    assert_eq!(fs::read_to_string(cache.join("old/a")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(cache.join("new/deep/c")).unwrap(), "new\n");
    assert!(!cache.join("old/b").exists() && !base.join("gone").exists());
    for folder in ["", "old", "new", "new/deep"] {
        assert_eq!(mode(&cache.join(folder)), 0o555, "{folder}");
    }
    open(&base);
    stage.discard().unwrap();
    assert_eq!(fs::read_dir(world.stages()).unwrap().count(), 0);
}

#[test]
fn what_nobody_may_read_is_compared_and_applied() {
    let world = World::new(&[("f", "old\n"), ("same", "same\n")]);
    let mut stage = world.begin();
    let tree = stage.workspace();
    fs::write(tree.join("f"), "new\n").unwrap();
    write(&tree.join("closed/in/g"), "new\n");
    for (path, mode) in [("f", 0), ("closed/in/g", 0), ("closed/in", 0), ("closed", 0)] {
        set_mode(&tree.join(path), mode);
    }
    let first = stage.changes().unwrap().changes;
    assert_eq!(first.len(), 4);
    // And again, when all is open.
    assert_eq!(stage.changes().unwrap().changes, first);
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 4, conflicts: Vec::new() });
    let base = world.base();
    assert_eq!((mode(&base.join("f")), mode(&base.join("closed"))), (0, 0));
    set_mode(&base.join("closed"), 0o755);
    assert_eq!(mode(&base.join("closed/in")), 0);
    set_mode(&base.join("closed/in"), 0o755);
    assert_eq!(mode(&base.join("closed/in/g")), 0);
    for path in ["f", "closed/in/g"] {
        set_mode(&base.join(path), 0o644);
        assert_eq!(fs::read_to_string(base.join(path)).unwrap(), "new\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_folder_does_not_let_go_is_named() {
    use heeler_stage::Why;
    use rustix::fs::{IFlags, ioctl_setflags};
    let world = World::new(&[("log/a", "a\n"), ("z", "old\n")]);
    let folder = fs::File::open(world.base().join("log")).unwrap();
    let mut stage = world.begin();
    write(&stage.workspace().join("log/a"), "more\n");
    write(&stage.workspace().join("log/made/x"), "new\n");
    write(&stage.workspace().join("z"), "new\n");
    if ioctl_setflags(&folder, IFlags::APPEND).is_err() {
        println!("skipped: needs the right to make a folder that is only added to");
        return;
    }
    let applied = stage.apply(all(&stage));
    // Else nobody could remove it.
    ioctl_setflags(&folder, IFlags::empty()).unwrap();
    let conflicts = applied.unwrap().conflicts;
    let mut left: Vec<String> = fs::read_dir(world.base().join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".heeler-stage-"))
        .collect();
    left.sort();
    assert_eq!(left.len(), 2);
    for (conflict, (path, left)) in conflicts.iter().zip(["log/a", "log/made"].iter().zip(left)) {
        assert_eq!(conflict.path, Path::new(path));
        let Why::Refused(why) = &conflict.why else { panic!("{conflict:?}") };
        assert!(why.contains("not permitted"), "{why}");
        assert!(why.ends_with(&format!("; remove what is left of it: log/{left}")), "{why}");
    }
}
