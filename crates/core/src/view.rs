//! A watcher's picture of a session: a fold over events.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    CallId, Cost, Event, Message, PermissionId, PermissionReason, RawJson, SteeringId, TurnOutcome,
    Usage,
};

/// What is true of a session for a watcher. A snapshot at one moment plus the events after it
/// gives the same view as the state itself: that is the promise of the event log.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct View {
    /// The conversation as the model sees it; cheap to clone.
    pub messages: Messages,
    /// The running turn.
    pub turn: Option<TurnView>,
    /// How the last turn ended.
    pub last_outcome: Option<TurnOutcome>,
    /// Requests somebody must decide, in order of asking.
    pub permissions: Vec<OpenPermission>,
    /// Inputs that wait for the next safe point.
    pub steering: Vec<SteeringId>,
    /// Whether a compaction runs.
    pub compacting: bool,
    /// Tokens of the session.
    pub usage: Usage,
    /// Money of the session.
    pub cost: Cost,
}

/// A conversation that is cheap to clone and to append to.
pub type Messages = rpds::VectorSync<Arc<Message>>;

/// The running turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TurnView {
    /// The turn.
    pub turn: u32,
    /// Its calls that started or finished in the current round, by index.
    pub calls: Vec<CallView>,
    /// Text of the running attempt; provisional.
    pub draft: String,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallView {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub name: String,
    /// How far it is.
    pub status: CallStatus,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It runs.
    Running,
    /// It succeeded.
    Succeeded,
    /// It failed, was denied or cancelled.
    Failed,
}

/// A request somebody must decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenPermission {
    /// Its id; the answer names it.
    pub id: PermissionId,
    /// The tool.
    pub tool: String,
    /// The raw input the call would run with.
    #[serde(serialize_with = "as_json")]
    pub input: RawJson,
    /// What the call does, in at most 100 characters.
    pub summary: String,
    /// Why somebody is asked.
    pub reason: PermissionReason,
}

/// Writes raw JSON as itself, for readers outside; only ever serialised.
fn as_json<S: serde::Serializer>(raw: &RawJson, serializer: S) -> Result<S::Ok, S::Error> {
    raw.value().serialize(serializer)
}

impl View {
    /// Brings the view up to date with one event. Total: an event that does not fit changes
    /// nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn } => {
                self.turn = Some(TurnView { turn: *turn, ..TurnView::default() });
            }
            Event::Message { message } => {
                self.messages.push_back_mut(Arc::clone(message));
                if message.role == crate::Role::Assistant {
                    self.forget_draft();
                }
            }
            Event::AttemptStarted { .. } => {
                self.forget_draft();
                if let Some(turn) = &mut self.turn {
                    turn.calls.clear();
                }
            }
            Event::TextDelta { text, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.draft.push_str(text);
                }
            }
            Event::Retry { .. } => self.forget_draft(),
            Event::Usage { total, total_cost, .. } => {
                self.usage = *total;
                self.cost = *total_cost;
            }
            Event::CallStarted { call, name, .. } => {
                self.set_call(*call, name, CallStatus::Running);
            }
            Event::CallFinished { call, name, is_error, .. } => {
                let status = if *is_error { CallStatus::Failed } else { CallStatus::Succeeded };
                self.set_call(*call, name, status);
                self.permissions.retain(|open| open.id.call != *call);
            }
            Event::PermissionRequested(open) => {
                self.permissions.retain(|other| other.id != open.id);
                self.permissions.push(open.clone());
            }
            Event::PermissionDecided { id, .. } => self.permissions.retain(|open| open.id != *id),
            Event::SteeringQueued { id } => self.steering.push(id.clone()),
            Event::SteeringTakenBack { id } | Event::SteeringDelivered { id } => {
                self.steering.retain(|other| other != id);
            }
            Event::CompactionStarted { .. } => self.compacting = true,
            Event::CompactionFailed { .. } => self.compacting = false,
            Event::Compacted { cut, message, .. } => {
                self.compacting = false;
                let tail = self.messages.iter().skip(usize::try_from(*cut).unwrap_or(usize::MAX));
                self.messages = std::iter::once(message).chain(tail).cloned().collect();
            }
            Event::TurnFinished { outcome, .. } => {
                self.turn = None;
                self.permissions.clear();
                self.compacting = false;
                self.last_outcome = Some(outcome.clone());
            }
            Event::ThinkingDelta { .. }
            | Event::ToolInputDelta { .. }
            | Event::CallProgress { .. }
            | Event::ToolText { .. }
            | Event::EpochStarted { .. }
            | Event::LimitsChanged { .. }
            | Event::Heartbeat { .. }
            | Event::Notice { .. } => {}
        }
    }

    fn forget_draft(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.draft.clear();
        }
    }

    fn set_call(&mut self, call: CallId, name: &str, status: CallStatus) {
        let Some(turn) = &mut self.turn else { return };
        match turn.calls.iter_mut().find(|view| view.call == call) {
            Some(view) => view.status = status,
            None => {
                turn.calls.push(CallView { call, name: name.to_owned(), status });
                turn.calls.sort_by_key(|view| view.call);
            }
        }
    }
}
