//! What a run gives: a valid history and what it cost, whatever happened.

use heeler_core::{
    Bill, Cost, LimitKind, Message, ProviderError, ProviderErrorKind, Role, StopReason, Usage,
};

use crate::ContextError;

/// What a run gives. The history is valid however the run ended: every call has its result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunResult {
    /// The whole conversation: the history as it was given, and what came after it.
    pub messages: Vec<Message>,
    /// Where in `messages` what came after it begins.
    pub new_from: usize,
    /// Tokens of all model calls, failed ones and summaries included.
    pub usage: Usage,
    /// What the model calls cost, as far as the catalogue has prices; without the summaries of a
    /// [`ContextManager`](crate::ContextManager), which may come from anywhere.
    pub cost: Cost,
    /// Whether there is more than `cost`, which is not known: a model without prices has worked.
    pub cost_is_partial: bool,
    /// How many answers the model gave.
    pub rounds: u32,
    /// Why the model stopped the last time.
    pub stop: Option<StopReason>,
    /// The context manager could not bring the last request down to its limit; it was sent so.
    pub is_over_budget: bool,
    /// What the program, or its user, should know of, as told by
    /// [`RunEvent::Notice`](crate::RunEvent::Notice); the first 100.
    pub notices: Vec<String>,
}

impl RunResult {
    /// The model's last message, if it said anything.
    #[must_use]
    pub fn final_message(&self) -> Option<&Message> {
        let new = self.messages.get(self.new_from..).unwrap_or_default();
        new.iter().rev().find(|message| message.role == Role::Assistant)
    }

    /// The text of the model's last message; empty without one.
    #[must_use]
    pub fn final_text(&self) -> String {
        self.final_message().map(Message::text).unwrap_or_default()
    }

    /// What the model calls cost, with whether there is more.
    #[must_use]
    pub fn bill(&self) -> Bill {
        Bill {
            cost: self.cost,
            is_partial: self.cost_is_partial,
            is_estimated: self.usage.is_estimated,
        }
    }

    /// What came after the history that was given.
    #[must_use]
    pub fn new_messages(&self) -> &[Message] {
        self.messages.get(self.new_from..).unwrap_or_default()
    }
}

/// A run that did not come to the model's final answer. What it did until then is its `result`.
/// Its text says everything, so it has no source that a chain of causes would repeat.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use heeler_core::ProviderErrorKind;
/// use heeler_toolkit::{Run, testing::scripted};
///
/// let client = scripted(r#"{"error": {"status": 401, "message": "who are you?"}}"#)?;
/// let Err(error) = client.run(Run::say("Hello.")).await else { return Err("no key".into()) };
/// assert!(error.is_provider(ProviderErrorKind::Auth) && !error.is_limit());
/// assert_eq!(error.result.messages.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind} (model call {iteration})")]
pub struct RunError {
    /// Why.
    pub kind: RunErrorKind,
    /// The model call in which it happened, from 0.
    pub iteration: u32,
    /// What was done until then: a valid history, and what it cost.
    pub result: Box<RunResult>,
}

/// Why a run did not come to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The provider could not be reached, or refused.
    #[error("{error}{}", told_attempts(*attempts, fallback.as_deref()))]
    Provider {
        /// The last failure.
        error: ProviderError,
        /// How often the request was sent.
        attempts: u32,
        /// The model that was asked last, where that is one of [`Client::or_else`](crate::Client::or_else).
        fallback: Option<String>,
    },
    /// A limit of the run was reached.
    #[error("the run's limit of {0} is reached")]
    Limit(LimitKind),
    /// The model's answer was cut at its token limit.
    #[error("the model's answer was cut at its token limit; allow more with Client::output_max")]
    Truncated,
    /// The model, or its provider's filter, refused to answer. With what stands in the answer's place,
    /// as one line of at most 500 characters; empty where nobody says why.
    #[error("the model refused to answer{}", told_reason(.0))]
    Refused(String),
    /// The run has a limit of cost, and there are no prices of this model.
    #[error(
        "a limit of cost needs the prices of {0}, which the catalogue does not have; give them with \
         Client::prices, or limit tokens"
    )]
    NoPrices(String),
    /// The run has a limit of cost, and nobody knows what the model's last answer cost: neither its
    /// provider said it nor are there prices.
    #[error(
        "the run has a limit of cost, and {0} did not say what its answer cost; give prices with \
         Client::prices, or limit tokens"
    )]
    CostUntold(String),
    /// A denial ended the run.
    #[error("a denied call ended the run: {0}")]
    Denied(String),
    /// Somebody cancelled it.
    #[error("the run was cancelled")]
    Cancelled,
    /// The history could not be trimmed.
    #[error("the history could not be trimmed: {0}")]
    Context(ContextError),
    /// There is nothing to answer: the history is empty, or ends with the model's own words.
    #[error("the history ends with nothing to answer; add a message of the user")]
    NothingToAnswer,
    /// heeler itself could not go on.
    #[error("{0}")]
    Failed(String),
}

fn told_reason(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

fn told_attempts(attempts: u32, fallback: Option<&str>) -> String {
    match (attempts, fallback) {
        (0 | 1, None) => String::new(),
        (n, None) => format!(" (after {n} attempts)"),
        (n, Some(model)) => format!(" (after {n} attempts, the last of {model})"),
    }
}

impl RunError {
    /// The provider's failure, when that is what ended the run.
    #[must_use]
    pub fn provider_error(&self) -> Option<&ProviderError> {
        match &self.kind {
            RunErrorKind::Provider { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Whether the provider failed in this way.
    #[must_use]
    pub fn is_provider(&self, kind: ProviderErrorKind) -> bool {
        self.provider_error().is_some_and(|error| error.kind == kind)
    }

    /// Whether the request was sent again until there were no attempts left.
    #[must_use]
    pub fn is_retry_exhausted(&self) -> bool {
        matches!(&self.kind, RunErrorKind::Provider { error, attempts, .. }
            if *attempts > 1 && error.kind.is_transient())
    }

    /// Whether a limit of the run was reached.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, RunErrorKind::Limit(_))
    }

    /// Whether the limit of model calls was reached.
    #[must_use]
    pub fn is_rounds_limit(&self) -> bool {
        matches!(self.kind, RunErrorKind::Limit(LimitKind::Rounds))
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, RunErrorKind::Cancelled)
    }
}
