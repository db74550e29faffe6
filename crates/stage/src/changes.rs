//! What a stage holds otherwise than its base.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::entry::{Entry, Stamp, metadata_in, place_in};
use crate::gathered::gathered;
use crate::opened::Opened;
use crate::quoted::quoted;
use crate::snapshot::Snapshot;

/// The most changes that are looked at: of so many, each takes up to 1 kB until it is applied.
pub const CHANGES_MAX: usize = 300_000;
/// What is git's own is no text that anybody reviews: what happens in it stays in the stage.
const GIT: &str = ".git";
/// What of it says which commits there are, or keeps what belongs to them.
const NAMES_COMMITS: [&str; 8] =
    ["refs", "packed-refs", "HEAD", "logs", "worktrees", "reftable", "lfs", "annex"];

/// What differs, in order of paths.
#[derive(Debug, Default)]
pub struct Changes {
    /// What can be applied.
    pub changes: Vec<Change>,
    /// How many entries differ in folders of git, which are never applied.
    pub in_git: usize,
    /// Folders of git's in which that differs which names commits: branches, tags, stashes, logs.
    pub committed: BTreeSet<PathBuf>,
    /// What the stage removed or replaced and that stays all the same.
    pub staying: Vec<Staying>,
}

/// What stays, since it is never applied, or holds what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staying {
    /// The path, relative to the base.
    pub path: PathBuf,
    /// Why it stays.
    pub why: Stays,
}

/// Why something stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// A folder that holds git's own files.
    HoldsGit,
    /// A folder that holds a socket, a pipe or a device.
    HoldsSpecial,
    /// A socket, a pipe or a device that the stage removed.
    Special,
    /// One in whose place the stage has something else, which is not applied.
    Replaced,
}

impl fmt::Display for Staying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Stays::HoldsGit => "it holds git's own files",
            Stays::HoldsSpecial => "it holds a socket, pipe or device",
            Stays::Special => "it is a socket, pipe or device",
            Stays::Replaced => {
                "it is a socket, pipe or device, and what the stage has in its place is not applied"
            }
        };
        write!(f, "{} stays: {why}", quoted(&self.path))
    }
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

/// Why it cannot be said what differs.
#[derive(Debug)]
pub(crate) enum Unknown {
    /// More paths differ than this.
    TooMuch(usize),
    Unreadable(io::Error),
}

impl From<io::Error> for Unknown {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuch(most) => write!(f, "more than {most} paths differ"),
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}

/// Collects what differs.
pub(crate) struct Comparison<'a> {
    base: &'a Path,
    /// Whether the base is the folder it was.
    is_base: bool,
    snapshot: &'a Snapshot,
    opened: &'a Opened,
    /// Folders of the base, and whether they are those they were.
    same_folders: BTreeMap<PathBuf, bool>,
    changes_max: usize,
    found: Changes,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(
        base: &'a Path,
        is_base: bool,
        snapshot: &'a Snapshot,
        opened: &'a Opened,
    ) -> Self {
        let (same_folders, found) = (BTreeMap::new(), Changes::default());
        let changes_max = CHANGES_MAX;
        Self { base, is_base, snapshot, opened, same_folders, changes_max, found }
    }

    /// What an overlay's upper folder adds to its base.
    pub(crate) fn of_overlay(mut self, upper: &Path) -> Result<Changes, Unknown> {
        let mut waiting = vec![PathBuf::new()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(upper.join(&folder))? {
                let entry = entry?;
                let path = folder.join(entry.file_name());
                let metadata = entry.metadata()?;
                if metadata.file_type().is_char_device() && metadata.rdev() == 0 {
                    self.gone(&path, |_| true)?;
                    continue;
                }
                self.compare(&path, Some(&entry.path()))?;
                if metadata.is_dir() {
                    if is_opaque(&entry.path()) {
                        let is_absent =
                            |below: &Path| fs::symlink_metadata(upper.join(below)).is_err();
                        self.gone(&path, is_absent)?;
                    }
                    waiting.push(path);
                } else {
                    // A folder may have stood there.
                    self.gone(&path, |below| below != path)?;
                }
            }
        }
        Ok(self.sorted())
    }

    /// What a copy holds otherwise than when it was made.
    pub(crate) fn of_copy(mut self, tree: &Path, copied: &Snapshot) -> Result<Changes, Unknown> {
        let now = Snapshot::take(tree)?;
        let mut compared = BTreeSet::new();
        for path in now.paths().filter(|path| now.get(path) != copied.get(path)) {
            compared.insert(path);
            // As in an overlay, which holds the folders of all that differs.
            if place_in(self.base, path).is_none() {
                let above = path.ancestors().skip(1);
                compared.extend(above.filter(|above| !above.as_os_str().is_empty()));
            }
        }
        for path in compared {
            self.compare(path, Some(&tree.join(path)))?;
        }
        for path in copied.paths().filter(|path| now.get(path).is_none()) {
            self.compare(path, None)?;
        }
        Ok(self.sorted())
    }

    /// The entries of the base at and below a path, of which these are gone.
    fn gone(&mut self, path: &Path, is_gone: impl Fn(&Path) -> bool) -> Result<(), Unknown> {
        let snapshot = self.snapshot;
        snapshot.below(path).filter(|below| is_gone(below)).try_for_each(|b| self.compare(b, None))
    }

    /// Notes what differs at a path of the base, and where the stage has that; nowhere when it is gone.
    fn compare(&mut self, path: &Path, staged: Option<&Path>) -> Result<(), Unknown> {
        let place = place_in(self.base, path);
        let (before, after) = Entry::read_two(place.as_deref(), staged)?;
        let after = self.opened.closed_again(path, after);
        let metadata = place.and_then(|place| fs::symlink_metadata(place).ok());
        let stamp = metadata.map(|metadata| Stamp::of(&metadata));
        if before == after || after == Some(Entry::Special) {
            return Ok(());
        }
        if path.components().any(|part| part.as_os_str() == GIT) {
            self.found.in_git += 1;
            self.found.committed.extend(names_commits(path));
            return Ok(());
        }
        if before == Some(Entry::Special) {
            let why = if after.is_some() { Stays::Replaced } else { Stays::Special };
            self.found.staying.push(Staying { path: path.to_owned(), why });
            return Ok(());
        }
        let is_stale =
            !self.is_base || stamp != self.snapshot.get(path) || !self.is_in_same_folder(path);
        self.found.changes.push(Change { path: path.to_owned(), before, after, is_stale });
        match self.found.changes.len() > self.changes_max {
            true => Err(Unknown::TooMuch(self.changes_max)),
            false => Ok(()),
        }
    }

    /// Whether the folders above a path that the base had are there still. Else somebody moved them, and
    /// what is new in them would make them anew.
    fn is_in_same_folder(&mut self, path: &Path) -> bool {
        let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
            return true;
        };
        if let Some(&is_same) = self.same_folders.get(folder) {
            return is_same;
        }
        let is_there = match self.snapshot.get(folder) {
            Some(stamp) => {
                metadata_in(self.base, folder).is_some_and(|now| Stamp::of(&now).is_of_same(&stamp))
            }
            None => true,
        };
        let is_same = is_there && self.is_in_same_folder(folder);
        self.same_folders.insert(folder.to_owned(), is_same);
        is_same
    }

    fn sorted(mut self) -> Changes {
        self.found.changes.sort_by(|one, other| one.path.cmp(&other.path));
        self.leave_out_passed();
        self.leave_out_staying();
        self.found
    }

    /// Leaves out folders of which the stage changed nothing but what is in them, unless the base has
    /// them no more and something comes into them.
    fn leave_out_passed(&mut self) {
        let mut comes: Option<PathBuf> = None;
        let mut kept = Vec::new();
        for change in std::mem::take(&mut self.found.changes).into_iter().rev() {
            let is_passed = match &change.after {
                Some(Entry::Folder { mode }) => {
                    self.snapshot.get(&change.path).is_some_and(|it| it.is_of_folder(*mode))
                }
                _ => false,
            };
            let is_folder = change.before.as_ref().is_some_and(Entry::is_folder);
            let is_needed = comes.as_ref().is_some_and(|path| path.starts_with(&change.path));
            if is_passed && (is_folder || !is_needed) {
                continue;
            }
            if change.after.is_some() {
                comes = Some(change.path.clone());
            }
            kept.push(change);
        }
        kept.reverse();
        self.found.changes = kept;
    }

    /// Leaves out what would remove a folder in which something is left that is never applied, and what
    /// would come into one that is made where such a thing stays.
    fn leave_out_staying(&mut self) {
        let changes = std::mem::take(&mut self.found.changes);
        let gone: BTreeSet<&Path> =
            gathered(changes.iter().filter(|c| c.after.is_none()).map(|c| c.path.as_path()));
        let is_folder = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_folder);
        let specials: BTreeMap<PathBuf, Stays> =
            gathered(self.found.staying.drain(..).map(|staying| (staying.path, staying.why)));
        let mut staying = BTreeMap::new();
        let mut left_out = BTreeSet::new();
        for change in changes.iter().filter(|c| is_folder(&c.before) && !is_folder(&c.after)) {
            let is_left = |below: &&Path| {
                *below != change.path
                    && !gone.contains(below)
                    && metadata_in(self.base, below).is_some()
            };
            let Some(left) = self.snapshot.below(&change.path).find(is_left) else { continue };
            left_out.insert(change.path.clone());
            let in_git = left.ancestors().filter(|above| above.ends_with(GIT)).last();
            let holder = in_git.unwrap_or(left).parent().unwrap_or(Path::new(""));
            let why = if in_git.is_some() { Stays::HoldsGit } else { Stays::HoldsSpecial };
            staying.insert(holder.to_owned(), why);
        }
        drop(gone);
        let is_in_special =
            |path: &Path| path.ancestors().skip(1).any(|above| specials.contains_key(above));
        self.found.changes = changes;
        self.found
            .changes
            .retain(|change| !left_out.contains(&change.path) && !is_in_special(&change.path));
        // Of what is in a folder that stays, that is enough.
        let is_told = |path: &Path| path.parent().is_some_and(|above| staying.contains_key(above));
        let untold: Vec<_> = specials.into_iter().filter(|(path, _)| !is_told(path)).collect();
        staying.extend(untold);
        self.found.staying = staying.into_iter().map(|(path, why)| Staying { path, why }).collect();
    }
}

/// The folder of git's in which this path names commits, if it does.
fn names_commits(path: &Path) -> Option<PathBuf> {
    let mut folder = PathBuf::new();
    let mut is_gits = false;
    for part in path {
        match part.to_str() {
            Some(part) if is_gits && NAMES_COMMITS.contains(&part) => return Some(folder),
            Some("objects") if is_gits => return None,
            _ => {}
        }
        is_gits |= part == GIT;
        folder.push(part);
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_changes_than_the_most_are_none() {
        let world = tempfile::tempdir().unwrap();
        let (base, tree) = (world.path().join("base"), world.path().join("tree"));
        for folder in [&base, &tree] {
            fs::create_dir(folder).unwrap();
        }
        for name in ["a", "b", "c"] {
            fs::write(tree.join(name), name).unwrap();
        }
        let (snapshot, opened) = (Snapshot::default(), Opened::default());
        let found = |changes_max| {
            let comparison = Comparison::new(&base, true, &snapshot, &opened);
            Comparison { changes_max, ..comparison }.of_overlay(&tree)
        };
        assert_eq!(found(3).unwrap().changes.len(), 3);
        assert_eq!(found(2).unwrap_err().to_string(), "more than 2 paths differ");
    }

    #[test]
    fn a_folder_that_an_overlay_only_passes_differs_where_something_has_to_come_into_it() {
        let world = tempfile::tempdir().unwrap();
        let (base, upper) = (world.path().join("base"), world.path().join("upper"));
        for folder in [&base, &upper] {
            fs::create_dir_all(folder.join("d/in")).unwrap();
        }
        let snapshot = Snapshot::take(&base).unwrap();
        let opened = Opened::default();
        let found = || {
            let found = Comparison::new(&base, true, &snapshot, &opened).of_overlay(&upper);
            let named = |change: Change| change.path.display().to_string();
            found.unwrap().changes.into_iter().map(named).collect::<Vec<_>>()
        };
        fs::remove_dir(base.join("d/in")).unwrap();
        assert_eq!(found(), [""; 0]);
        fs::write(upper.join("d/new"), "new").unwrap();
        assert_eq!(found(), ["d/new"]);
        fs::remove_dir(base.join("d")).unwrap();
        fs::write(base.join("d"), "somebody else's").unwrap();
        assert_eq!(found(), ["d", "d/new"]);
    }

    #[test]
    fn names_of_commits_belong_to_the_folder_of_their_repository() {
        let check = |path: &str, folder: Option<&str>| {
            assert_eq!(names_commits(Path::new(path)), folder.map(PathBuf::from), "{path}");
        };
        check(".git/refs/heads/logs/refs/objects", Some(".git"));
        check(".git/packed-refs", Some(".git"));
        check("refs/.git/HEAD", Some("refs/.git"));
        check("sub/.git/modules/a/b/refs/stash", Some("sub/.git/modules/a/b"));
        check(".git/logs/refs/stash", Some(".git"));
        check(".git/worktrees/x/HEAD", Some(".git"));
        check(".git/lfs/objects/x", Some(".git"));
        check(".git/index", None);
        check(".git/objects/refs", None);
        check("refs/heads/main", None);
    }
}
