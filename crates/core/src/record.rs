//! Journal records: everything that ever happened to a session, in order.
//!
//! A record carries all that a fold over the journal needs; nothing is asked of a tool, a
//! catalogue or a clock when it is read back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AcceptedAnswer, CallId, Compacted, CompactionFailed, CompactionStarted, Cost, Decision, Facts,
    Few, ForUser, ForkOrigin, HookEvent, HookVerdict, Input, Limits, Message, PermissionId,
    PermissionReason, ProviderErrorKind, ProviderItem, Pruned, RawJson, Reply, Rule, Seq,
    SessionName, Settings, SteeringId, Timestamp, ToolDefinition, ToolOutput, Trimmed, TurnOutcome,
    Usage,
};

/// A record at its place in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The position, from 1.
    pub seq: Seq,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
}

/// One thing that happened.
///
/// What comes once a round stands in it as it is, what is longer or rare in a box: a store in memory
/// keeps a hundred records of a session, and a journal that is read all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Record {
    /// A process took the session over; first in every process.
    Opened(Opened),
    /// Settings from here on.
    SettingsChanged(Box<Settings>),
    /// Limits from here on.
    LimitsChanged(Limits),
    /// The prompt's prefix from here on.
    EpochStarted(Box<EpochStarted>),
    /// The conversation begins with what was said elsewhere, before this session.
    HistoryGiven {
        /// Its messages, in order.
        messages: Vec<Message>,
    },
    /// A user's input that starts a turn, or joins the queue when one runs.
    Input(Box<Input>),
    /// A model request is about to be sent.
    ModelStarted(ModelStarted),
    /// A provider writes the answer by itself, and can be asked for it again.
    ModelAccepted(Box<ModelAccepted>),
    /// A model answered.
    ModelReplied(Box<ModelReplied>),
    /// A model request failed.
    ModelFailed(Box<ModelFailed>),
    /// A call was looked up and checked.
    CallPlanned(Box<CallPlanned>),
    /// A call that may run does not touch what it was judged by.
    FactsChanged(Box<FactsChanged>),
    /// A call is about to run.
    CallStarted {
        /// The call.
        call: CallId,
    },
    /// A call ended.
    CallFinished {
        /// The call.
        call: CallId,
        /// What it gave.
        output: Box<ToolOutput>,
        /// How long the tool itself ran. One that was started while the answer streamed may have
        /// run longer than lies between its records.
        millis: u64,
        /// How many calls it played within it; they count as calls of the turn.
        #[serde(default, skip_serializing_if = "crate::id::is_zero")]
        inner_calls: u32,
    },
    /// Somebody is asked.
    PermissionAsked(Box<PermissionAsked>),
    /// Somebody answered.
    PermissionDecided(Box<PermissionDecided>),
    /// A rule saved for later sessions, or granted by a person outside a prompt.
    RuleGranted(Box<Rule>),
    /// Hooks had something to say.
    HookAnswered(Box<HookAnswered>),
    /// An input waits for the next safe point of the running turn.
    SteeringQueued(Box<SteeringQueued>),
    /// A waiting input was taken back.
    SteeringTakenBack {
        /// Which one.
        id: SteeringId,
    },
    /// The turn was stopped from outside; its effects vanish.
    Interrupted {
        /// By whom.
        cause: InterruptCause,
    },
    /// A compaction begins; what arrives later goes after its cut.
    CompactionStarted(CompactionStarted),
    /// The head of the conversation became a summary.
    Compacted(Box<Compacted>),
    /// A compaction gave nothing.
    CompactionFailed(Box<CompactionFailed>),
    /// The conversation was cut back without a model.
    Trimmed(Trimmed),
    /// Bulky old results were cut short, and that was enough.
    Pruned(Pruned),
    /// What the last summary, cut or pruning replaced stands in its place again, before all that was
    /// said since.
    Restored,
    /// A turn ended.
    TurnFinished {
        /// The turn.
        turn: u32,
        /// How.
        outcome: TurnOutcome,
    },
    /// Nothing but time passed: a retry is due or a limit reached.
    TimePassed,
    /// A person named the session, or took its name away. The last one counts.
    Named {
        /// Its name from here on.
        name: Option<SessionName>,
    },
    /// What came before is another session's; from here on it is this one's own.
    Forked(Box<ForkOrigin>),
}

impl Record {
    /// The record's kind as written in the journal.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::SettingsChanged(_) => "settings_changed",
            Self::LimitsChanged(_) => "limits_changed",
            Self::EpochStarted(_) => "epoch_started",
            Self::HistoryGiven { .. } => "history_given",
            Self::Input(_) => "input",
            Self::ModelStarted(_) => "model_started",
            Self::ModelAccepted(_) => "model_accepted",
            Self::ModelReplied(_) => "model_replied",
            Self::ModelFailed(_) => "model_failed",
            Self::CallPlanned(_) => "call_planned",
            Self::FactsChanged(_) => "facts_changed",
            Self::CallStarted { .. } => "call_started",
            Self::CallFinished { .. } => "call_finished",
            Self::PermissionAsked(_) => "permission_asked",
            Self::PermissionDecided(_) => "permission_decided",
            Self::RuleGranted(_) => "rule_granted",
            Self::HookAnswered(_) => "hook_answered",
            Self::SteeringQueued(_) => "steering_queued",
            Self::SteeringTakenBack { .. } => "steering_taken_back",
            Self::Interrupted { .. } => "interrupted",
            Self::CompactionStarted(_) => "compaction_started",
            Self::Compacted(_) => "compacted",
            Self::CompactionFailed(_) => "compaction_failed",
            Self::Trimmed(_) => "trimmed",
            Self::Pruned(_) => "pruned",
            Self::Restored => "restored",
            Self::TurnFinished { .. } => "turn_finished",
            Self::TimePassed => "time_passed",
            Self::Named { .. } => "named",
            Self::Forked(_) => "forked",
        }
    }
}

/// A process took the session over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Counts the processes that owned the session, from 1.
    pub incarnation: u64,
    /// The version of heeler that wrote what follows.
    pub build: String,
}

/// The prompt's prefix from here on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochStarted {
    /// Counts the epochs of the session, from 1.
    pub epoch: u32,
    /// Why a new one began.
    pub cause: EpochCause,
    /// The rendered system prompt.
    pub system: String,
    /// The tools, in the order they are sent.
    pub tools: Vec<ToolDefinition>,
    /// Tools that the provider runs itself, in the order they are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_tools: Vec<ProviderItem>,
    /// The model's full name.
    pub model: String,
    /// Hash of the rendered system prompt.
    pub system_hash: String,
    /// Hash of the rendered tools.
    pub tools_hash: String,
}

/// Why an epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpochCause {
    /// The session's first request.
    First,
    /// The system prompt was replaced.
    SystemPrompt,
    /// The tools changed.
    Tools,
    /// Another model or other parameters.
    Model,
    /// The conversation's head became a summary.
    Compaction,
    /// Images and documents of the conversation became notes.
    RefusedItem,
    /// Reasoning of the conversation is sent no more.
    RefusedReasoning,
}

/// A model request is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelStarted {
    /// The turn.
    pub turn: u32,
    /// The round within the turn, from 1.
    pub round: u32,
    /// The attempt within the round, from 1.
    pub attempt: u32,
    /// The epoch whose prefix is sent.
    pub epoch: u32,
    /// Steering queued up to this record is delivered with the request.
    pub up_to: Seq,
    /// What the request may cost at most.
    pub reserve: Reserve,
}

/// What a request may cost at most, held against the turn's limits before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reserve {
    /// Estimated input tokens.
    pub input: u64,
    /// The output limit sent with the request, in tokens.
    pub output: u64,
}

/// A provider writes the answer by itself, and can be asked for it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAccepted {
    /// The turn.
    pub turn: u32,
    /// The round.
    pub round: u32,
    /// The attempt.
    pub attempt: u32,
    /// The answer.
    pub answer: AcceptedAnswer,
}

/// A model answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReplied {
    /// The turn.
    pub turn: u32,
    /// The round.
    pub round: u32,
    /// The attempt.
    pub attempt: u32,
    /// The answer.
    pub reply: Reply,
    /// What it cost, when prices were known; never recomputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A model request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// The turn.
    pub turn: u32,
    /// The round.
    pub round: u32,
    /// The attempt.
    pub attempt: u32,
    /// What kind of failure.
    pub kind: ProviderErrorKind,
    /// The failure in words for the user.
    pub message: String,
    /// When the next attempt is due; `None` when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Tokens the failed attempt is known to have used.
    #[serde(default)]
    pub usage: Usage,
    /// What they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A call was looked up and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPlanned {
    /// The call.
    pub call: CallId,
    /// Answers that were given about it before: one of them may have changed its input, and a plan
    /// from before that is none for it.
    #[serde(default, skip_serializing_if = "crate::id::is_zero")]
    pub answered_before: u32,
    /// What was found.
    pub plan: CallPlan,
}

/// What planning a call found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPlan {
    /// The call can run if it may.
    Ready {
        /// What it touches and how it may be scheduled.
        facts: Facts,
        /// The input to run with, when it differs from the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<RawJson>,
        /// What was changed, for the model.
        #[serde(default, skip_serializing_if = "Few::is_empty")]
        notes: Few<String>,
        /// What the hooks that were asked before it said, if they said anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<Box<HookVerdict>>,
    },
    /// The call cannot run: unknown tool, bad input.
    Invalid {
        /// Words for the model.
        error: String,
    },
}

/// A call that may run does not touch what it was judged by: something changed since, and it is judged
/// again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactsChanged {
    /// The call.
    pub call: CallId,
    /// What it touches now.
    pub facts: Facts,
    /// A hook that let it run was shown something else, so it lets it no more. Absent in journals of
    /// a time when it did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_allowance: bool,
}

/// Somebody is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionAsked {
    /// The request.
    pub id: PermissionId,
    /// Why.
    pub reason: PermissionReason,
}

/// Somebody answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDecided {
    /// The request.
    pub id: PermissionId,
    /// The answer.
    pub decision: Decision,
    /// Who answered: a surface, an approver, expiry.
    pub by: String,
}

/// What hooks said of a moment, where the record of the moment itself does not hold it: what was
/// said before a call stands in its plan. Hooks that had nothing to say leave no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAnswered {
    /// The moment.
    pub event: HookEvent,
    /// The call it is about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What they want.
    pub verdict: HookVerdict,
    /// What they tell the model; it stands, once more, where the model reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// An input waits for the next safe point of the running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringQueued {
    /// Its name, minted by the sender; a second one with the same name is ignored.
    pub id: SteeringId,
    /// What is said.
    pub input: Input,
    /// The call whose work in the background gave this; it is data, and nobody's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<CallId>,
    /// What the work has for the user, who gets it as this is written, whenever the model reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_user: Option<Box<ForUser>>,
}

impl SteeringQueued {
    /// Words of somebody.
    #[must_use]
    pub fn said(id: SteeringId, input: Input) -> Self {
        Self { id, input, background: None, for_user: None }
    }

    /// What the work of a call came to.
    #[must_use]
    pub fn of_background(call: CallId, input: Input) -> Self {
        let id = SteeringId(format!("background-{call}"));
        Self { id, input, background: Some(call), for_user: None }
    }

    /// With what goes to the user.
    #[must_use]
    pub fn with_for_user(mut self, for_user: Option<ForUser>) -> Self {
        self.for_user = for_user.map(Box::new);
        self
    }
}

/// Who stopped a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptCause {
    /// A person or the program that owns the turn.
    Cancelled,
    /// The wall time ran out.
    WallTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InputOrigin;

    #[test]
    fn a_record_is_called_what_the_journal_calls_it() {
        let call = CallId { turn: 1, round: 1, index: 0 };
        let id = SteeringId("a".into());
        let settings = Box::new(Settings::default());
        for record in [
            Record::Opened(Opened { incarnation: 1, build: "0".into() }),
            Record::LimitsChanged(settings.limits),
            Record::SettingsChanged(settings),
            Record::Input(Box::new(Input { blocks: Vec::new(), origin: InputOrigin::default() })),
            Record::CallStarted { call },
            Record::CallFinished { call, output: Box::default(), millis: 0, inner_calls: 0 },
            Record::CallFinished { call, output: Box::default(), millis: 7, inner_calls: 3 },
            Record::SteeringTakenBack { id },
            Record::Interrupted { cause: InterruptCause::Cancelled },
            Record::CompactionFailed(Box::new(CompactionFailed::because("x"))),
            Record::TurnFinished { turn: 1, outcome: TurnOutcome::Done },
            Record::TimePassed,
            Record::Named { name: Some("the parser".parse().unwrap()) },
            Record::Forked(Box::new(ForkOrigin { session: "a".parse().unwrap(), at: 2 })),
        ] {
            let written = serde_json::to_value(&record).unwrap();
            assert_eq!(written["kind"], record.kind(), "{written}");
            assert_eq!(serde_json::from_value::<Record>(written).unwrap(), record);
        }
    }

    #[test]
    fn a_rare_kind_makes_no_record_longer() {
        assert_eq!((size_of::<Record>(), size_of::<Entry>()), (48, 64));
    }

    #[test]
    fn what_is_rarely_said_takes_little_room_in_what_each_call_keeps() {
        let sizes = (size_of::<crate::Block>(), size_of::<CallPlan>(), size_of::<ToolOutput>());
        assert_eq!(sizes, (16, 88, 152));
    }
}
