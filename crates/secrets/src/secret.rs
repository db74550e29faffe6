//! A key that is held, kept out of everything that is printed.

use std::fmt;
use std::sync::Arc;

/// A shorter key is none: `x`, `none` or `ollama` is what somebody writes for a server that wants no key,
/// and to hide it would take letters out of words.
const HIDDEN_BYTES_MIN: usize = 8;
/// What stands in the place of a key.
const SHOWN: &str = "[key]";
/// What a text that was cut ends with.
const CUT: char = '…';

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

    /// `text` without the key, should somebody have echoed it, nor its beginning where the text was
    /// cut within it (it ends there, or goes on with `…`). What is too short to be a key stays.
    #[must_use]
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.len() < HIDDEN_BYTES_MIN {
            return text.to_owned();
        }
        let mut hidden = String::with_capacity(text.len());
        let whole = text.replace(&*self.0, SHOWN);
        for (at, part) in whole.split(CUT).enumerate() {
            if at > 0 {
                hidden.push(CUT);
            }
            match self.cut_bytes(part) {
                0 => hidden.push_str(part),
                n => {
                    hidden.push_str(&part[..part.len() - n]);
                    hidden.push_str(SHOWN);
                }
            }
        }
        hidden
    }

    /// How many bytes of the key a text ends with, if they tell of it.
    fn cut_bytes(&self, text: &str) -> usize {
        let cut = (HIDDEN_BYTES_MIN..self.0.len()).rev();
        let mut begun = cut.filter(|n| self.0.get(..*n).is_some_and(|begun| text.ends_with(begun)));
        begun.next().unwrap_or_default()
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
        // A text that was cut within the key.
        for (text, shown) in [
            ("bad key sk-ant-123…", "bad key [key]…"),
            ("sk-ant-1…\nCheck it.", "[key]…\nCheck it."),
            ("sk-ant-… is what keys begin with", "sk-ant-… is what keys begin with"),
            ("sk-ant-12", "[key]"),
            ("sk-ant-1 and sk-ant-1234…", "sk-ant-1 and [key]…"),
        ] {
            assert_eq!(secret.hide_in(text), shown);
        }
        // No keys, but words for them.
        for (word, text) in [("", "abc"), ("x", "no proxy"), ("ollama", "no model in ollama")] {
            assert_eq!(Secret::new(word).hide_in(text), text);
        }
    }
}
