//! What a file has beside its content and its mode stays when a stage is applied.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use heeler_stage::Applied;
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::{World, all};

const ACCESS_LIST: &str = "system.posix_acl_access";

/// The group may read, user 1234 read and write, which the mode shows for the group.
fn list() -> Vec<u8> {
    let none = u32::MAX;
    let entries = [(1_u16, 6_u16, none), (2, 6, 1234), (4, 4, none), (16, 6, none), (32, 4, none)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, may, id) in entries {
        list.extend([&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    list
}

fn value(path: &Path, name: &str) -> Vec<u8> {
    let mut value = vec![0; 256];
    let length = getxattr(path, name, &mut value[..]).unwrap();
    value.truncate(length);
    value
}

#[test]
fn access_lists_and_notes_stay_and_the_group_gets_no_more() {
    let world = World::new(&[("f", "old\n"), ("mode", "old\n")]);
    for name in ["f", "mode"] {
        let path = world.base().join(name);
        let noted = setxattr(&path, "user.note", b"mine", XattrFlags::empty());
        if noted.and(setxattr(&path, ACCESS_LIST, &list(), XattrFlags::empty())).is_err() {
            println!("skipped: needs a file system with access lists");
            return;
        }
    }
    let mut stage = world.begin();
    fs::write(stage.workspace().join("f"), "new\n").unwrap();
    fs::set_permissions(stage.workspace().join("mode"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(stage.apply(all(&stage)).unwrap(), Applied { paths: 2, conflicts: Vec::new() });
    for (name, mode) in [("f", 0o664), ("mode", 0o640)] {
        let path = world.base().join(name);
        assert_eq!(value(&path, "user.note"), b"mine");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
    assert_eq!(value(&world.base().join("f"), ACCESS_LIST), list());
    // What the list lets at most is what the mode shows.
    let mut narrower = list();
    narrower[4 + 3 * 8 + 2] = 4;
    assert_ne!(value(&world.base().join("mode"), ACCESS_LIST), list());
    narrower[4 + 4 * 8 + 2] = 0;
    assert_eq!(value(&world.base().join("mode"), ACCESS_LIST), narrower);
}
