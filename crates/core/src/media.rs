//! What tools make beside text: references to files that a media store keeps.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::IdError;

/// Names something that a media store keeps: `media://` and its id there.
///
/// ```
/// use heeler_core::MediaReference;
///
/// let chart: MediaReference = "media://3f2a".parse()?;
/// assert_eq!((chart.id(), chart.to_string().as_str()), ("3f2a", "media://3f2a"));
/// # Ok::<(), heeler_core::IdError>(())
/// ```
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct MediaReference(String);

impl MediaReference {
    const SCHEME: &str = "media://";

    /// How the note begins that stands in a text for what was put aside; the id and more follow, and a `]`.
    #[doc(hidden)]
    pub const NOTE_START: &str = "[media://";

    /// What the store calls it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0[Self::SCHEME.len()..]
    }
}

impl TryFrom<String> for MediaReference {
    type Error = IdError;

    /// Accepts ids of 1 to 128 letters, digits, `-` and `_`: one may become a file name.
    fn try_from(text: String) -> Result<Self, IdError> {
        let fits = text.strip_prefix(Self::SCHEME).is_some_and(|id| {
            (1..=128).contains(&id.len())
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        });
        if fits { Ok(Self(text)) } else { Err(IdError::new(text, "a media reference")) }
    }
}

impl FromStr for MediaReference {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        text.to_owned().try_into()
    }
}

impl From<MediaReference> for String {
    fn from(reference: MediaReference) -> Self {
        reference.0
    }
}

impl fmt::Display for MediaReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_that_may_name_a_file() {
        let long = |chars| format!("media://{}", "a".repeat(chars));
        for text in ["media://a-B_9", &long(128)] {
            let reference: MediaReference = text.parse().unwrap();
            assert_eq!(reference.to_string(), text);
            assert_eq!(format!("media://{}", reference.id()), text);
        }
        for text in ["", "media://", "media:/a", "http://a", "media://../a", "media://a.b"] {
            let refused = text.parse::<MediaReference>().unwrap_err();
            assert_eq!(refused.to_string(), format!("`{text}` is not a media reference"));
        }
        assert!(long(129).parse::<MediaReference>().is_err());
    }
}
