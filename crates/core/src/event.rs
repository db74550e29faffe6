//! What a watcher sees: a closed enum of plain data.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    CallId, CompactionCause, Cost, Decision, EpochCause, FinalAnswer, HookEnd, HookEvent, Limits,
    MediaItem, MediaReference, Message, OpenPermission, PermissionId, ProviderErrorKind, Reread,
    Seq, SteeringId, TurnOutcome, Usage,
};

/// The place of an agent in its session: empty for the main one, then the calls that made each
/// child.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct AgentPath(pub Vec<CallId>);

impl fmt::Display for AgentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, call) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "/" };
            write!(f, "{separator}{call}")?;
        }
        Ok(())
    }
}

/// An event with its place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Envelope {
    /// The record that brought it; `None` for what is not journalled (deltas, progress).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Whose it is.
    #[serde(skip_serializing_if = "AgentPath::is_main")]
    pub agent: AgentPath,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl AgentPath {
    /// Whether this is the session's main agent.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }
}

/// One thing a watcher sees.
///
/// Order of delivery is the order of happening. Deltas are provisional until the `Message` that
/// holds them; a `Retry` discards them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn: u32,
    },
    /// The conversation grew by this message.
    Message {
        /// The message.
        message: Arc<Message>,
    },
    /// A model request was sent.
    AttemptStarted {
        /// The round.
        round: u32,
        /// The attempt within it.
        attempt: u32,
    },
    /// More text of the running attempt.
    TextDelta {
        /// The block's place in the answer; blocks that say nothing leave theirs empty.
        block: u32,
        /// Bytes of the block before this.
        offset: u64,
        /// The new text.
        text: String,
    },
    /// More reasoning of the running attempt.
    ThinkingDelta {
        /// The block's place in the answer; blocks that say nothing leave theirs empty.
        block: u32,
        /// Bytes of the block before this.
        offset: u64,
        /// The new text.
        text: String,
    },
    /// More of a call's input.
    ToolInputDelta {
        /// The block's place in the answer; blocks that say nothing leave theirs empty.
        block: u32,
        /// Bytes of the block before this.
        offset: u64,
        /// The new part of the JSON text.
        text: String,
    },
    /// An attempt failed; what it showed is discarded. Another follows after `wait_millis`, if there
    /// is to be one.
    Retry {
        /// The failed attempt.
        attempt: u32,
        /// What kind of failure.
        kind: ProviderErrorKind,
        /// The failure.
        message: String,
        /// Milliseconds until the next attempt; `None` when there is none.
        wait_millis: Option<u64>,
    },
    /// Tokens and money, after every model reply.
    Usage {
        /// Of this call.
        usage: Usage,
        /// Of this call, when prices are known.
        cost: Option<Cost>,
        /// Of the session.
        total: Usage,
        /// Of the session.
        total_cost: Cost,
        /// Whether the session cost more than that, as prices of some of its calls are not known.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cost_is_partial: bool,
        /// What a new epoch cost that began with this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reread: Option<Reread>,
    },
    /// A call runs: it was permitted and is about to execute.
    CallStarted {
        /// The call.
        call: CallId,
        /// Its position within the response, from 0.
        index: u32,
        /// The tool's name.
        name: String,
        /// What it does, in at most 100 characters.
        summary: String,
    },
    /// How far a call is; only the latest matters.
    CallProgress {
        /// The call.
        call: CallId,
        /// What there is to tell.
        text: String,
    },
    /// A call ended. A denied call emits this and no `CallStarted`.
    CallFinished {
        /// The call.
        call: CallId,
        /// Its position within the response.
        index: u32,
        /// The tool's name.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// What came of it, in at most 80 characters.
        summary: String,
        /// How long it ran.
        millis: u64,
    },
    /// What a tool has for the user.
    ToolText {
        /// The call.
        call: CallId,
        /// The text; may be empty beside media.
        text: String,
        /// Files it made, in the session's media store.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        media: Vec<MediaReference>,
        /// What is known of `media`: enough to open them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        items: Vec<MediaItem>,
    },
    /// Somebody must decide; answer with the request's id.
    PermissionRequested(OpenPermission),
    /// Somebody decided.
    PermissionDecided {
        /// The request.
        id: PermissionId,
        /// The answer.
        #[serde(serialize_with = "decision_as_json")]
        #[schemars(with = "Decision")]
        decision: Decision,
        /// Who gave it.
        by: String,
    },
    /// A hook runs.
    HookStarted {
        /// The moment it is told of.
        event: HookEvent,
        /// Which hook.
        hook: String,
        /// The call it is about, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// A hook ended. One that is broken denied nothing; what becomes of a call it guards is told by
    /// the call's own events.
    HookFinished {
        /// The moment it was told of.
        event: HookEvent,
        /// Which hook.
        hook: String,
        /// The call it is about, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// How long it ran.
        millis: u64,
        /// How.
        end: HookEnd,
    },
    /// The prompt's prefix is new; what was cached is not read.
    EpochStarted {
        /// Counts the epochs.
        epoch: u32,
        /// Why.
        cause: EpochCause,
    },
    /// An input waits for the next safe point.
    SteeringQueued {
        /// Its name.
        id: SteeringId,
    },
    /// A waiting input was taken back.
    SteeringTakenBack {
        /// Its name.
        id: SteeringId,
    },
    /// A waiting input reached the model; its `Message` follows.
    SteeringDelivered {
        /// Its name.
        id: SteeringId,
    },
    /// A compaction began.
    CompactionStarted {
        /// Why.
        cause: CompactionCause,
        /// Estimated tokens before it.
        tokens_before: u64,
    },
    /// The head of the conversation became a summary: the first `cut` messages are replaced by
    /// `message`.
    Compacted {
        /// How many messages were replaced.
        cut: u64,
        /// What replaced them.
        message: Arc<Message>,
        /// Estimated tokens after it.
        tokens_after: u64,
        /// What the summary cost, when prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// A compaction gave nothing.
    CompactionFailed {
        /// Why.
        error: String,
    },
    /// The conversation was cut back without a model, because the next request had to fit: it is
    /// these messages from here on.
    Trimmed {
        /// All that is left of it.
        messages: Vec<Arc<Message>>,
        /// Estimated tokens before it.
        tokens_before: u64,
        /// Estimated tokens after it.
        tokens_after: u64,
    },
    /// Bulky old results were cut short, because the next request had to fit, and that was enough.
    Pruned {
        /// The messages that hold them, as they are from here on.
        changed: Vec<Changed>,
        /// How many results are shorter.
        results: u32,
        /// Characters that are gone.
        chars: u64,
        /// Images and documents that are gone.
        items: u32,
        /// Estimated tokens before it.
        tokens_before: u64,
        /// Estimated tokens after it.
        tokens_after: u64,
    },
    /// Somebody wanted back what the last summary, cut or pruning had replaced: the conversation is
    /// these messages from here on.
    Restored {
        /// All of it.
        messages: Vec<Arc<Message>>,
        /// Estimated tokens before it.
        tokens_before: u64,
        /// Estimated tokens after it.
        tokens_after: u64,
    },
    /// Images and documents that the provider could not process became notes: the conversation is
    /// these messages from here on.
    ItemsLeftOut {
        /// All of it.
        messages: Vec<Arc<Message>>,
        /// How many were left out.
        items: u32,
    },
    /// Reasoning that the provider could not verify is sent no more: the conversation is these
    /// messages from here on.
    ReasoningLeftOut {
        /// All of it.
        messages: Vec<Arc<Message>>,
        /// How many blocks were left out.
        blocks: u32,
    },
    /// Limits changed.
    LimitsChanged {
        /// The new ones.
        limits: Limits,
    },
    /// Work goes on though nothing else is seen.
    Heartbeat {
        /// The turn.
        turn: u32,
        /// The round.
        round: u32,
    },
    /// Something the user should know.
    Notice {
        /// The text.
        text: String,
    },
    /// The turn ended; the one terminal event.
    TurnFinished {
        /// The turn.
        turn: u32,
        /// How.
        outcome: TurnOutcome,
        /// The final answer's text; empty when there is none.
        #[schemars(with = "String")]
        answer: FinalAnswer,
    },
}

/// A message of the conversation that is another from here on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Changed {
    /// Its place, from 0.
    pub at: u64,
    /// What stands there now.
    pub message: Arc<Message>,
}

/// Writes an edited input as itself, for readers outside; the journal keeps its very bytes.
fn decision_as_json<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    match decision {
        Decision::Edited { input } => {
            serde_json::json!({ "edited": { "input": input.value() } }).serialize(serializer)
        }
        decision => decision.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_input_is_written_as_json() {
        let input = crate::RawJson::parse(r#"{"command": "ls"}"#).unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let (id, by) = (PermissionId::first(call), "me".to_owned());
        let line = |decision| {
            serde_json::to_string(&Event::PermissionDecided { id, decision, by: by.clone() })
                .unwrap()
        };
        let head = r#"{"type":"permission_decided","id":{"call":"1.1.0"},"decision":"#;
        for (decision, expected) in [
            (Decision::Edited { input }, r#"{"edited":{"input":{"command":"ls"}}}"#),
            (Decision::Once, r#""once""#),
        ] {
            assert_eq!(line(decision), format!(r#"{head}{expected},"by":"me"}}"#));
        }
    }

    #[test]
    fn the_main_agent_is_not_written_and_a_child_by_the_calls_that_made_it() {
        let call = |index| CallId { turn: 2, round: 1, index };
        for (path, shown, line) in [
            (vec![], "", r#"{"type":"notice","text":"x"}"#),
            (vec![call(0)], "2.1.0", r#"{"agent":["2.1.0"],"type":"notice","text":"x"}"#),
            (
                vec![call(0), call(3)],
                "2.1.0/2.1.3",
                r#"{"agent":["2.1.0","2.1.3"],"type":"notice","text":"x"}"#,
            ),
        ] {
            let agent = AgentPath(path);
            assert_eq!(agent.to_string(), shown);
            let event = Event::Notice { text: "x".into() };
            let envelope = Envelope { seq: None, agent, event };
            assert_eq!(serde_json::to_string(&envelope).unwrap(), line);
        }
    }
}
