//! What a journal says of a conversation that got shorter: summarized, cut back, or its results cut
//! short.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cost, ProviderErrorKind, Usage};

/// A compaction begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionStarted {
    /// How many messages of the history become the summary.
    pub cut: u64,
    /// Why.
    pub cause: CompactionCause,
    /// What the summary is to look at above all, in the words of whoever asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<Box<str>>,
}

/// Why a compaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionCause {
    /// Somebody asked for it.
    Manual,
    /// The next request would not fit.
    Automatic,
}

/// The head of the conversation became a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// The summary without the sentinel.
    pub summary: String,
    /// Tokens the summary call used.
    #[serde(default)]
    pub usage: Usage,
    /// What they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What stands beside the summary; `None` in records from before anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// What stands beside a summary, whatever the model wrote in it: the user's last message where that
/// was replaced, the open steps of the list, and the files touched.
///
/// The numbers say all: the same conversation with the same summary is the same for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// How many characters of the user's last message; of a longer one its beginning and its end.
    pub said_chars_max: u64,
    /// How many open steps, from the first on.
    pub steps_max: u64,
    /// How many files, the latest.
    pub files_max: u64,
}

/// A compaction gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CompactionFailed {
    /// Why, in words for the user.
    pub error: String,
    /// Tokens the summary call used all the same.
    #[serde(default)]
    pub usage: Usage,
    /// What they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What kind of failure the provider told, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ProviderErrorKind>,
    /// Whether the compaction stays due, and this is only what its summary used so far: another model is
    /// asked for it then, if the provider failed, or it begins anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays_due: bool,
}

impl CompactionFailed {
    /// One that cost nothing.
    pub fn because(error: impl Into<String>) -> Self {
        Self { error: error.into(), ..Self::default() }
    }
}

/// The conversation was cut back without a model, because the next request had to fit.
///
/// The numbers say all: the same conversation, cut back in the same way, is the same for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trimmed {
    /// How many messages at the head were left out.
    pub cut: u64,
    /// How many characters of what the user said in them are kept.
    pub said_chars_max: u64,
    /// The longest text of a tool result in the messages that stay, in characters.
    pub result_chars_max: u64,
    /// Whether only what a user said is told as said, and an earlier summary as what it is. `false` in
    /// records of before, which are told as they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_said: bool,
}

/// Bulky old results were cut short, because the next request had to fit and needed no more: the
/// beginnings and ends of their texts stay, their images and documents go.
///
/// The numbers say all: the same conversation, cut in the same way, is the same for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// How many messages at the head are old; results in the others stay as they are.
    pub before: u64,
    /// The longest text of an old result, in characters.
    pub result_chars_max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_before_any_call_says_why_and_cost_nothing() {
        let failed = CompactionFailed::because("too short");
        let CompactionFailed { error, usage, cost, kind, stays_due } = failed;
        assert_eq!((error.as_str(), usage), ("too short", Usage::default()));
        assert_eq!((cost, kind, stays_due), (None, None, false));
    }
}
