//! `Edit`: replaces one piece of a file, or every occurrence of it.

mod changed;
mod matches;
mod nearest;
mod one;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use heeler_core::{BoxFuture, Facts, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::atomic;
use crate::blocking::blocking;
use crate::guard::{self, Loaded};
use crate::place::{self, Place};
use crate::text::{count_lines, count_of};

pub(crate) use changed::snippet;
pub use matches::EDIT_MATCHES_MAX;
pub(crate) use matches::{apply, size_after};
pub(crate) use nearest::{hint, shown};
pub(crate) use one::{Change, One, change};

const NAME: &str = "Edit";

/// The tool.
#[derive(Default)]
pub struct Edit {}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditInput {
    /// File to change.
    pub file_path: String,
    /// Text to replace, copied from the file.
    pub old_string: String,
    /// Text to put there.
    pub new_string: String,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
}

impl TypedTool for Edit {
    type Input = EditInput;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Replaces text in a file you have read in this session. old_string must occur once, \
         unless replace_all is true, and be the file's text; other indentation or quotes are \
         forgiven where one place can be meant. Leave out the line numbers that Read shows. Line ends and byte order mark are kept. An empty old_string \
         creates a new file."
    }

    fn facts(&self, input: &EditInput, workspace: &str) -> Facts {
        place::write_facts(workspace, &input.file_path)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: EditInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        let paths = vec![input.file_path.clone()];
        guard::check(context, NAME, paths, move |context| check(context, &input))
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: EditInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| edit(context, &input))
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: EditInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        atomic::clean_up(context, NAME, vec![input.file_path])
    }
}

/// What a call would do, and where.
struct Plan {
    place: Place,
    /// Without it the file is made.
    changes: Option<Changes>,
}

/// What becomes of a file that is there.
struct Changes {
    before: Loaded,
    change: Change,
    after: Vec<u8>,
}

impl Plan {
    /// Looks at everything that a call may be refused for.
    fn of(context: &ToolContext, input: &EditInput) -> Result<Self, ToolError> {
        let path = &input.file_path;
        if input.old_string == input.new_string {
            return Err(ToolError::for_model(
                "old_string and new_string are the same, so there is nothing to change",
            ));
        }
        let place = Place::to_write(context, NAME, path)?;
        match guard::load(&place, path)? {
            None if input.old_string.is_empty() => {
                check_size(input.new_string.len())?;
                guard::check_edit(path, "", &input.new_string, b"")?;
                Ok(Self { place, changes: None })
            }
            None => Err(place::missing(&context.workspace, path, &place)),
            Some(_) if input.old_string.is_empty() => Err(ToolError::for_model(format!(
                "{path} exists, and an empty old_string only creates new files; name the text to \
                 replace, or use Write to replace the whole file"
            ))),
            Some(before) => {
                let changes = Changes::of(context, input, &place, before)?;
                Ok(Self { place, changes: Some(changes) })
            }
        }
    }
}

impl Changes {
    fn of(
        context: &ToolContext,
        input: &EditInput,
        place: &Place,
        before: Loaded,
    ) -> Result<Self, ToolError> {
        let path = &input.file_path;
        guard::check_seen(context, place, path, &before.bytes)?;
        guard::check_edit(path, &input.old_string, &input.new_string, &before.bytes)?;
        let one = One {
            old: &input.old_string,
            new: &input.new_string,
            replace_all: input.replace_all.unwrap_or(false),
        };
        let change = change(path, &before.bytes, &one)?;
        check_size(size_after(&before.bytes, &change.replacements))?;
        let after = apply(&before.bytes, &change.replacements);
        if after == before.bytes {
            return Err(ToolError::for_model(format!(
                "the change would leave {path} as it is: Edit keeps the file's own line ends, and \
                 nothing else differs"
            )));
        }
        Ok(Self { before, change, after })
    }
}

/// Whether a call would be refused.
pub(crate) fn check(context: &ToolContext, input: &EditInput) -> Result<(), ToolError> {
    Plan::of(context, input).map(drop)
}

fn edit(context: &ToolContext, input: &EditInput) -> Result<ToolOutput, ToolError> {
    let path = &input.file_path;
    let Plan { mut place, changes } = Plan::of(context, input)?;
    let Some(Changes { before, change, after }) = changes else {
        let content = input.new_string.as_bytes();
        atomic::replace(context, &mut place, path, None, content)?;
        let lines = count_of(count_lines(content), "line", "lines");
        let output = ToolOutput::text(format!("Created {path} ({lines})"));
        return Ok(guard::seen(output, &place, &guard::hash(content)));
    };
    let Change { replacements, note } = change;
    atomic::replace(context, &mut place, path, Some(&before), &after)?;
    let times = match replacements.len() {
        n if input.replace_all == Some(true) && n > 1 => format!(" in {n} places"),
        _ => String::new(),
    };
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    let parted = before.parted();
    let snippet = snippet(&before.bytes, &replacements);
    let output = ToolOutput::text(format!("Edited {path}{times}{note}{parted}:\n{snippet}"));
    Ok(guard::seen_changed(context, output, &place, &after))
}

pub(crate) fn check_size(n_bytes: usize) -> Result<(), ToolError> {
    if guard::FILE_BYTES_MAX < n_bytes as u64 {
        return Err(ToolError::for_model(format!(
            "the file would have {n_bytes} bytes; at most {} are possible",
            guard::FILE_BYTES_MAX
        )));
    }
    Ok(())
}
