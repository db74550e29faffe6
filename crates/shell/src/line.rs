//! What is known of a line after reading it.

use std::collections::BTreeMap;

use crate::programs;

/// A command line that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Every simple command that may run: wrappers and what they wrap, commands of substitutions,
    /// functions and here-documents for shells, strings after `sh -c`, `find -exec`, `xargs` ...
    /// Where a concern says [`ConcernKind::NotUnderstood`], some may be missing.
    pub commands: Vec<Command>,
    /// Absolute paths that redirections, operands and options write, where they are known.
    pub writes: Vec<String>,
    /// What redirections read, as it is written.
    pub reads: Vec<String>,
    /// Whether it may write, or run, more than `writes` and `commands` show: a path is computed, or
    /// depends on a folder that may be another one.
    pub is_open_ended: bool,
    /// Why the line must be asked about; none means it may run in the box at once.
    pub concerns: Vec<Concern>,
    /// Whether only programs run that are known to change nothing, and nothing is written.
    pub is_read_only: bool,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its words after quotes are removed; what is computed keeps its source text.
    pub words: Vec<String>,
    /// The same for rules: the bare name first, and nothing between it and the word that says what
    /// it shall do (`/usr/bin/git -C x push -q` is `git push -q`).
    pub plain: Vec<String>,
    /// Whether the words are known, and not made when the line runs: the name and its verb.
    pub is_named: bool,
    /// Whether it does nothing but run another command of the line, such as `timeout 5 ...`: where
    /// the line is, and with the variables that are there.
    pub is_wrapper: bool,
    /// Whether what stands before the verb leads it to another folder than the workspace itself,
    /// whose settings may name programs.
    pub is_elsewhere: bool,
    /// Those of its words that are made when the line runs, with a `*` wherever one may be anything,
    /// and nothing for one that may be any number of words. The value of an option that is known is
    /// none of them.
    pub made: BTreeMap<String, String>,
}

/// Why a line is not understood that may be taken by a program above it, as its input: what reads a
/// script line by line itself passes over that.
pub const LINES_TAKEN: &str = "a program may take lines of the script that it stands in";

/// A reason to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// What kind of reason it is.
    pub kind: ConcernKind,
    /// Short words for a person.
    pub why: String,
}

/// The kinds of reasons to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConcernKind {
    /// It is not known what the line would run.
    NotUnderstood,
    /// Work would be lost where the box lets it write.
    Irreversible,
    /// It leaves the box, or says so: the network, other rights, containers, service managers,
    /// writes outside of workspace and temp or to protected places, heeler itself.
    Leaves,
    /// It assigns or defines what decides which program runs.
    Environment,
}

impl Command {
    /// Whether `plain` surely is what runs: its name is known, and is no path into a folder where
    /// anybody may have put a program of that name, and it runs in the workspace itself.
    pub fn is_certain(&self) -> bool {
        let name = self.words.first().map_or("", String::as_str);
        self.is_named && !self.is_elsewhere && programs::is_of_the_system(name)
    }
}
