//! What a driver has to perform, and what comes back.

use serde::{Deserialize, Serialize};

use crate::{
    CallId, CompactionCause, EpochCause, PermissionId, PermissionReason, Pruned, RawJson, Record,
    Reserve, Timestamp, Trimmed, TurnOutcome,
};

/// One thing to perform. The driver starts effects it has not started and aborts those that
/// disappear from the pending set; [`Effect::id`] says which is which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Stays the same for as long as it is the same thing to do.
    pub id: EffectId,
    /// What to do.
    pub kind: EffectKind,
}

/// Identity of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectId {
    /// Start epoch n.
    Epoch(u32),
    /// Compact for the n-th time.
    Compact(u32),
    /// Cut the conversation back after the n-th compaction.
    Trim(u32),
    /// Cut old results short after the n-th compaction.
    Prune(u32),
    /// Ask the model: turn, round, attempt.
    Model(u32, u32, u32),
    /// Plan a call, after so many answers about it.
    Plan(CallId, u32),
    /// Ask for a permission.
    Ask(PermissionId),
    /// Run a call.
    Run(CallId),
    /// Wake for a retry at a time.
    Retry(Timestamp),
    /// Wake when the wall time is over.
    WallTime(Timestamp),
    /// Finish turn n.
    Finish(u32),
}

/// What there is to perform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Render the prefix and write `epoch_started`.
    StartEpoch {
        /// Why.
        cause: EpochCause,
    },
    /// Write `compaction_started` unless it stands, summarise the first `cut` messages and write
    /// `compacted` or `compaction_failed`.
    Compact {
        /// How many messages become the summary.
        cut: u64,
        /// Why.
        cause: CompactionCause,
        /// What the summary is to look at above all.
        focus: Option<Box<str>>,
        /// Whether `compaction_started` is written already.
        started: bool,
    },
    /// Write `trimmed`.
    Trim(Trimmed),
    /// Write `pruned`.
    Prune(Pruned),
    /// Write `model_started`, send the request, and write `model_replied` or `model_failed`.
    CallModel {
        /// The turn.
        turn: u32,
        /// The round.
        round: u32,
        /// The attempt.
        attempt: u32,
        /// What it may cost at most.
        reserve: Reserve,
    },
    /// Look the tool up, check the input, and write `call_planned`.
    PlanCall {
        /// The call.
        call: CallId,
        /// Answers that were given about it before.
        answered_before: u32,
        /// The tool's name as the model wrote it.
        name: String,
        /// The model's input.
        input: RawJson,
    },
    /// Write `permission_asked` unless it stands, ask, and write `permission_decided`.
    AskPermission {
        /// The request.
        id: PermissionId,
        /// Why.
        reason: PermissionReason,
        /// Whether `permission_asked` is written already.
        asked: bool,
        /// The tool's name.
        name: String,
        /// The input it would run with.
        input: RawJson,
    },
    /// Write `call_started` (synced unless the call is replay-safe), run the call, and write
    /// `call_finished`.
    RunCall {
        /// The call.
        call: CallId,
        /// The tool's name.
        name: String,
        /// The input to run with.
        input: RawJson,
        /// Whether running it twice is harmless.
        replay_safe: bool,
        /// Which allowance let it run, for the audit.
        allowed_by: String,
        /// Whether what it starts has to stay in the box.
        confined: bool,
    },
    /// Wait, then write what `cause` says.
    Wake {
        /// Until when.
        at: Timestamp,
        /// What is due then.
        cause: WakeCause,
    },
    /// Write `turn_finished`, synced.
    FinishTurn {
        /// The turn.
        turn: u32,
        /// How it ended.
        outcome: TurnOutcome,
    },
}

/// What is due when a wait ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WakeCause {
    /// The next attempt: write `time_passed`.
    Retry,
    /// The end of the turn's wall time: interrupt the turn with that cause.
    WallTime,
}

/// What performing an effect came to: the records that say so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The effect.
    pub effect: EffectId,
    /// What to write.
    pub records: Vec<Record>,
}
