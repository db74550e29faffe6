//! Takes cache markers out of JSON text without touching any other byte.

use std::borrow::Cow;

/// The key of a cache marker.
const MARKER: &str = "cache_control";

/// How deep markers are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only members of the outermost object: a block, whose input may use the key for itself.
    Outermost,
    /// Everywhere: a request's head.
    Any,
}

/// Removes every `cache_control` member, with the comma that joins it. Total over any text; what
/// is not JSON keeps its bytes, more or less.
#[must_use]
pub fn elide_cache_markers(json: &str, depth: Depth) -> Cow<'_, str> {
    if !json.contains(MARKER) {
        return Cow::Borrowed(json);
    }
    let mut kept = String::with_capacity(json.len());
    let (mut level, mut at) = (0usize, 0usize);
    let bytes = json.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => level += 1,
            b'}' | b']' => level = level.saturating_sub(1),
            _ => {}
        }
        let in_reach = depth == Depth::Any || level == 1;
        if in_reach
            && is_marker(json.get(at..end))
            && let Some(value) = after_colon(bytes, end)
        {
            at = skip_member(&mut kept, bytes, value_end(bytes, value));
            continue;
        }
        // Every byte that ends a piece is ASCII or the piece is one byte of a longer character,
        // which `chars` below never splits.
        let end = char_end(json, end);
        kept.push_str(json.get(at..end).unwrap_or_default());
        at = end;
    }
    Cow::Owned(kept)
}

fn is_marker(token: Option<&str>) -> bool {
    token.and_then(|t| t.strip_prefix('"')?.strip_suffix('"')) == Some(MARKER)
}

/// Drops the comma before the member, or else the one after it; returns where to go on.
fn skip_member(kept: &mut String, bytes: &[u8], end: usize) -> usize {
    let before = kept.trim_end().len();
    if kept[..before].ends_with(',') {
        kept.truncate(before - 1);
        return end;
    }
    match after_white_space(bytes, end) {
        next if bytes.get(next) == Some(&b',') => next + 1,
        _ => end,
    }
}

/// Where the value of a member starts, when a colon follows its key.
fn after_colon(bytes: &[u8], key_end: usize) -> Option<usize> {
    let colon = after_white_space(bytes, key_end);
    (bytes.get(colon) == Some(&b':')).then(|| after_white_space(bytes, colon + 1))
}

fn after_white_space(bytes: &[u8], from: usize) -> usize {
    let white = |b: &u8| b.is_ascii_whitespace();
    from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| white(b)).count()
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn value_end(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut level) = (from, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                if level == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => level += 1,
            b'}' | b']' if level <= 1 => return if level == 0 { at } else { at + 1 },
            b'}' | b']' => level -= 1,
            b',' if level == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn char_end(text: &str, from: usize) -> usize {
    (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_markers_and_nothing_else() {
        let marker = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
        let cases = [
            (format!(r#"{{"a":1,{marker}}}"#), r#"{"a":1}"#),
            (format!(r#"{{{marker},"a":"é"}}"#), r#"{"a":"é"}"#),
            (format!(r#"{{{marker}}}"#), "{}"),
            (format!(r#"{{"a":1 , {marker} , "b":2}}"#), r#"{"a":1  , "b":2}"#),
            (r#"{"a":"x","cache_control":null}"#.to_owned(), r#"{"a":"x"}"#),
        ];
        for (input, expected) in cases {
            assert_eq!(elide_cache_markers(&input, Depth::Outermost), expected, "{input}");
        }
    }

    #[test]
    fn a_tools_own_input_keeps_the_key_unless_the_whole_head_is_meant() {
        let block = r#"{"type":"tool_use","input":{"cache_control":1,"b":"\"cache_control\":2"}}"#;
        assert_eq!(elide_cache_markers(block, Depth::Outermost), block);
        let expected = r#"{"type":"tool_use","input":{"b":"\"cache_control\":2"}}"#;
        assert_eq!(elide_cache_markers(block, Depth::Any), expected);
    }

    proptest::proptest! {
        #[test]
        fn is_total(text in r#"[{}\[\],:"\\ aé]{0,20}("cache_control")?[{}\[\],:"\\ aé]{0,20}"#) {
            let length = elide_cache_markers(&text, Depth::Any).len();
            proptest::prop_assert!(length <= text.len());
            let length = elide_cache_markers(&text, Depth::Outermost).len();
            proptest::prop_assert!(length <= text.len());
        }
    }
}
