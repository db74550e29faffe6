//! Why a model stopped.

use serde::{Deserialize, Serialize};

/// Why a model stopped. Each reason has a defined outcome; none is fatal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model is done.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The reply was cut at its token limit.
    MaxTokens,
    /// A stop sequence was written.
    StopSequence,
    /// A provider's own long work paused; the turn goes on by itself.
    Pause,
    /// The model refused.
    Refusal,
    /// The provider's filter ended the reply.
    ContentFilter,
    /// The person or a limit ended the stream; what had arrived is kept.
    Interrupted,
    /// A reason this version does not know, in the provider's words.
    Other(String),
}
