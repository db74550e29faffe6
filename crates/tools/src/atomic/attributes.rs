//! What a file has beside its mode: access lists, labels, and what users note on it.

use std::fs::File;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// The most that the names of a file's attributes, or the value of one, can have on Linux.
const BYTES_MAX: usize = 64 * 1024;
/// Who else may do what. With one, the group's bits of the mode are the most that any of them may.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// What the system lets a process do with it, if it has such labels.
const LABEL: &str = "security.selinux";
/// Before the name of each that users note.
const NOTED: &str = "user.";

/// What of a file's attributes another has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// All that counts, or as many as the file system takes.
    All,
    /// It has no access list, and the other had one: what the group's bits say is not the group's.
    NoAccessList,
}

/// Gives `to` the attributes of `from`. What a program may do because it is this file (capabilities) is
/// not for another content.
pub(super) fn copy(from: &File, to: &File) -> Kept {
    let mut kept = Kept::All;
    let mut names = vec![0; BYTES_MAX];
    // A file system without attributes has no access lists either.
    let length = rustix::fs::flistxattr(from, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|byte| *byte == 0);
    for name in names.filter_map(|name| std::str::from_utf8(name).ok()) {
        if !(name == ACCESS_LIST || name == LABEL || name.starts_with(NOTED)) {
            continue;
        }
        let copied = copy_one(from, to, name);
        if name == ACCESS_LIST && copied.is_err() {
            kept = Kept::NoAccessList;
        }
    }
    kept
}

fn copy_one(from: &File, to: &File, name: &str) -> Result<(), Errno> {
    let mut value = vec![0; BYTES_MAX];
    let length = rustix::fs::fgetxattr(from, name, &mut value[..])?;
    rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty())
}
