//! A key that is held, kept out of everything that is printed.

use std::fmt;
use std::sync::Arc;

/// A shorter key is none: `x`, `none` or `ollama` is what somebody writes for a server that wants no key,
/// and to hide it would take letters out of words.
const HIDDEN_BYTES_MIN: usize = 8;

/// A key or token that a request carries. Its `Debug` shows nothing and it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a key; white space around it, as a copied line has, is not part of it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().into())
    }

    /// The key itself, for the one header that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the key, should somebody have echoed it. What is too short to be a key stays.
    #[must_use]
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.len() < HIDDEN_BYTES_MIN {
            return text.to_owned();
        }
        text.replace(&*self.0, "[key]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new(" sk-ant-1234\n");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.expose(), "sk-ant-1234");
        assert_eq!(secret.hide_in("bad key sk-ant-1234!"), "bad key [key]!");
        assert_eq!(Secret::new("12345678").hide_in("12345678"), "[key]");
        // No keys, but words for them.
        for (word, text) in [("", "abc"), ("x", "no proxy"), ("ollama", "no model in ollama")] {
            assert_eq!(Secret::new(word).hide_in(text), text);
        }
    }
}
