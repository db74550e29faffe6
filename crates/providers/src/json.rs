//! The few pieces of JSON that requests of every dialect are written with, and what answers need
//! that are a little off.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub(crate) use heeler_json::string;
use memchr::{memchr, memmem};
use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Merges `patch` over `target`: objects merge, `null` removes, anything else replaces.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    target.shift_remove(&key);
                } else {
                    merge(target.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch,
    }
}

/// JSON with each half of a surrogate pair that stands alone replaced, as bytes are that are no
/// UTF-8. A strict reader refuses such text, and so would a server to which it goes back.
pub(crate) fn mended(json: &str) -> Cow<'_, str> {
    if memmem::find(json.as_bytes(), b"\\u").is_none() {
        return Cow::Borrowed(json);
    }
    let mut mended = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = memchr(b'\\', &json.as_bytes()[at..]) {
        let escape = at + found;
        let is_low = |half: u32| (0xdc00..0xe000).contains(&half);
        let (length, is_alone) = match code_unit(json, escape) {
            None => (2, false),
            Some(unit) if is_low(unit) => (6, true),
            Some(unit) if !(0xd800..0xdc00).contains(&unit) => (6, false),
            Some(_) if code_unit(json, escape + 6).is_some_and(is_low) => (12, false),
            Some(_) => (6, true),
        };
        at = (escape + length).min(json.len());
        if is_alone {
            mended.push_str(&json[kept..escape]);
            mended.push_str("\\ufffd");
            kept = at;
        }
        // What is escaped may be a character of several bytes, in what is no JSON.
        while !json.is_char_boundary(at) {
            at += 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[kept..]);
    Cow::Owned(mended)
}

/// The first item of a list, as some gateways wrap what they tell of a failure; anything else as it is.
pub(crate) fn first(json: &str) -> &str {
    if !json.trim_start().starts_with('[') {
        return json;
    }
    let items = serde_json::from_str::<Vec<&RawValue>>(json).unwrap_or_default();
    items.first().map_or(json, |first| first.get())
}

/// The failure in what is no event: all of it, or one of its lines, since other words may stand beside it.
/// Only what says that it is one: gateways tell of their own affairs in between, too.
pub(crate) fn failure_in(text: &str) -> Option<Cow<'_, str>> {
    let parts = std::iter::once(text).chain(text.lines());
    let parts = parts.filter(|part| part.trim_start().starts_with(['{', '[']));
    parts.map(mended).find(|part| is_failure(part))
}

fn is_failure(json: &str) -> bool {
    let value = value_in(json);
    let is_error = |key: &str| value[key] == "error";
    let members = [&value["error"], &value["response"]["error"]];
    members.iter().any(|member| tells(member)) || is_error("type") || is_error("object")
}

/// The unit of UTF-16 that the escape at this place stands for.
fn code_unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// A document, or the first item of a list, as some gateways wrap what they tell of a failure; null
/// where there is none.
pub(crate) fn value_in(json: &str) -> Value {
    match serde_json::from_str(json) {
        Ok(Value::Array(items)) => items.into_iter().next().unwrap_or_default(),
        value => value.unwrap_or_default(),
    }
}

/// A text, or a number as one; anything else counts as empty.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A count, as it is meant: `12`, `12.0` or `"12"`. Anything else tells nothing: no answer is lost
/// for what stands beside it.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(Count)
}

/// A count that is a place in a list.
pub(crate) fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Ok(count(deserializer)?.and_then(|count| u32::try_from(count).ok()))
}

/// What it should be, or nothing for anything else, numbers that nothing can hold included. It has to
/// stand in a document that is read as text.
pub(crate) fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

/// Whether a member that is about a failure tells of one: some servers always have it.
pub(crate) fn tells(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(tells),
        Value::Object(members) => members.values().any(tells),
    }
}

/// A list, what alone stands in the place of one, or nothing for anything else.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let raw = <&'de RawValue>::deserialize(deserializer)?.get();
    let read = match raw.as_bytes().first() {
        Some(b'[') => serde_json::from_str(raw).map(Some),
        Some(b'{') => serde_json::from_str(raw).map(|only| Some(vec![only])),
        _ => Ok(None),
    };
    read.map_err(serde::de::Error::custom)
}

/// An object, or nothing for anything else.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(Object(PhantomData))
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

struct Count;

impl<'de> Visitor<'de> for Count {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Self::Value, E> {
        Ok(Some(count))
    }

    fn visit_i64<E>(self, count: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(count).ok())
    }

    fn visit_f64<E>(self, count: f64) -> Result<Self::Value, E> {
        // So large that every whole number up to it is one of these.
        const MAX: f64 = 9_007_199_254_740_992.0;
        let is_count = count.fract() == 0.0 && (0.0..=MAX).contains(&count);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, and within what both can hold"
        )]
        Ok(is_count.then_some(count as u64))
    }

    fn visit_str<E>(self, count: &str) -> Result<Self::Value, E> {
        Ok(count.trim().parse().ok())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        for (json, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"b"}"#),
            (r#""\u00e9 \n \ud83d\ude00""#, r#""\u00e9 \n \ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00x""#, r#""\ufffdx""#),
            (r#""\ud83d\ud83d\ude00\ud83dé""#, r#""\ufffd\ud83d\ude00\ufffdé""#),
            // The escape is of the backslash.
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d\u0041""#, r#""\\\ufffd\u0041""#),
            // No JSON; whoever reads it says so.
            (r#""\ud8"#, r#""\ud8"#),
            (r#"\u \é \"#, r#"\u \é \"#),
        ] {
            assert_eq!(mended(json), expected, "{json}");
        }
    }

    #[test]
    fn what_tells_of_a_failure() {
        for (json, expected) in [
            (r#""x""#, true),
            ("true", true),
            ("503", true),
            (r#"{"message":"","code":[1]}"#, true),
            ("null", false),
            ("false", false),
            ("0", false),
            (r#"" ""#, false),
            (r#"{"message":"","code":[null]}"#, false),
        ] {
            assert_eq!(tells(&serde_json::from_str(json).unwrap()), expected, "{json}");
        }
    }

    #[derive(Deserialize)]
    struct Counted {
        #[serde(default, deserialize_with = "count")]
        n: Option<u64>,
    }

    #[test]
    fn counts() {
        let read = |json: &str| serde_json::from_str::<Counted>(json).unwrap().n;
        for (json, expected) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("1e3", Some(1000)),
            (r#"" 12""#, Some(12)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("1.5", None),
            ("1e300", None),
            ("null", None),
            ("true", None),
            (r#""many""#, None),
            (r#"[1,{"a":2}]"#, None),
            (r#"{"a":[1]}"#, None),
        ] {
            assert_eq!(read(&format!(r#"{{"n":{json}}}"#)), expected, "{json}");
        }
        assert_eq!(read("{}"), None);
    }
}
