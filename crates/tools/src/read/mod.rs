//! `Read`: a file's lines with their numbers, or an image.

mod lines;
#[cfg(test)]
mod tests;

use std::io::{self, Read as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heeler_core::{
    Block, BoxFuture, Facts, Image, Metadata, ToolContext, ToolError, ToolOutput, TypedTool,
};
use heeler_images::Format;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::blocking;
use crate::guard;
use crate::place::{self, Place};
use lines::{Limits, Scan, Wanted, scan};

/// Lines of one call when the model names no limit.
pub const READ_LINES_DEFAULT: u64 = 2_000;
/// Characters of one line that are shown.
pub const READ_LINE_CHARS_MAX: usize = 2_000;
/// Bytes of one result; the lines that do not fit are left for the next call.
pub const READ_OUTPUT_BYTES_MAX: usize = 100_000;
/// Bytes that are looked through for the wanted lines.
pub const READ_SCAN_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes of the largest image; it is made smaller where providers take less.
pub const READ_IMAGE_BYTES_MAX: u64 = heeler_images::INPUT_BYTES_MAX as u64;

/// Bytes at the start of a file that tell what it is.
const HEAD_BYTES: usize = 8_192;
/// What is invalid as often as once in so many bytes of the head is no text that can be read.
const INVALID_ONCE_IN: usize = 4;

/// The tool.
pub struct Read {
    description: String,
    limits: Limits,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInput {
    /// File to read.
    pub file_path: String,
    /// First line, from 1.
    pub offset: Option<u64>,
    /// Number of lines.
    pub limit: Option<u64>,
}

impl Default for Read {
    fn default() -> Self {
        Self {
            description: format!(
                "Reads a text file as numbered lines (number, tab, line), or shows a png, jpeg, \
                 gif or webp image. Gives {READ_LINES_DEFAULT} lines unless told otherwise; use \
                 offset and limit for the rest. Lines are cut at {READ_LINE_CHARS_MAX} \
                 characters. Relative paths start at the workspace. A file must be read before \
                 it can be changed."
            ),
            limits: Limits {
                line_chars_max: READ_LINE_CHARS_MAX,
                output_bytes_max: READ_OUTPUT_BYTES_MAX,
                scan_bytes_max: READ_SCAN_BYTES_MAX,
                hash_bytes_max: guard::FILE_BYTES_MAX,
            },
        }
    }
}

impl TypedTool for Read {
    type Input = ReadInput;

    fn name(&self) -> &str {
        "Read"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, input: &ReadInput, workspace: &str) -> Facts {
        place::read_facts(workspace, &input.file_path)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: ReadInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| self.read(context, &input))
    }
}

impl Read {
    fn read(&self, context: &ToolContext, input: &ReadInput) -> Result<ToolOutput, ToolError> {
        let path = &input.file_path;
        let place = Place::to_read(context, self.name(), path)?;
        if !place.exists() {
            return Err(place::missing(&context.workspace, path, &place));
        }
        let failed = |error| ToolError::for_model(format!("cannot read {path}: {error}"));
        let mut file = place.open_file(path)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut head = Vec::with_capacity(HEAD_BYTES);
        file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;

        if let Some(media_type) = Format::of(&head).map(Format::media_type) {
            let whole = head.as_slice().chain(file);
            return read_image(path, &place, whole, media_type, size);
        }
        if let Some(why) = binary(&head) {
            return Err(ToolError::for_model(format!(
                "{path} is a binary file ({size} bytes; {why}) and cannot be shown as text"
            )));
        }
        let wanted = Wanted {
            first: input.offset.unwrap_or(1).max(1),
            count: input.limit.unwrap_or(READ_LINES_DEFAULT).max(1),
        };
        let whole = head.as_slice().chain(file);
        let limits = self.limits.within(context.result_chars_max);
        let found = scan(whole, size, wanted, limits, context).map_err(failed)?;
        let text = words(path, wanted, &found, limits)?;
        let output = ToolOutput::text(text);
        Ok(match (&found.hash, found.lines_total) {
            (Some(hash), Some(n_lines)) => {
                guard::seen_lines(context, output, &place, hash, found.faithful, n_lines)
            }
            _ => output,
        })
    }
}

/// The result's text: the lines, then what else there is.
fn words(path: &str, wanted: Wanted, found: &Scan, limits: Limits) -> Result<String, ToolError> {
    let mut text = found.text.clone();
    match (found.shown, found.lines_total) {
        (0, Some(0)) => return Ok("(the file is empty)".to_owned()),
        (0, Some(total)) => {
            return Err(ToolError::for_model(format!(
                "offset {} is past the end: {path} has {total} lines",
                wanted.first
            )));
        }
        (0, None) => {
            return Err(ToolError::for_model(format!(
                "line {} was not found in the first {} bytes of {path}; search the file with Grep",
                wanted.first, limits.scan_bytes_max
            )));
        }
        (shown, total) => {
            let last = wanted.first + (shown - 1);
            if total.is_none_or(|total| last < total) {
                let left = match total {
                    Some(total) => format!("{} more of {total} lines", total - last),
                    None => "more lines".to_owned(),
                };
                text.push_str(&format!("({left}; continue with offset {})\n", last + 1));
            }
            if found.is_replaced {
                text.push_str(
                    "(bytes that are no UTF-8 are shown as \u{fffd}; Edit keeps those that its texts \
                     leave out)\n",
                );
            }
        }
    }
    Ok(text)
}

fn read_image(
    path: &str,
    place: &Place,
    whole: impl io::Read,
    media_type: &str,
    size: u64,
) -> Result<ToolOutput, ToolError> {
    let too_big = |size: u64| {
        ToolError::for_model(format!(
            "{path} is an image of {size} bytes; at most {READ_IMAGE_BYTES_MAX} can be shown, so \
             make a smaller copy first"
        ))
    };
    if READ_IMAGE_BYTES_MAX < size {
        return Err(too_big(size));
    }
    let mut bytes = Vec::new();
    whole
        .take(READ_IMAGE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolError::for_model(format!("cannot read {path}: {error}")))?;
    if READ_IMAGE_BYTES_MAX < bytes.len() as u64 {
        return Err(too_big(bytes.len() as u64));
    }
    let image = Block::from(Image {
        media_type: media_type.to_owned(),
        data: STANDARD.encode(&bytes),
        cache: None,
    });
    let note = Block::text(format!("({path}: {media_type}, {} bytes)", bytes.len()));
    let output = ToolOutput { content: vec![image, note], ..ToolOutput::default() };
    Ok(guard::seen(output, place, &guard::hash(&bytes)))
}

/// Why a file with this content is not shown; `None` when it is.
pub(crate) fn unshown(content: &[u8]) -> Option<&'static str> {
    let head = &content[..content.len().min(HEAD_BYTES)];
    if Format::of(head).is_some() { None } else { binary(head) }
}

/// Why a file that starts like this is not text; `None` when it is.
fn binary(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some("it looks like UTF-16 text, which only Grep can read");
    }
    if head.contains(&0) {
        return Some("it contains NUL bytes");
    }
    // Some letters of an older encoding leave a text that can be read.
    let n_invalid = head.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    (head.len() < n_invalid * INVALID_ONCE_IN).then_some("it is not valid UTF-8")
}
