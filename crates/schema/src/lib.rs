//! Says whether a JSON value fits a JSON Schema, and if not, where and why.
//!
//! A [`Schema`] is compiled once and checks any number of values. Drafts 4, 6, 7, 2019-09 and
//! 2020-12 are read, as `$schema` says; without it a schema is one of 2020-12, in which a list as
//! `items` means what it meant before. What differs from a validator for all purposes:
//!
//! - A reference has to lead to a place in the same document, which for those by name includes what
//!   has an `$id` in it. Nothing is fetched and no file is read; the drafts' own schemas are not here.
//! - `format`, `contentEncoding` and `contentMediaType` are remarks in every draft, as the newest has
//!   them, and `$vocabulary` changes nothing.
//! - Patterns are those of ECMA-262 as far as [`fancy_regex`] has words for them, and match as with
//!   its `u` flag.
//! - A schema that comes back to itself without going into the value is refused.
//!
//! Whatever else is not understood is refused with the place where it stands; only keywords that no
//! draft knows are passed over, as the standard demands.
//!
//! Invariant: whatever a schema or a value holds, nothing here panics, does I/O or goes on without
//! end: what is compiled is bounded by the schema, and a check by a number of steps.

mod check;
mod compile;
mod document;
mod draft;
mod equal;
mod keyword;
mod number;
mod pattern;
mod problem;

use std::collections::HashMap;

use serde_json::Value;

pub use crate::document::escaped;
pub use crate::keyword::Types;
pub use crate::problem::Problem;

use crate::keyword::Node;
use crate::pattern::Pattern;
use crate::problem::{SHORT_CHARS_MAX, shortened};

/// A JSON Schema that is ready to check values.
///
/// ```
/// use heeler_schema::Schema;
/// use serde_json::json;
///
/// let schema = Schema::new(&json!({"properties": {"days": {"type": "integer", "minimum": 1}}}))?;
/// assert!(schema.accepts(&json!({"days": 3})));
/// let value = json!({"days": 0});
/// let problems = schema.problems(&value);
/// assert_eq!(problems[0].path(), "/days");
/// assert_eq!(problems[0].to_string(), "0 is less than the minimum of 1");
///
/// let error = Schema::new(&json!({"items": {"type": "text"}})).unwrap_err();
/// assert_eq!(error.place(), "/items/type");
/// # Ok::<(), heeler_schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Schema {
    /// The first one is the whole schema; others are named by their index.
    nodes: Vec<Node>,
    patterns: Vec<Pattern>,
    /// By resource, the anchors that references further in may lead to, and where.
    dynamic_anchors: Vec<HashMap<String, usize>>,
    /// Some keyword asks what others have looked at.
    remembers: bool,
}

/// Why something is no schema, or none that can be checked here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", at(place))]
pub struct SchemaError {
    place: String,
    reason: String,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When it is no schema by its draft, or says what cannot be checked here.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        compile::compile(schema)
    }

    /// Whether a value fits.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        check::accepts(self, value)
    }

    /// What is wrong with a value, in the schema's order, up to 64 problems; none when it fits.
    #[must_use]
    pub fn problems<'v>(&self, value: &'v Value) -> Vec<Problem<'v>> {
        check::problems(self, value, check::PROBLEMS_MAX)
    }

    /// As [`Schema::problems`], up to so many; at least one where the value does not fit.
    #[must_use]
    pub fn problems_up_to<'v>(&self, value: &'v Value, max: usize) -> Vec<Problem<'v>> {
        check::problems(self, value, max)
    }
}

impl SchemaError {
    /// Where in the schema, as a JSON pointer; empty for the whole.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is wrong there.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn new(place: &str, reason: impl Into<String>) -> Self {
        Self { place: place.to_owned(), reason: reason.into() }
    }
}

fn at(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!("at `{}`: ", shortened(place, SHORT_CHARS_MAX))
    }
}
