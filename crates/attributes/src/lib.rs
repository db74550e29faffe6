//! What a file has beside its content, given to the one that takes its place.
//!
//! Who replaces a file makes another one of its name. [`keep`] gives that the owner, the mode, the access
//! list, the labels and what users note on the old one; where it cannot, it gives nobody more than before.
//!
//! Invariant: nothing here opens a file or changes any but the new one.

use std::fs::{File, FileType, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// The most that the names of a file's attributes, or the value of one, can have on Linux.
const BYTES_MAX: usize = 64 * 1024;
/// Who else may do what. With one, the group's bits of the mode are the most that any of them may.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// The one that a folder hands on to what is made in it.
const DEFAULT_LIST: &str = "system.posix_acl_default";
/// What the system lets a process do with it, if it has such labels.
const LABEL: &str = "security.selinux";
/// Before the name of each that users note.
const NOTED: &str = "user.";

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

/// The file whose place a new one takes.
#[derive(Debug, Clone, Copy)]
pub enum Old<'a> {
    /// It is open.
    Open(&'a File),
    /// It cannot be opened, so nobody knows whether it has an access list.
    Closed,
}

/// Gives `new` what the old file has, and this mode, as far as that gives nobody more than before.
///
/// # Errors
/// When the new file does not get its mode.
pub fn keep(old: Old<'_>, owner: Owner, new: &File, mode: u32) -> io::Result<()> {
    // The owner first, while nobody else may do anything with it: what an access list lets the group do
    // is for that group alone. Changing it also clears bits of the mode.
    let now = new.metadata()?;
    keep_owner((now.uid(), now.gid()), (owner.user, owner.group), |user, group| {
        std::os::unix::fs::fchown(new, user, group)
    });
    let now = new.metadata()?;
    let (keeps_user, keeps_group) = (now.uid() == owner.user, now.gid() == owner.group);
    let kept = match old {
        Old::Open(old) => copy(old, new, safe_mode(mode, keeps_user, keeps_group)),
        Old::Closed => Kept::NoAccessList,
    };
    let mode = safe_mode(mode, keeps_user, keeps_group && kept == Kept::All);
    new.set_permissions(Permissions::from_mode(mode))
}

/// The mode of a file whose group, or access list, could not be kept: that of another group is what all
/// others may.
#[must_use]
pub fn without_group(mode: u32) -> u32 {
    mode & !0o2070 | mode & (mode << 3) & 0o070
}

/// Whether what stands at a path says of single users or groups what they may, there or in what is made
/// in it. A link, which says nothing, is not followed.
#[must_use]
pub fn has_list(path: &Path, kind: FileType) -> bool {
    let has = |name| rustix::fs::lgetxattr(path, name, &mut [0_u8; 0][..]).is_ok();
    // Each question takes its time where there are many files.
    !kind.is_symlink() && has(ACCESS_LIST) || kind.is_dir() && has(DEFAULT_LIST)
}

/// What of a file's attributes another has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// All that counts, or as many as the file system takes.
    All,
    /// It has not the access list of the other one: what the group's bits say is not the group's.
    NoAccessList,
}

/// Gives `to` the attributes of `from`, of which the access list lets nobody do more than this mode. What
/// a program may do because it is this file (capabilities) is not for another content.
fn copy(from: &File, to: &File, mode: u32) -> Kept {
    let mut names = vec![0; BYTES_MAX];
    // A file system without attributes has no access lists either.
    let length = rustix::fs::flistxattr(from, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|byte| *byte == 0);
    let mut listed = None;
    for name in names.filter_map(|name| std::str::from_utf8(name).ok()) {
        if !(name == ACCESS_LIST || name == LABEL || name.starts_with(NOTED)) {
            continue;
        }
        let copied = copy_one(from, to, name, mode);
        if name == ACCESS_LIST {
            listed = Some(copied);
        }
    }
    // One that the folder hands on to what is made in it is not the old file's.
    match listed.unwrap_or_else(|| rustix::fs::fremovexattr(to, ACCESS_LIST)) {
        Ok(()) => Kept::All,
        Err(_) if listed.is_none() && !has_access_list(to) => Kept::All,
        Err(_) => Kept::NoAccessList,
    }
}

fn copy_one(from: &File, to: &File, name: &str, mode: u32) -> Result<(), Errno> {
    let mut value = vec![0; BYTES_MAX];
    let length = rustix::fs::fgetxattr(from, name, &mut value[..])?;
    value.truncate(length);
    if name == ACCESS_LIST {
        set_mode(&mut value, mode);
    }
    rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())
}

/// Gives an access list a mode, as the system does when the mode of its file is set. Else anybody might,
/// for a moment, do with the new file what only the old one's mode let them do.
fn set_mode(list: &mut [u8], mode: u32) {
    const HEADER_BYTES: usize = 4;
    const ENTRY_BYTES: usize = 8;
    const OWNER: u16 = 1;
    const GROUP: u16 = 4;
    /// The most that the group, and users and groups of the list, may do.
    const MOST: u16 = 16;
    const ALL_OTHERS: u16 = 32;
    let tag = |entry: &[u8]| u16::from_le_bytes([entry[0], entry[1]]);
    let Some(entries) = list.get_mut(HEADER_BYTES..) else { return };
    let has_most = entries.chunks_exact(ENTRY_BYTES).any(|entry| tag(entry) == MOST);
    for entry in entries.chunks_exact_mut(ENTRY_BYTES) {
        let bits = match tag(entry) {
            OWNER => mode >> 6,
            GROUP if has_most => continue,
            GROUP | MOST => mode >> 3,
            ALL_OTHERS => mode,
            _ => continue,
        };
        entry[2] = (bits & 0o7) as u8;
        entry[3] = 0;
    }
}

fn has_access_list(file: &File) -> bool {
    rustix::fs::fgetxattr(file, ACCESS_LIST, &mut vec![0; BYTES_MAX][..]).is_ok()
}

/// Only root may give files away; anybody else becomes the owner, as with every editor that replaces
/// files, and keeps the group if it is one of theirs.
fn keep_owner(
    (user_now, group_now): (u32, u32),
    (user, group): (u32, u32),
    mut change: impl FnMut(Option<u32>, Option<u32>) -> io::Result<()>,
) {
    if user_now != user && change(Some(user), Some(group)).is_ok() {
        return;
    }
    if group_now != group {
        let _ = change(None, Some(group));
    }
}

/// The mode that gives nobody more than before: what runs as its owner or group does not run as
/// another, and another group may do what all others may.
fn safe_mode(mode: u32, keeps_user: bool, keeps_group: bool) -> u32 {
    let mut mode = mode & 0o7777;
    if !keeps_user {
        mode &= !0o4000;
    }
    if !keeps_group {
        mode = without_group(mode);
    }
    mode
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_kept_where_the_owner_cannot_be() {
        let asked = |now, before, who: &str| {
            let mut asked = Vec::new();
            keep_owner(now, before, |user, group| {
                asked.push((user, group));
                if who == "root" || user.is_none() { Ok(()) } else { Err(Errno::PERM.into()) }
            });
            asked
        };
        assert_eq!(asked((1, 1), (1, 1), "user"), []);
        assert_eq!(asked((0, 0), (1, 2), "root"), [(Some(1), Some(2))]);
        assert_eq!(asked((3, 3), (1, 2), "user"), [(Some(1), Some(2)), (None, Some(2))]);
        assert_eq!(asked((3, 2), (1, 2), "user"), [(Some(1), Some(2))]);
        assert_eq!(asked((1, 1), (1, 2), "user"), [(None, Some(2))]);
    }

    #[test]
    fn nobody_may_more_than_before() {
        for (mode, user, group, expected) in [
            (0o10_6755, true, true, 0o6755),
            (0o6755, false, true, 0o2755),
            (0o6755, true, false, 0o4755),
            (0o664, true, false, 0o644),
            (0o660, true, false, 0o600),
            (0o606, true, false, 0o606),
            (0o770, false, false, 0o700),
        ] {
            assert_eq!(safe_mode(mode, user, group), expected, "{mode:o}");
        }
    }

    /// Version 2 of a list. The tags are the owner, user 1234, the group, the most that any of these two may,
    /// and all others.
    fn list(entries: &[(u16, u16)]) -> Vec<u8> {
        let mut list = 2_u32.to_le_bytes().to_vec();
        for &(tag, may) in entries {
            let id = if tag == 2 { 1234 } else { u32::MAX };
            list.extend([&tag.to_le_bytes()[..], &may.to_le_bytes()].concat());
            list.extend(u32::to_le_bytes(id));
        }
        list
    }

    #[test]
    fn a_list_has_the_mode_of_the_new_file_from_the_first_moment() {
        let check = |before: &[(u16, u16)], mode, after: &[(u16, u16)]| {
            let mut given = list(before);
            set_mode(&mut given, mode);
            assert_eq!(given, list(after), "{mode:o}");
        };
        let named = [(1, 6), (2, 6), (4, 4), (16, 6), (32, 4)];
        check(&named, 0o600, &[(1, 6), (2, 6), (4, 4), (16, 0), (32, 0)]);
        check(&named, 0o2751, &[(1, 7), (2, 6), (4, 4), (16, 5), (32, 1)]);
        check(&[(1, 6), (4, 6), (32, 4)], 0o640, &[(1, 6), (4, 4), (32, 0)]);
        // Nothing that the system takes for a list.
        for broken in [&b""[..], b"abc", b"abcd", b"abcdefg"] {
            let mut given = broken.to_vec();
            set_mode(&mut given, 0o777);
            assert_eq!(given, broken);
        }
    }

    #[test]
    fn a_list_that_the_folder_hands_on_is_not_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let old = File::create_new(folder.path().join("old")).unwrap();
        old.set_permissions(Permissions::from_mode(0o664)).unwrap();
        let list = list(&[(1, 6), (2, 6), (4, 6), (16, 6), (32, 0)]);
        let name = "system.posix_acl_default";
        if rustix::fs::setxattr(folder.path(), name, &list, XattrFlags::empty()).is_err() {
            println!("skipped: needs a file system with access lists");
            return;
        }
        let new = File::create_new(folder.path().join("new")).unwrap();
        assert!(has_access_list(&new));
        let listed = |path: &Path| has_list(path, path.symlink_metadata().unwrap().file_type());
        assert!(listed(folder.path()) && listed(&folder.path().join("new")));
        assert!(!listed(&folder.path().join("old")));
        let (user, group) = (old.metadata().unwrap().uid(), old.metadata().unwrap().gid());
        keep(Old::Open(&old), Owner { user, group }, &new, 0o664).unwrap();
        assert!(!has_access_list(&new));
        assert_eq!(new.metadata().unwrap().mode() & 0o777, 0o664);
        // Nobody knows what is not opened.
        keep(Old::Closed, Owner { user, group }, &new, 0o664).unwrap();
        assert_eq!(new.metadata().unwrap().mode() & 0o777, 0o644);
    }
}
