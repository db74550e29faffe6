//! How a turn ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ProviderErrorKind;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model gave its final answer.
    Done,
    /// The model or its provider's filter refused.
    Refused,
    /// The final answer was cut at its token limit.
    Truncated,
    /// Stopped from outside.
    Cancelled,
    /// A denial ended the turn.
    Denied {
        /// What was denied and why.
        reason: String,
    },
    /// A limit was reached.
    Limit {
        /// Which.
        limit: LimitKind,
    },
    /// The provider could not be reached or refused the request.
    ProviderFailed {
        /// What kind of failure.
        kind: ProviderErrorKind,
        /// The failure and the next step, for the user.
        message: String,
    },
    /// heeler itself could not go on.
    Failed {
        /// The failure and the next step, for the user.
        message: String,
    },
}

/// A limit of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Model calls.
    Rounds,
    /// Tool calls.
    Calls,
    /// Tokens, in and out.
    Tokens,
    /// Money.
    Cost,
    /// Wall time.
    Wall,
    /// Identical failing calls.
    Repeats,
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rounds => "rounds",
            Self::Calls => "tool calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Wall => "wall time",
            Self::Repeats => "repeated failing calls",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_in_words() {
        use LimitKind::{Calls, Cost, Repeats, Rounds, Tokens, Wall};
        let words: Vec<String> =
            [Rounds, Calls, Tokens, Cost, Wall, Repeats].iter().map(LimitKind::to_string).collect();
        assert_eq!(
            words.join(", "),
            "rounds, tool calls, tokens, cost, wall time, repeated failing calls"
        );
    }
}
