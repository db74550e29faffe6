//! What a reader of a run is told: the engine's events, with what each call of the answer said.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    Block, CallId, Envelope, Event, MediaItem, MediaReference, Message, RawJson, Role, ToolResult,
    ToolUse,
};
use heeler_engine::Seen;

use super::{RunError, RunResult};

/// One thing that happens in a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RunEvent {
    /// More text of the model's answer.
    TextDelta {
        /// The block's place in the answer; see [`ModelEvent`](heeler_core::ModelEvent).
        block: u32,
        /// The new text.
        text: String,
    },
    /// More of the model's reasoning.
    ThinkingDelta {
        /// The block's place in the answer; see [`ModelEvent`](heeler_core::ModelEvent).
        block: u32,
        /// The new text.
        text: String,
    },
    /// More of a call's input.
    ToolInputDelta {
        /// The block's place in the answer; see [`ModelEvent`](heeler_core::ModelEvent).
        block: u32,
        /// The new part of the JSON text.
        text: String,
    },
    /// The request failed and is sent again, or not at all: what was streamed of the answer is void.
    Reset {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// Why.
        message: String,
        /// How long it waits before the next one; `None` when there is none.
        wait: Option<Duration>,
    },
    /// The model's answer is whole.
    Answer(Arc<Message>),
    /// A call runs.
    CallStarted {
        /// The call.
        call: CallId,
        /// The id that its [`ToolUse`] and its [`ToolResult`] carry.
        tool_use_id: String,
        /// The tool.
        name: String,
        /// What the model asks of it.
        input: RawJson,
        /// What it does, in at most 100 characters.
        summary: String,
    },
    /// How far a call is.
    CallProgress {
        /// The call.
        call: CallId,
        /// What there is to tell.
        text: String,
    },
    /// A call ended; its result comes with those of its batch. One that was denied, or that could not
    /// run, tells this and no `CallStarted`.
    CallFinished {
        /// The call.
        call: CallId,
        /// The id that its [`ToolUse`] and its [`ToolResult`] carry.
        tool_use_id: String,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// How long it ran.
        duration: Duration,
    },
    /// What a tool has for the user.
    ToolText {
        /// The call.
        call: CallId,
        /// The text; may be empty beside media.
        text: String,
        /// Files it made.
        media: Vec<MediaReference>,
        /// What is known of `media`: enough to open them.
        items: Vec<MediaItem>,
    },
    /// All results of a batch of calls, whole and in call order, before the next request is made.
    ToolResults(Vec<Arc<ToolResult>>),
    /// Something the program, or its user, should know: a picture of the history that no provider
    /// takes, or that this one refused, and is a note to the model now; another model that answers;
    /// an empty answer. The result has them, too ([`RunResult::notices`]).
    Notice(String),
    /// The reader was too far behind: this is the conversation now, and events go on from here.
    Resync(Vec<Arc<Message>>),
    /// The run's end; nothing follows.
    Finished(Result<RunResult, RunError>),
}

/// Tells a reader what is seen of a session.
#[derive(Default)]
pub(super) struct Teller {
    /// The model's last answer, whose calls run.
    answer: Option<Arc<Message>>,
}

impl Teller {
    /// What a reader of the run is told of this, if anything.
    pub(super) fn told(&mut self, seen: Seen) -> Option<RunEvent> {
        let envelope = match seen {
            Seen::Event(envelope) => Arc::unwrap_or_clone(envelope),
            Seen::Resync(view) => {
                let messages: Vec<_> = view.messages.iter().cloned().collect();
                let is_answer = |message: &&Arc<Message>| message.role == Role::Assistant;
                self.answer = messages.iter().rev().find(is_answer).cloned();
                return Some(RunEvent::Resync(messages));
            }
        };
        let Envelope { event, .. } = envelope;
        Some(match event {
            Event::TextDelta { block, text, .. } => RunEvent::TextDelta { block, text },
            Event::ThinkingDelta { block, text, .. } => RunEvent::ThinkingDelta { block, text },
            Event::ToolInputDelta { block, text, .. } => RunEvent::ToolInputDelta { block, text },
            Event::Retry { attempt, message, wait_millis, .. } => {
                RunEvent::Reset { attempt, message, wait: wait_millis.map(Duration::from_millis) }
            }
            Event::Message { message } if message.role == Role::Assistant => {
                self.answer = Some(Arc::clone(&message));
                RunEvent::Answer(message)
            }
            Event::Message { message } => {
                let results: Vec<_> = message.blocks.iter().filter_map(as_result).collect();
                return (!results.is_empty()).then_some(RunEvent::ToolResults(results));
            }
            Event::CallStarted { call, name, summary, .. } => {
                let (tool_use_id, input) = self.said(call);
                RunEvent::CallStarted { call, tool_use_id, name, input, summary }
            }
            Event::CallProgress { call, text } => RunEvent::CallProgress { call, text },
            Event::CallFinished { call, name, is_error, millis, .. } => {
                let (tool_use_id, _) = self.said(call);
                let duration = Duration::from_millis(millis);
                RunEvent::CallFinished { call, tool_use_id, name, is_error, duration }
            }
            Event::ToolText { call, text, media, items } => {
                RunEvent::ToolText { call, text, media, items }
            }
            Event::Notice { text } => RunEvent::Notice(text),
            _ => return None,
        })
    }

    /// The id and the input of a call. All calls of an answer end before the next one comes.
    fn said(&self, call: CallId) -> (String, RawJson) {
        let mut calls = self.answer.iter().flat_map(|answer| answer.tool_uses());
        match calls.nth(call.index as usize) {
            Some(ToolUse { id, input, .. }) => (id.clone(), input.clone()),
            None => (String::new(), RawJson::empty_object()),
        }
    }
}

fn as_result(block: &Block) -> Option<Arc<ToolResult>> {
    match block {
        Block::ToolResult(result) => Some(result.clone()),
        _ => None,
    }
}
