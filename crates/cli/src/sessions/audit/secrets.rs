//! `heeler audit --secrets`: whether anything that is stored of a session is a key or a password.
//!
//! What is looked for is what would have been taken out: the values of this process's own secret
//! variables and of those that the settings give to commands, keys that are kept, and the forms of
//! well-known services. What is found is named, never shown.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use heeler_assembly::{Environment, Permission, Secrets, hidden};
use heeler_core::SessionId;
use heeler_settings::Loaded;
use heeler_store::{FileStore, LINE_BYTES_MAX};
use serde::Serialize;
use serde_json::Value;

use super::{AUDIT_VERSION, Form};
use crate::exit::Exit;
use crate::say::{harmless, say};

/// How much of a longer line is looked at twice, so that what stands across two pieces is found.
const OVERLAP_BYTES: usize = 64 * 1024;

#[derive(Serialize)]
struct Report<'a> {
    v: u32,
    session: &'a SessionId,
    files: usize,
    secrets: BTreeSet<Secret>,
}

/// Where a secret stands; sorted and once each.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Secret {
    file: PathBuf,
    line: usize,
    /// The kind of record, in a journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    what: String,
}

/// Looks through all that is stored of the session; fails when a secret is found.
pub(in crate::sessions) fn print(
    store: &FileStore,
    id: &SessionId,
    environment: &Environment,
    form: Form,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (known, unread) = hidden(environment, &settings_of(store, id, environment));
    if let Some(unread) = unread {
        say(format_args!("heeler: {unread}"));
    }
    let files = files_of(&store.journal_path(id), id)?;
    let mut secrets = BTreeSet::new();
    for file in &files {
        look_through(file, &known, &mut secrets)
            .with_context(|| format!("cannot read {}", file.display()))?;
    }
    let report = Report { v: AUDIT_VERSION, session: id, files: files.len(), secrets };
    match form {
        Form::Json => writeln!(out, "{}", serde_json::to_string(&report)?)?,
        Form::Text => out.write_all(harmless(&text(&report)).as_bytes())?,
    }
    out.flush()?;
    Ok(if report.secrets.is_empty() { Exit::Done } else { Exit::Failure })
}

/// What the settings where the session works say, as far as they can be read.
fn settings_of(store: &FileStore, id: &SessionId, environment: &Environment) -> Loaded {
    // A journal without a readable beginning is looked through all the same, by the user's settings.
    let folder = store.follow(id).map(|journal| journal.header().workspace.clone());
    let folder = folder.unwrap_or_default();
    match Permission::default().look(environment, Path::new(&folder)) {
        Ok((_, loaded)) => loaded,
        Err(error) => {
            say(format_args!("heeler: the settings are passed over: {error}"));
            Loaded::default()
        }
    }
}

/// The journal, and what lies beside it under the session's id.
fn files_of(journal: &Path, id: &SessionId) -> Result<Vec<PathBuf>> {
    let folder = journal.parent().unwrap_or(journal);
    let is_its = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.and_then(|name| Some(name.strip_prefix(id.as_str())?.starts_with('.'))) == Some(true)
    };
    let mut files = Vec::new();
    for path in entries(folder)?.into_iter().filter(is_its) {
        let within = if path.is_dir() { entries(&path)? } else { vec![path] };
        files.extend(within.into_iter().filter(|path| may_hold(path)));
    }
    heeler_core::sort(&mut files);
    Ok(files)
}

/// Whether something may be stored in it: not in a session's door, which is a socket. What cannot be
/// looked at stays, so that reading it says why.
fn may_hold(path: &Path) -> bool {
    path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    listed.with_context(|| format!("cannot list {}", folder.display()))
}

fn look_through(file: &Path, known: &Secrets, secrets: &mut BTreeSet<Secret>) -> Result<()> {
    // A line of a journal is no longer, so it is looked at whole.
    let reader = BufReader::new(File::open(file)?);
    in_pieces(reader, LINE_BYTES_MAX, OVERLAP_BYTES, |line, bytes| {
        let text = String::from_utf8_lossy(bytes);
        let value = serde_json::from_str::<Value>(&text).ok();
        let mut found = Vec::new();
        look(known, &text, &mut found);
        if let Some(value) = &value {
            look_into(known, value, &mut found);
        }
        let record = value.as_ref().and_then(kind_of);
        secrets.extend(found.into_iter().map(|what| Secret {
            file: file.to_owned(),
            line,
            record: record.clone(),
            what,
        }));
    })?;
    Ok(())
}

/// Gives each line with its number, a longer one in pieces that begin with the end of the one before:
/// a torn tail and an image may have no line break at all.
fn in_pieces(
    mut reader: impl BufRead,
    bytes_max: usize,
    overlap_bytes: usize,
    mut each: impl FnMut(usize, &[u8]),
) -> io::Result<()> {
    let (mut line, mut bytes) = (1, Vec::new());
    loop {
        let room = (bytes_max - bytes.len()) as u64;
        if io::Read::take(&mut reader, room).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        each(line, &bytes);
        if bytes.ends_with(b"\n") {
            line += 1;
            bytes.clear();
        } else {
            bytes.drain(..bytes.len().saturating_sub(overlap_bytes));
        }
    }
}

/// In the strings of a value, and in the JSON that a string may hold.
fn look_into(known: &Secrets, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            look(known, text, found);
            if text.starts_with(['{', '['])
                && let Ok(inner) = serde_json::from_str(text)
            {
                look_into(known, &inner, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| look_into(known, value, found)),
        Value::Object(fields) => fields.values().for_each(|value| look_into(known, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn look(known: &Secrets, text: &str, found: &mut Vec<String>) {
    found.extend(known.find(text).into_iter().map(|secret| secret.what));
}

/// The kind of the record that a line of a journal holds.
fn kind_of(line: &Value) -> Option<String> {
    Some(line.get("kind")?.as_str()?.to_owned())
}

fn text(report: &Report<'_>) -> String {
    if report.secrets.is_empty() {
        return format!("no secrets in the {} files of this session\n", report.files);
    }
    let lines = report.secrets.iter().map(|Secret { file, line, record, what }| {
        let record = record.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        format!("{}:{line}{record}: {what}\n", file.display())
    });
    lines.collect::<String>()
        + "delete the session, and exchange what was found: it was sent to the model\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_come_in_pieces_that_overlap() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            let mut pieces = Vec::new();
            let each = |line, bytes: &[u8]| {
                pieces.push((line, String::from_utf8_lossy(bytes).into_owned()));
            };
            in_pieces(text.as_bytes(), 4, 2, each).unwrap();
            let expected = expected.iter().map(|(line, piece)| (*line, (*piece).to_owned()));
            assert_eq!(pieces, expected.collect::<Vec<_>>());
        };
        check("", &[]);
        check("a\n\nabc\nd", &[(1, "a\n"), (2, "\n"), (3, "abc\n"), (4, "d")]);
        check("abcd\ne", &[(1, "abcd"), (1, "cd\n"), (2, "e")]);
        check("abcdefg", &[(1, "abcd"), (1, "cdef"), (1, "efg")]);
    }
}
