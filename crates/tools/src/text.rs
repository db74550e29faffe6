//! Small pieces of text shared by the tools.
//!
//! What secrets hold is taken out of results, but half a secret is not known as one. So who cuts a text
//! takes out what the cut goes through ([`part`]), and leaves a mark that begins with `[...`: beside it
//! parts of values are looked for that only the engine knows.

use std::borrow::Cow;
use std::ops::Range;

use heeler_secrets::{BEYOND_CUT_BYTES, Secrets};

/// The fewest characters at the end of what is not whole that may be a key's beginning, where there is
/// a digit among them.
const KEY_CHARS_MIN: usize = 4;
/// The same without any digit.
const PLAIN_KEY_CHARS_MIN: usize = 12;

/// The first `chars_max` characters of `line`, and a mark that says how many bytes are missing.
pub(crate) fn cut(line: &str, chars_max: usize) -> String {
    match line.char_indices().nth(chars_max) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} {}", part(line, 0..end), cut_mark(line.len() - end)),
    }
}

/// A part of a text, without what is left in it of a key that begins or ends beyond it.
pub(crate) fn part(text: &str, part: Range<usize>) -> Cow<'_, str> {
    Secrets::default().redact_ends(text, part)
}

/// The beginning of a text of which the rest is not kept.
pub(crate) fn cut_at_end(text: &str) -> String {
    format!("{} [...]", without_begun(text))
}

/// A text that goes on, nobody knows how, without what may be the beginning of a key at its end.
pub(crate) fn without_begun(text: &str) -> &str {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "+/_.~=-".contains(c);
    let kept = text.trim_end_matches(is_of_key);
    let begun = &text[kept.len()..];
    // No key is longer than what is looked at for one.
    if begun.len() > BEYOND_CUT_BYTES {
        return text;
    }
    let may_be = match begun.bytes().any(|byte| byte.is_ascii_digit()) {
        true => begun.len() >= KEY_CHARS_MIN,
        false => begun.len() >= PLAIN_KEY_CHARS_MIN,
    };
    if may_be { kept } else { text }
}

/// What stands where bytes were left out.
pub(crate) fn cut_mark(bytes_missing: usize) -> String {
    format!("[... {bytes_missing} more bytes]")
}

/// `count` and the noun in the right number.
pub(crate) fn count_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many lines a text has; one without a final line end counts too.
pub(crate) fn count_lines(bytes: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    ends + usize::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_cut_goes_through_is_not_shown_in_part() {
        let key = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
        let line = format!("let key = {key};");
        for chars_max in 0..line.len() {
            let shown = cut(&line, chars_max);
            assert!(!shown.contains("ghp_") || shown.contains(key), "{shown}");
            assert!(shown.ends_with(&format!(" [... {} more bytes]", line.len() - chars_max)));
        }
        assert_eq!(cut(&line, 20), "let key = [redacted: GitHub token] [... 31 more bytes]");
        assert_eq!(cut(&line, 9), "let key = [... 42 more bytes]");
    }

    #[test]
    fn what_may_be_the_beginning_of_a_key_goes() {
        for (text, expected) in [
            ("key: sk-ant-api03-ab", "key: "),
            ("key: sk-1", "key: "),
            ("token=abcdefghijkl", ""),
            ("\"ghp_q7Zk", "\""),
            ("Waiting for the server...", "Waiting for the server..."),
            ("done 45%", "done 45%"),
            ("12", "12"),
            ("", ""),
        ] {
            assert_eq!(without_begun(text), expected, "{text}");
        }
    }
}
