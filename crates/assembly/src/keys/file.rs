//! The file of keys: each provider's row, for its owner's eyes only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use heeler_providers::Secret;
use heeler_secrets::SECRET_CHARS_MIN;
use heeler_settings::{FILE_BYTES_MAX, SettingsError, change_file};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::KEY_BYTES_MAX;
use crate::SetupError;

const NAME: &str = "keys.toml";
const HEAD: &str = "# Keys of `heeler login`. Keep this file to yourself: chmod 600.\n\n";
/// What is told of a text that is none of ours.
const BROKEN: &str = "the file is broken; remove it, and run `heeler login PROVIDER` again";
/// What is told of a file with more in it than can be hidden.
const MORE: &str = "it holds more than keys; remove from it what is none";
/// The most words of the file that may be keys; far more than anybody has.
const WORDS_MAX: usize = 256;
/// The most bytes they may have together.
const WORDS_BYTES_MAX: usize = 64 * 1024;
/// What others may do with a file.
const OTHERS: u32 = 0o077;

/// The file, which need not be there.
#[derive(Debug, Clone)]
pub(super) struct KeyFile {
    folder: PathBuf,
    path: PathBuf,
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    Keyring,
    Key(Secret),
}

/// A row as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keyring: bool,
}

/// What may be keys, with the names of their rows.
#[derive(Default)]
struct Bounded {
    keys: Vec<(String, Secret)>,
    /// Whether there was more than is told here.
    is_more: bool,
}

impl KeyFile {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { path: folder.join(NAME), folder }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn row(&self, provider: &str) -> Result<Option<Row>, SetupError> {
        Ok(self.rows()?.remove(provider))
    }

    /// Every row that says where a key is.
    pub(super) fn rows(&self) -> Result<BTreeMap<String, Row>, SetupError> {
        let row = |(provider, written)| match written {
            Written { key: Some(key), .. } => Some((provider, Row::Key(Secret::new(key)))),
            Written { keyring: true, .. } => Some((provider, Row::Keyring)),
            Written { .. } => None,
        };
        Ok(self.read()?.into_iter().filter_map(row).collect())
    }

    /// Every key that stands in the file, with the name of its row: to be hidden, never to be used. So who
    /// else can read it is no matter, and neither is what is wrong beside a key. And why some may be missing.
    pub(super) fn found(&self) -> (Vec<(String, Secret)>, Option<SettingsError>) {
        let unread = |why: String| {
            let why = format!("keys in it may be shown and kept as they are: {why}");
            SettingsError::of_file(&self.shown(), why)
        };
        let text = match self.open().and_then(|file| file.map(text_of).transpose()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return (Vec::new(), Some(unread(unreadable(&error)))),
        };
        let text = String::from_utf8_lossy(&text);
        match DeTable::parse(&text) {
            Ok(rows) => {
                let Bounded { keys, is_more } = keys_in(rows.get_ref());
                (keys, is_more.then(|| unread(MORE.to_owned())))
            }
            Err(_) => (words_in(&text).keys, Some(unread(BROKEN.to_owned()))),
        }
    }

    /// Changes one row; the others stay.
    pub(super) fn change(&self, provider: &str, row: Option<Row>) -> Result<(), SetupError> {
        // Nobody's keys are made safe by being read and written again.
        self.read()?;
        change_file(&self.folder, NAME, |text| {
            let mut rows = parse(text).map_err(|why| SettingsError::of_file(&self.shown(), why))?;
            match row {
                None => drop(rows.remove(provider)),
                Some(Row::Keyring) => {
                    rows.insert(provider.to_owned(), Written { key: None, keyring: true });
                }
                Some(Row::Key(key)) => {
                    let key = Some(key.expose().to_owned());
                    rows.insert(provider.to_owned(), Written { key, keyring: false });
                }
            }
            let rows = heeler_toml::write(&rows)
                .map_err(|error| SettingsError::of_file(&self.shown(), error))?;
            Ok(Some(format!("{HEAD}{rows}")))
        })
        .map_err(SetupError::from)
    }

    fn read(&self) -> Result<BTreeMap<String, Written>, SetupError> {
        let refused = |why: String| SetupError::new(format!("{}: {why}", self.shown()));
        let failed = |error: io::Error| refused(unreadable(&error));
        let Some(file) = self.open().map_err(failed)? else { return Ok(BTreeMap::new()) };
        let about = file.metadata().map_err(failed)?;
        let mode = about.permissions().mode() & 0o777;
        if mode & OTHERS != 0 {
            return Err(refused(format!(
                "others can use the keys in it (its mode is {mode:o}); run `chmod 600 {}`, and \
                 replace the keys if anybody may have read them",
                self.shown()
            )));
        }
        parse(&text_of(file).map_err(failed)?).map_err(refused)
    }

    fn open(&self) -> io::Result<Option<File>> {
        match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn text_of(file: File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// What may be a key in rows of any form, with the row's name.
fn keys_in(rows: &DeTable<'_>) -> Bounded {
    let mut words = Vec::new();
    for (row, value) in rows {
        add_strings(row.get_ref(), value.get_ref(), &mut words);
    }
    bounded(words)
}

/// Every string in a value, at any depth: who wrote a row by hand may have called its key anything.
fn add_strings<'a>(row: &'a str, value: &'a DeValue<'_>, words: &mut Vec<(&'a str, &'a str)>) {
    match value {
        DeValue::String(text) => words.push((row, text)),
        DeValue::Array(values) => {
            values.iter().for_each(|value| add_strings(row, value.get_ref(), words));
        }
        DeValue::Table(values) => {
            values.iter().for_each(|(_, value)| add_strings(row, value.get_ref(), words));
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// What may be a key in a text that is no TOML, with the name of the row it seems to be of.
fn words_in(text: &str) -> Bounded {
    let is_between = |c: char| c.is_whitespace() || "\"'{}[],".contains(c);
    let mut row = "kept";
    let mut words = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            row = name;
            continue;
        }
        // A key may hold what else stands between two words.
        let value = line.split_once('=').map_or(line, |(_, value)| value);
        let whole = value.split_ascii_whitespace().next().unwrap_or_default();
        words.push((row, whole.trim_matches(['"', '\''])));
        for word in line.split(is_between) {
            words.push((row, word));
            words.extend(word.split_once(['=', ':']).map(|(_, value)| (row, value)));
        }
    }
    bounded(words)
}

/// Those of some words that are as long as keys are, each once, and whether some are not among them. All
/// that is hidden is one pattern: with too much in it nothing would be.
fn bounded(words: Vec<(&str, &str)>) -> Bounded {
    let (mut seen, mut n_bytes) = (BTreeSet::new(), 0);
    let mut bounded = Bounded::default();
    for (row, word) in words {
        let word = word.trim();
        if word.len() < SECRET_CHARS_MIN || !seen.insert(word) {
            continue;
        }
        let fits = word.len() <= KEY_BYTES_MAX
            && n_bytes + word.len() <= WORDS_BYTES_MAX
            && bounded.keys.len() < WORDS_MAX;
        if fits {
            n_bytes += word.len();
            bounded.keys.push((row.to_owned(), Secret::new(word)));
        } else {
            bounded.is_more = true;
        }
    }
    bounded
}

fn unreadable(error: &io::Error) -> String {
    format!("the keys cannot be read: {error}; make the file readable for you")
}

/// The rows of a text. Why they are none says nothing of what stands there: it may be a key.
fn parse(text: &[u8]) -> Result<BTreeMap<String, Written>, String> {
    let rows = std::str::from_utf8(text).ok().and_then(|text| heeler_toml::read(text).ok());
    rows.ok_or_else(|| BROKEN.to_owned())
}
