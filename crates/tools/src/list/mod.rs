//! `LS`: what a folder holds.

#[cfg(test)]
mod tests;

use std::fs::{self, DirEntry};
use std::path::Path;
use std::sync::Arc;

use globset::GlobMatcher;
use heeler_core::{BoxFuture, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{blocking, keep_going};
use crate::text::count_of;
use crate::{place, walk};

/// Entries that are shown.
pub const LIST_ENTRIES_MAX: usize = 1_000;

/// Entries that are looked at, so that a folder of millions costs neither time nor memory.
const SCANNED_ENTRIES_MAX: usize = 100_000;

/// The tool.
pub struct List {
    description: String,
    scanned_max: usize,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Folder to list.
    pub path: String,
    /// Globs of names to leave out.
    pub ignore: Option<Vec<String>>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            description: format!(
                "Lists one folder, hidden and ignored entries included: size (or `dir`, `link`) \
                 and name, sorted by name, at most {LIST_ENTRIES_MAX}."
            ),
            scanned_max: SCANNED_ENTRIES_MAX,
        }
    }
}

impl TypedTool for List {
    type Input = ListInput;

    fn name(&self) -> &str {
        "LS"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, input: &ListInput, workspace: &str) -> Facts {
        place::read_facts(workspace, &input.path)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: ListInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| self.list(context, &input))
    }
}

impl List {
    fn list(&self, context: &ToolContext, input: &ListInput) -> Result<ToolOutput, ToolError> {
        let path = &input.path;
        let ignore = input.ignore.iter().flatten().map(|glob| walk::glob(glob));
        let ignore = ignore.collect::<Result<Vec<_>, _>>()?;
        let real = walk::start(context, path)?;
        if !real.is_dir() {
            return Err(ToolError::for_model(format!("{path} is not a folder; use Read")));
        }
        let (mut names, capped) = self.names(context, path, &real, &ignore)?;
        if names.is_empty() && !capped {
            return Ok(ToolOutput::text("(empty directory)"));
        }
        names.sort_by_key(DirEntry::file_name);
        let count = count_of(names.len(), "entry", "entries");
        let mut text = format!("{} ({count})\n", place::shown(&context.workspace, &real));
        for entry in names.iter().take(LIST_ENTRIES_MAX) {
            keep_going(context)?;
            text.push_str(&line(entry));
        }
        if LIST_ENTRIES_MAX < names.len() {
            let n_left = names.len() - LIST_ENTRIES_MAX;
            text.push_str(&format!("(and {n_left} more; use Glob to find one of them)\n"));
        }
        if capped {
            text.push_str(&format!("(stopped after {} entries)\n", self.scanned_max));
        }
        Ok(ToolOutput::text(text))
    }

    fn names(
        &self,
        context: &ToolContext,
        path: &str,
        real: &Path,
        ignore: &[GlobMatcher],
    ) -> Result<(Vec<DirEntry>, bool), ToolError> {
        let failed = |error| ToolError::for_model(format!("cannot list {path}: {error}"));
        let mut names = Vec::new();
        for (index, entry) in fs::read_dir(real).map_err(failed)?.enumerate() {
            keep_going(context)?;
            if self.scanned_max <= index {
                return Ok((names, true));
            }
            let entry = entry.map_err(failed)?;
            if !ignore.iter().any(|glob| glob.is_match(entry.file_name())) {
                names.push(entry);
            }
        }
        Ok((names, false))
    }
}

fn line(entry: &DirEntry) -> String {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => format!("{:>8}  {name}/\n", "dir"),
        Ok(metadata) if metadata.is_symlink() => {
            format!("{:>8}  {name} -> {}\n", "link", link_target(&entry.path()))
        }
        Ok(metadata) if metadata.is_file() => {
            format!("{:>8}  {name}\n", size(metadata.len()))
        }
        _ => format!("{:>8}  {name}\n", "other"),
    }
}

/// The size of a file for a person; exact below one kilobyte.
fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["K", "M", "G", "T"] {
        if value < 1_024.0 {
            break;
        }
        (value, unit) = (value / 1_024.0, next);
    }
    if unit == "B" { format!("{bytes}B") } else { format!("{value:.1}{unit}") }
}

/// The target of a link, for display.
fn link_target(path: &Path) -> String {
    fs::read_link(path).map_or_else(|_| "?".to_owned(), |target| target.display().to_string())
}
