//! `Glob`: files by the pattern of their path, the newest first.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use heeler_core::{BoxFuture, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool};
use rustix::fs::Stat;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::blocking;
use crate::place::{self, Below, Place};
use crate::walk::{self, Tree, WALK_ENTRIES_MAX};

/// Files that are listed.
pub const GLOB_RESULTS_MAX: usize = 200;

/// The tool.
pub struct Glob {
    description: String,
    entries_max: usize,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobInput {
    /// Such as `src/**/*.{ts,tsx}`.
    pub pattern: String,
    /// Folder to search; default the workspace.
    pub path: Option<String>,
}

impl Default for Glob {
    fn default() -> Self {
        Self {
            description: format!(
                "Finds files whose path matches a glob, newest first, at most \
                 {GLOB_RESULTS_MAX}. `*` stays within one folder, `**` crosses folders. Honors \
                 .gitignore; hidden files only if the pattern names them. Paths are relative to \
                 the workspace."
            ),
            entries_max: WALK_ENTRIES_MAX,
        }
    }
}

impl TypedTool for Glob {
    type Input = GlobInput;

    fn name(&self) -> &str {
        "Glob"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, input: &GlobInput, workspace: &str) -> Facts {
        place::read_facts(workspace, &split(input).0)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GlobInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| self.glob(context, &input))
    }
}

impl Glob {
    fn glob(&self, context: &ToolContext, input: &GlobInput) -> Result<ToolOutput, ToolError> {
        let (folder, pattern) = split(input);
        if pattern.is_empty() {
            return Err(ToolError::for_model(
                "the pattern names no file; end it with `*` or `**` for all files in a folder",
            ));
        }
        let matcher = walk::glob(&pattern)?;
        if pattern.split('/').any(|part| part == "..") {
            return Err(ToolError::for_model(format!(
                "`..` is possible only at the start of a pattern, not in `{pattern}`"
            )));
        }
        let (place, closed) = Place::to_search(context, self.name(), &folder)?;
        if !place.is_folder() {
            return Err(ToolError::for_model(format!("{folder} is not a folder; use Read")));
        }
        let hidden = walk::names_hidden(&pattern);
        let tree = Tree::new(&place, closed, hidden, self.entries_max);
        let failed = |error| ToolError::for_model(format!("cannot search {folder}: {error}"));
        let mut below = Below::new(&place).map_err(failed)?;
        let mut newest = Newest::default();
        let walked = walk::walk(context, &tree, |entry| {
            let inside = entry.path().strip_prefix(&tree.base).unwrap_or(entry.path());
            if matcher.is_match(inside) {
                match below.stat(entry.path()) {
                    Ok(None) => {}
                    Ok(Some(stat)) => newest.push(modified(&stat), entry.path().to_owned()),
                    Err(_) => newest.push(SystemTime::UNIX_EPOCH, entry.path().to_owned()),
                }
            }
            ControlFlow::Continue(())
        })?;
        let mut text = newest.into_text(&context.workspace);
        if text.is_empty() {
            text = no_match(&pattern, &folder, context);
        }
        Ok(ToolOutput::text(text + &walk::notes(&walked, self.entries_max)))
    }
}

/// The folder to search and the rest of the pattern: names without wildcards belong to the
/// folder, so that only what can match is looked at, and permission is asked for no more.
fn split(input: &GlobInput) -> (String, String) {
    let wild = |part: &str| part.contains(['*', '?', '[', '{', '\\']);
    let parts: Vec<&str> = input.pattern.split('/').collect();
    let n_literal =
        parts[..parts.len() - 1].iter().position(|part| wild(part)).unwrap_or(parts.len() - 1);
    let mut prefix = parts[..n_literal].join("/");
    if n_literal == 1 && prefix.is_empty() {
        prefix.push('/');
    }
    let mut folder = PathBuf::from(input.path.as_deref().unwrap_or(""));
    if !prefix.is_empty() {
        folder.push(prefix);
    }
    (folder.display().to_string(), parts[n_literal..].join("/"))
}

fn no_match(pattern: &str, folder: &str, context: &ToolContext) -> String {
    let folder = place::shown(&context.workspace, &place::absolute(&context.workspace, folder));
    let hint = if pattern.contains('/') {
        String::new()
    } else {
        format!(" (`**/{pattern}` looks in the folders below it too)")
    };
    format!("No file matches `{pattern}` in {folder}{hint}\n")
}

fn modified(stat: &Stat) -> SystemTime {
    // Before 1970 all are equally old. A second has fewer nanoseconds than any of these types.
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, stat.st_mtime_nsec as u32)
}

/// The newest files of all that were seen, in bounded memory.
#[derive(Default)]
struct Newest {
    /// The oldest of them on top; of equally old ones the last by path.
    kept: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>>,
    n_seen: usize,
}

impl Newest {
    fn push(&mut self, time: SystemTime, path: PathBuf) {
        self.n_seen += 1;
        self.kept.push(Reverse((time, Reverse(path))));
        if GLOB_RESULTS_MAX < self.kept.len() {
            self.kept.pop();
        }
    }

    fn into_text(self, workspace: &Path) -> String {
        let n_shown = self.kept.len();
        let mut text = String::new();
        // Ascending order of what is reversed puts the newest first.
        for Reverse((_, Reverse(path))) in self.kept.into_sorted_vec() {
            text.push_str(&place::shown(workspace, &path));
            text.push('\n');
        }
        if n_shown < self.n_seen {
            text.push_str(&format!(
                "(the newest {n_shown} of {} files; use a narrower pattern for the others)\n",
                self.n_seen
            ));
        }
        text
    }
}
