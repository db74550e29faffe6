//! Why settings cannot be used.

use std::fmt::Display;

/// Settings that cannot be used: names the file, the line where there is one, and the next step.
///
/// Nothing runs on half of what was written: a rule that was passed over in silence might have been
/// the one that forbids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
}

impl SettingsError {
    /// Something that is wrong with a whole file.
    #[must_use]
    pub fn of_file(name: &str, why: impl Display) -> Self {
        Self { message: format!("{name}: {why}") }
    }

    /// Something that is wrong with what stands in no file.
    pub(crate) fn plain(message: String) -> Self {
        Self { message }
    }

    /// Something that is wrong at a place.
    pub(crate) fn at(name: &str, line: usize, why: impl Display) -> Self {
        Self { message: format!("{name}:{line}: {why}") }
    }
}
