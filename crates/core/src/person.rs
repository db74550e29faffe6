//! The promise of a person whom tools can ask.

use crate::{AgentPath, BoxFuture, CallId, InputOrigin, SessionId};

/// Somebody who answers questions of tools, as an [`Approver`](crate::Approver) decides about calls.
///
/// A call asks at most one question at a time; several calls may ask at once, and it is for the
/// implementation to show one after the other. `None` and a panic say that nobody is there. The future
/// is dropped when nobody wants the answer any more; what a person says then is lost.
pub trait Person: Send + Sync + 'static {
    /// What the person answers: the number of a choice as it was told, or words of their own.
    fn answer(&self, question: Question) -> BoxFuture<Option<String>>;
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The session that asks.
    pub session: SessionId,
    /// The agent within it.
    pub agent: AgentPath,
    /// The call.
    pub call: CallId,
    /// Where the input of the turn came from, and so where this goes.
    pub to: InputOrigin,
    /// The question.
    pub text: String,
    /// Answers to choose from, told by their number from 1; the person may answer otherwise.
    pub choices: Vec<String>,
}
