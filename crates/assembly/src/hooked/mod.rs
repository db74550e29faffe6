//! What the command line of a hook names, and nobody but a person may change: hooks are not confined.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::words::{Word, names, places, words};

mod goes;
mod runners;
mod runs;

use goes::Goes;
use runs::{Program, Runs};

/// The most folders that one line changes into, and the most missing names of one line.
const FOLDERS_MAX: usize = 8;
const MISSING_MAX: usize = 64;
/// The most `=` of a word behind which it is looked.
const EQUALS_MAX: usize = 8;
/// Endings of files of which nothing beside them runs.
const DATA: [&str; 12] =
    ["cfg", "conf", "csv", "ini", "json", "lock", "log", "md", "toml", "txt", "yaml", "yml"];

/// Where a hook's line is read.
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// The folders that may be written as a whole, under all of their names.
    pub(crate) roots: &'a [PathBuf],
}

impl Ground<'_> {
    /// What a line names: programs with all that stands beside them, other files, and names under which
    /// nothing is yet, since whoever makes it is run.
    pub(crate) fn named(&self, line: &str) -> Vec<PathBuf> {
        let words = words(line);
        let mut folders = vec![self.workspace.to_owned()];
        let mut named = Vec::new();
        let mut missing = Vec::new();
        let mut goes = Goes::Nowhere;
        let mut runs = Runs::default();
        for word in &words {
            let text = &word.text;
            let (folder, next) = goes.behind(text, word.begins);
            let leads = |text: &str| self.places(text, &folders).any(|place| place.exists());
            let programs = runs.behind(word, folder.is_some(), &leads);
            let more = folder.map(|folder| self.folders_of(folder, &folders)).unwrap_or_default();
            let is_operand =
                folder.is_some_and(|folder| goes == Goes::Command || folder.len() < text.len());
            goes = next;
            if !is_operand {
                let found = parts(text).flat_map(|part| self.places(part, &folders));
                let files: Vec<PathBuf> = found.filter(|file| file.is_file()).collect();
                if files.is_empty() && missing.len() < MISSING_MAX && !is_written(&words, text) {
                    missing.extend(folders.iter().flat_map(|folder| self.awaited(text, folder)));
                }
                named.extend(files.into_iter().flat_map(names).map(|file| self.whole(file)));
            }
            for program in programs {
                named.extend(self.program(&program, &folders));
                if missing.len() < MISSING_MAX {
                    missing.extend(self.awaited_programs(&program, &folders));
                }
            }
            for name in runs.manifests(word) {
                let files = more.iter().map(|folder| folder.join(name));
                let (there, not): (Vec<PathBuf>, Vec<_>) = files.partition(|file| file.is_file());
                named.extend(there.into_iter().flat_map(names));
                missing.extend(not.into_iter().filter(|file| self.is_awaited(file)));
            }
            folders.extend(more);
            folders.truncate(FOLDERS_MAX);
        }
        missing.truncate(MISSING_MAX);
        named.append(&mut missing);
        named
    }

    fn places(&self, word: &str, folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
        folders.iter().flat_map(|folder| places(word, folder, self.home))
    }

    /// What is there of a program: the folder that it is, or the files that it is with an ending.
    fn program(&self, program: &Program<'_>, folders: &[PathBuf]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for place in self.places(program.text, folders).filter(|place| !place.is_file()) {
            let files = program.endings.iter().map(|ending| with_ending(&place, ending));
            let files = files.filter(|file| file.is_file()).flat_map(names);
            found.extend(files.map(|file| self.whole(file)));
            if place.is_dir() {
                found.extend(names(place).into_iter().filter(|place| self.is_inner(place)));
            }
        }
        found
    }

    /// Names under which nothing is, and a program would be looked for.
    fn awaited_programs(&self, program: &Program<'_>, folders: &[PathBuf]) -> Vec<PathBuf> {
        let there: Vec<PathBuf> = self.places(program.text, folders).collect();
        if there.iter().any(|place| place.is_file()) {
            return Vec::new();
        }
        let mut places: Vec<PathBuf> = there.into_iter().filter(|place| place.is_dir()).collect();
        let mut found = Vec::new();
        if places.is_empty() {
            places.extend(folders.iter().filter_map(|folder| self.place(program.text, folder)));
            found.extend(places.iter().filter(|_| program.is_bare).cloned());
        }
        for place in &places {
            found.extend(program.endings.iter().map(|ending| with_ending(place, ending)));
        }
        found.retain(|place| self.is_awaited(place));
        found
    }

    /// The folder of a program: it reads what is beside it, as Python does its modules.
    fn whole(&self, file: PathBuf) -> PathBuf {
        let is_data = file.extension().and_then(OsStr::to_str).is_some_and(|it| DATA.contains(&it));
        let folder = file.parent().filter(|folder| !is_data && self.is_inner(folder));
        folder.map(Path::to_owned).unwrap_or(file)
    }

    /// Whether a folder is within one that may be written: nobody could work in a root that is protected
    /// as a whole.
    fn is_inner(&self, folder: &Path) -> bool {
        let is_within = self.roots.iter().any(|root| folder.starts_with(root));
        is_within && !self.roots.iter().any(|root| root.starts_with(folder))
    }

    /// The folders that a line is in once it changed into one; where it is not there yet, that would be it.
    fn folders_of(&self, word: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
        let found = self.places(word, folders);
        let mut found: Vec<PathBuf> = found.filter(|place| place.is_dir()).collect();
        if found.is_empty() {
            found.extend(folders.iter().filter_map(|folder| self.place(word, folder)));
        }
        found.retain(|place| !folders.contains(place));
        found
    }

    /// Names of a word in folders that may be written, under which nothing is.
    fn awaited(&self, word: &str, folder: &Path) -> Vec<PathBuf> {
        let looks = |word: &&str| is_path(word) && !word.starts_with('-') && !word.contains("://");
        let found = parts(word).filter(looks).filter_map(|word| self.place(word, folder));
        found.filter(|place| self.is_awaited(place)).collect()
    }

    fn is_awaited(&self, place: &Path) -> bool {
        let root = self.roots.iter().find(|root| place.starts_with(root) && place != *root);
        // What a variable or a pattern makes of a name is known only when it runs.
        let is_plain = root.and_then(|root| place.strip_prefix(root).ok()).is_some_and(|below| {
            !below
                .to_string_lossy()
                .contains(|c: char| c.is_whitespace() || "$*?[]{}^\\|'\"`".contains(c))
        });
        is_plain && place.metadata().is_err()
    }

    /// Where a word most likely leads.
    fn place(&self, word: &str, folder: &Path) -> Option<PathBuf> {
        let mut found = places(word, folder, self.home);
        let is_home = ["$HOME/", "${HOME}/"].iter().any(|home| word.starts_with(home));
        // The rest of one that begins with `$(...)` looks like a path of the machine.
        let top = word.strip_prefix('/').and_then(|rest| rest.split('/').next());
        let is_cut = top.is_some_and(|top| Path::new("/").join(top).symlink_metadata().is_err());
        let is_behind = word.starts_with('$') && !is_home || is_cut;
        let at = usize::from(is_behind && found.len() > 1);
        (at < found.len()).then(|| found.swap_remove(at))
    }
}

/// What a word may name: itself, what stands behind each `=` in it, and behind the letter of an option.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let behind = word.match_indices('=').take(EQUALS_MAX).filter_map(|(at, _)| word.get(at + 1..));
    let behind = std::iter::once(word).chain(behind).filter(|part| !part.is_empty());
    behind.flat_map(|part| {
        let letters = part.strip_prefix('-').map(str::chars);
        let glued =
            letters.filter(|letters| !letters.as_str().starts_with('-')).map(|mut letters| {
                letters.next();
                letters.as_str()
            });
        std::iter::once(part).chain(glued.filter(|glued| !glued.is_empty() && !glued.contains('=')))
    })
}

fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Whether a word is a path by its looks. A bare one is one where it has an ending.
fn is_path(word: &str) -> bool {
    let (stem, ending) = word.rsplit_once('.').unwrap_or_default();
    let is_name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let is_file = !word.starts_with('.') && is_name(stem) && is_name(ending);
    word.contains('/') && word.chars().any(char::is_alphanumeric) || is_file
}

/// Whether a line only writes to what this word names, as to its log.
fn is_written(words: &[Word], text: &str) -> bool {
    words.iter().filter(|word| word.text == text).all(|word| word.is_target)
}

#[cfg(test)]
mod tests;
