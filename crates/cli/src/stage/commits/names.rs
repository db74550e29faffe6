//! The names of commits in a folder of git's, read as what they are: files that a run left, of which any may be a
//! pipe, a link or nonsense.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_stage::quoted;
use rustix::fs::OFlags;

/// The longest file of git's that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most commits that are named, and the most entries that are looked at for them.
const NAMES_MAX: usize = 100_000;

/// What names commits in a folder of git's.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By names that git takes: `heads/x`, `tags/x`, `stash/0`, `detached`.
    pub(super) named: BTreeMap<String, String>,
    /// What branches and work trees were at some time, or are by names that git does not take.
    pub(super) logged: BTreeSet<String>,
    n_seen: usize,
}

impl Names {
    /// Reads a folder of git's below that of a stage, or of its base.
    pub(super) fn read(root: &Path, folder: &Path, is_staged: bool) -> Result<Self> {
        let mut names = Self::default();
        let whole = root.join(folder);
        if !is_plain_folder(root, folder) {
            return Ok(names);
        }
        for (part, what) in [
            ("reftable", "its branches in a form that heeler does not read"),
            ("lfs", "contents of git-lfs"),
            ("annex", "contents of git-annex"),
        ] {
            let is_there = whole.join(part).symlink_metadata().is_ok();
            ensure!(!is_there || !is_staged, "{} has {what}", quoted(folder));
        }
        for line in text(&whole.join("packed-refs"))?.unwrap_or_default().lines() {
            if let Some((commit, name)) = line.split_once(" refs/") {
                names.add(Some(name), commit)?;
            }
        }
        names.add_files(&whole.join("refs"), |names, path, text| {
            names.add(path.to_str(), text.trim_end())
        })?;
        if let Some(head) = text(&whole.join("HEAD"))? {
            names.add(Some("detached"), head.trim_end())?;
        }
        for (age, commit) in stashes(&whole)?.into_iter().enumerate() {
            names.add(Some(&format!("stash/{age}")), &commit)?;
        }
        for logs in ["logs", "worktrees"] {
            names.add_files(&whole.join(logs), |names, path, text| {
                // In the folders of work trees there are their own `HEAD` and `logs/HEAD`.
                let is_log = logs == "logs" || path.iter().any(|part| part == "logs");
                match is_log {
                    true => logged(text).try_for_each(|commit| names.add(None, commit)),
                    false => names.add(None, text.trim_end()),
                }
            })?;
        }
        Ok(names)
    }

    /// Adds what the files below a folder say, each told by its path there.
    fn add_files(
        &mut self,
        root: &Path,
        add: impl Fn(&mut Self, &Path, &str) -> Result<()>,
    ) -> Result<()> {
        let mut waiting = vec![PathBuf::new()];
        while let Some(folder) = waiting.pop() {
            if !is_plain_folder(root, &folder) {
                continue;
            }
            for entry in fs::read_dir(root.join(&folder))? {
                let entry = entry?;
                self.count()?;
                let path = folder.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    waiting.push(path);
                } else if let Some(text) = text(&entry.path())? {
                    add(self, &path, &text)?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, name: Option<&str>, commit: &str) -> Result<()> {
        if !is_id(commit) {
            return Ok(());
        }
        self.count()?;
        match name {
            // The list of all stashes has it, too.
            Some("stash") | None => drop(self.logged.insert(commit.to_owned())),
            Some(name) if is_name(name) => {
                self.named.insert(name.to_owned(), commit.to_owned());
            }
            Some(_) => drop(self.logged.insert(commit.to_owned())),
        }
        Ok(())
    }

    fn count(&mut self) -> Result<()> {
        self.n_seen += 1;
        ensure!(
            self.n_seen <= NAMES_MAX,
            "it has more than {NAMES_MAX} branches, tags and the like"
        );
        Ok(())
    }
}

/// What was stashed in a folder of git's, the newest first.
fn stashes(folder: &Path) -> Result<Vec<String>> {
    let text = text(&folder.join("logs/refs/stash"))?.unwrap_or_default();
    let mut stashes: Vec<String> = logged(&text).map(str::to_owned).collect();
    stashes.reverse();
    Ok(stashes)
}

/// The commits of a log, the newest last.
fn logged(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split(' ').nth(1)).filter(|commit| is_id(commit))
}

fn is_id(text: &str) -> bool {
    let is_none = text.bytes().all(|byte| byte == b'0');
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) && !is_none
}

/// Whether git takes a name, and a person can read it: `git check-ref-format`, in ASCII and letters.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let is_plain = |char: char| char.is_alphanumeric() || "/-_.+#@%=,!".contains(char);
    name.chars().all(is_plain) && !name.contains("..") && name.split('/').all(is_part)
}

/// Whether the objects in a folder are plain files: git opens whatever it finds there, pipes too, and
/// follows links and lists of other folders out of the stage.
pub(super) fn check_objects(root: &Path, git: &Path, base: &Path) -> Result<()> {
    let objects = git.join("objects");
    if root.join(&objects).symlink_metadata().is_err() && is_plain_folder(root, git) {
        // An overlay in which none was made has none.
        return Ok(());
    }
    ensure!(is_plain_folder(root, &objects), "{} is no folder", quoted(&objects));
    let mut waiting = vec![objects.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            // By a device of this number an overlay says that something is gone.
            let is_gone = || entry.metadata().is_ok_and(|it| it.rdev() == 0);
            match kind {
                kind if kind.is_dir() => waiting.push(path),
                kind if kind.is_file() => {}
                kind if kind.is_char_device() && is_gone() => {}
                _ => bail!("{} is no file", quoted(&path)),
            }
        }
    }
    for list in ["alternates", "http-alternates"] {
        let list = Path::new("info").join(list);
        let staged = file(&root.join(&objects).join(&list))?;
        if staged.is_some() && staged != file(&base.join("objects").join(&list))? {
            bail!("{} names other repositories", quoted(&objects.join(list)));
        }
    }
    Ok(())
}

/// Whether a path below a folder leads to a folder by folders alone.
pub(super) fn is_plain_folder(root: &Path, path: &Path) -> bool {
    let mut place = root.to_owned();
    let mut parts = path.components();
    let is_folder = |place: &Path| place.symlink_metadata().is_ok_and(|it| it.is_dir());
    is_folder(&place)
        && parts.all(|part| {
            place.push(part);
            matches!(part, Component::Normal(_)) && is_folder(&place)
        })
}

/// A regular file as text, as far as it is some; `None` where there is none.
fn text(path: &Path) -> Result<Option<String>> {
    Ok(file(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A regular file's bytes. A pipe is not waited for, and a link not followed.
pub(super) fn file(path: &Path) -> Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).context("flags of a file")?;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return Ok(None);
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let name = path.file_name().unwrap_or(OsStr::new("a file")).to_string_lossy();
    ensure!(bytes.len() as u64 <= FILE_BYTES_MAX, "{name} has more than {FILE_BYTES_MAX} bytes");
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_takes() {
        for name in ["heads/a-b_c.d/e", "tags/v1.0+x", "heads/f\u{fc}r", "heads/#12", "heads/a@b"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "heads/x;y",
            "heads/$(x)",
            "heads/a b",
            "heads/a..b",
            "heads/.a",
            "heads/main.lock",
            "heads//a",
            "heads/a.",
            "heads/\u{202e}a",
            "heads/a\nb",
            "heads/`a`",
            "",
        ] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
