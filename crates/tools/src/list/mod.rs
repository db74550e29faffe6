//! `LS`: what a folder holds.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

use globset::GlobSet;
use heeler_core::{BoxFuture, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool};
use rustix::fs::{AtFlags, Dir, FileType};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{blocking, keep_going};
use crate::place::{self, Place};
use crate::text::count_of;
use crate::walk;

/// Entries that are shown.
pub const LIST_ENTRIES_MAX: usize = 1_000;

/// Entries that are looked at, so that a folder of millions costs neither time nor memory.
const SCANNED_ENTRIES_MAX: usize = 100_000;

/// The names of a folder itself and of the one above it, which every folder lists.
const DOTS: usize = 2;

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
        let (place, closed) = Place::to_search(context, self.name(), path)?;
        if !place.is_folder() {
            return Err(ToolError::for_model(format!("{path} is not a folder; use Read")));
        }
        let failed = |error| ToolError::for_model(format!("cannot list {path}: {error}"));
        let folder = Dir::new(place.open().map_err(failed)?).map_err(|e| failed(e.into()))?;
        let (mut names, capped) = self.names(context, path, folder, &ignore)?;
        if names.is_empty() && !capped {
            return Ok(ToolOutput::text("(empty directory)"));
        }
        heeler_core::sort(&mut names);
        let count = count_of(names.len(), "entry", "entries");
        let mut text = format!("{} ({count})\n", place::shown(&context.workspace, place.real()));
        let folder = place.open().map_err(failed)?;
        for name in names.iter().take(LIST_ENTRIES_MAX) {
            keep_going(context)?;
            let is_closed = closed.holds(&place.real().join(name));
            text.push_str(&if is_closed { named("closed", name) } else { line(&folder, name) });
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
        folder: Dir,
        ignore: &[GlobSet],
    ) -> Result<(Vec<OsString>, bool), ToolError> {
        let failed =
            |error: io::Error| ToolError::for_model(format!("cannot list {path}: {error}"));
        let mut names = Vec::new();
        for (index, entry) in folder.enumerate() {
            keep_going(context)?;
            let entry = entry.map_err(|error| failed(error.into()))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if self.scanned_max + DOTS <= index {
                return Ok((names, true));
            }
            if !ignore.iter().any(|glob| glob.is_match(name)) {
                names.push(name.to_owned());
            }
        }
        Ok((names, false))
    }
}

fn line(folder: &File, name: &OsStr) -> String {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    match stat.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_size)) {
        Ok((FileType::Directory, _)) => {
            let mut name = name.to_owned();
            name.push("/");
            named("dir", &name)
        }
        Ok((FileType::Symlink, _)) => {
            let mut name = name.to_owned();
            let target = rustix::fs::readlinkat(folder, &name, Vec::new());
            name.push(" -> ");
            name.push(
                target
                    .map_or_else(|_| "?".into(), |target| OsString::from_vec(target.into_bytes())),
            );
            named("link", &name)
        }
        Ok((FileType::RegularFile, bytes)) => named(&size(u64::try_from(bytes).unwrap_or(0)), name),
        _ => named("other", name),
    }
}

fn named(what: &str, name: &OsStr) -> String {
    format!("{what:>8}  {}\n", name.to_string_lossy())
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
