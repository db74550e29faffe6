//! Why a script does not answer a request, in words for whoever wrote it.

use std::fmt;

use crate::{For, Format, Violation};

/// A request the script does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The request is not valid, or does not continue the one before.
    Invalid {
        /// Which request, from 1.
        request: u64,
        /// What is wrong with it.
        violations: Vec<Violation>,
    },
    /// The request is not what the script expects.
    Unexpected {
        /// Which request, from 1.
        request: u64,
        /// The script's name.
        script: String,
        /// The line of the reply.
        line: usize,
        /// What was expected and found.
        problems: Vec<String>,
    },
    /// The script has no reply left.
    Exhausted {
        /// Which request, from 1.
        request: u64,
        /// The script's name.
        script: String,
        /// What it is written in.
        format: Format,
        /// The kind of reply that is missing.
        kind: For,
        /// The first of those left whose `when` did not fit.
        passed: Option<Passed>,
    },
}

/// A reply that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Its line.
    pub line: usize,
    /// What its `when` wants and the request has not.
    pub problems: Vec<String>,
}

impl Mismatch {
    /// What is wrong with the request itself, when that is the reason.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::Invalid { violations, .. } => violations,
            _ => &[],
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { request, violations } => {
                write!(f, "request {request} is not valid: ")?;
                for (i, violation) in violations.iter().enumerate() {
                    write!(f, "{}{violation}", if i == 0 { "" } else { "; " })?;
                }
                if violations.iter().any(|v| v.what.contains("within an epoch")) {
                    let next = "(where that is meant, set `epoch = \"may change\"` in `[script]`)";
                    write!(f, " {next}")?;
                }
                Ok(())
            }
            Self::Unexpected { request, script, line, problems } => {
                let problems = problems.join("; ");
                write!(f, "request {request} does not fit the reply at {script}:{line}: {problems}")
            }
            Self::Exhausted { request, script, format, kind, passed } => {
                let which = match (kind, format) {
                    (For::Next, _) => "reply",
                    (For::Summary, Format::Toml) => "reply `for = \"summary\"`",
                    (For::Summary, Format::Lines) => "reply with `\"for\": \"summary\"`",
                };
                write!(f, "request {request} finds no {which} left in {script}: ")?;
                if let Some(Passed { line, problems }) = passed {
                    let problems = problems.join("; ");
                    write!(f, "the `when` of the one in line {line} does not fit: {problems}; ")?;
                }
                f.write_str(advice(*kind, *format, passed.is_some()))
            }
        }
    }
}

/// What to do about a script that is over.
fn advice(kind: For, format: Format, has_passed: bool) -> &'static str {
    match (kind, format, has_passed) {
        (For::Summary, _, false) => "add one, or set its `repeat`",
        (For::Summary, _, true) => "change that, or add one without `when`",
        (For::Next, Format::Toml, false) => "add a `[[reply]]`, or set `loop = true` in `[script]`",
        (For::Next, Format::Toml, true) => "change that, or add a `[[reply]]` without `when`",
        (For::Next, Format::Lines, false) => {
            "add a line with one, or begin with the line `{\"script\": {\"loop\": true}}`"
        }
        (For::Next, Format::Lines, true) => "change that, or add a line with one without `when`",
    }
}

impl std::error::Error for Mismatch {}
