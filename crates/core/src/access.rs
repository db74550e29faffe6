//! What a call touches, in the words that rules and verdicts speak of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One thing a call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Runs a shell command line of which nothing more is known.
    Command(String),
    /// Runs a shell command line that was read with the shell's grammar.
    Shell(Box<ShellLine>),
    /// Reads a file or folder, absolute.
    Read(String),
    /// Writes a file or folder, absolute.
    Write(String),
    /// Talks to a host.
    Host(String),
    /// Does something that cannot be said; counts as writing and asks.
    Opaque(String),
}

/// A command line and all that it may do, as its grammar says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellLine {
    /// As the model wrote it.
    pub line: String,
    /// Every simple command that it may run, those inside of others included.
    pub commands: Vec<ShellCommand>,
    /// What it is known to write, absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// What its redirections read, as it is written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// It may write, or run, more than is known: a path is computed, a folder may be another one.
    /// No rule on words lets it out of a box.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_open_ended: bool,
    /// Whoever wrote it asks to run it outside of the box, which is one of its concerns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_to_leave: bool,
    /// Why somebody should look before it runs. Without any, a box holds all that it may do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<Concern>,
    /// It is known to change nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_read_only: bool,
}

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellCommand {
    /// Its words after quotes are taken away, the program first.
    pub words: Vec<String>,
    /// The same without what rules need not name, where that differs: `git push` of
    /// `/usr/bin/git -C sub push`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plain: Vec<String>,
    /// It may be another program than `plain` says, such as one of the workspace's own: no rule
    /// allows it by `plain`, and one that denies or asks still holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_doubtful: bool,
    /// It only runs another command of the line, so no rule needs to allow it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_wrapper: bool,
    /// Those of its words that are made when the line runs (`$x`, `*.rs`), with a `*` wherever one may
    /// be anything, and nothing for one that may be any number of words. The value of an option that is
    /// known is none of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub made: BTreeMap<String, String>,
}

/// Why somebody should look at a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    /// Of what sort it is.
    pub kind: ConcernKind,
    /// In a few words, for a person.
    pub why: String,
}

/// The sorts of concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConcernKind {
    /// What it runs cannot be told from the line.
    NotUnderstood,
    /// It destroys what nothing brings back. Asks whatever rules allow.
    Irreversible,
    /// It needs what a box does not let through: the network, another user's rights, other places.
    Leaves,
    /// It sets what decides which programs run.
    Environment,
}

impl ShellLine {
    /// Whether there is a concern of this sort.
    #[must_use]
    pub fn has(&self, kind: ConcernKind) -> bool {
        self.concerns.iter().any(|concern| concern.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_sorts_of_concerns_that_it_names() {
        use ConcernKind::{Environment, Irreversible, Leaves, NotUnderstood};
        let concern = |kind| Concern { kind, why: "x".into() };
        for kinds in [&[][..], &[Leaves], &[Environment, Irreversible]] {
            let concerns = kinds.iter().copied().map(concern).collect();
            let line = ShellLine { concerns, ..ShellLine::default() };
            for kind in [NotUnderstood, Irreversible, Leaves, Environment] {
                assert_eq!(line.has(kind), kinds.contains(&kind), "{kind:?} of {kinds:?}");
            }
        }
    }
}
