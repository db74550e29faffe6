//! A running turn: its phase, its calls, and how it ends.

use heeler_core::{
    AcceptedAnswer, Block, CallId, CallStatus as SeenStatus, CallView, Cost, Event, Facts,
    FinalAnswer, ForUser, HookVerdict, InputOrigin, InterruptCause, LimitKind, OpenPermission,
    PermissionId, PermissionReason, RawJson, Role, Seq, Timestamp, ToolOutput, ToolResult,
    TurnOutcome, TurnView, input_summary, output_summary,
};

use serde::{Deserialize, Serialize};

use super::{Announcer, State, Told, announce_messages};
use crate::bugs::{Bug, is_on};
use crate::{verdict, words};

/// From a user's input to the final answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Turn {
    /// Counts the turns of the session, from 1.
    pub number: u32,
    /// Where the input came from, the latest that the model was told of and that says so.
    pub origin: InputOrigin,
    /// What calls had for the user.
    pub told: Told,
    /// The current round, from 1.
    pub round: u32,
    /// The attempt of the round's model call that is due or runs, from 1.
    pub attempt: u32,
    /// What the turn waits for.
    pub phase: Phase,
    /// The calls of the current round.
    pub calls: Vec<Call>,
    /// Model calls made.
    pub rounds_spent: u32,
    /// Tool calls made.
    pub calls_spent: u32,
    /// Input and output tokens.
    pub tokens_spent: u64,
    /// Money.
    pub cost_spent: Cost,
    /// Milliseconds the turn took while a process lived.
    pub wall_spent_millis: u64,
    /// The last failing call and how often it came in a row.
    pub repeats: Repeats,
    /// A compaction was tried since the last reply.
    pub compaction_tried: bool,
    /// Automatic compactions in a row that gave nothing.
    pub compaction_failures: u32,
    /// The provider said that the request does not fit, and nothing was done about it yet.
    pub overflowed: bool,
    /// How often it said so since the last reply.
    pub overflows: u32,
    /// Processes that died in the model call that is due.
    pub deaths: u32,
    /// What the provider writes by itself for the round.
    pub accepted: Option<Accepted>,
    /// How the turn ends once the current batch has its results.
    pub ends_after_batch: Option<TurnOutcome>,
    /// How often a hook wanted the turn to go on though the model was done.
    pub ends_refused: u32,
    /// Records of this turn are missing, so nobody knows what else it did.
    pub has_hole: bool,
}

/// An answer that a provider writes by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The answer.
    pub answer: AcceptedAnswer,
    /// The attempt that is due or runs goes on with it. It was told of in one before.
    pub resumed: bool,
    /// How many attempts could not read it to its end though the connection held.
    pub unread: u32,
}

/// What a turn waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The model.
    Model {
        /// The request was sent by the living process.
        started: bool,
        /// The attempt is not due before this.
        retry_at: Option<Timestamp>,
    },
    /// The calls.
    Calls,
    /// Its end to be written.
    Ending(TurnOutcome),
}

/// The last failing call and how often it came in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repeats {
    /// Name and input.
    pub call: Option<(String, RawJson)>,
    /// How often.
    pub count: u32,
}

/// One call of the current round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Its id in the history and on the wire.
    pub wire_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The input it runs with: the model's, or what planning made of it; of one that cannot be read, why.
    pub input: RawJson,
    /// What it touches; empty until planned.
    pub facts: Facts,
    /// What planning has to tell the model.
    pub notes: Vec<String>,
    /// What the hooks said that were asked before it.
    pub hook: Option<HookVerdict>,
    /// How far it is.
    pub status: CallStatus,
    /// The record that asked somebody about it.
    pub asked_at: Seq,
    /// Requests about it that were answered, and left it waiting.
    pub answered_before: u32,
    /// Who gave the input it is to run with, while that is looked up.
    pub decided_by: Option<String>,
    /// Processes that died while it ran.
    pub deaths: u32,
    /// How often it did not touch any more what it was judged by, when it was about to start.
    pub facts_changed: u32,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallStatus {
    /// Not looked up yet.
    Unplanned,
    /// Somebody is, or is about to be, asked.
    Asking {
        /// Why.
        reason: PermissionReason,
        /// Whether the request was written.
        asked: bool,
    },
    /// It may run.
    Ready {
        /// What lets it.
        by: String,
        /// Whether what it starts has to stay in the box.
        confined: bool,
    },
    /// It runs.
    Started {
        /// What lets it.
        by: String,
        /// Whether what it starts has to stay in the box.
        confined: bool,
    },
    /// It has its result.
    Done(ToolOutput),
}

impl Turn {
    pub(super) fn new(number: u32, origin: InputOrigin) -> Self {
        Self {
            number,
            origin,
            told: Told::default(),
            round: 1,
            attempt: 1,
            phase: Phase::Model { started: false, retry_at: None },
            calls: Vec::new(),
            rounds_spent: 0,
            calls_spent: 0,
            tokens_spent: 0,
            cost_spent: Cost::default(),
            wall_spent_millis: 0,
            repeats: Repeats::default(),
            compaction_tried: false,
            compaction_failures: 0,
            overflowed: false,
            overflows: 0,
            deaths: 0,
            accepted: None,
            ends_after_batch: None,
            ends_refused: 0,
            has_hole: false,
        }
    }

    pub(super) fn view(&self) -> TurnView {
        let seen = |call: &Call| {
            let status = match &call.status {
                CallStatus::Started { .. } => SeenStatus::Running,
                CallStatus::Done(output) if output.is_error => SeenStatus::Failed,
                CallStatus::Done(_) => SeenStatus::Succeeded,
                // It ran when a process died, and runs again, unless somebody who is asked first denies it.
                _ if call.deaths > 0 => SeenStatus::Running,
                _ => return None,
            };
            Some(CallView { call: call.id, name: call.name.clone(), status })
        };
        TurnView {
            turn: self.number,
            calls: self.calls.iter().filter_map(seen).collect(),
            draft: String::new(),
        }
    }

    /// Requests somebody must decide, in order of asking.
    pub(super) fn open_permissions(&self) -> Vec<OpenPermission> {
        let mut calls: Vec<&Call> = self.calls.iter().collect();
        heeler_core::sort_by_key(&mut calls, |call| call.asked_at);
        calls.into_iter().filter_map(Call::open_permission).collect()
    }

    pub(super) fn call_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    /// Gives a call its result and tells watchers.
    pub(super) fn finish_call(
        &mut self,
        id: CallId,
        output: ToolOutput,
        millis: u64,
        out: &mut Announcer,
    ) {
        let Some(call) = self.call_mut(id) else { return };
        out.say(|| Event::CallFinished {
            call: id,
            index: id.index,
            name: call.name.clone(),
            is_error: output.is_error,
            summary: output_summary(&output.text_content()),
            millis,
        });
        if let Some(ForUser { text, media, items }) = ForUser::of(&output) {
            self.told.add(&text, &media);
            out.say(|| Event::ToolText { call: id, text, media, items });
        }
        if let Some(call) = self.call_mut(id) {
            call.status = CallStatus::Done(output);
        }
    }

    /// Answers every call that has not started, but for this one, as cancelled.
    pub(super) fn cancel_unstarted(&mut self, but: Option<CallId>, out: &mut Announcer) {
        let is_unstarted =
            |s: &CallStatus| !matches!(s, CallStatus::Started { .. } | CallStatus::Done(_));
        let unstarted: Vec<CallId> = self
            .calls
            .iter()
            .filter(|call| is_unstarted(&call.status) && Some(call.id) != but)
            .map(|call| call.id)
            .collect();
        for id in unstarted {
            self.finish_call(id, ToolOutput::error(words::CANCELLED_UNSTARTED), 0, out);
        }
    }

    /// Answers every unfinished call as cancelled.
    pub(super) fn cancel_calls(&mut self, out: &mut Announcer) {
        let open: Vec<(CallId, bool)> = self
            .calls
            .iter()
            .filter(|call| !matches!(call.status, CallStatus::Done(_)))
            .map(|call| (call.id, matches!(call.status, CallStatus::Started { .. })))
            .collect();
        for (id, started) in open {
            let text = if started { words::CANCELLED } else { words::CANCELLED_UNSTARTED };
            self.finish_call(id, ToolOutput::error(text), 0, out);
        }
    }

    fn all_done(&self) -> bool {
        self.calls.iter().all(|call| matches!(call.status, CallStatus::Done(_)))
    }

    /// Counts identical failing calls, in call order, and tells the model of them in time.
    fn count_repeats(&mut self, repeats_max: u32) {
        // Once is no repetition, however low the limit.
        let told_at = repeats_max.saturating_sub(2).max(2) + u32::from(is_on(Bug::LateWarning));
        for call in &mut self.calls {
            let CallStatus::Done(output) = &mut call.status else { continue };
            let key = Some((call.name.clone(), call.input.clone()));
            if !output.is_error {
                self.repeats = Repeats::default();
                continue;
            }
            if self.repeats.call == key {
                self.repeats.count += 1;
            } else {
                self.repeats = Repeats { call: key, count: 1 };
            }
            if repeats_max > 2 && self.repeats.count == told_at {
                output.content.push(Block::text(words::repeated_failure(self.repeats.count)));
            }
        }
    }
}

impl Call {
    /// The request somebody must decide, once it is asked.
    #[must_use]
    pub fn open_permission(&self) -> Option<OpenPermission> {
        let CallStatus::Asking { reason, asked: true } = &self.status else { return None };
        Some(self.permission(reason.clone()))
    }

    /// The id of the request about it that is or would be open.
    #[must_use]
    pub fn permission_id(&self) -> PermissionId {
        PermissionId { call: self.id, answered_before: self.answered_before }
    }

    /// Whether it waits for plan mode to be left.
    #[must_use]
    pub fn asks_to_leave_plan(&self) -> bool {
        let reason = match &self.status {
            CallStatus::Asking { reason, .. } => Some(reason),
            _ => None,
        };
        matches!(reason, Some(PermissionReason::LeavePlan { .. }))
    }

    /// What it does, shortly.
    pub(super) fn summary(&self) -> String {
        input_summary(&self.name, self.input.get())
    }

    pub(super) fn permission(&self, reason: PermissionReason) -> OpenPermission {
        OpenPermission {
            id: self.permission_id(),
            tool: self.name.clone(),
            input: self.input.clone(),
            summary: self.summary(),
            offer: match reason {
                PermissionReason::LeavePlan { .. } => None,
                _ => verdict::offer(&self.name, &self.facts),
            },
            reason,
            objection: None,
        }
    }

    fn result(&self) -> Option<ToolResult> {
        let CallStatus::Done(output) = &self.status else { return None };
        let mut content = output.content_for_model();
        for note in self.notes.iter().filter(|note| !note.is_empty()) {
            // Some servers are sent one text, in which it would go on with the last word.
            let last = content.iter().rev().find_map(Block::as_text);
            let is_apart = last.is_none_or(|text| text.ends_with('\n'));
            let text = if is_apart { note.clone() } else { format!("\n{note}") };
            content.push(Block::text(text));
        }
        Some(ToolResult {
            tool_use_id: self.wire_id.clone(),
            content,
            is_error: output.is_error && !is_on(Bug::HiddenFailure),
            cache: None,
        })
    }
}

impl State {
    /// When every call has its result: appends them and moves the turn on.
    pub(super) fn close_batch(&mut self, out: &mut Announcer) {
        let Some(turn) = &mut self.turn else { return };
        if turn.phase != Phase::Calls || !turn.all_done() {
            return;
        }
        turn.count_repeats(self.settings.limits.repeats);
        let results = turn.calls.iter().filter_map(Call::result).collect();
        let outputs: Vec<(&ToolOutput, &Facts)> = turn
            .calls
            .iter()
            .filter_map(|call| match &call.status {
                CallStatus::Done(output) => Some((output, &call.facts)),
                _ => None,
            })
            .collect();
        let terminal = outputs.iter().any(|(output, facts)| facts.terminal && !output.is_error);
        let handled = outputs.iter().all(|(output, _)| output.response_handled);
        if turn.ends_after_batch.is_none() && (terminal || handled) {
            turn.ends_after_batch = Some(TurnOutcome::Done);
        }
        turn.deaths = 0;
        turn.round += 1;
        turn.attempt = 1;
        turn.phase = match turn.ends_after_batch.take() {
            Some(outcome) => Phase::Ending(outcome),
            None => Phase::Model { started: false, retry_at: None },
        };
        let message = self.history.push_results(results);
        if !is_on(Bug::SilentMessage) {
            announce_messages(message.into_iter().collect(), out);
        }
    }

    pub(super) fn on_interrupted(&mut self, cause: InterruptCause, out: &mut Announcer) {
        self.interrupt_compaction(out);
        self.give_up_running_calls();
        let Some(turn) = &mut self.turn else { return };
        let outcome = match cause {
            InterruptCause::Cancelled => TurnOutcome::Cancelled,
            InterruptCause::WallTime => TurnOutcome::Limit { limit: LimitKind::Wall },
        };
        if !is_on(Bug::UnansweredCancel) {
            turn.cancel_calls(out);
        }
        turn.ends_after_batch = None;
        self.close_batch(out);
        if let Some(turn) = self.turn.as_mut().filter(|_| !is_on(Bug::UnendedTurn)) {
            turn.phase = Phase::Ending(outcome);
        }
    }

    pub(super) fn on_turn_finished(
        &mut self,
        number: u32,
        outcome: &TurnOutcome,
        out: &mut Announcer,
    ) {
        if self.turn.as_ref().is_none_or(|turn| turn.number != number) {
            self.misfits += 1;
            return;
        }
        self.give_up_running_calls();
        let Some(turn) = &mut self.turn else { return };
        turn.cancel_calls(out);
        // A turn in which the model said nothing has no answer; an earlier one is not its.
        let was_answered = turn.rounds_spent > 0;
        self.close_batch(out);
        self.turn = None;
        self.last_outcome = Some(outcome.clone());
        let told = if is_on(Bug::WrongOutcome) { &TurnOutcome::Done } else { outcome };
        if *told != TurnOutcome::Cancelled || !is_on(Bug::DroppedTerminalEvent) {
            out.say(|| Event::TurnFinished {
                turn: number,
                outcome: told.clone(),
                answer: if was_answered { self.final_answer() } else { FinalAnswer::default() },
            });
        }
        // One that somebody asked for during the last answer begins only now.
        self.announce_compaction(out);
        self.begin_turn_from_queue(out);
    }

    /// The text of the model's last message, when the conversation ends with it.
    #[must_use]
    pub fn final_answer(&self) -> FinalAnswer {
        match self.history.messages().last() {
            Some(message) if message.role == Role::Assistant => FinalAnswer::of(message),
            _ => FinalAnswer::default(),
        }
    }
}
