//! A run as a recorder is told of it: from the records the engine writes, before they take effect.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use heeler_core::{
    Block, CallId, CallPlan, Entry, Message, Record, Role, Timestamp, ToolOutput, ToolUse, Usage,
};
use heeler_sessions::{RecordedEvent, RecordedEventKind, Recorder, TurnId};

use super::RunError;

/// Ends a call that never began: a rule, a limit or a cancel was before it.
const NOT_RUN: &str = "the call was not run";

/// Tells a recorder of one run.
pub(super) struct Recording {
    recorder: Arc<dyn Recorder>,
    turn: TurnId,
    /// The model call that runs, from 1, and the last one of the turns that are over.
    rounds: u32,
    rounds_before: u32,
    /// The calls of the last answer that have no end yet.
    open: BTreeMap<CallId, OpenCall>,
}

struct OpenCall {
    said: ToolUse,
    is_started: bool,
}

impl Recording {
    pub(super) fn new(recorder: Arc<dyn Recorder>, turn: TurnId) -> Self {
        Self { recorder, turn, rounds: 0, rounds_before: 0, open: BTreeMap::new() }
    }

    pub(super) fn begin(&self, history: Arc<[Message]>, at: Timestamp) {
        self.tell(at, RecordedEventKind::TurnStart { history });
    }

    pub(super) fn end(&mut self, ended: Result<Usage, (&RunError, Usage)>, at: Timestamp) {
        self.close_calls(at);
        self.tell(
            at,
            match ended {
                Ok(usage) => RecordedEventKind::TurnEnd { usage },
                Err((error, usage)) => {
                    RecordedEventKind::TurnError { error: error.to_string(), usage }
                }
            },
        );
    }

    pub(super) fn see(&mut self, entry: &Entry) {
        let at = entry.at;
        match &entry.record {
            Record::ModelStarted(started) if started.attempt == 1 => {
                self.close_calls(at);
                self.rounds = self.rounds_before.saturating_add(started.round);
                self.tell(at, RecordedEventKind::ModelRequest);
            }
            Record::ModelReplied(replied) => {
                let reply = &replied.reply;
                let message = Message { role: Role::Assistant, blocks: reply.blocks.clone() };
                let id = |index: usize| CallId {
                    turn: replied.turn,
                    round: replied.round,
                    index: u32::try_from(index).unwrap_or(u32::MAX),
                };
                let open = |(index, said): (usize, &ToolUse)| {
                    (id(index), OpenCall { said: said.clone(), is_started: false })
                };
                self.open = message.tool_uses().enumerate().map(open).collect();
                let (usage, stop) = (reply.usage, reply.stop.clone());
                self.tell(at, RecordedEventKind::ModelResponse { message, usage, stop });
            }
            Record::ModelFailed(failed) => {
                if let Some(due) = failed.retry_at {
                    let (attempt, error) = (failed.attempt, failed.message.clone());
                    let wait_millis = due.since(at);
                    self.tell(at, RecordedEventKind::RetryAttempt { attempt, wait_millis, error });
                }
            }
            Record::CallPlanned(planned) => {
                if let CallPlan::Invalid { error } = &planned.plan {
                    self.end_call(planned.call, String::new(), Some(error.clone()), at);
                }
            }
            // Another turn of the same run counts on.
            Record::TurnFinished { .. } => self.rounds_before = self.rounds,
            Record::CallStarted { call } => self.start_call(*call, at),
            Record::CallFinished { call, output, .. } => {
                let (text, error) = told(output);
                self.end_call(*call, text, error, at);
            }
            _ => {}
        }
    }

    fn start_call(&mut self, call: CallId, at: Timestamp) {
        let Some(open) = self.open.get_mut(&call).filter(|open| !open.is_started) else { return };
        open.is_started = true;
        let ToolUse { id, name, input, .. } = open.said.clone();
        self.tell(at, RecordedEventKind::ToolCallStart { tool_use_id: id, tool: name, input });
    }

    fn end_call(&mut self, call: CallId, output: String, error: Option<String>, at: Timestamp) {
        self.start_call(call, at);
        if let Some(OpenCall { said: ToolUse { id, name, .. }, .. }) = self.open.remove(&call) {
            let kind =
                RecordedEventKind::ToolCallEnd { tool_use_id: id, tool: name, output, error };
            self.tell(at, kind);
        }
    }

    /// Each call has an end, whatever became of it.
    fn close_calls(&mut self, at: Timestamp) {
        for call in self.open.keys().copied().collect::<Vec<_>>() {
            self.end_call(call, String::new(), Some(NOT_RUN.to_owned()), at);
        }
    }

    fn tell(&self, at: Timestamp, kind: RecordedEventKind) {
        let event = RecordedEvent::new(self.turn, self.rounds.saturating_sub(1), at, kind);
        // Whoever only looks on never fails a run.
        let _ = catch_unwind(AssertUnwindSafe(|| self.recorder.record(&event)));
    }
}

/// The text of a result, and of a failed one once more as the reason.
fn told(output: &ToolOutput) -> (String, Option<String>) {
    let text: String = output.content.iter().filter_map(Block::as_text).collect();
    let error = output.is_error.then(|| text.clone());
    (text, error)
}
