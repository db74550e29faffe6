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
    after: Vec<u8>,
    /// What `after` has that the model did not write.
    note: &'static str,
}

impl Change {
    /// Looks at everything that a call may be refused for.
    fn of(context: &ToolContext, input: &WriteInput) -> Result<Self, ToolError> {
        let (path, content) = (&input.file_path, &input.content);
        if guard::FILE_BYTES_MAX < content.len() as u64 {
            return Err(ToolError::for_model(format!(
                "the content has {} bytes; at most {} can be written at once",
                content.len(),
                guard::FILE_BYTES_MAX
            )));
        }
        let place = Place::to_write(context, NAME, path)?;
        let before = guard::load(&place, path)?;
        let bytes = before.as_ref().map_or(&b""[..], |it| &it.bytes);
        // First, since it says more of why the file was not seen as it is.
        guard::check_notes(path, content, bytes, bytes)?;
        if before.is_some() {
            guard::check_seen_whole(context, &place, path, bytes)?;
        }
        let (after, note) = as_before(content, bytes);
        Ok(Self { place, before, after, note })
    }
}

/// The content with the byte order mark and the line ends of the one before, which Read does not
/// show, and what is said of that.
fn as_before(content: &str, before: &[u8]) -> (Vec<u8>, &'static str) {
    const MARK: &str = "\u{feff}";
    let is_marked = before.starts_with(MARK.as_bytes()) && !content.starts_with(MARK);
    let n_ends = memchr::memchr_iter(b'\n', before).count();
    let n_returns = memchr::memmem::find_iter(before, b"\r\n").count();
    let has_returns =
        0 < n_ends && n_ends == n_returns && content.contains('\n') && !content.contains('\r');
    let mut after = if is_marked { MARK.to_owned() } else { String::new() };
    match has_returns {
        true => after.push_str(&content.replace('\n', "\r\n")),
        false => after.push_str(content),
    }
    let note = match (is_marked, has_returns) {
        (true, true) => "; byte order mark and CRLF line ends kept",
        (true, false) => "; byte order mark kept",
        (false, true) => "; CRLF line ends kept",
        (false, false) => "",
    };
    (after.into_bytes(), note)
}

/// Whether a call would be refused.
pub(crate) fn check(context: &ToolContext, input: &WriteInput) -> Result<(), ToolError> {
    Change::of(context, input).map(drop)
}

fn write(context: &ToolContext, input: &WriteInput) -> Result<ToolOutput, ToolError> {
    let path = &input.file_path;
    let Change { mut place, before, after, note } = Change::of(context, input)?;
    let lines = count_of(count_lines(&after), "line", "lines");
    let said = match &before {
        Some(before) if before.bytes == after => {
            format!("{path} already has exactly this content; nothing was written")
        }
        _ => {
            atomic::replace(context, &mut place, path, before.as_ref(), &after)?;
            let verb = if before.is_some() { "Updated" } else { "Created" };
            let parted = before.as_ref().map_or("", Loaded::parted);
            format!("{verb} {path} ({lines}{note}){parted}")
        }
    };
    Ok(guard::seen(ToolOutput::text(said), &place, &guard::hash(&after)))
}
