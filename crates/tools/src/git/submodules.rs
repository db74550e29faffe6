//! Submodules among the paths of a commit: which commit of each is checked out, and nothing else.
//!
//! `git add` looks whether files in a submodule differ, by the settings of that one, which may name
//! programs as those of the repository around may. So it is not let near one: the index aside is told
//! not to look there, and what is checked out is written into it.

use std::path::Path;

use heeler_core::ToolError;

use super::candidate::REPOSITORY_MODE;
use super::repository::Repository;
use super::run::Ask;
use crate::place;

/// How many submodules the paths of one commit hold.
const SUBMODULES_MAX: usize = 100;

/// The submodules among some paths, as the index has them.
pub(super) struct Submodules {
    /// Their paths from the root of the work tree.
    paths: Vec<String>,
}

impl Submodules {
    /// Those that the index with these variables has among these paths.
    pub(super) async fn within(
        repository: &Repository<'_>,
        paths: &[String],
        variables: &[(String, String)],
    ) -> Result<Self, ToolError> {
        let args = vec!["ls-files", "-z", "--stage", "--full-name"];
        let ran = repository.run(Ask { args, paths, variables, ..Ask::default() }).await?;
        let ran = ran.or_refused("take these paths")?;
        // Where a file is by now, that is what `git add` takes.
        let is_file = |path: &String| {
            let found = repository.top.join(path).symlink_metadata();
            found.is_ok_and(|found| !found.is_dir())
        };
        let mut paths: Vec<String> = read(&ran.text());
        paths.retain(|path| !is_file(path));
        if ran.is_cut || paths.len() > SUBMODULES_MAX {
            return Err(ToolError::for_model(format!(
                "these paths hold too many files to look for submodules among them, or more than \
                 {SUBMODULES_MAX} of these; name fewer paths"
            )));
        }
        Ok(Self { paths })
    }

    /// Makes the index look at none of them.
    pub(super) async fn set_aside(
        &self,
        repository: &Repository<'_>,
        variables: &[(String, String)],
    ) -> Result<(), ToolError> {
        let there: Vec<String> =
            self.paths.iter().map(|path| self.real(repository, path)).collect();
        if there.is_empty() {
            return Ok(());
        }
        let args = vec!["update-index", "--skip-worktree"];
        let ran = repository.run(Ask { args, paths: &there, variables, ..Ask::default() }).await?;
        ran.or_refused("set submodules aside").map(drop)
    }

    /// The paths that are none of them: those are all that `git add` is told.
    pub(super) fn others(&self, repository: &Repository<'_>, paths: &[String]) -> Vec<String> {
        let workspace = &repository.context.workspace;
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.clone());
        let is_one = |path: &String| {
            let path = place::absolute(&workspace, path);
            self.paths.iter().any(|own| repository.top.join(own) == path)
        };
        paths.iter().filter(|path| !is_one(path)).cloned().collect()
    }

    /// Writes what is checked out of each into the index.
    pub(super) async fn take(
        &self,
        repository: &Repository<'_>,
        variables: &[(String, String)],
    ) -> Result<(), ToolError> {
        for path in &self.paths {
            let real = self.real(repository, path);
            let entry;
            let args = if Path::new(&real).join(".git").symlink_metadata().is_ok() {
                let head = vec!["-C", &real, "rev-parse", "--verify", "HEAD^{commit}"];
                let head = repository.run(Ask { args: head, ..Ask::default() }).await?;
                let what = format!("tell which commit of the submodule {path} is checked out");
                entry = format!("{REPOSITORY_MODE},{},{path}", head.or_refused(&what)?.text());
                vec!["update-index", "--cacheinfo", &entry]
            } else if Path::new(&real).symlink_metadata().is_ok() {
                // Nothing of it is checked out, so nothing of it has changed.
                continue;
            } else {
                vec!["update-index", "--force-remove", "--", &real]
            };
            let ran = repository.run(Ask { args, variables, ..Ask::default() }).await?;
            ran.or_refused("take a submodule as it is checked out")?;
        }
        Ok(())
    }

    fn real(&self, repository: &Repository<'_>, path: &str) -> String {
        repository.top.join(path).display().to_string()
    }
}

/// Reads `mode id stage`, tab, path, zero.
fn read(listed: &str) -> Vec<String> {
    let entries = listed.split('\0').filter_map(|entry| entry.split_once('\t'));
    let own = entries.filter(|(what, _)| what.starts_with(REPOSITORY_MODE));
    let mut paths: Vec<String> = own.map(|(_, path)| path.to_owned()).collect();
    // In the middle of a merge one stands there several times.
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_told_from_files() {
        let listed =
            "100644 a 0\ta\x00160000 b 0\tdeep/sub\x00160000 b 1\tx y\x00160000 c 2\tx y\0";
        assert_eq!(read(listed), ["deep/sub", "x y"]);
        assert!(read("").is_empty());
    }
}
