//! Project notes: what people wrote for whoever works in a repository, found, bounded, and told to
//! the model as data.
//!
//! `AGENTS.md`, `CLAUDE.md` and `.heeler.md` of heeler's home folder, then of every folder from the
//! repository's root down to the one that is worked in, each followed by what it imports. They are
//! text for the model and nothing else: what may run is decided elsewhere, whatever they say.
//!
//! Invariants: nothing of a repository's notes lies outside of it, wherever links lead; what is a
//! secret or denied is not opened, whoever asks for it; the same files are the same bytes.

mod find;
mod import;
mod open;
mod render;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use heeler_core::Policy;
use heeler_settings::NotePreferences;

use open::Stamp;

/// The most files of notes, imports and all.
pub const NOTE_FILES_MAX: usize = 64;
/// The most imports that lead from one file to the next.
pub const NOTE_IMPORTS_DEEP_MAX: usize = 5;

/// Where notes are looked for, and what of them is told.
#[derive(Debug, Clone)]
pub struct NotePlaces {
    /// Heeler's home folder; its notes are the user's own.
    pub heeler_home: PathBuf,
    /// The user's home folder, for `~`.
    pub home: Option<PathBuf>,
    /// The folder that is worked in, absolute.
    pub workspace: PathBuf,
    /// What is closed to whoever reads.
    pub policy: Policy,
    /// Names and caps.
    pub preferences: NotePreferences,
}

/// The notes as they were read.
#[derive(Debug, Clone)]
pub struct Notes {
    /// The files that are told of, in this order.
    pub files: Vec<NoteFile>,
    /// What a person should know: what was cut, refused, or is not there.
    pub notices: Vec<String>,
    text: String,
    /// Every file that was looked at, there or not.
    looked_at: Vec<(PathBuf, Option<Stamp>)>,
    places: NotePlaces,
}

/// One file of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// What it is called: within the repository, by its path there.
    pub name: String,
    /// The file, through no link.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many of its text are told.
    pub told_bytes: usize,
    /// The file and the line that import it.
    pub importer: Option<String>,
}

/// Notes that are others than before.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The notes as they are now.
    pub notes: Notes,
    /// What happened to which file, for people.
    pub words: String,
}

impl Notes {
    /// Reads the notes there are. What cannot be read is among the notices, and never an error:
    /// notes help, and nothing depends on them.
    #[must_use]
    pub fn load(places: NotePlaces) -> Self {
        let mut notes = Self {
            files: Vec::new(),
            notices: Vec::new(),
            text: String::new(),
            looked_at: Vec::new(),
            places,
        };
        if notes.places.preferences.enabled {
            let found = find::all(&notes.places);
            let told = render::render(&notes.places, found.files);
            notes.notices = found.notices;
            notes.notices.extend(told.notices);
            (notes.files, notes.text) = (told.files, told.text);
            notes.looked_at = found.looked_at;
        }
        notes
    }

    /// What the model is told; nothing when there are no notes.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Looks whether a file changed, came or went; only what did is read again. `None` when the
    /// model would be told the same.
    #[must_use]
    pub fn reload(&self) -> Option<Changed> {
        let is_same = |(path, stamp): &(PathBuf, Option<Stamp>)| Stamp::of(path) == *stamp;
        if self.looked_at.iter().all(is_same) {
            return None;
        }
        let notes = Self::load(self.places.clone());
        let words = self.difference(&notes);
        (notes.text != self.text).then_some(Changed { notes, words })
    }

    fn difference(&self, now: &Self) -> String {
        let at = |files: &[NoteFile], path: &Path| {
            files.iter().find(|file| file.path == path).map(|file| file.sha256.clone())
        };
        let shown = |file: &NoteFile, what: &str| match &file.importer {
            Some(importer) => format!("{} {what} (imported by {importer})", file.name),
            None => format!("{} {what}", file.name),
        };
        let mut words = Vec::new();
        for file in &now.files {
            match at(&self.files, &file.path) {
                None => words.push(shown(file, "is new")),
                Some(sha256) if sha256 != file.sha256 => words.push(shown(file, "changed")),
                Some(_) => {}
            }
        }
        let gone = self.files.iter().filter(|file| at(&now.files, &file.path).is_none());
        words.extend(gone.map(|file| shown(file, "is gone")));
        let words =
            if words.is_empty() { "what is told of them".to_owned() } else { words.join(", ") };
        format!("project notes changed, so a new epoch begins: {words}")
    }
}
