//! Where a repository is, what of its settings has to be switched off, and what it is in the middle
//! of.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use heeler_core::{ToolContext, ToolError};
use rustix::fs::{CWD, Mode, OFlags};

use super::run::{Ask, Git, Ran};
use crate::place;

/// Bytes of a file that names a repository; no path is longer than half of this.
const LINK_BYTES_MAX: u64 = 8 * 1024;
/// Filters of one repository's settings; more is no honest repository.
const FILTERS_MAX: usize = 64;
/// What of a filter's settings runs a program, and what insists on it.
const FILTER_SETTINGS: [&str; 4] = ["clean=", "smudge=", "process=", "required=false"];
/// What git leaves in its folder while work is in the middle, and how it is called. A rebase picks,
/// so it comes first.
const OPERATIONS: [(&str, &str); 5] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];

/// The repository that a call works in.
pub(super) struct Repository<'a> {
    pub(super) git: &'a Git,
    pub(super) context: &'a ToolContext,
    /// Its work tree, by its real path.
    pub(super) top: PathBuf,
    /// Where its objects are.
    pub(super) objects: PathBuf,
    /// The index of its work tree.
    pub(super) index: PathBuf,
    /// What is in the middle.
    pub(super) operation: Option<&'static str>,
    /// The names of filters that its own settings define.
    pub(super) filters: Vec<String>,
    /// What switches these off.
    settings: Vec<String>,
}

impl<'a> Repository<'a> {
    /// Finds the repository that the workspace is in.
    pub(super) async fn open(git: &'a Git, context: &'a ToolContext) -> Result<Self, ToolError> {
        let mut args = vec!["rev-parse", "--show-toplevel", "--absolute-git-dir"];
        args.extend(["--git-path", "objects", "--git-path", "index"]);
        args.extend(OPERATIONS.iter().flat_map(|(name, _)| ["--git-path", name]));
        let found = git.run(context, Ask { args, ..Ask::default() }).await?;
        let found = found.or_refused("find a repository here")?.text();
        let paths: Vec<PathBuf> =
            found.lines().map(|path| place::absolute(&context.workspace, path)).collect();
        let [top, folder, objects, index, marks @ ..] = paths.as_slice() else {
            return Err(ToolError::for_model("git did not tell where the repository is"));
        };
        if marks.len() != OPERATIONS.len() {
            return Err(ToolError::for_model(
                "the path of the repository holds a line end; work on it with Bash",
            ));
        }
        check_tree(&context.workspace, top, folder)?;
        let in_middle =
            marks.iter().zip(OPERATIONS).find(|(mark, _)| mark.symlink_metadata().is_ok());
        let operation = in_middle.map(|(_, (_, called))| called);
        let filters = own_filters(git, context).await?;
        let switched = |name: &String| FILTER_SETTINGS.map(|it| format!("filter.{name}.{it}"));
        let settings = filters.iter().flat_map(switched).collect();
        let (top, objects, index) = (top.clone(), objects.clone(), index.clone());
        Ok(Self { git, context, top, objects, index, operation, filters, settings })
    }

    /// Runs git without the repository's own filters.
    pub(super) async fn run(&self, ask: Ask<'_>) -> Result<Ran, ToolError> {
        let settings = [&self.settings, ask.settings].concat();
        self.git.run(self.context, Ask { settings: &settings, ..ask }).await
    }

    /// The commit that is checked out; `None` before the first.
    pub(super) async fn head(&self) -> Result<Option<String>, ToolError> {
        let args = vec!["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let found = self.run(Ask { args, ..Ask::default() }).await?;
        Ok(found.is_success().then(|| found.text()))
    }
}

/// Refuses a work tree that the repository's settings put elsewhere: then the files that are shown
/// are not those of the folder that the repository was found in, and no rule spoke of them.
fn check_tree(workspace: &Path, top: &Path, folder: &Path) -> Result<(), ToolError> {
    let is_within = match (workspace.canonicalize(), top.canonicalize()) {
        (Ok(workspace), Ok(top)) => workspace.starts_with(top),
        _ => false,
    };
    // Around the workspace, too, another repository may lie: its files are no matter of this one.
    if is_within && leads_to(&top.join(".git"), folder) {
        return Ok(());
    }
    Err(ToolError::for_model(format!(
        "the settings of this repository name {} as its work tree, which is not where it was \
         found; ask the user about core.worktree, or work on it with Bash",
        top.display()
    )))
}

/// Whether what lies in a work tree, a folder or a file that names one, is this repository.
fn leads_to(own: &Path, folder: &Path) -> bool {
    let named = if own.is_dir() { Some(own.to_owned()) } else { named_by(own) };
    let real = |path: &Path| path.canonicalize().ok();
    named.and_then(|named| real(&named)).is_some_and(|named| real(folder) == Some(named))
}

/// The folder that a file named `.git` names, as those of linked work trees and submodules do.
fn named_by(file: &Path) -> Option<PathBuf> {
    // A pipe in its place would never end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::openat(CWD, file, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    opened.take(LINK_BYTES_MAX).read_to_end(&mut text).ok()?;
    let named = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(file.parent()?.join(OsStr::from_bytes(named)))
}

/// The filters that the repository's own settings define; those of the user are the user's.
async fn own_filters(git: &Git, context: &ToolContext) -> Result<Vec<String>, ToolError> {
    let keys = own_settings(git, context, r"^filter\.").await?;
    let name = |key: &String| {
        let (name, _) = key.get("filter.".len()..)?.rsplit_once('.')?;
        Some(name.to_owned())
    };
    let mut names: Vec<String> = keys.iter().filter_map(name).collect();
    heeler_core::sort(&mut names);
    names.dedup();
    if names.len() > FILTERS_MAX || names.iter().any(|name| name.contains('=')) {
        return Err(ToolError::for_model(format!(
            "the settings of this repository define filters that cannot be switched off: more than \
             {FILTERS_MAX}, or one with `=` in its name; ask the user to look at them"
        )));
    }
    Ok(names)
}

/// The names of the settings like this that the repository's own files give.
pub(super) async fn own_settings(
    git: &Git,
    context: &ToolContext,
    pattern: &str,
) -> Result<Vec<String>, ToolError> {
    let args = vec!["config", "--null", "--show-scope", "--name-only", "--get-regexp", pattern];
    let found = git.run(context, Ask { args, ..Ask::default() }).await?;
    if !found.is_success() && !found.errors.trim().is_empty() {
        return Err(ToolError::for_model(found.refusal("read the settings")));
    }
    if found.is_cut {
        return Err(ToolError::for_model(
            "this repository has too many settings to be told what they run; ask the user to look at them",
        ));
    }
    let found = found.text();
    let mut parts = found.split('\0');
    let mut keys = Vec::new();
    while let (Some(scope), Some(key)) = (parts.next(), parts.next()) {
        if !matches!(scope, "system" | "global") {
            keys.push(key.to_owned());
        }
    }
    Ok(keys)
}
