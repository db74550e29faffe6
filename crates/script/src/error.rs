//! What is wrong with a script.

use std::fmt;

/// Where the fields of a script are described; every error without a nearer next step names it.
pub(crate) const GUIDE: &str = "docs/guide/scripted-models.md lists every field";

/// A script that cannot be played: the file, the line, what is wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    name: String,
    line: Option<usize>,
    what: String,
    next: String,
}

impl ScriptError {
    pub(crate) fn new(name: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        Self { name: name.to_owned(), line, what: what.into(), next: GUIDE.to_owned() }
    }

    pub(crate) fn with_next(mut self, next: impl Into<String>) -> Self {
        self.next = next.into();
        self
    }

    /// The line of the script, counted from 1, where it is known.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}; {}", self.name, self.what, self.next),
            None => write!(f, "{}: {}; {}", self.name, self.what, self.next),
        }
    }
}

impl std::error::Error for ScriptError {}
