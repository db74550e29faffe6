//! What can be told of a content: lines, their ends, the encoding.

use std::fs::File;
use std::io::Read as _;

use heeler_core::{ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::blocking::keep_going;
use crate::guard;
use crate::text::{count_lines, count_of};

/// Bytes at the start that tell whether a file is binary.
const HEAD_BYTES: usize = 8_192;
/// Bytes that are read at once.
const PIECE_BYTES: u64 = 1024 * 1024;
/// What some encodings begin with.
const MARKS: [(&[u8], &str); 3] = [
    (b"\xef\xbb\xbf", "UTF-8 with a byte order mark"),
    (b"\xff\xfe", "UTF-16, little-endian"),
    (b"\xfe\xff", "UTF-16, big-endian"),
];

/// What a file holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Content {
    /// How its text is written; absent where it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    /// How many lines its text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<usize>,
    /// How these end: `LF`, `CRLF`, or `mixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_ends: Option<&'static str>,
    /// The SHA-256 of all its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl Content {
    /// Reads all of a file that has at most `bytes_max`, and of one that grows so many.
    pub(super) fn of(
        context: &ToolContext,
        path: &str,
        mut file: File,
        bytes_max: u64,
        is_hashed: bool,
    ) -> Result<Self, ToolError> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < bytes_max {
            keep_going(context)?;
            let room = PIECE_BYTES.min(bytes_max - bytes.len() as u64);
            let read = file.by_ref().take(room).read_to_end(&mut bytes);
            let n_read =
                read.map_err(|error| ToolError::for_model(format!("cannot read {path}: {error}")))?;
            if n_read == 0 {
                break;
            }
        }
        let encoding = encoding_of(&bytes);
        let is_lines = encoding.is_some_and(|encoding| !encoding.starts_with("UTF-16"));
        Ok(Self {
            encoding,
            lines: is_lines.then(|| count_lines(&bytes)),
            line_ends: if is_lines { ends_of(&bytes) } else { None },
            sha256: is_hashed.then(|| guard::hash(&bytes)),
        })
    }

    pub(super) fn say(&self) -> String {
        let mut text = self.encoding.unwrap_or("binary").to_owned();
        if let Some(lines) = self.lines {
            text += &format!(", {}", count_of(lines, "line", "lines"));
        }
        if let Some(ends) = self.line_ends {
            text += &format!(", line ends {ends}");
        }
        text.push('\n');
        if let Some(hash) = &self.sha256 {
            text += &format!("SHA-256 {hash}\n");
        }
        text
    }
}

fn encoding_of(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, name)) = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return Some(name);
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(HEAD_BYTES)]).is_some() {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Some("ASCII"),
        Ok(_) => Some("UTF-8"),
        Err(_) => Some("text that is not UTF-8"),
    }
}

fn ends_of(bytes: &[u8]) -> Option<&'static str> {
    let n_ends = memchr::memchr_iter(b'\n', bytes).count();
    let n_returns = memchr::memmem::find_iter(bytes, b"\r\n").count();
    match (n_ends, n_returns) {
        (0, _) => None,
        (_, 0) => Some("LF"),
        (ends, returns) if ends == returns => Some("CRLF"),
        _ => Some("mixed"),
    }
}
