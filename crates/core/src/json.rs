//! What is asked of JSON before anybody parses it, and reading it.

use memchr::memchr2;
use serde::Deserialize;
use serde::de::Error as _;

use crate::ByName;

/// Reads JSON as a value whose structs are objects: [`ByName`].
///
/// # Errors
/// When the text is no JSON, or something else than was asked for.
pub fn from_json<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(ByName(&mut json))?;
    json.end()?;
    Ok(value)
}

/// Reads JSON from bytes by way of text. Each type brings a reader of its own for each kind of input,
/// and these are a good part of the program: text is the one they all share.
///
/// # Errors
/// When the bytes are no UTF-8, no JSON, or something else than was asked for.
pub fn from_json_bytes<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => from_json(text),
        Err(error) => {
            let at = error.valid_up_to();
            Err(serde_json::Error::custom(format_args!("byte {at} is no UTF-8")))
        }
    }
}

/// The deepest nesting of brackets outside strings; an upper bound for what is no JSON.
#[must_use]
pub fn json_depth(json: &[u8]) -> usize {
    let (mut now, mut deepest) = (0usize, 0usize);
    let mut rest = json;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            // Most of a document stands in its strings.
            b'"' => rest = after_string(rest),
            b'{' | b'[' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// What follows the string whose first quote was passed.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        if rest[at] == b'"' {
            return &rest[at + 1..];
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn bytes_are_read_as_text() {
        let read = |bytes| from_json_bytes::<Value>(bytes).map_err(|error| error.to_string());
        assert_eq!(read(br#"["\u00e9"]"#), Ok(Value::from(vec!["é"])));
        assert_eq!(read(b"[\"\xff\"]"), Err("byte 2 is no UTF-8".to_owned()));
        assert_eq!(read(b"[1"), Err("EOF while parsing a list at line 1 column 2".to_owned()));
    }

    #[test]
    fn only_what_stands_outside_strings_nests() {
        for (json, expected) in [
            ("", 0),
            ("1", 0),
            ("{}", 1),
            (r#"[[],{"a":[1]},[]]"#, 3),
            (r#"["[[[", "\"[[[", "\\", [1]]"#, 2),
            (r#"["\\\"[[["]"#, 1),
            // No JSON.
            ("]]][", 1),
            (r#"["[[["#, 1),
            (r#"["[[[\"#, 1),
        ] {
            assert_eq!(json_depth(json.as_bytes()), expected, "{json}");
        }
    }

    fn depth_of(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
            Value::Object(fields) => 1 + fields.values().map(depth_of).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = || r#"[\[\]{}"\\a\n]{0,9}"#;
        let leaf = prop_oneof![Just(Value::Null), text().prop_map(Value::from)];
        leaf.prop_recursive(6, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(text(), inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn is_that_of_the_parsed_document(value in value()) {
            prop_assert_eq!(json_depth(value.to_string().as_bytes()), depth_of(&value));
        }
    }
}
