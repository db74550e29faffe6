//! `Write`: makes a text the whole content of a file.

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

const NAME: &str = "Write";

/// The tool.
#[derive(Default)]
pub struct Write {}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInput {
    /// File to write.
    pub file_path: String,
    /// Its whole content.
    pub content: String,
}

impl TypedTool for Write {
    type Input = WriteInput;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Writes a whole file, creating folders as needed. An existing file is replaced, and only \
         if you have read it in this session. To change a part of a file use Edit."
    }

    fn facts(&self, input: &WriteInput, workspace: &str) -> Facts {
        place::write_facts(workspace, &input.file_path)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: WriteInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        let paths = vec![input.file_path.clone()];
        guard::check(context, NAME, paths, move |context| check(context, &input))
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: WriteInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| write(context, &input))
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: WriteInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        atomic::clean_up(context, NAME, vec![input.file_path])
    }
}

/// What a call would write, and where.
struct Change {
    place: Place,
    before: Option<Loaded>,
}

impl Change {
    /// Looks at everything that a call may be refused for.
    fn of(context: &ToolContext, input: &WriteInput) -> Result<Self, ToolError> {
        let (path, content) = (&input.file_path, input.content.as_bytes());
        if guard::FILE_BYTES_MAX < content.len() as u64 {
            return Err(ToolError::for_model(format!(
                "the content has {} bytes; at most {} can be written at once",
                content.len(),
                guard::FILE_BYTES_MAX
            )));
        }
        let place = Place::to_write(context, NAME, path)?;
        let before = guard::load(&place, path)?;
        if let Some(before) = &before {
            guard::check_seen_whole(context, &place, path, &before.bytes)?;
        }
        guard::check_unredacted(path, &[&input.content], before.as_ref())?;
        Ok(Self { place, before })
    }
}

/// Whether a call would be refused.
pub(crate) fn check(context: &ToolContext, input: &WriteInput) -> Result<(), ToolError> {
    Change::of(context, input).map(drop)
}

fn write(context: &ToolContext, input: &WriteInput) -> Result<ToolOutput, ToolError> {
    let (path, content) = (&input.file_path, input.content.as_bytes());
    let Change { mut place, before } = Change::of(context, input)?;
    let lines = count_of(count_lines(content), "line", "lines");
    let said = match &before {
        Some(before) if before.bytes == content => {
            format!("{path} already has exactly this content; nothing was written")
        }
        _ => {
            let metadata = before.as_ref().map(|before| &before.metadata);
            atomic::replace(context, &mut place, path, metadata, content)?;
            let verb = if before.is_some() { "Updated" } else { "Created" };
            format!("{verb} {path} ({lines})")
        }
    };
    Ok(guard::seen(ToolOutput::text(said), &place, &guard::hash(content)))
}
