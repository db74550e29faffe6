//! Where a check is, and what it has found.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::document::escaped;
use crate::problem::Problem;

/// A place in a value, and how the schema got there.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a, 'v> {
    pub(super) value: &'v Value,
    pub(super) path: &'a Path<'a>,
    pub(super) scope: &'a Scope<'a>,
    /// How many schemas are being looked at, each because of the one before.
    pub(super) depth: usize,
}

/// The way to a place, from within.
pub(super) enum Path<'a> {
    Top,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

/// The resources that were entered, from within.
pub(super) struct Scope<'a> {
    pub(super) resource: usize,
    pub(super) outer: Option<&'a Scope<'a>>,
}

/// What is wrong so far.
pub(crate) struct Found<'v> {
    pub(super) is_valid: bool,
    pub(super) problems: Vec<Problem<'v>>,
    /// The most problems that are kept.
    pub(super) max: usize,
}

/// What some schema has looked at, for those that ask for the rest.
#[derive(Default)]
pub(crate) struct Seen<'v> {
    pub(super) fields: BTreeSet<&'v str>,
    pub(super) items: BTreeSet<usize>,
}

impl<'v> Found<'v> {
    pub(super) fn keeping(max: usize) -> Self {
        Self { is_valid: true, problems: Vec::new(), max }
    }

    /// Nothing that comes would change it.
    pub(super) fn is_full(&self) -> bool {
        !self.is_valid && self.problems.len() >= self.max
    }
}

impl Seen<'_> {
    pub(super) fn join(&mut self, mut other: Self) {
        if self.fields.is_empty() && self.items.is_empty() {
            *self = other;
            return;
        }
        self.fields.append(&mut other.fields);
        self.items.append(&mut other.items);
    }
}

impl fmt::Display for Path<'_> {
    /// As a JSON pointer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => Ok(()),
            Self::Field(outer, name) => write!(f, "{outer}/{}", escaped(name)),
            Self::Item(outer, index) => write!(f, "{outer}/{index}"),
        }
    }
}
