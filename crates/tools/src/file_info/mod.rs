//! `file_info`: what a file is, without its content.

mod content;
#[cfg(test)]
mod tests;
mod time;

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, ToolContext, ToolError, ToolOutput, TypedTool, tool_schema,
};
use rustix::fs::FileType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::place::{self, Place};
use crate::text::count_of;
use content::Content;

/// Bytes of the largest file whose content is looked through.
pub const FILE_INFO_SCAN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The tool.
pub struct FileInfo {
    description: String,
    scan_bytes_max: u64,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileInfoInput {
    /// File or folder.
    pub path: String,
    /// Give the SHA-256 of its content, too.
    #[serde(default)]
    pub hash: bool,
}

/// What it gives beside the text.
#[derive(Debug, Serialize, JsonSchema)]
struct Info {
    /// Its real path, relative inside the workspace.
    path: String,
    /// Where the link leads that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// `file`, `folder`, `pipe`, `socket`, or `device`.
    kind: &'static str,
    /// How many bytes it has.
    bytes: u64,
    /// Who may do what, such as `0644`.
    mode: String,
    /// When its content was changed last.
    modified: String,
    /// What a file holds; absent for what is larger than 64 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
}

impl Default for FileInfo {
    fn default() -> Self {
        Self::with_scan(FILE_INFO_SCAN_BYTES_MAX)
    }
}

impl FileInfo {
    fn with_scan(scan_bytes_max: u64) -> Self {
        Self {
            description: format!(
                "Tells what a file is without its content: kind, size, mode, time of the last \
                 change, where a link leads; and of files of at most {scan_bytes_max} bytes the \
                 number of lines, their ends, the encoding, or that they are binary."
            ),
            scan_bytes_max,
        }
    }

    fn info(&self, context: &ToolContext, input: &FileInfoInput) -> Result<ToolOutput, ToolError> {
        let path = &input.path;
        let place = Place::to_read(context, self.name(), path)?;
        if !place.exists() {
            return Err(place::missing(&context.workspace, path, &place));
        }
        let failed = |error| ToolError::for_model(format!("cannot look at {path}: {error}"));
        let stat = place.stat().map_err(failed)?;
        let (kind, bytes) = (FileType::from_raw_mode(stat.st_mode), stat.st_size as u64);
        let content = if kind == FileType::RegularFile && bytes <= self.scan_bytes_max {
            let file = place.open_file(path)?;
            Some(Content::of(context, path, file, self.scan_bytes_max, input.hash)?)
        } else {
            None
        };
        let link = place::absolute(&context.workspace, path).read_link().ok();
        let info = Info {
            path: place::shown(&context.workspace, place.real()),
            link: link.map(|target| target.display().to_string()),
            kind: kind_of(kind),
            bytes,
            mode: format!("{:04o}", stat.st_mode & 0o7777),
            modified: time::utc(stat.st_mtime),
            content,
        };
        let structured = serde_json::to_value(&info).ok().map(|it| RawJson::from_value(&it));
        Ok(ToolOutput { structured, ..ToolOutput::text(self.say(&info)) })
    }

    fn say(&self, info: &Info) -> String {
        let mut text = format!("{}: {}", info.path, info.kind);
        if let Some(link) = &info.link {
            text += &format!(", named by a link to {link}");
        }
        let bytes = count_of(usize::try_from(info.bytes).unwrap_or(usize::MAX), "byte", "bytes");
        text += &format!("\n{bytes}, mode {}, changed {}\n", info.mode, info.modified);
        match &info.content {
            Some(content) => text += &content.say(),
            None if info.kind == "file" => {
                text += &format!(
                    "(its content was not looked through: it has more than {} bytes)\n",
                    self.scan_bytes_max
                );
            }
            None => {}
        }
        text
    }
}

impl TypedTool for FileInfo {
    type Input = FileInfoInput;

    fn name(&self) -> &str {
        "file_info"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(tool_schema::<Info>())
    }

    fn facts(&self, input: &FileInfoInput, workspace: &str) -> Facts {
        place::read_facts(workspace, &input.path)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: FileInfoInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| self.info(context, &input))
    }
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "folder",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        _ => "device",
    }
}
