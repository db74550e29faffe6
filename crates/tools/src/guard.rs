//! Nobody overwrites what they have not seen: the content a session last saw of each file.
//!
//! The session's state holds one hash per file that was read or written. A change is refused when
//! there is none, or when the file's content no longer has it. Where only some lines were shown as
//! they are, the state says which, and the file as a whole is not replaced; nor is it in the answer that
//! first asked to see it.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

use heeler_core::{BoxFuture, MediaReference, ToolContext, ToolError, ToolOutput};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::blocking::blocking;
use crate::place::Place;
use crate::read;
use crate::text::{count_lines, count_of};

/// Bytes of the largest file that is hashed, and so the largest that can be edited.
pub(crate) const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Ranges of lines that are kept of one file, and told of.
const RANGES_MAX: usize = 100;

/// What stands in a text for what is not shown: how it begins, and what it is.
const NOTES: [(&str, &str); 2] =
    [(heeler_secrets::MARKER, "a secret"), (MediaReference::NOTE_START, "data")];
/// Bytes of such a note that are compared; it may hold a path.
const NOTE_BYTES_MAX: usize = 4096;

/// The first and last of lines that follow each other, from 1.
pub(crate) type Lines = (u64, u64);

/// A content's hash, which of its lines were shown as they are, all of them without a list, and in which
/// round all of them were. Of what the model wrote itself, the hash alone stands in the state.
#[derive(Deserialize)]
struct Seen(String, Option<Vec<Lines>>, #[serde(default)] u64);

/// A file's content and what was true of it when it was loaded.
pub(crate) struct Loaded {
    /// The bytes, all of them.
    pub(crate) bytes: Vec<u8>,
    /// Mode, owner, size and time.
    pub(crate) metadata: Metadata,
    /// Held open: as long as it is, no other file gets its number, by which it is known again.
    pub(crate) file: File,
}

impl Loaded {
    /// What is said of a file that is replaced: its other names keep what it was.
    pub(crate) fn parted(&self) -> &'static str {
        match self.metadata.nlink() {
            0 | 1 => "",
            _ => " (a file of its own now: its other hard links keep the old content)",
        }
    }
}

/// The whole content of a file for a tool that will replace it; `None` when nothing is there.
pub(crate) fn load(place: &Place, path: &str) -> Result<Option<Loaded>, ToolError> {
    let failed = |error: io::Error| ToolError::for_model(format!("cannot read {path}: {error}"));
    if !place.exists() {
        return Ok(None);
    }
    let file = place.open_file(path)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut bytes = Vec::new();
    (&file).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ToolError::for_model(format!(
            "{path} has {} bytes; files of more than {FILE_BYTES_MAX} bytes cannot be changed \
             with this tool",
            metadata.len()
        )));
    }
    Ok(Some(Loaded { bytes, metadata, file }))
}

/// What a tool that changes these files does for [`heeler_core::Tool::check`]: `refuses` looks at what
/// the call itself looks at first. Where a file could not be read unasked nobody is told anything of it.
pub(crate) fn check(
    context: ToolContext,
    tool: &'static str,
    paths: Vec<String>,
    refuses: impl FnOnce(&ToolContext) -> Result<(), ToolError> + Send + 'static,
) -> BoxFuture<Result<(), ToolError>> {
    let checked = blocking(context, move |context| {
        if paths.iter().all(|path| Place::to_read(context, tool, path).is_ok()) {
            refuses(context)?;
        }
        Ok(ToolOutput::default())
    });
    Box::pin(async move { checked.await.map(drop) })
}

/// Refuses when this session has not seen the content that is there now.
pub(crate) fn check_seen(
    context: &ToolContext,
    place: &Place,
    path: &str,
    bytes: &[u8],
) -> Result<(), ToolError> {
    let why = match known(context, place) {
        None => "has not been read in this session",
        Some(Seen(seen, ..)) if seen != hash(bytes) => {
            "has changed since you last read or wrote it"
        }
        Some(_) => return Ok(()),
    };
    let next = match read::unshown(bytes) {
        None => "Read it, then try again".to_owned(),
        Some(it) => format!("Read does not show it ({it}), so change it with a command"),
    };
    Err(ToolError::for_model(format!("{path} {why}; {next}")))
}

/// Refuses when lines of the content that is there now were not shown as they are.
pub(crate) fn check_seen_whole(
    context: &ToolContext,
    place: &Place,
    path: &str,
    bytes: &[u8],
) -> Result<(), ToolError> {
    check_seen(context, place, path, bytes)?;
    let shown = match known(context, place) {
        Some(Seen(_, Some(shown), _)) => shown,
        Some(Seen(_, None, round)) if round == context.round => {
            return Err(ToolError::for_model(format!(
                "{path} was read in this same answer, so you had not seen it when you wrote this; look \
                 at what it holds, then try again"
            )));
        }
        _ => return Ok(()),
    };
    let lines = count_of(count_lines(bytes), "line", "lines");
    let listed = |(first, last): &Lines| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let listed: Vec<String> = shown.iter().map(listed).collect();
    let shown = match &listed[..] {
        [] => "none is known to you".to_owned(),
        listed => format!("only {} were shown to you as they are", listed.join(", ")),
    };
    Err(ToolError::for_model(format!(
        "{path} would lose what you have not seen: of its {lines} {shown}; Read the others, or change \
         parts of it with Edit"
    )))
}

/// Refuses an edit of a file with these bytes whose texts hold what stands for something else.
pub(crate) fn check_edit(path: &str, old: &str, new: &str, file: &[u8]) -> Result<(), ToolError> {
    check_notes(path, old, file, file)?;
    check_notes(path, new, old.as_bytes(), file)
}

/// Refuses a text in which a note stands for what the model was not shown: written back, it would be
/// there instead. A file may have such notes of its own, so those count that are not in what the text
/// replaces. The same holds of what is shown for bytes that are no UTF-8.
pub(crate) fn check_notes(
    path: &str,
    text: &str,
    replaced: &[u8],
    file: &[u8],
) -> Result<(), ToolError> {
    let n_unknown = |bytes: &[u8]| memchr::memmem::find_iter(bytes, "\u{fffd}").count();
    if n_unknown(text.as_bytes()) > n_unknown(replaced) && std::str::from_utf8(file).is_err() {
        return Err(ToolError::for_model(format!(
            "the text holds \u{fffd}, which stands for bytes of {path} that are no UTF-8, so it would \
             not be written as it is; change the parts around them"
        )));
    }
    for (start, what) in NOTES {
        let mut known = notes(replaced, start).into_iter();
        // Both are in order, so what was passed over is needed by none of the others.
        if !notes(text.as_bytes(), start).iter().all(|note| known.any(|other| other == *note)) {
            return Err(ToolError::for_model(format!(
                "the text holds `{start}...]`, which stands for {what} that you were not shown, so it \
                 would not be written to {path} as it is; change the parts around it with Edit, or \
                 leave the place to the user"
            )));
        }
    }
    Ok(())
}

/// The notes in a text that begin so, each to its end or that of its line, in order of their bytes.
fn notes<'a>(text: &'a [u8], start: &str) -> Vec<&'a [u8]> {
    let note = |at: usize| {
        let rest = &text[at..text.len().min(at + NOTE_BYTES_MAX)];
        let end = memchr::memchr3(b']', b'\n', b'\r', rest);
        &rest[..end.unwrap_or(rest.len())]
    };
    let mut notes: Vec<&[u8]> = memchr::memmem::find_iter(text, start).map(note).collect();
    heeler_core::sort(&mut notes);
    notes
}

/// Notes in `output` that the session now knows this content.
pub(crate) fn seen(output: ToolOutput, place: &Place, hash: &str) -> ToolOutput {
    output.with_state(key(place), &hash)
}

/// Notes in `output` that the session was shown these lines of a content that has so many.
pub(crate) fn seen_lines(
    context: &ToolContext,
    output: ToolOutput,
    place: &Place,
    hash: &str,
    mut lines: Vec<Lines>,
    n_lines: u64,
) -> ToolOutput {
    let before = match known(context, place).filter(|known| known.0 == hash) {
        Some(Seen(_, None, _)) => return output,
        Some(Seen(_, Some(before), _)) => before,
        None => Vec::new(),
    };
    lines.extend(&before);
    let lines = joined(lines);
    // Which of them a cut leaves, nobody knows.
    let if_cut = Some(&(hash, before));
    if n_lines == 0 || lines == [(1, n_lines)] {
        return output.with_shown(key(place), &(hash, (), context.round), if_cut);
    }
    output.with_shown(key(place), &(hash, lines), if_cut)
}

/// Notes in `output` what was made of parts of a file: as a whole, it is known only if it was.
pub(crate) fn seen_changed(
    context: &ToolContext,
    output: ToolOutput,
    place: &Place,
    after: &[u8],
) -> ToolOutput {
    let hash = hash(after);
    match known(context, place) {
        // Which lines they are now is not followed.
        Some(Seen(_, Some(_), _)) => output.with_state(key(place), &(hash, [(); 0])),
        Some(Seen(_, None, round)) if round == context.round => {
            output.with_state(key(place), &(hash, (), round))
        }
        _ => seen(output, place, &hash),
    }
}

/// What the session knows of a file.
fn known(context: &ToolContext, place: &Place) -> Option<Seen> {
    let key = key(place);
    let whole = context.state.get(&key).map(|hash| Seen(hash, None, 0));
    whole.or_else(|| context.state.get(&key))
}

/// In order, apart from each other, and not too many.
fn joined(mut lines: Vec<Lines>) -> Vec<Lines> {
    heeler_core::sort(&mut lines);
    let mut joined: Vec<Lines> = Vec::new();
    for (first, last) in lines {
        match joined.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined.truncate(RANGES_MAX);
    joined
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// The digest in hexadecimal.
pub(crate) fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The state key of a file. It is made of the real path, so a file read under one name may be
/// written under another.
fn key(place: &Place) -> String {
    format!("file:{}", place.real().display())
}
