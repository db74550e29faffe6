//! What a stage holds otherwise than its base.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::entry::{Entry, Stamp};
use crate::snapshot::Snapshot;

/// The most changes that are looked at.
const CHANGES_MAX: usize = 100_000;
/// What is git's own is no text that anybody reviews: what happens in it stays in the stage.
const GIT: &str = ".git";

/// What differs, in order of paths.
#[derive(Debug, Default)]
pub struct Changes {
    /// What can be applied.
    pub changes: Vec<Change>,
    /// How many entries differ in folders of git, which are never applied.
    pub in_git: usize,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, relative to the base.
    pub path: PathBuf,
    /// What stands in the base.
    pub before: Option<Entry>,
    /// What stands in the stage.
    pub after: Option<Entry>,
    /// The base is not what it was when the stage began, so this cannot be applied.
    pub is_stale: bool,
}

/// Collects what differs.
struct Comparison<'a> {
    base: &'a Path,
    snapshot: &'a Snapshot,
    found: Changes,
}

/// What an overlay's upper folder adds to its base.
pub(crate) fn of_overlay(base: &Path, snapshot: &Snapshot, upper: &Path) -> io::Result<Changes> {
    let mut comparison = Comparison { base, snapshot, found: Changes::default() };
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(upper.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let metadata = entry.metadata()?;
            if metadata.file_type().is_char_device() && metadata.rdev() == 0 {
                comparison.gone(&path, |_| true)?;
                continue;
            }
            comparison.compare(&path, Entry::read(&entry.path())?)?;
            if metadata.is_dir() {
                if is_opaque(&entry.path()) {
                    let is_absent = |below: &Path| fs::symlink_metadata(upper.join(below)).is_err();
                    comparison.gone(&path, is_absent)?;
                }
                waiting.push(path);
            } else {
                // A folder may have stood there.
                comparison.gone(&path, |below| below != path)?;
            }
        }
    }
    Ok(comparison.sorted())
}

/// What a copy holds otherwise than when it was made.
pub(crate) fn of_copy(
    base: &Path,
    snapshot: &Snapshot,
    tree: &Path,
    copied: &Snapshot,
) -> io::Result<Changes> {
    let mut comparison = Comparison { base, snapshot, found: Changes::default() };
    let now = Snapshot::take(tree)?;
    for path in now.paths().filter(|path| now.get(path) != copied.get(path)) {
        comparison.compare(path, Entry::read(&tree.join(path))?)?;
    }
    for path in copied.paths().filter(|path| now.get(path).is_none()) {
        comparison.compare(path, None)?;
    }
    Ok(comparison.sorted())
}

impl Comparison<'_> {
    /// The entries of the base at and below a path, of which these are gone.
    fn gone(&mut self, path: &Path, is_gone: impl Fn(&Path) -> bool) -> io::Result<()> {
        let snapshot = self.snapshot;
        snapshot.below(path).filter(|below| is_gone(below)).try_for_each(|b| self.compare(b, None))
    }

    fn compare(&mut self, path: &Path, after: Option<Entry>) -> io::Result<()> {
        let place = self.base.join(path);
        let before = Entry::read(&place)?;
        let stamp = match fs::symlink_metadata(&place) {
            Ok(metadata) => Some(Stamp::of(&metadata)),
            Err(_) => None,
        };
        if before == after || after == Some(Entry::Special) {
            return Ok(());
        }
        if path.components().any(|part| part.as_os_str() == GIT) {
            self.found.in_git += 1;
            return Ok(());
        }
        let is_stale = stamp != self.snapshot.get(path);
        self.found.changes.push(Change { path: path.to_owned(), before, after, is_stale });
        match self.found.changes.len() {
            0..=CHANGES_MAX => Ok(()),
            _ => Err(io::Error::other(format!("more than {CHANGES_MAX} paths differ"))),
        }
    }

    fn sorted(mut self) -> Changes {
        self.found.changes.sort_by(|one, other| one.path.cmp(&other.path));
        self.found
    }
}

/// Whether a folder of an overlay hides the one below it.
#[cfg(target_os = "linux")]
fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::lgetxattr(folder, "user.overlay.opaque", &mut value[..]).is_ok_and(|n| n == 1)
        && value == *b"y"
}

#[cfg(not(target_os = "linux"))]
fn is_opaque(_: &Path) -> bool {
    false
}
