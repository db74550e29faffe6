//! Opens folders by their real path, and never through a link.
//!
//! Linux has one call for it. Elsewhere, and on kernels without that call, the names are walked one
//! by one.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// How a folder is held: on Linux without any right to it but that of going through it.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder at `path`, an absolute one without links and dots.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    open_below(CWD, path)
}

/// Opens the folder at `path`, which starts at `folder` unless it is absolute.
pub(super) fn open_below(folder: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    match at_once(&folder, path) {
        // No such call, or a filter of calls that knows none of its name.
        Err(Errno::NOSYS | Errno::PERM) => walk(folder, path, Missing::Fails),
        opened => Ok(opened?),
    }
}

/// As [`open`], and makes the folders that are missing.
pub(super) fn make(path: &Path) -> io::Result<OwnedFd> {
    walk(CWD, path, Missing::IsMade)
}

/// Whether a folder that was one just now is a link or a file by now: somebody replaces it.
pub(super) fn is_replaced(error: &io::Error) -> bool {
    let replaced = [Errno::LOOP, Errno::NOTDIR, Errno::AGAIN, Errno::XDEV];
    replaced.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// What becomes of a folder that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fails,
    IsMade,
}

#[cfg(target_os = "linux")]
fn at_once(folder: &impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;

    let mut resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if path.is_relative() {
        resolve |= ResolveFlags::BENEATH;
    }
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    rustix::fs::openat2(folder, path, HELD, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &impl AsFd, _: &Path) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn walk(folder: impl AsFd, path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let start = if path.is_absolute() { Path::new("/") } else { Path::new(".") };
    let mut held = rustix::fs::openat(folder, start, HELD, Mode::empty())?;
    for component in path.components() {
        let name = match component {
            Component::Normal(name) => name,
            Component::RootDir | Component::CurDir => continue,
            Component::ParentDir | Component::Prefix(_) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        };
        let open = || rustix::fs::openat(&held, name, HELD | OFlags::NOFOLLOW, Mode::empty());
        held = match open() {
            Err(Errno::NOENT) if missing == Missing::IsMade => {
                match rustix::fs::mkdirat(&held, name, Mode::from_raw_mode(0o777)) {
                    // Somebody else was faster.
                    Ok(()) | Err(Errno::EXIST) => open()?,
                    Err(error) => return Err(error.into()),
                }
            }
            opened => opened?,
        };
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::expect;

    use super::*;
    use crate::testing::Folder;

    /// Both ways say the same of every path.
    #[test]
    fn no_way_goes_through_a_link() {
        let files = [("a/b/file", ""), ("a/link", "->b"), ("to", "->a"), ("round", "->round")];
        let folder = Folder::new(&files);
        let root = open(&folder.path("")).unwrap();
        let mut said = String::new();
        for path in ["a/b", "", "a/link", "to/b", "to", "round", "a/b/file", "a/none", "a/../a"] {
            let kind = |opened: io::Result<OwnedFd>| match opened {
                Ok(folder) => format!("{} names", fs::read_dir(shown(&folder)).unwrap().count()),
                Err(error) if is_replaced(&error) => "replaced".to_owned(),
                Err(error) => error.kind().to_string(),
            };
            let walked = kind(walk(&root, Path::new(path), Missing::Fails));
            said.push_str(&format!("{path}: {walked}\n"));
            if path != "a/../a" {
                assert_eq!(kind(open_below(&root, Path::new(path))), walked, "{path}");
                assert_eq!(kind(open(&folder.path("").join(path))), walked, "{path}");
            }
        }
        expect![[r#"
            a/b: 1 names
            : 3 names
            a/link: replaced
            to/b: replaced
            to: replaced
            round: replaced
            a/b/file: replaced
            a/none: entity not found
            a/../a: invalid input parameter
        "#]]
        .assert_eq(&said);
    }

    #[test]
    fn folders_are_made_but_not_through_a_link() {
        let folder = Folder::new(&[("a/file", ""), ("to", "->a")]);
        make(&folder.path("a/b/c")).unwrap();
        assert!(folder.path("a/b/c").is_dir());
        assert!(is_replaced(&make(&folder.path("to/d")).unwrap_err()));
        assert!(!folder.path("a/d").exists());
    }

    fn shown(folder: &OwnedFd) -> String {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", folder.as_raw_fd())
    }
}
