//! A hunk: lines that are kept, removed and added; where it fits into a file, and what it does
//! there. Pure.
//!
//! A model writes the lines of a file from memory. So places are looked for in stages, each more
//! tolerant than the one before, and a hunk is applied only where exactly one place fits. Lines
//! that are kept stay the file's own bytes, whatever the model wrote for them; lines that are added
//! get the indentation and the quotes that the file was seen to have where the model had others.
//! Where two outcomes are possible, neither is chosen.

mod align;
mod alike;
mod file;
mod likeness;
mod merge;
mod quotes;
mod style;
#[cfg(test)]
mod tests;
mod windows;

use std::ops::Range;

pub(crate) use file::File;

/// One line of a hunk, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Keep(&'a str),
    Remove(&'a str),
    Add(&'a str),
}

impl<'a> Line<'a> {
    /// The line as it is in the file before, if it is there.
    fn old(self) -> Option<&'a str> {
        match self {
            Self::Keep(text) | Self::Remove(text) => Some(text),
            Self::Add(_) => None,
        }
    }
}

/// One piece of the file and what takes its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) new: Vec<u8>,
}

/// How much was overlooked to find a place; the first that finds one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Nothing.
    Exact,
    /// White space at the ends of lines.
    LineEnds,
    /// Indentation.
    Indentation,
    /// Typographic quotes, dashes and spaces; the amount of white space within lines.
    Signs,
    /// Indentation and signs.
    Both,
    /// A few lines of context that are missing or differ.
    Context,
}

impl Stage {
    /// What the model is told of it; nothing about an exact match.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEnds => Some("white space at the ends of lines differed"),
            Self::Indentation => Some("the indentation differed and was adapted to the file"),
            Self::Signs | Self::Both => {
                Some("white space or quotes differed; the file's were kept")
            }
            Self::Context => Some("context lines differed; the file's were kept"),
        }
    }
}

/// A place where a hunk fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    /// For each line of the hunk that is in the file before: the index of that line there. Some are
    /// missing in [`Stage::Context`].
    old: Vec<Option<usize>>,
    /// From the first to behind the last of them.
    pub(crate) lines: Range<usize>,
    pub(crate) stage: Stage,
}

impl Fit {
    /// Before the line of this index, for a hunk that only adds.
    pub(crate) fn before_line(index: usize) -> Self {
        Self { old: Vec::new(), lines: index..index, stage: Stage::Exact }
    }
}

/// Why a hunk is not applied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No place fits.
    NotFound,
    /// Several do; the lines, from 1, where they start.
    Ambiguous(Vec<usize>),
    /// The place is clear, what to do there is not: the lines, from 1, and why.
    Unclear(Range<usize>, &'static str),
}

/// Every place where the hunk fits, in the first stage that has any. [`Refusal::NotFound`] when
/// there are none.
pub(crate) fn fits(file: &File<'_>, hunk: &[Line<'_>]) -> Result<Vec<Fit>, Refusal> {
    fits_where(file, hunk, &|_| true)
}

/// The same, of those places alone whose lines are allowed: what fits elsewhere counts for nothing,
/// however well it does.
pub(crate) fn fits_where(
    file: &File<'_>,
    hunk: &[Line<'_>],
    allows: &dyn Fn(&Range<usize>) -> bool,
) -> Result<Vec<Fit>, Refusal> {
    let old: Vec<&str> = hunk.iter().filter_map(|line| line.old()).collect();
    if old.iter().all(|line| line.trim().is_empty()) {
        // White space alone is found everywhere, and says nothing.
        return windows::exact(file, &old, allows);
    }
    let stages = [Stage::Exact, Stage::LineEnds, Stage::Indentation, Stage::Signs, Stage::Both];
    for stage in stages {
        let fits = windows::fits(file, &old, stage, allows);
        if !fits.is_empty() {
            return Ok(fits);
        }
    }
    align::fit(file, hunk, allows).map(|fit| vec![fit])
}

/// What the hunk does at a place where it fits.
pub(crate) fn apply(
    file: &File<'_>,
    hunk: &[Line<'_>],
    fit: &Fit,
) -> Result<Vec<Replacement>, Refusal> {
    merge::merge(file, hunk, fit)
}
