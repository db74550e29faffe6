//! Raw JSON that is kept byte for byte: tool inputs, schemas, providers' own items.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json_depth;

/// The deepest nesting a raw document may have.
pub const RAW_DEPTH_MAX: usize = 96;
/// The longest raw document, in bytes.
pub const RAW_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A JSON document as the bytes it came in.
///
/// It serialises as a JSON *string*. That costs a few escapes in the journal and buys a type that
/// can be read back inside any serde representation, which `serde_json::value::RawValue` cannot.
/// An object in the place of the string is read, too, without the bytes it came in: white space is
/// gone, and numbers are what a double holds. Dialects write [`RawJson::get`] verbatim.
///
/// ```
/// use heeler_core::RawJson;
///
/// let input = RawJson::parse(r#" {"path": "a.txt","n":1.50} "#)?;
/// assert_eq!(input.get(), r#"{"path": "a.txt","n":1.50}"#);
/// assert_eq!(input.value()["path"], "a.txt");
/// # Ok::<(), heeler_core::RawJsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawJson(Arc<str>);

/// Why a text is not acceptable as raw JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RawJsonError {
    /// The text is not one JSON document.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// The document nests deeper than [`RAW_DEPTH_MAX`].
    #[error("JSON nested deeper than {RAW_DEPTH_MAX} levels")]
    Depth,
    /// The document is longer than [`RAW_BYTES_MAX`].
    #[error("JSON longer than {RAW_BYTES_MAX} bytes")]
    Size,
}

impl RawJson {
    /// Checks size, depth and syntax, and keeps the text without surrounding white space.
    ///
    /// # Errors
    /// When `text` is not one JSON document within the limits.
    pub fn parse(text: &str) -> Result<Self, RawJsonError> {
        if text.len() > RAW_BYTES_MAX {
            return Err(RawJsonError::Size);
        }
        // Depth first: the parser below recurses for values it builds later.
        if json_depth(text.as_bytes()) > RAW_DEPTH_MAX {
            return Err(RawJsonError::Depth);
        }
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(text).map_err(|error| RawJsonError::Syntax(error.to_string()))?;
        Ok(Self(raw.get().trim().into()))
    }

    /// The document `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// Writes a value that is known to be within the limits as raw JSON; others go through
    /// [`RawJson::parse`].
    #[must_use]
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// The document's bytes as text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The document as a value; `null` for one that [`RawJson::to_value`] has an error for.
    #[must_use]
    pub fn value(&self) -> serde_json::Value {
        self.to_value().unwrap_or_default()
    }

    /// The document as a value.
    ///
    /// # Errors
    /// When it says what JSON has the grammar for and a value has no place for: a number beyond a
    /// double's, half of a character.
    pub fn to_value(&self) -> Result<serde_json::Value, RawJsonError> {
        serde_json::from_str(&self.0).map_err(|error| RawJsonError::Syntax(error.to_string()))
    }

    /// Whether the document is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for RawJson {
    fn schema_name() -> Cow<'static, str> {
        "RawJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A JSON document, as text.", "type": "string" })
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(TextOrObject),
            false => deserializer.deserialize_str(TextOrObject),
        }
    }
}

/// What raw JSON is read from: its text, as we write it, or an object, as people and others do.
struct TextOrObject;

impl<'de> Visitor<'de> for TextOrObject {
    type Value = RawJson;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON document as a string, or an object")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RawJson, E> {
        RawJson::parse(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<RawJson, A::Error> {
        let object = serde_json::Value::deserialize(MapAccessDeserializer::new(object))?;
        self.visit_str(&object.to_string())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::Message;

    #[test]
    fn keeps_bytes_and_refuses_what_is_not_json() {
        let text = r#"{"b":1, "a" :[1.0,"\u00e9"]}"#;
        assert_eq!(RawJson::parse(text).unwrap().get(), text);
        assert_eq!(RawJson::parse(" {} ").unwrap().get(), "{}");
        assert!(matches!(RawJson::parse(r#"{"a":"#), Err(RawJsonError::Syntax(_))));
    }

    #[test]
    fn what_stands_in_strings_or_side_by_side_is_not_deep() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let brackets = "[".repeat(200);
        for (text, expected) in [
            (nested(RAW_DEPTH_MAX), Ok(())),
            (nested(RAW_DEPTH_MAX + 1), Err(RawJsonError::Depth)),
            (r#"{"a":"#.repeat(97) + "1" + &"}".repeat(97), Err(RawJsonError::Depth)),
            (brackets.clone(), Err(RawJsonError::Depth)),
            (format!("[{}{{}}]", "{},[],".repeat(200)), Ok(())),
            (format!(r#""{brackets}""#), Ok(())),
            (format!(r#""\"{brackets}""#), Ok(())),
            (format!(r#"["\\",{}]"#, nested(96)), Err(RawJsonError::Depth)),
            (format!(r#"["a",{}]"#, nested(96)), Err(RawJsonError::Depth)),
        ] {
            assert_eq!(RawJson::parse(&text).map(|_| ()), expected, "{text}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "32 MiB, byte by byte in an interpreter, take hours")]
    fn thirty_two_mebibytes_are_kept_and_no_more() {
        let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
        assert_eq!(RawJson::parse(&text(33_554_432)).unwrap().get().len(), 33_554_432);
        assert_eq!(RawJson::parse(&text(33_554_433)), Err(RawJsonError::Size));
    }

    #[test]
    fn says_what_it_holds() {
        let value = serde_json::json!({"b": [1], "a": null});
        let raw = RawJson::from_value(&value);
        assert_eq!(
            (raw.get(), format!("{raw:?}")),
            (r#"{"b":[1],"a":null}"#, raw.get().to_owned())
        );
        assert_eq!((raw.value(), raw.is_object()), (value, true));
        assert!(
            RawJson::empty_object().is_object() && !RawJson::parse("[{}]").unwrap().is_object()
        );
        assert_eq!(RawJson::empty_object().get(), "{}");
    }

    #[test]
    fn what_no_value_can_hold_is_an_error_and_not_null() {
        for text in ["1e400", r#""\ud800""#] {
            let raw = RawJson::parse(text).unwrap();
            assert!(matches!(raw.to_value(), Err(RawJsonError::Syntax(_))), "{text}");
            assert_eq!(raw.value(), serde_json::Value::Null);
        }
        assert_eq!(RawJson::parse("1e40").unwrap().to_value(), Ok(serde_json::json!(1e40)));
    }

    #[test]
    fn round_trips_inside_a_tagged_type() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        #[serde(tag = "type")]
        enum Tagged {
            A { raw: RawJson },
        }
        let value = Tagged::A { raw: RawJson::parse("[1, 2]").unwrap() };
        let line = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<Tagged>(&line).unwrap(), value);
    }

    #[test]
    fn a_history_may_say_an_input_as_an_object() {
        let read = |input: &str| {
            let call = format!(r#"{{"tool_use": {{"id": "a", "name": "b", "input": {input}}}}}"#);
            match serde_json::from_str(&format!(r#"{{"role": "assistant", "blocks": [{call}]}}"#)) {
                Ok::<Message, _>(message) => {
                    let again = serde_json::to_string(&message).unwrap();
                    assert_eq!(serde_json::from_str::<Message>(&again).unwrap(), message);
                    message.tool_uses().map(|call| call.input.get().to_owned()).collect()
                }
                Err(error) => error.to_string().split(" at line").next().unwrap().to_owned(),
            }
        };
        let deep = |depth: usize| r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        for (input, expected) in [
            (r#""{\"b\": 1.50}""#, r#"{"b": 1.50}"#),
            (
                r#"{"b": [1, {"a": null}], "a": "\u00e9"}"#,
                "{\"b\":[1,{\"a\":null}],\"a\":\"\u{e9}\"}",
            ),
            ("{}", "{}"),
            (&deep(RAW_DEPTH_MAX), &deep(RAW_DEPTH_MAX)),
            (&deep(RAW_DEPTH_MAX + 1), "JSON nested deeper than 96 levels"),
            (r#""{""#, "not valid JSON: EOF while parsing an object"),
            ("1", "invalid type: integer `1`, expected a JSON document as a string, or an object"),
        ] {
            assert_eq!(read(input), expected, "{input}");
        }
    }

    #[test]
    fn a_schema_names_raw_json_and_calls_it_a_text() {
        let schema = schemars::schema_for!(Option<RawJson>).to_value();
        let definitions = serde_json::to_string_pretty(&schema["$defs"]).unwrap();
        expect![[r#"
            {
              "RawJson": {
                "description": "A JSON document, as text.",
                "type": "string"
              }
            }"#]]
        .assert_eq(&definitions);
    }
}
