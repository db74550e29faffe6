//! Events: what happens in a run, as plain data.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use heeler_core::{Entropy, Message, RawJson, StopReason, Timestamp, Usage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Something that happened in a run.
///
/// ```
/// use heeler_core::Timestamp;
/// use heeler_sessions::{RecordedEvent, RecordedEventKind, TurnId};
///
/// let turn: TurnId = "00000000075bcd15".parse()?;
/// let event = RecordedEvent::new(turn, 0, Timestamp(1_700_000_000_000), RecordedEventKind::ModelRequest);
/// assert_eq!(
///     serde_json::to_string(&event)?,
///     r#"{"seq":0,"turn":"00000000075bcd15","iteration":0,"time":1700000000000,"kind":"model_request"}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Its place among the events of one recorder, from 1: each recorder gives its own, and numbers
    /// only rise. 0 before a recorder has it; what stands here on the way in is passed over.
    pub seq: u64,
    /// The run it belongs to: the same for all events of one run, so that runs which share a
    /// recorder can be told apart.
    pub turn: TurnId,
    /// The model call within the run, from 0. The calls a reply asks for have the number of that
    /// reply, all of them.
    pub iteration: u32,
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    pub kind: RecordedEventKind,
}

/// What happened, with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEventKind {
    /// A run begins; no model was called yet.
    TurnStart {
        /// The history that is about to be sent, shared with whoever else holds it.
        history: Arc<[Message]>,
    },
    /// A model is about to be called.
    ModelRequest,
    /// A model answered, after retries where there were any.
    ModelResponse {
        /// The answer.
        message: Message,
        /// What this answer took.
        usage: Usage,
        /// Why the model stopped.
        stop: StopReason,
    },
    /// A model call failed and is about to be waited for and tried again.
    RetryAttempt {
        /// The retry, from 1.
        attempt: u32,
        /// How long is waited before it.
        wait_millis: u64,
        /// Why the call before failed.
        error: String,
    },
    /// A tool is about to be called.
    ToolCallStart {
        /// The id of the model's tool use.
        tool_use_id: String,
        /// The tool.
        tool: String,
        /// Its input.
        input: RawJson,
    },
    /// A tool call has its result.
    ToolCallEnd {
        /// The id of the model's tool use.
        tool_use_id: String,
        /// The tool.
        tool: String,
        /// The text of the result; of a failed call what there was of it.
        output: String,
        /// Why the call failed; none when it succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A run ended well.
    TurnEnd {
        /// What all its model calls took.
        usage: Usage,
    },
    /// A run ended with an error.
    TurnError {
        /// The error.
        error: String,
        /// What its model calls had taken by then.
        #[serde(default)]
        usage: Usage,
    },
}

impl RecordedEvent {
    /// An event that no recorder has numbered yet.
    #[must_use]
    pub fn new(turn: TurnId, iteration: u32, time: Timestamp, kind: RecordedEventKind) -> Self {
        Self { seq: 0, turn, iteration, time, kind }
    }

    /// The same event with the number of a recorder.
    #[must_use]
    pub fn numbered(&self, seq: u64) -> Self {
        Self { seq, ..self.clone() }
    }
}

impl RecordedEventKind {
    /// The kind's name, as it is written in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::TurnStart { .. } => "turn_start",
            Self::ModelRequest => "model_request",
            Self::ModelResponse { .. } => "model_response",
            Self::RetryAttempt { .. } => "retry_attempt",
            Self::ToolCallStart { .. } => "tool_call_start",
            Self::ToolCallEnd { .. } => "tool_call_end",
            Self::TurnEnd { .. } => "turn_end",
            Self::TurnError { .. } => "turn_error",
        }
    }

    /// Whether it tells of a failure that lasts: a failed tool call, a failed run.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self {
            Self::ToolCallEnd { error, .. } => error.is_some(),
            Self::TurnError { .. } => true,
            Self::TurnStart { .. }
            | Self::ModelRequest
            | Self::ModelResponse { .. }
            | Self::RetryAttempt { .. }
            | Self::ToolCallStart { .. }
            | Self::TurnEnd { .. } => false,
        }
    }
}

/// Names one run: 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub u64);

impl TurnId {
    /// Mints an id from 64 random bits.
    #[must_use]
    pub fn mint(entropy: &dyn Entropy) -> Self {
        Self(entropy.next())
    }
}

/// A text that is not the id of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a run: 16 hexadecimal digits, small letters")]
pub struct TurnIdError(String);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for TurnId {
    type Err = TurnIdError;

    fn from_str(text: &str) -> Result<Self, TurnIdError> {
        // The one form that is written: the number's own parser takes signs and any length.
        match u64::from_str_radix(text, 16).map(Self) {
            Ok(id) if id.to_string() == text => Ok(id),
            _ => Err(TurnIdError(text.to_owned())),
        }
    }
}

impl Serialize for TurnId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TurnId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::samples::{event, kinds};

    #[test]
    fn each_of_the_eight_kinds_has_its_own_fields() {
        check(&expect![[r#"
            turn_start {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"turn_start":{"history":[{"role":"user","blocks":[{"text":{"text":"Wie heißt du?"}}]}]}}}
            model_request {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":"model_request"}
            model_response {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"model_response":{"message":{"role":"assistant","blocks":[{"text":{"text":"heeler"}}]},"usage":{"input":10,"output":2,"cache_write":0,"cache_read":0,"reasoning":0},"stop":"end_turn"}}}
            retry_attempt {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"retry_attempt":{"attempt":1,"wait_millis":1000,"error":"overloaded"}}}
            tool_call_start {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"tool_call_start":{"tool_use_id":"t1","tool":"Read","input":"{\"path\": \"a\"}"}}}
            tool_call_end {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"tool_call_end":{"tool_use_id":"t1","tool":"Read","output":"text"}}}
            tool_call_end {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"tool_call_end":{"tool_use_id":"t2","tool":"Read","output":"","error":"no such file"}}} is an error
            turn_end {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"turn_end":{"usage":{"input":10,"output":2,"cache_write":0,"cache_read":0,"reasoning":0}}}}
            turn_error {"seq":7,"turn":"00000000000000ff","iteration":1,"time":5,"kind":{"turn_error":{"error":"50 rounds are over","usage":{"input":10,"output":2,"cache_write":0,"cache_read":0,"reasoning":0}}}} is an error
        "#]]);
    }

    /// Writes an event of each kind, and reads it back.
    fn check(expected: &Expect) {
        let mut lines = String::new();
        for kind in kinds() {
            let event = event(kind).numbered(7);
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<RecordedEvent>(&line).unwrap(), event);
            let is_error = if event.kind.is_error() { " is an error" } else { "" };
            lines.push_str(&format!("{} {line}{is_error}\n", event.kind.name()));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn the_id_of_a_run_has_one_form() {
        for id in [TurnId(0), TurnId(255), TurnId(u64::MAX)] {
            assert_eq!((id.to_string().len(), id.to_string().parse()), (16, Ok(id)));
        }
        for bad in ["", "ff", "00000000000000FF", "+0000000000000ff", "0000000000000000f"] {
            assert!(bad.parse::<TurnId>().unwrap_err().to_string().contains(bad), "{bad}");
            assert!(serde_json::from_str::<TurnId>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_of_runs_are_minted_from_chance() {
        struct Fixed;
        impl Entropy for Fixed {
            fn next(&self) -> u64 {
                0xabc
            }
        }
        assert_eq!(TurnId::mint(&Fixed).to_string(), "0000000000000abc");
    }
}
