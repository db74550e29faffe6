//! The commit that named paths would make: the last one with these paths as they are in the work
//! tree now, as a tree in git's own words.
//!
//! It is made in an index of its own, so what others have staged stays as it is, and what is
//! committed later is this tree and not what the files hold by then.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use heeler_core::ToolError;
use rustix::fs::{CWD, Mode, OFlags};
use tempfile::TempDir;

use super::repository::Repository;
use super::run::{Ask, OUTPUT_BYTES_MAX, Ran};
use super::submodules::Submodules;
use crate::guard;
use crate::place;

/// How many files one commit changes.
pub(super) const CHANGES_MAX: usize = 1_000;
/// Bytes of the largest index; one of a million files is about half of this.
const INDEX_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The mode of an entry that is a repository of its own.
pub(super) const REPOSITORY_MODE: &str = "160000";

/// Where the objects of a candidate go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// To a folder of its own: the repository stays as it is.
    Aside,
    /// Into the repository.
    Kept,
}

/// A commit that could be made.
pub(super) struct Candidate {
    /// The commit it comes after; none is the first.
    pub(super) base: Option<String>,
    /// What it is compared with.
    before: String,
    /// All files as they would be.
    pub(super) tree: String,
    /// What differs, by path.
    pub(super) changes: Vec<Change>,
    /// The hash of what differs: modes, contents and paths.
    pub(super) hash: String,
    /// What finds its index and its objects.
    pub(super) variables: Vec<(String, String)>,
    _folder: TempDir,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// `A`, `M`, `D` or `T`, as git has them.
    pub(super) kind: char,
    pub(super) path: String,
    is_repository: bool,
}

impl Candidate {
    /// The commit of these paths after the one that is checked out.
    pub(super) async fn of(
        repository: &Repository<'_>,
        paths: &[String],
        objects: Objects,
    ) -> Result<Self, ToolError> {
        check_not_all(repository, paths)?;
        let base = repository.head().await?;
        let failed = |error| ToolError::for_model(format!("cannot make an index aside: {error}"));
        let folder = repository.git.commands.temporary_folder().map_err(failed)?;
        if base.is_some() {
            copy_index(&repository.index, &folder.path().join("index")).map_err(failed)?;
        }
        let variables = variables(repository, folder.path(), objects).map_err(failed)?;
        let run = async |args: Vec<&str>, paths: &[String], what: &str| -> Result<Ran, ToolError> {
            let ask = Ask { args, paths, variables: &variables, ..Ask::default() };
            repository.run(ask).await?.or_refused(what)
        };
        let before = match &base {
            Some(base) => {
                run(vec!["read-tree", "-i", "-m", base], &[], "read the last commit").await?;
                base.clone()
            }
            None => {
                run(vec!["read-tree", "--empty"], &[], "make an index").await?;
                run(vec!["write-tree"], &[], "write an empty tree").await?.text()
            }
        };
        let submodules = Submodules::within(repository, paths, &variables).await?;
        submodules.set_aside(repository, &variables).await?;
        let rest = submodules.others(repository, paths);
        if !rest.is_empty() {
            run(vec!["add", "--all"], &rest, "take these paths").await?;
        }
        submodules.take(repository, &variables).await?;
        let tree = run(vec!["write-tree"], &[], "write the tree").await?.text();
        let args = ["diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames"];
        let args = args.into_iter().chain([before.as_str(), tree.as_str()]).collect();
        let raw = run(args, &[], "compare the trees").await?;
        if raw.is_cut {
            return Err(too_many(usize::MAX));
        }
        let (changes, hash) = (read_changes(&raw.text()), guard::hash(&raw.output));
        Ok(Self { base, before, tree, changes, hash, variables, _folder: folder })
    }

    /// What differs, for who reviews it.
    pub(super) async fn diff(&self, repository: &Repository<'_>) -> Result<String, ToolError> {
        let args = ["diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color"];
        let args = args.into_iter().chain([self.before.as_str(), self.tree.as_str()]).collect();
        let ask = Ask { args, variables: &self.variables, ..Ask::default() };
        let diff = repository.run(ask).await?.or_refused("show what differs")?;
        if diff.is_cut {
            return Err(ToolError::for_model(format!(
                "what differs is more than {OUTPUT_BYTES_MAX} bytes, which nobody reviews; name \
                 fewer paths"
            )));
        }
        Ok(diff.text())
    }

    /// Refuses what this commit could not hold as it is.
    pub(super) async fn check(&self, repository: &Repository<'_>) -> Result<(), ToolError> {
        if self.changes.len() > CHANGES_MAX {
            return Err(too_many(self.changes.len()));
        }
        if let Some(change) = self.changes.iter().find(|it| it.is_repository && it.kind == 'A') {
            return Err(ToolError::for_model(format!(
                "{} is a repository of its own; name files outside of it, or add it as a \
                 submodule with Bash",
                change.path
            )));
        }
        self.check_filters(repository).await
    }

    /// Refuses files that a filter of the repository's own would have to change first: none of these
    /// runs here.
    async fn check_filters(&self, repository: &Repository<'_>) -> Result<(), ToolError> {
        if repository.filters.is_empty() {
            return Ok(());
        }
        let root = |change: &Change| repository.top.join(&change.path).display().to_string();
        let paths: Vec<String> = self.changes.iter().map(root).collect();
        let args = vec!["check-attr", "-z", "filter"];
        let ask = Ask { args, paths: &paths, ..Ask::default() };
        let found = repository.run(ask).await?.or_refused("tell which filters files have")?.text();
        let parts: Vec<&str> = found.split('\0').collect();
        for part in parts.chunks_exact(3) {
            let [path, _, filter] = part else { continue };
            if repository.filters.iter().any(|own| own == filter) {
                return Err(ToolError::for_model(format!(
                    "{path} passes the filter `{filter}`, a program that this repository's \
                     settings name and that is not run here; commit it with `git commit` in Bash"
                )));
            }
        }
        Ok(())
    }
}

fn too_many(count: usize) -> ToolError {
    let count = if count == usize::MAX { "far more".to_owned() } else { format!("{count} files") };
    ToolError::for_model(format!(
        "{count} differ, and at most {CHANGES_MAX} fit one commit here; name fewer paths"
    ))
}

/// Refuses what stands for everything.
fn check_not_all(repository: &Repository<'_>, paths: &[String]) -> Result<(), ToolError> {
    let workspace = &repository.context.workspace;
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.clone());
    let is_all = |path: &&String| repository.top.starts_with(place::absolute(&workspace, path));
    match paths.iter().find(is_all) {
        Some(path) => Err(ToolError::for_model(format!(
            "`{path}` is the whole work tree, with whatever others are doing in it; name the files \
             and folders that you changed"
        ))),
        None => Ok(()),
    }
}

/// What makes git use the index aside, and the objects too.
fn variables(
    repository: &Repository<'_>,
    folder: &Path,
    objects: Objects,
) -> io::Result<Vec<(String, String)>> {
    let set = |name: &str, value: String| (name.to_owned(), value);
    let mut variables = vec![set("GIT_INDEX_FILE", folder.join("index").display().to_string())];
    if objects == Objects::Aside {
        let aside = folder.join("objects");
        std::fs::create_dir(&aside)?;
        let real = repository.objects.display().to_string();
        let real = real.replace('\\', r"\\").replace('"', "\\\"");
        variables.push(set("GIT_OBJECT_DIRECTORY", aside.display().to_string()));
        variables.push(set("GIT_ALTERNATE_OBJECT_DIRECTORIES", format!("\"{real}\"")));
    }
    Ok(variables)
}

/// Copies the index, which knows of most files that they are unchanged without reading them. It keeps
/// its time: what was written at that very moment is read all the same.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(CWD, from, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // Nothing was ever staged here, or it is no index that could be copied: git says which.
        Err(_) => return Ok(()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let mut copy = File::create_new(to)?;
    let n_bytes = io::copy(&mut file.take(INDEX_BYTES_MAX + 1), &mut copy)?;
    if n_bytes > INDEX_BYTES_MAX {
        return Err(io::Error::other(format!("the index has more than {INDEX_BYTES_MAX} bytes")));
    }
    copy.set_modified(metadata.modified()?)
}

/// Reads `:mode mode id id kind`, zero, path, zero.
fn read_changes(raw: &str) -> Vec<Change> {
    let mut parts = raw.split('\0');
    let mut changes = Vec::new();
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&str> = what.split(' ').collect();
        let kind = words.last().and_then(|word| word.chars().next()).unwrap_or('M');
        let is_repository = words.get(1) == Some(&REPOSITORY_MODE);
        changes.push(Change { kind, path: path.to_owned(), is_repository });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_with_any_path() {
        let raw =
            ":100644 100644 a b M\0a b\n.rs\0:000000 160000 0 c A\0sub\0:100644 000000 a 0 D\0-x\0";
        let changes = read_changes(raw);
        let said: Vec<String> = changes
            .iter()
            .map(|it| format!("{} {:?} {}", it.kind, it.path, it.is_repository))
            .collect();
        assert_eq!(said, [r#"M "a b\n.rs" false"#, r#"A "sub" true"#, r#"D "-x" false"#]);
        assert!(read_changes("").is_empty());
    }
}
