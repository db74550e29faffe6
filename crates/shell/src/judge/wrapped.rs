//! Commands within commands: after wrappers, in strings for a shell, on the input of one.

use crate::WRAPPED_DEPTH_MAX;
use crate::line::ConcernKind;
use crate::place;
use crate::reader::{Input, Reader};
use crate::word::{Atom, HoleKind, Word};

impl Reader<'_> {
    /// A command in the words of another. What stands for `{}` is known only when it runs.
    pub(crate) fn wrapped(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        // Each has all words of those behind it.
        if self.wrapped_depth >= WRAPPED_DEPTH_MAX {
            self.changes();
            return self.unclear("commands run each other too deep");
        }
        self.wrapped_depth += 1;
        self.judge(words);
        self.wrapped_depth -= 1;
    }

    /// A command that is given more words than are written.
    pub(crate) fn fed(&mut self, words: &[Word], placeholder: &str, given: &Word) {
        let mut is_fed = false;
        let mut fill = |word: &Word| {
            let text = word.text();
            if !text.contains(placeholder) {
                return word.clone();
            }
            is_fed = true;
            filled(word, &text, placeholder, given)
        };
        let mut words: Vec<Word> = words.iter().map(&mut fill).collect();
        if !is_fed {
            words.push(given.clone());
        }
        self.wrapped(&words);
    }

    /// A word that is a line for a shell.
    pub(crate) fn line_of(&mut self, word: &Word) {
        match word.known() {
            Some(text) => self.apart(|reader| reader.script(&text)),
            None => self.unclear(&format!("the line it runs is computed: {}", word.text())),
        }
    }

    /// The same where it is no matter if it is computed, since whoever decides what runs is known.
    pub(crate) fn line_if_known(&mut self, word: &Word) {
        if word.known().is_some_and(|text| !text.trim().is_empty()) {
            self.line_of(word);
        }
    }

    /// Words that together are a line for a shell.
    pub(crate) fn joined_line(&mut self, words: &[Word]) {
        let known: Option<Vec<String>> = words.iter().map(Word::known).collect();
        match known {
            Some(texts) => self.apart(|reader| reader.script(&texts.join(" "))),
            None => self.unclear("the line it runs is computed"),
        }
    }

    /// A word that names a program, perhaps with arguments.
    pub(crate) fn program_of(&mut self, word: &Word) {
        match word.known() {
            Some(text) => {
                let words: Vec<Word> = text.split_ascii_whitespace().map(Word::literal).collect();
                self.wrapped(&words);
            }
            None => self.unclear(&format!("the program it runs is computed: {}", word.text())),
        }
    }

    /// A value that may be a file to write: only what is surely elsewhere counts.
    pub(crate) fn may_write(&mut self, word: &Word) {
        let Some(path) = word.known().filter(|text| text.contains('/')) else { return };
        let is_elsewhere =
            |folder: &Option<String>| self.place.is_elsewhere(&path, folder.as_deref());
        if self.scope.folders().iter().any(is_elsewhere) {
            self.write(word);
        }
    }

    /// What a shell reads as its program.
    pub(crate) fn input_script(&mut self) {
        let Input::Text(text, before) = self.scope.input.clone() else {
            return self.unclear("a shell runs what it reads");
        };
        let is_whole = before == self.takers;
        self.apart(|reader| {
            reader.scope.input = Input::Rest(reader.takers);
            reader.line_of(&text);
        });
        if !is_whole {
            self.unclear("a shell runs what another program leaves of a text");
        }
    }

    /// A file of which a shell reads its program.
    pub(crate) fn script_file(&mut self, word: &Word) {
        self.changes();
        if word.leading_hole().is_some() {
            return self.unclear(&format!("the script is computed: {}", word.text()));
        }
        let (prefix, is_whole) = (word.known_prefix(), word.known().is_some());
        let name = prefix.rsplit('/').next().unwrap_or_default();
        let is_usual = name == "stdin" || name.parse::<u32>().is_ok();
        for folder in self.scope.folders() {
            let folder = folder.as_deref().or(is_usual.then_some("/dev/fd"));
            let Some(full) = place::resolve(&prefix, folder) else { continue };
            let full = full.to_lowercase();
            let lies_in = |top: &str| full.starts_with(top) || !is_whole && top.starts_with(&full);
            if is_whole && matches!(full.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
                self.input_script();
            } else if lies_in("/dev/") || lies_in("/proc/") {
                self.unclear("a shell runs what a descriptor holds");
            }
        }
    }

    /// The work goes on in another folder.
    pub(crate) fn enter(&mut self, word: &Word) {
        let entered = |folder: Option<&str>| match word.leading_hole().map(|hole| &hole.kind) {
            Some(HoleKind::Temp) => self.place.temp.map(|temp| format!("{temp}/new")),
            Some(HoleKind::ForeignHome) => Some("/home".to_owned()),
            Some(_) => None,
            None => {
                let prefix = word.known_prefix();
                let known = if word.known().is_some() || prefix.ends_with('/') {
                    Some(prefix)
                } else {
                    None
                };
                known.and_then(|path| place::resolve(&path, folder))
            }
        };
        self.scope.go(entered);
        // What is computed, or matched, may climb.
        if word.known().is_none() {
            self.scope.may_be_anywhere();
        }
    }

    /// A word such as `NAME` or `NAME=value`.
    pub(crate) fn variable_word(&mut self, word: &Word) {
        let text = word.text();
        let end = text.find(['=', '[', '+']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if word.leading_hole().is_some() || word.skip(0).known_prefix().len() < name.len() {
            self.concern(
                ConcernKind::Environment,
                format!("which variable is set is computed: {text}"),
            );
            return;
        }
        if rest.starts_with('+') {
            self.appends(name);
        }
        self.names_variable(name, value_of(word, name, rest).as_ref());
    }

    /// The same, and the programs that follow get to see it.
    pub(crate) fn exported_word(&mut self, word: &Word) {
        self.variable_word(word);
        let text = word.text();
        let (name, rest) = text.split_at(text.find(['=', '[', '+']).unwrap_or(text.len()));
        self.exports(name, value_of(word, name, rest).as_ref());
    }
}

/// What stands behind the sign after a variable's name.
fn value_of(word: &Word, name: &str, rest: &str) -> Option<Word> {
    let at = rest.find('=')?;
    Some(word.skip(name.chars().count() + at + 1))
}

/// The word with a hole in place of a placeholder.
fn filled(word: &Word, text: &str, placeholder: &str, given: &Word) -> Word {
    let before = text.split(placeholder).next().unwrap_or_default().chars().count();
    let mut atoms: Vec<Atom> = word.atoms.iter().take(before).cloned().collect();
    atoms.extend(given.atoms.iter().cloned());
    atoms.extend(word.skip(before + placeholder.chars().count()).atoms);
    Word { atoms }
}
