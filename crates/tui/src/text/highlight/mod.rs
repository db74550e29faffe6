//! The colors of code: asked for by place, given when they are known.

mod classes;
mod known;
mod parse;
mod toml;
mod typescript;
mod worker;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

pub use worker::Highlighter;

use crate::theme::SyntaxClass;

/// Where a piece of code stands: its language and what came before it in the same block.
///
/// Two pieces at equal places with equal text have equal classes; this is what they are cached by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CodePlace {
    language: Arc<str>,
    before: u64,
    /// The length of what came before.
    bytes: usize,
}

impl CodePlace {
    /// The beginning of a block in `language`, as it is called behind a fence.
    #[must_use]
    pub fn start(language: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        language.hash(&mut hasher);
        Self { language: Arc::from(language), before: hasher.finish(), bytes: 0 }
    }

    /// The place behind `code`.
    #[must_use]
    pub fn after(&self, code: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.before, code).hash(&mut hasher);
        Self {
            language: Arc::clone(&self.language),
            before: hasher.finish(),
            bytes: self.bytes + code.len(),
        }
    }

    /// What the language is called.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.language
    }
}

/// A stretch of a line, in bytes, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Where in the line.
    pub range: Range<usize>,
    /// What stands there.
    pub class: SyntaxClass,
}

/// The runs of each line of a piece of code, in order and apart.
pub type Classes = Arc<Vec<Vec<Run>>>;

/// What is known about a piece of code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Highlighted {
    /// The classes of its first lines; the others are plain.
    pub classes: Classes,
    /// Whether more will be known: then ask again when told to.
    pub is_pending: bool,
}

/// Knows what the words of code are.
pub trait Highlight {
    /// The classes of `code`, whole lines that stand at `place`. Returns at once. Pieces of one
    /// block are asked for in their order.
    fn classes(&self, place: &CodePlace, code: &str) -> Highlighted;
}

/// Leaves all code plain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uncolored;

impl Highlight for Uncolored {
    fn classes(&self, _place: &CodePlace, _code: &str) -> Highlighted {
        Highlighted::default()
    }
}
