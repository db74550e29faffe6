//! A record from its kind, its version and the bytes of its body: one of today's is parsed once,
//! one of before is brought to today's shape first.

use heeler_core::{
    ByName, CallId, CallPlanned, Compacted, CompactionFailed, CompactionStarted, EpochStarted,
    FactsChanged, ForkOrigin, HookAnswered, Input, InterruptCause, Limits, Message, ModelAccepted,
    ModelFailed, ModelReplied, ModelStarted, Opened, PermissionAsked, PermissionDecided, Pruned,
    RECORD_KINDS, Record, RecordKind, Rule, SessionName, Settings, SteeringId, SteeringQueued,
    ToolOutput, Trimmed, TurnOutcome,
};
use serde::de::value::{BorrowedStrDeserializer, EnumAccessDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, Error as _, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};
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
    RecordOfKind::deserialize(EnumAccessDeserializer::new(KindThenBody { kind, body }))
}

/// [`Record`], read as a kind and then its body. `Record` reads itself from an object whose fields
/// may come in any order, and the code for a body that comes before its kind, which is never
/// written, is a hundredth of the whole program.
#[derive(Deserialize)]
#[serde(remote = "Record", rename_all = "snake_case")]
enum RecordOfKind {
    Opened(Opened),
    SettingsChanged(Box<Settings>),
    LimitsChanged(Limits),
    EpochStarted(Box<EpochStarted>),
    HistoryGiven {
        messages: Vec<Message>,
    },
    Input(Box<Input>),
    ModelStarted(ModelStarted),
    ModelAccepted(Box<ModelAccepted>),
    ModelReplied(Box<ModelReplied>),
    ModelFailed(Box<ModelFailed>),
    CallPlanned(Box<CallPlanned>),
    FactsChanged(Box<FactsChanged>),
    CallStarted {
        call: CallId,
    },
    CallFinished {
        call: CallId,
        output: Box<ToolOutput>,
        millis: u64,
        #[serde(default)]
        inner_calls: u32,
    },
    PermissionAsked(Box<PermissionAsked>),
    PermissionDecided(Box<PermissionDecided>),
    RuleGranted(Box<Rule>),
    HookAnswered(Box<HookAnswered>),
    SteeringQueued(Box<SteeringQueued>),
    SteeringTakenBack {
        id: SteeringId,
    },
    Interrupted {
        cause: InterruptCause,
    },
    CompactionStarted(CompactionStarted),
    Compacted(Box<Compacted>),
    CompactionFailed(Box<CompactionFailed>),
    Trimmed(Trimmed),
    Pruned(Pruned),
    Restored,
    TurnFinished {
        turn: u32,
        outcome: TurnOutcome,
    },
    TimePassed,
    Named {
        name: Option<SessionName>,
    },
    Forked(Box<ForkOrigin>),
}

/// A kind and its body, handed over so that the body goes straight into its type.
struct KindThenBody<'de> {
    kind: &'de str,
    body: Option<&'de str>,
}

impl<'de> EnumAccess<'de> for KindThenBody<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        Ok((seed.deserialize(BorrowedStrDeserializer::new(self.kind))?, self))
    }
}

impl<'de> VariantAccess<'de> for KindThenBody<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.body.map_or(Ok(()), serde_json::from_str)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let body = self.body.ok_or_else(|| Error::missing_field("body"))?;
        let mut body = serde_json::Deserializer::from_str(body);
        let value = seed.deserialize(ByName(&mut body))?;
        body.end()?;
        Ok(value)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.newtype_variant_seed(Fields { fields, visitor })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.newtype_variant_seed(Fields { fields: &[], visitor })
    }
}

/// The fields of a kind whose body has no type of its own.
struct Fields<V> {
    fields: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, body: D) -> Result<V::Value, D::Error> {
        body.deserialize_struct("Record", self.fields, self.visitor)
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
    fn every_kind_is_read() {
        for RecordKind { name, .. } in RECORD_KINDS {
            // A body that fits none, or a kind whose fields all have a default.
            let read = record(name, version(name), Some("[]")).map(|read| read.kind());
            assert!(
                read.as_ref()
                    .map_or_else(|why| !why.contains("unknown variant"), |kind| kind == name)
            );
        }
        assert!(record("dreamed", 1, Some("[]")).unwrap_err().contains("unknown variant"));
    }

    #[test]
    fn what_only_a_newer_heeler_reads() {
        assert!(!is_newer("input", 1) && is_newer("input", 2) && is_newer("dreamed", 1));
        assert!(RECORD_KINDS.iter().all(|kind| version(kind.name) == kind.version()));
    }
}
