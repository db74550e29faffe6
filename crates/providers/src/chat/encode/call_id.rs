//! Ids and names of calls in the form a server takes. A conversation may have been held with
//! another one.

use std::borrow::Cow;

use super::super::quirks::CallIds;
use crate::call_digest::{DIGEST_LENGTH, digest};

/// The longest tool name.
const NAME_CHARS_MAX: usize = 64;
/// The longest id that OpenAI takes.
const ID_BYTES_MAX: usize = 40;

/// The id itself where it fits, else one that is made of it: the same for a call and its result.
pub(super) fn id(id: &str, form: CallIds) -> Cow<'_, str> {
    let fits = match form {
        CallIds::Any => true,
        CallIds::AtMost40 => id.len() <= ID_BYTES_MAX,
        CallIds::Nine => {
            id.len() == DIGEST_LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        }
    };
    if fits { id.into() } else { digest(id).into() }
}

/// A tool's name in the characters and the length that are taken.
pub(super) fn name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = if name.is_empty() { "_" } else { name };
    name.chars().take(NAME_CHARS_MAX).map(|c| if fits(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_do_not_fit_are_replaced_and_stay_apart() {
        for (text, form) in [
            ("", CallIds::Any),
            ("a call", CallIds::Any),
            (&"x".repeat(40), CallIds::AtMost40),
            ("D681PevKs", CallIds::Nine),
        ] {
            assert_eq!(id(text, form), text);
        }
        assert_eq!(id(&"x".repeat(41), CallIds::AtMost40).len(), DIGEST_LENGTH);
        let others = ["call_1", "call_2", "toolu_01", "D681Pev_s", "D681PevKsX", ""];
        let made: std::collections::BTreeSet<String> =
            others.iter().map(|other| id(other, CallIds::Nine).into_owned()).collect();
        assert_eq!(made.len(), others.len());
        assert!(made.iter().all(|made| id(made, CallIds::Nine) == made.as_str()), "{made:?}");
    }

    #[test]
    fn names() {
        let long = "n".repeat(65);
        for (given, taken) in
            [("Read", "Read"), ("a.b/c", "a_b_c"), ("", "_"), (&*long, &long[..NAME_CHARS_MAX])]
        {
            assert_eq!(name(given), taken);
        }
    }
}
