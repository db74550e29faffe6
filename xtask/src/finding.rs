//! What a check has to say about a place in the tree.

use std::fmt;

/// One thing a check found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// From 1; 0 when the whole file is meant.
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) weight: Weight,
}

/// What follows from a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The tree is not tidy.
    Refused,
    /// Printed; a reader decides.
    Note,
}

impl Finding {
    pub(crate) fn refused(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), weight: Weight::Refused }
    }

    pub(crate) fn note(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { weight: Weight::Note, ..Self::refused(path, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// The one door of the checks' tests: findings a line each, notes marked.
#[cfg(test)]
pub(crate) fn render(mut findings: Vec<Finding>) -> String {
    findings.sort();
    let line = |finding: &Finding| match finding.weight {
        Weight::Refused => format!("{finding}\n"),
        Weight::Note => format!("note {finding}\n"),
    };
    findings.iter().map(line).collect()
}
