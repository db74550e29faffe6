//! What an exit code says.

use std::process::ExitCode;

use heeler_core::TurnOutcome;

/// The exit codes, the same for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The agent failed, the model refused, or its reply was cut at the token limit.
    Failure = 1,
    /// The command line or the configuration is unusable, or what was asked for cannot be told.
    Usage = 2,
    /// A denial ended the turn.
    Denied = 3,
    /// A limit ended the turn.
    Limit = 4,
    /// The provider or the network failed.
    Provider = 5,
    /// The model gave no answer that fits `--output-schema`.
    Answer = 6,
    /// Cancelled.
    Cancelled = 130,
}

impl Exit {
    /// The code for how a turn ended.
    pub(crate) fn of(outcome: &TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Done => Self::Done,
            TurnOutcome::Refused | TurnOutcome::Truncated | TurnOutcome::Failed { .. } => {
                Self::Failure
            }
            TurnOutcome::Denied { .. } => Self::Denied,
            TurnOutcome::Limit { .. } => Self::Limit,
            TurnOutcome::ProviderFailed { .. } => Self::Provider,
            TurnOutcome::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
