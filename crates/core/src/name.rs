//! What a person calls a session.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most characters of a name.
const NAME_CHARS_MAX: usize = 80;

/// A session's name, as a person gave it: no id, and two sessions may have the same.
///
/// ```
/// use heeler_core::SessionName;
///
/// let name: SessionName = "  the   parser ".parse()?;
/// assert_eq!(name.as_str(), "the parser");
/// assert!("".parse::<SessionName>().is_err());
/// # Ok::<(), heeler_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

/// A text that is no name of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(&'static str);

impl SessionName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionName {
    type Err = NameError;

    /// Takes 1 to 80 characters, none of which commands a terminal; white space is folded.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if name.is_empty() {
            return Err(NameError("the name is empty; give it at least one letter"));
        }
        if name.chars().any(char::is_control) {
            return Err(NameError("the name has a control character; leave it out"));
        }
        if name.chars().count() > NAME_CHARS_MAX {
            return Err(NameError("the name is longer than 80 characters; shorten it"));
        }
        Ok(Self(name))
    }
}

impl TryFrom<String> for SessionName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_harmless() {
        for good in ["a", "fix the parser", "名前", &"x".repeat(80)] {
            let name: SessionName = good.parse().unwrap();
            assert_eq!((name.as_str(), name.to_string().as_str()), (good, good));
        }
        for bad in ["", " \n", "a\u{1b}[31m", &"x".repeat(81)] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad:?}");
            assert!(serde_json::from_value::<SessionName>(bad.into()).is_err(), "{bad:?}");
        }
    }
}
