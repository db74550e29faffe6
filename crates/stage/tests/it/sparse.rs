//! Files of holes: as long as anybody likes, while they hold next to nothing.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use heeler_stage::Applied;

use crate::{World, all, told};

const LONG: u64 = 16 << 30;

#[test]
fn holes_are_neither_read_nor_written() {
    let world = World::new(&[("short", "old\n"), ("same", "")]);
    let same = |folder: &std::path::Path| File::options().write(true).open(folder.join("same"));
    same(&world.base()).unwrap().set_len(LONG).unwrap();
    let mut stage = world.begin();
    let tree = stage.workspace();
    for name in ["a", "b", "c", "short"] {
        File::create(tree.join(name)).unwrap().set_len(LONG).unwrap();
    }
    same(&tree).unwrap().write_all_at(b"new", LONG / 2).unwrap();
    assert_eq!(
        told(&stage.changes().unwrap().changes),
        [
            "a - 644/17179869184",
            "b - 644/17179869184",
            "c - 644/17179869184",
            "same 644/17179869184 644/17179869184",
            "short 644/4 644/17179869184",
        ]
    );
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 5, conflicts: Vec::new() });
    for name in ["a", "b", "c", "short", "same"] {
        let metadata = fs::metadata(world.base().join(name)).unwrap();
        assert_eq!(metadata.len(), LONG);
        assert!(metadata.blocks() < 1_000, "{name} takes room");
    }
    let mut text = [0; 3];
    File::open(world.base().join("same")).unwrap().read_exact_at(&mut text, LONG / 2).unwrap();
    assert_eq!(&text, b"new");
    assert_eq!(all(&stage), []);
}

#[test]
fn what_cannot_be_written_down_leaves_nothing_beside_the_stage() {
    let world = World::new(&[("a", "old\n"), ("b", "old\n")]);
    let mut stage = world.begin();
    fs::write(stage.workspace().join("a"), "newer\n").unwrap();
    fs::write(stage.workspace().join("b"), "newer\n").unwrap();
    let chosen = all(&stage);
    fs::remove_file(stage.workspace().join("b")).unwrap();
    let error = stage.apply(chosen).unwrap_err().to_string();
    assert!(error.contains("cannot apply to"), "{error}");
    let kept = world.stages().join(&stage.summary().id);
    assert!(!kept.join("apply").exists() && !kept.join("apply.json").exists());
    assert_eq!(fs::read_to_string(world.base().join("a")).unwrap(), "old\n");
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 2, conflicts: Vec::new() });
}
