//! Whether requests begin with the ones before them, as a provider's cache needs it.

use anyhow::{Context as _, Result};
use heeler_script::{Depth, elide_cache_markers};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
}

/// How many of these bodies begin with the bytes of the one before them, up to the end of its last
/// message. Cache markers are left out: they are not part of what is cached.
pub(super) fn continued(bodies: &[Vec<u8>]) -> Result<usize> {
    let mut n_continued = 0;
    let mut before: Option<String> = None;
    for body in bodies {
        let text = std::str::from_utf8(body).context("a request is not UTF-8 text")?;
        let text = elide_cache_markers(text, Depth::Any);
        let prefix = prefix(&text)?;
        n_continued += usize::from(before.is_some_and(|before| {
            text.starts_with(&before) && text[before.len()..].starts_with(',')
        }));
        before = Some(prefix.to_owned());
    }
    Ok(n_continued)
}

/// A body up to the end of its last message.
fn prefix(text: &str) -> Result<&str> {
    let body: Body<'_> = serde_json::from_str(text).context("a request is no JSON")?;
    let messages = body.messages.get();
    let end = messages.as_ptr() as usize - text.as_ptr() as usize + messages.len();
    Ok(text[..end].strip_suffix(']').unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bodies: &[&str], expected: usize) {
        let bodies: Vec<Vec<u8>> = bodies.iter().map(|body| body.as_bytes().to_vec()).collect();
        assert_eq!(continued(&bodies).unwrap(), expected);
    }

    #[test]
    fn what_is_added_goes_behind() {
        let marked = r#"{"m":1,"messages":[{"a":[1]},{"b":2,"cache_control":{"x":1}}],"t":0}"#;
        let longer = r#"{"m":1,"messages":[{"a":[1]},{"b":2},{"c":3}],"t":9}"#;
        check(&[marked, longer], 1);
        check(&[marked, longer, r#"{"m":1,"messages":[{"a":[1]},{"b":2},{"c":3},4]}"#], 2);
        check(&[], 0);
    }

    #[test]
    fn what_changes_before_it_is_noticed() {
        let first = r#"{"m":1,"messages":[{"a":1}]}"#;
        check(&[first, first], 0);
        check(&[first, r#"{"m":2,"messages":[{"a":1},{"b":2}]}"#], 0);
        check(&[first, r#"{"m":1,"messages":[{"a":2},{"b":2}]}"#], 0);
        check(&[first, r#"{"m":1,"messages":[{"a": 1},{"b":2}]}"#], 0);
    }
}
