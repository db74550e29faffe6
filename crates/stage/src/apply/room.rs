//! The room that applying takes: looked for before it is begun.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::plan::clears;
use crate::changes::Change;
use crate::entry::Entry;
use crate::sparse;

/// The room that applying takes, in bytes.
pub(super) struct Needed {
    /// Beside the base, until all is done.
    beside: u64,
    /// More than before, in the base, when it is most: each new file lies beside the old one for a while.
    in_base: u64,
}

impl Needed {
    /// Of what is chosen, in order of paths.
    pub(super) fn of(
        base: &Path,
        chosen: &[(Change, Option<Vec<u8>>)],
        staged: impl Fn(&Path) -> PathBuf,
    ) -> io::Result<Self> {
        let is_file = |entry: &Option<Entry>| matches!(entry, Some(Entry::File { .. }));
        let comes = |change: &Change, given: &Option<Vec<u8>>| match given {
            _ if !is_file(&change.after) => Ok(0),
            Some(given) => Ok(given.len() as u64),
            None => fs::symlink_metadata(staged(&change.path)).map(|file| sparse::room(&file)),
        };
        let goes = |change: &Change| -> io::Result<u64> {
            if !is_file(&change.before) {
                return Ok(0);
            }
            let file = fs::symlink_metadata(base.join(&change.path))?;
            // One that has other names, too, keeps its room.
            Ok(if file.nlink() == 1 { sparse::room(&file) } else { 0 })
        };
        let is_cleared = |change: &Change| clears(&change.before, &change.after);
        let (cleared, others): (Vec<_>, Vec<_>) =
            chosen.iter().partition(|(change, _)| is_cleared(change));
        let (mut beside, mut freed, mut in_base) = (0_u64, 0_u64, 0_u64);
        for (change, _) in &cleared {
            freed += goes(change)?;
        }
        for (change, given) in cleared.into_iter().chain(others) {
            beside += comes(change, given)?;
            in_base = in_base.max(beside.saturating_sub(freed));
            // It lies there until the new one is whole.
            if !is_cleared(change) {
                freed += goes(change)?;
            }
        }
        Ok(Self { beside, in_base })
    }

    /// Whether there is that much: a disk that is filled first helps nobody.
    pub(super) fn check(&self, stage: &Path, base: &Path) -> io::Result<()> {
        let &Self { beside, in_base } = self;
        let is_one = fs::metadata(stage)?.dev() == fs::metadata(base)?.dev();
        let of_both = if is_one { in_base } else { 0 };
        for (folder, needed) in [(stage, beside + of_both), (base, in_base)] {
            let Some(free) = sparse::free(folder).filter(|free| *free < needed) else { continue };
            return Err(io::Error::other(format!(
                "there is no room for it: it takes {} on the disk of {}, where {} are free; make room, or \
                 apply less of it at once",
                shown(needed.next_multiple_of(1_000)),
                folder.display(),
                shown(free),
            )));
        }
        Ok(())
    }
}

/// Bytes in a unit in which they are not nothing.
fn shown(bytes: u64) -> String {
    match bytes {
        0..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_little_is_shown_in_small_units() {
        let all = [4_096, 9_999_999, 10_000_000].map(shown);
        assert_eq!(all, ["4 kB", "9999 kB", "10 MB"]);
    }

    #[test]
    fn the_old_of_a_file_keeps_its_room_until_the_new_one_is_whole() {
        const BLOCK: usize = 4_096;
        let world = tempfile::tempdir().unwrap();
        let (base, tree) = (world.path().join("base"), world.path().join("tree"));
        fs::create_dir(&base).unwrap();
        fs::create_dir(&tree).unwrap();
        let write = |folder: &Path, name: &str, blocks: usize| {
            fs::write(folder.join(name), vec![1; blocks * BLOCK]).unwrap();
        };
        let change = |name: &str| {
            let (before, after) = (base.join(name), tree.join(name));
            let (before, after) = (Entry::read(&before).unwrap(), Entry::read(&after).unwrap());
            (Change { path: name.into(), before, after, is_stale: false }, None)
        };
        for (name, old, new) in [("a", 4, 7), ("b", 4, 7), ("d", 4, 1)] {
            write(&base, name, old);
            write(&tree, name, new);
        }
        write(&base, "c", 1);
        let needed = |names: &[&str]| {
            let chosen: Vec<_> = names.iter().map(|name| change(name)).collect();
            let needed = Needed::of(&base, &chosen, |path| tree.join(path)).unwrap();
            [needed.beside, needed.in_base].map(|bytes| bytes / BLOCK as u64)
        };
        assert_eq!(needed(&["a"]), [7, 7]);
        // The second is written when what the first grew by is taken.
        assert_eq!(needed(&["a", "b"]), [14, 3 + 7]);
        // What is removed goes before.
        assert_eq!(needed(&["a", "b", "c", "d"]), [15, 3 + 7 - 1]);
        // All of it shrinks, and has to be there twice for a moment.
        assert_eq!(needed(&["d"]), [1, 1]);
        fs::hard_link(base.join("c"), base.join("other")).unwrap();
        assert_eq!(needed(&["a", "c"]), [7, 7]);
    }

    #[test]
    fn what_does_not_fit_on_a_disk_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let check =
            |beside, in_base| Needed { beside, in_base }.check(folder.path(), folder.path());
        check(1, 1).unwrap();
        let free = sparse::free(folder.path()).unwrap();
        // On one disk what is beside the base and what is in it need their room together.
        for (beside, in_base) in [(free * 2, 0), (free * 2 / 3, free * 2 / 3)] {
            let error = check(beside, in_base).unwrap_err().to_string();
            assert!(error.starts_with("there is no room for it: it takes "), "{error}");
        }
    }
}
