//! The paths that a command line names, for rules on paths that deny or ask.
//!
//! They are seen from each folder that the line goes to, wherever in it: which of its commands works
//! where is not told here.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use heeler_core::{Policy, READING_TOOLS, Rule, ShellCommand, ShellLine, WRITING_TOOLS, gathered};

use super::offer::WITH_VERBS;
use super::{flaw, path, same_name};

/// How many letters of options a path may stand behind in one word.
const LETTERS_MAX: usize = 8;
/// The most folders that a line is seen from. One that goes to more may go anywhere.
const FOLDERS_MAX: usize = 16;
/// Programs whose words are texts.
const SPEAKING: [&str; 5] = ["echo", "exit", "export", "printf", "sleep"];

/// What a line names, found out once for all rules: a hostile one has thousands of words, each in
/// all of the commands that run one another.
pub(super) struct Named<'a> {
    pub(super) line: &'a ShellLine,
    policy: &'a Policy,
    /// Made for the first rule that speaks of paths.
    found: OnceCell<Found<'a>>,
}

/// Each once.
struct Found<'a> {
    /// What words may stand for, seen from each folder.
    paths: BTreeSet<String>,
    /// What only rules on reading speak of, seen from each folder.
    read: BTreeSet<String>,
    /// What the line is known to write.
    writes: BTreeSet<&'a str>,
    /// The word that may lead to any folder.
    unknown: Option<&'a str>,
    /// The words that name files in whatever folder that is.
    relative: BTreeSet<&'a str>,
    /// As these, for rules on reading alone.
    relative_read: BTreeSet<&'a str>,
}

impl<'a> Named<'a> {
    pub(super) fn new(line: &'a ShellLine, policy: &'a Policy) -> Self {
        Self { line, policy, found: OnceCell::new() }
    }

    /// How many paths each rule is held against.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        let found = Found::of(self.line, self.policy);
        let sets = [&found.writes, &found.relative, &found.relative_read];
        found.paths.len() + found.read.len() + sets.iter().map(|it| it.len()).sum::<usize>()
    }

    /// Whether a rule that asks or denies speaks of a path that the line names or writes: `Some("")`
    /// where it surely does, else the word that may lead to the folder where it would.
    pub(super) fn touches(&self, rule: &Rule) -> Option<&'a str> {
        let Self { line, policy, .. } = *self;
        let argument = rule.argument.as_deref()?;
        let is_one_of = |names: &[&str]| names.iter().any(|name| same_name(&rule.tool, name));
        let reads = is_one_of(&READING_TOOLS);
        if !(reads || is_one_of(&WRITING_TOOLS)) || flaw::of_path(argument).is_some() {
            return None;
        }
        let found = self.found.get_or_init(|| Found::of(line, policy));
        let pattern = path::Pattern::new(argument, &policy.workspace);
        if found.writes.iter().any(|path| pattern.matches(path)) {
            return Some("");
        }
        // What is only read is no business of a rule on writing.
        if !reads && line.is_read_only {
            return None;
        }
        let read = found.read.iter().filter(|_| reads);
        if found.paths.iter().chain(read).any(|path| pattern.matches(path)) {
            return Some("");
        }
        let unknown = found.unknown?;
        let may_match = pattern.in_any_folder(&policy.workspace);
        let read = found.relative_read.iter().filter(|_| reads);
        found.relative.iter().chain(read).any(|path| may_match(path)).then_some(unknown)
    }
}

impl<'a> Found<'a> {
    fn of(line: &'a ShellLine, policy: &Policy) -> Self {
        let (folders, unknown) = folders(line, policy);
        let seen = |paths: BTreeSet<&str>| {
            let from_each = |path| folders.iter().map(move |folder| path::absolute(path, folder));
            gathered(paths.into_iter().flat_map(from_each))
        };
        // Taken apart only once, too.
        let paths_in_all = |words: BTreeSet<&'a str>| words.into_iter().flat_map(paths_in);
        let words = line.commands.iter().flat_map(|command| command.words.iter().skip(1));
        // A name without a slash is looked for elsewhere.
        let programs = line.commands.iter().filter_map(|command| command.words.first());
        let programs = programs.filter(|name| name.contains('/'));
        let programs = paths_in_all(gathered(programs.map(String::as_str)));
        let relative_read: BTreeSet<&str> = gathered(line.reads.iter().map(String::as_str));
        Self {
            paths: seen(gathered(paths_in_all(gathered(words.map(String::as_str))))),
            read: seen(gathered(programs.chain(relative_read.iter().copied()))),
            writes: gathered(line.writes.iter().map(String::as_str)),
            unknown,
            relative: gathered(line.commands.iter().flat_map(relative_in)),
            relative_read,
        }
    }
}

/// What in a word may be a path: the word, what follows a `=` in it, and what follows letters of
/// options, of which the last may take it.
fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let letters = word.strip_prefix('-').map_or(0, |letters| {
        letters.bytes().take(LETTERS_MAX).take_while(u8::is_ascii_alphanumeric).count()
    });
    let attached = (2..letters + 2).map(|at| &word[at..]);
    [Some(word), value].into_iter().flatten().chain(attached).filter(|path| !path.is_empty())
}

/// The words of a command that are names of files wherever it works, as far as can be told.
fn relative_in(command: &ShellCommand) -> impl Iterator<Item = &str> {
    let name = name_of(command);
    let names_few = WITH_VERBS.contains(&name) || SPEAKING.contains(&name);
    let words = command.words.iter().skip(if goes(name) { command.words.len() } else { 1 });
    let may_be_path = move |word: &&String| {
        !word.starts_with(['-', '/'])
            && !command.made.contains_key(*word)
            && (!names_few || word.trim_start_matches("./").contains('/'))
    };
    words.filter(may_be_path).map(String::as_str)
}

/// The folders that a line works in as far as they are written, and a word that leads to another.
fn folders<'a>(line: &'a ShellLine, policy: &Policy) -> (Vec<String>, Option<&'a str>) {
    let mut folders = vec![policy.workspace.clone()];
    let mut unknown = None;
    for (command, word) in line.commands.iter().flat_map(|it| entered(it).map(move |to| (it, to))) {
        let written = match command.made.get(word) {
            None => word,
            Some(shape) => {
                let known = shape.split('*').next().unwrap_or_default();
                known.rfind('/').map_or("", |end| &known[..=end])
            }
        };
        if written.is_empty() || folders.len() > FOLDERS_MAX {
            unknown = Some(word);
            continue;
        }
        for from in folders.clone() {
            let folder = path::absolute(written, &from);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    (folders, unknown)
}

/// The words that lead a command, or those behind it, to another folder.
fn entered(command: &ShellCommand) -> impl Iterator<Item = &str> {
    let is_operand = |word: &&String| !word.starts_with(['-', '~']);
    let operand = command.words.iter().skip(1).find(is_operand).filter(|_| goes(name_of(command)));
    let behind = command.words.windows(2).filter(|pair| pair[0] == "-C").map(|pair| &pair[1]);
    operand.into_iter().chain(behind).map(String::as_str).filter(|word| !word.is_empty())
}

fn goes(name: &str) -> bool {
    matches!(name, "cd" | "pushd")
}

fn name_of(command: &ShellCommand) -> &str {
    command.words.first().map_or("", |name| name.rsplit('/').next().unwrap_or(name))
}
