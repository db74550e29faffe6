//! A record from its kind, its version and the bytes of its body: one of today's is parsed once,
//! one of before is brought to today's shape first.

use heeler_core::{RECORD_KINDS, Record, RecordKind};
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, MapAccess};
use serde_json::{Error, Value};

/// Whether only a newer heeler can read a record of this kind and version.
pub(crate) fn is_newer(kind: &str, version: u64) -> bool {
    RecordKind::named(RECORD_KINDS, kind).is_none_or(|kind| version > kind.version())
}

/// The version a kind is written in.
pub(crate) fn version(kind: &str) -> u64 {
    RecordKind::named(RECORD_KINDS, kind).map_or(1, RecordKind::version)
}

/// Reads a body as what its kind and version say.
pub(crate) fn record(kind: &str, version: u64, body: Option<&str>) -> Result<Record, String> {
    record_among(RECORD_KINDS, kind, version, body)
}

fn record_among(
    kinds: &[RecordKind],
    name: &str,
    version: u64,
    body: Option<&str>,
) -> Result<Record, String> {
    let said = |error: &dyn std::fmt::Display| format!("the body of record kind `{name}`: {error}");
    match RecordKind::named(kinds, name) {
        Some(kind) if kind.version() != version => {
            let before = body.map_or(Ok(Value::Null), serde_json::from_str);
            let today = kind.upgrade(version, before.map_err(|e| said(&e))?);
            let today = today.map_err(|error| said(&format_args!("version {version}: {error}")))?;
            let today = (!today.is_null()).then(|| today.to_string());
            parse(name, today.as_deref()).map_err(|e| said(&e))
        }
        _ => parse(name, body).map_err(|e| said(&e)),
    }
}

/// Parses the body as the type its kind says.
fn parse(kind: &str, body: Option<&str>) -> Result<Record, Error> {
    let fields = KindThenBody { kind: Some(kind), body };
    Record::deserialize(MapAccessDeserializer::new(fields))
}

/// The object `{"kind": .., "body": ..}` that a record is, handed over field by field. Because the
/// kind comes first, the body goes straight into its type, without a copy of its tree between.
struct KindThenBody<'de> {
    kind: Option<&'de str>,
    body: Option<&'de str>,
}

impl<'de> MapAccess<'de> for KindThenBody<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let key = match (self.kind, self.body) {
            (Some(_), _) => "kind",
            (None, Some(_)) => "body",
            (None, None) => return Ok(None),
        };
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        if let Some(kind) = self.kind.take() {
            return seed.deserialize(BorrowedStrDeserializer::new(kind));
        }
        let mut body = serde_json::Deserializer::from_str(self.body.take().unwrap_or_default());
        let value = seed.deserialize(&mut body)?;
        body.end()?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::Input;
    use serde_json::json;

    use super::*;

    /// Inputs that were one text at first, then several, before they were blocks.
    const KINDS: &[RecordKind] = &[
        RecordKind {
            name: "input",
            upgrades: &[
                |mut body| Ok(json!({ "texts": [body["text"].take()] })),
                |body| {
                    let texts = body["texts"].as_array().ok_or("no texts")?;
                    let blocks: Vec<Value> =
                        texts.iter().map(|text| json!({ "text": { "text": text } })).collect();
                    Ok(json!({ "blocks": blocks }))
                },
            ],
        },
        // It had a body once.
        RecordKind { name: "time_passed", upgrades: &[|_| Ok(Value::Null)] },
    ];

    fn check(kind: &str, version: u64, body: Option<&str>, expected: Result<Record, &str>) {
        let read = record_among(KINDS, kind, version, body);
        assert_eq!(read, expected.map_err(str::to_owned), "{kind} {version} {body:?}");
    }

    #[test]
    fn older_versions_are_read_as_todays() {
        let hi = || Ok(Record::Input(Box::new(Input::text("hi"))));
        check("input", 1, Some(r#"{"text":"hi"}"#), hi());
        check("input", 2, Some(r#"{"texts":["hi"]}"#), hi());
        check("input", 3, Some(r#"{"blocks":[{"text":{"text":"hi"}}]}"#), hi());
        check("time_passed", 1, Some(r#"{"millis":5}"#), Ok(Record::TimePassed));
        check("time_passed", 2, None, Ok(Record::TimePassed));
    }

    #[test]
    fn a_body_that_no_version_ever_had_is_named() {
        let input = |why: &str| format!("the body of record kind `input`: {why}");
        check("input", 2, Some("{}"), Err(&input("version 2: no texts")));
        check("input", 0, Some("{}"), Err(&input("version 0: there is no version 0")));
        check("input", 1, Some("{"), Err(&input("EOF while parsing an object at line 1 column 1")));
        check("input", 3, Some("{}"), Err(&input("missing field `blocks` at line 1 column 2")));
        let null = "invalid type: null, expected a string at line 1 column 31";
        check("input", 1, Some("{}"), Err(&input(null)));
    }

    #[test]
    fn what_only_a_newer_heeler_reads() {
        assert!(!is_newer("input", 1) && is_newer("input", 2) && is_newer("dreamed", 1));
        assert!(RECORD_KINDS.iter().all(|kind| version(kind.name) == kind.version()));
    }
}
