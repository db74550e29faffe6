//! Identities. All are minted by us; providers' ids live on the wire only.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Entropy, Timestamp};

/// The position of a record in its session's journal; the first is 1.
pub type Seq = u64;

/// A text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct IdError {
    text: String,
    expected: &'static str,
}

impl IdError {
    pub(crate) fn new(text: String, expected: &'static str) -> Self {
        Self { text, expected }
    }
}

/// Names a session: a UUID of version 7, so ids sort by their time of birth.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Mints an id from the time and ten random bytes.
    pub fn mint(now: Timestamp, entropy: &dyn Entropy) -> Self {
        let mut tail = [0u8; 10];
        tail[..8].copy_from_slice(&entropy.next().to_be_bytes());
        tail[8..].copy_from_slice(&entropy.next().to_be_bytes()[..2]);
        let id = uuid::Builder::from_unix_timestamp_millis(now.millis(), &tail).into_uuid();
        Self(id.to_string())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = IdError;

    /// Accepts letters, digits, `-`, `_` and `.`, 1 to 128 of them, not starting with a dot: an id
    /// becomes a file name.
    fn try_from(text: String) -> Result<Self, IdError> {
        let fits = (1..=128).contains(&text.len())
            && !text.starts_with('.')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if fits { Ok(Self(text)) } else { Err(IdError { text, expected: "a session id" }) }
    }
}

impl FromStr for SessionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        text.to_owned().try_into()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one tool call: `turn.round.index`, the last 0-based within its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    /// The turn, from 1.
    pub turn: u32,
    /// The round within the turn, from 1.
    pub round: u32,
    /// The position among the calls of one response, from 0.
    pub index: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.turn, self.round, self.index)
    }
}

impl FromStr for CallId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError { text: text.to_owned(), expected: "a call id (turn.round.index)" };
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(turn)), Some(Ok(round)), Some(Ok(index)), None) => {
                Ok(Self { turn, round, index })
            }
            _ => Err(error()),
        }
    }
}

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for CallId {
    fn schema_name() -> Cow<'static, str> {
        "CallId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Names one tool call: turn.round.index.",
            "type": "string",
            "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$"
        })
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Names one permission request: the call that asks, and how often it asked before. A request asked
/// again after a crash keeps its id; one about another input, or for another reason after an answer,
/// has the next, so that no late answer to the first is taken for one to it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct PermissionId {
    /// The call that asks.
    pub call: CallId,
    /// Requests about it that were answered before, and left it waiting.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answered_before: u32,
}

impl PermissionId {
    /// The first request about a call.
    #[must_use]
    pub fn first(call: CallId) -> Self {
        Self { call, answered_before: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl fmt::Display for PermissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        match self.answered_before {
            0 => Ok(()),
            n => write!(f, "+{n}"),
        }
    }
}

/// Names one queued steering input; minted by whoever sends it, so that sending twice is harmless.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct SteeringId(pub String);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use expect_test::expect;

    use super::*;

    #[test]
    fn ids_refuse_what_could_leave_a_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "a b", ".hidden", &"x".repeat(129)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        }
        for good in ["chat-7_a.b", "a", &"x".repeat(128)] {
            let id: SessionId = good.parse().unwrap();
            assert_eq!(
                (id.as_str(), id.to_string(), String::from(id.clone())),
                (good, good.into(), good.into())
            );
        }
    }

    /// Gives these numbers one after the other.
    struct Numbers(AtomicU64, [u64; 2]);

    impl Entropy for Numbers {
        fn next(&self) -> u64 {
            self.1[usize::from(self.0.fetch_add(1, Ordering::Relaxed) > 0)]
        }
    }

    #[test]
    fn minted_ids_sort_by_time_and_differ_by_chance() {
        let mint = |millis, numbers| {
            SessionId::mint(Timestamp(millis), &Numbers(AtomicU64::new(0), numbers)).to_string()
        };
        // Version 7: 48 bits of time, then chance around the bits of version and variant.
        assert_eq!(mint(0x0123_4567_89ab, [0, 0]), "01234567-89ab-7000-8000-000000000000");
        assert_eq!(mint(0, [u64::MAX, 0]), "00000000-0000-7fff-bfff-ffffffff0000");
        assert_eq!(mint(0, [0, u64::MAX]), "00000000-0000-7000-8000-00000000ffff");
        assert!(mint(1_000, [u64::MAX; 2]) < mint(1_001, [0; 2]));
    }

    #[test]
    fn call_ids_round_trip() {
        let id = CallId { turn: 3, round: 1, index: 20 };
        assert_eq!(id.to_string().parse::<CallId>().unwrap(), id);
        assert_eq!(PermissionId::first(id).to_string(), "3.1.20");
        assert_eq!(PermissionId { call: id, answered_before: 2 }.to_string(), "3.1.20+2");
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""3.1.20""#);
        assert_eq!(serde_json::from_str::<CallId>(r#""3.1.20""#).unwrap(), id);
        for bad in ["", "3.1", "3.1.2.4", "3.x.2", "3.-1.2", "4294967296.1.0"] {
            let error = bad.parse::<CallId>().unwrap_err().to_string();
            assert_eq!(error, format!("`{bad}` is not a call id (turn.round.index)"));
            assert!(serde_json::from_str::<CallId>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_permission_id_is_written_with_what_was_answered_before() {
        let first = PermissionId::first(CallId { turn: 3, round: 1, index: 20 });
        for (id, json) in [
            (first, r#"{"call":"3.1.20"}"#),
            (
                PermissionId { answered_before: 2, ..first },
                r#"{"call":"3.1.20","answered_before":2}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&id).unwrap(), json);
            assert_eq!(serde_json::from_str::<PermissionId>(json).unwrap(), id);
        }
    }

    #[test]
    fn a_schema_names_call_ids_and_says_what_they_look_like() {
        let schema = schemars::schema_for!(PermissionId).to_value();
        assert_eq!(schema["properties"]["call"]["$ref"], "#/$defs/CallId");
        let definitions = serde_json::to_string_pretty(&schema["$defs"]).unwrap();
        expect![[r#"
            {
              "CallId": {
                "description": "Names one tool call: turn.round.index.",
                "type": "string",
                "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$"
              }
            }"#]]
        .assert_eq(&definitions);
    }
}
