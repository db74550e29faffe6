//! What a line gives an interpreter or a runner as its program: that may be a folder, and have its ending
//! left out. Folders that a line names otherwise are worked on.

use super::is_path;
use super::runners::{
    KEYWORDS, LOADS, MANIFESTS, NODE, Runner, SCRIPTED, WRAPPED, WRAPPERS, runner,
};
use crate::words::{DEPTH_MAX, Word};

/// A word, or what of it is behind an option, that is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program<'a> {
    pub(super) text: &'a str,
    pub(super) endings: &'static [&'static str],
    /// Whether a file of that name would be it, though it is no path by its looks.
    pub(super) is_bare: bool,
}

/// What of a line was seen, of each depth of lines within words.
#[derive(Default)]
pub(super) struct Runs<'a> {
    seen: [Seen<'a>; DEPTH_MAX + 1],
}

#[derive(Default)]
struct Seen<'a> {
    at: At<'a>,
    before: Before,
    manifests: &'static [&'static str],
    /// Whose program begins with `$(...)`, which has commands of its own.
    substituted: Option<&'static Runner>,
}

#[derive(Default)]
enum At<'a> {
    /// Nothing that this is about.
    #[default]
    Other,
    /// Where a command may begin.
    Command { is_wrapped: bool },
    /// Behind the name of a runner, and its verb.
    Runner { runner: &'static Runner, has_verb: bool },
    /// Behind `find`, with the folders it starts from.
    Find { starts: Vec<&'a str>, part: Part },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Starts,
    Tests,
    /// Behind `-exec`.
    Executed,
    /// Behind an interpreter that it executes.
    Interpreted,
}

/// What the word before this one makes of it.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    /// Maybe the value of an option.
    Option,
    Value,
    /// What is loaded.
    Loaded,
}

impl<'a> Runs<'a> {
    /// What of a word is run. `is_folder` says that it is one to work in, `leads` whether anything is where a
    /// word leads.
    pub(super) fn behind(
        &mut self,
        word: &'a Word,
        is_folder: bool,
        leads: &dyn Fn(&str) -> bool,
    ) -> Vec<Program<'a>> {
        let Some(seen) = self.seen.get_mut(word.depth).filter(|_| !word.is_target) else {
            return Vec::new();
        };
        if word.begins {
            let substituted = seen.substituted.take();
            if let Some(runner) = substituted.filter(|_| word.text.starts_with('/')) {
                *seen = Seen::default();
                return vec![Program { text: &word.text, endings: runner.endings, is_bare: false }];
            }
            let at = At::Command { is_wrapped: false };
            *seen = Seen { at, substituted, ..Seen::default() };
        }
        seen.behind(&word.text, is_folder, leads)
    }

    /// The files that say what the command does of which this is a word, in the folder it works in.
    pub(super) fn manifests(&self, word: &Word) -> &'static [&'static str] {
        self.seen.get(word.depth).map_or(&[], |seen| seen.manifests)
    }
}

impl<'a> Seen<'a> {
    fn behind(
        &mut self,
        text: &'a str,
        is_folder: bool,
        leads: &dyn Fn(&str) -> bool,
    ) -> Vec<Program<'a>> {
        let before = std::mem::take(&mut self.before);
        let endings = match self.at {
            At::Runner { runner, .. } => runner.endings,
            _ => NODE,
        };
        if before == Before::Loaded {
            return vec![Program { text, endings, is_bare: false }];
        }
        if let Some(loaded) = loaded(text) {
            self.before = if loaded.is_empty() { Before::Loaded } else { Before::Nothing };
            let program = Program { text: loaded, endings, is_bare: false };
            return (!loaded.is_empty()).then_some(program).into_iter().collect();
        }
        match &mut self.at {
            At::Other => Vec::new(),
            At::Command { is_wrapped } => {
                let is_wrapped = *is_wrapped;
                self.command(text, before, is_wrapped || is_folder);
                Vec::new()
            }
            At::Runner { runner, has_verb } => {
                let (runner, has_verb) = (*runner, *has_verb);
                if before == Before::Value || is_folder && !text.starts_with('-') {
                    return Vec::new();
                }
                let program = match text.starts_with('-') && text != "-" {
                    true => self.option(runner, text),
                    false => self.operand(runner, has_verb, text, before, leads),
                };
                program.into_iter().collect()
            }
            At::Find { starts, part } => found(starts, part, text),
        }
    }

    /// A word where a command may begin.
    fn command(&mut self, text: &'a str, before: Before, is_wrapped: bool) {
        let base = base(text);
        if let Some((_, manifests)) = MANIFESTS.iter().find(|(names, _)| names.contains(&base)) {
            self.manifests = manifests;
        }
        if let Some(runner) = runner(base) {
            self.at = At::Runner { runner, has_verb: false };
        } else if base == "find" {
            self.at = At::Find { starts: Vec::new(), part: Part::Starts };
        } else if WRAPPERS.contains(&base) {
            self.at = At::Command { is_wrapped: true };
        } else if text.starts_with('-') {
            self.before = Before::Option;
        } else {
            let is_number = text.starts_with(|c: char| c.is_ascii_digit());
            let is_before = KEYWORDS.contains(&text)
                || is_assignment(text)
                || is_wrapped && (before == Before::Option || is_number || WRAPPED.contains(&text));
            if !is_before {
                self.at = At::Other;
            }
        }
    }

    fn option(&mut self, runner: &'static Runner, text: &'a str) -> Option<Program<'a>> {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if runner.ends.contains(&name) {
            self.at = At::Other;
            return None;
        }
        if runner.valued.contains(&text) {
            self.before = Before::Value;
            return None;
        }
        if runner.endings.is_empty() {
            // Of Python every letter is known; of others an option may have a value.
            if runner.names.contains(&"python") {
                self.letters(text);
            } else if text == name && text != "--" {
                self.before = Before::Option;
            }
            return None;
        }
        match text.strip_prefix("-r") {
            Some("") => self.before = Before::Loaded,
            Some(text) => return Some(Program { text, endings: runner.endings, is_bare: false }),
            None if text == name && text != "--" => self.before = Before::Option,
            None => {}
        }
        None
    }

    /// Python's options of a letter each.
    fn letters(&mut self, text: &str) {
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let Some(letters) = letters else { return };
        match letters.find(['c', 'm', 'X', 'W']).and_then(|at| letters.get(at..)) {
            Some("X" | "W") => self.before = Before::Value,
            Some(rest) if rest.starts_with(['c', 'm']) => self.at = At::Other,
            _ => {}
        }
    }

    fn operand(
        &mut self,
        runner: &'static Runner,
        has_verb: bool,
        text: &'a str,
        before: Before,
        leads: &dyn Fn(&str) -> bool,
    ) -> Option<Program<'a>> {
        if !has_verb && runner.verbs.contains(&text) {
            self.at = At::Runner { runner, has_verb: true };
            return None;
        }
        let looks = is_path(text) || matches!(text, "." | "./");
        if before == Before::Option && !looks && !text.starts_with('$') && !leads(text) {
            return None;
        }
        self.at = At::Other;
        // A bare name behind a verb is a script of the manifest, and without one another verb.
        let is_one = match runner.verbs {
            [] => true,
            _ => (looks || text == "$") && (has_verb || !runner.is_verb_needed),
        };
        if text == "$" {
            self.substituted = is_one.then_some(runner);
            return None;
        }
        let is_bare = runner.verbs.is_empty() && text != "-";
        is_one.then_some(Program { text, endings: runner.endings, is_bare })
    }
}

/// Goes on behind `find`; what it starts from is run where what it finds is.
fn found<'a>(starts: &mut Vec<&'a str>, part: &mut Part, text: &'a str) -> Vec<Program<'a>> {
    let is_option = text.starts_with('-') || matches!(text, "(" | "!");
    match *part {
        Part::Starts if matches!(text, "-H" | "-L" | "-P") => {}
        Part::Starts if !is_option => starts.push(text),
        Part::Starts | Part::Tests => {
            let is_executed = matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
            *part = if is_executed { Part::Executed } else { Part::Tests };
        }
        Part::Interpreted if is_option => {}
        Part::Executed | Part::Interpreted => {
            if text.starts_with("{}") {
                *part = Part::Tests;
                let program = |text: &&'a str| Program { text, endings: &[], is_bare: false };
                return starts.iter().map(program).collect();
            }
            let base = base(text);
            *part = match *part {
                Part::Executed if SCRIPTED.contains(&base) || runner(base).is_some() => {
                    Part::Interpreted
                }
                Part::Executed if is_option || is_assignment(text) || WRAPPERS.contains(&base) => {
                    Part::Executed
                }
                _ => Part::Tests,
            };
        }
    }
    Vec::new()
}

/// What an option loads that stands at the end of a word, or behind one in it: `NODE_OPTIONS=--require=./a`.
fn loaded(text: &str) -> Option<&str> {
    let option = LOADS.into_iter().find_map(|option| {
        let rest = text.get(text.find(option)?..)?.strip_prefix(option)?;
        (rest.is_empty() || rest.starts_with('=')).then_some(rest)
    })?;
    Some(option.strip_prefix('=').unwrap_or(option))
}

/// The name of a program without its folder and version.
fn base(text: &str) -> &str {
    let base = text.rsplit('/').next().unwrap_or(text);
    let plain = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if plain.is_empty() { base } else { plain }
}

fn is_assignment(text: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}
