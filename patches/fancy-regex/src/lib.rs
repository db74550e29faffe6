//! The names of fancy-regex 0.16 that syntect uses, for a newer fancy-regex.
//!
//! Goes away with the first syntect that asks for the newer one itself.

pub use newer::{Error, Regex, RegexBuilder};

/// Of text, as all were before there was a choice.
pub type Captures<'t> = newer::Captures<'t, str>;
