//! What a new process does to what an old one left: the crash rules.

use heeler_core::{CallId, Opened, RawJson, ToolOutput, TurnOutcome};
use serde::{Deserialize, Serialize};

use super::turn::{Call, CallStatus, Phase};
use super::{Announcer, State};
use crate::bugs::{Bug, is_on};
use crate::limits::DEATHS_MAX;
use crate::words;

/// A call of which nobody knows how far it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOffCall {
    /// The call.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The input it ran with.
    pub input: RawJson,
}

impl State {
    /// Before `opened` is written, the calls in the middle of which the former process may have died.
    /// What they left has to be cleared away before that record, which gives them their results: from
    /// there on nobody asks after them.
    #[must_use]
    pub fn cut_off_calls(&self) -> Vec<CutOffCall> {
        let has_hole = self.turn.as_ref().is_some_and(|turn| turn.has_hole);
        let may_have_run = |call: &&Call| match &call.status {
            CallStatus::Started { .. } => true,
            CallStatus::Done(_) => false,
            // Its start may be what is missing.
            _ => has_hole,
        };
        let calls = self.turn.iter().flat_map(|turn| &turn.calls).filter(may_have_run);
        self.given_up.iter().cloned().chain(calls.map(CutOffCall::of)).collect()
    }

    /// Remembers the calls that run, which are about to be answered as cancelled. Those of an earlier
    /// cancel have had their moment since.
    pub(super) fn give_up_running_calls(&mut self) {
        let calls = self.turn.iter().flat_map(|turn| &turn.calls);
        let running = calls.filter(|call| matches!(call.status, CallStatus::Started { .. }));
        let running: Vec<CutOffCall> = running.map(CutOffCall::of).collect();
        if !running.is_empty() {
            self.given_up = running;
        }
    }

    /// Nothing of the old process runs any more. A sent request counts as a failed attempt, a
    /// started call is answered as unknown unless running it twice is harmless, and an effect in
    /// which several processes died ends the turn. So does a hole: a call whose start is missing
    /// would otherwise run twice.
    pub(super) fn on_opened(&mut self, opened: &Opened, out: &mut Announcer) {
        self.incarnation = opened.incarnation.max(self.incarnation.saturating_add(1));
        self.given_up.clear();
        self.compaction_died(out);
        self.background_died(out);
        let Some(turn) = &mut self.turn else { return };
        match &turn.phase {
            Phase::Ending(_) => {}
            _ if turn.has_hole => self.end_in_hole(out),
            Phase::Model { started: true, .. } => {
                turn.deaths += u32::from(!is_on(Bug::UncountedDeath));
                turn.attempt = turn.attempt.saturating_add(1);
                turn.accepted.take_if(|_| is_on(Bug::PaidTwice));
                turn.phase = if turn.deaths >= DEATHS_MAX {
                    let message = words::died_repeatedly("asking the model");
                    Phase::Ending(TurnOutcome::Failed { message })
                } else {
                    Phase::Model { started: false, retry_at: None }
                };
            }
            Phase::Calls => self.calls_died(out),
            Phase::Model { .. } => {}
        }
    }

    fn calls_died(&mut self, out: &mut Announcer) {
        let Some(turn) = &mut self.turn else { return };
        let started: Vec<_> = turn
            .calls
            .iter()
            .filter_map(|call| match &call.status {
                CallStatus::Started { by, confined } => {
                    Some((call.id, by.clone(), *confined, call.facts.replay_safe))
                }
                _ => None,
            })
            .collect();
        if started.is_empty() {
            return;
        }
        let mut gives_up = false;
        for (id, by, confined, replay_safe) in started {
            let Some(call) = turn.call_mut(id) else { continue };
            call.deaths += 1;
            gives_up |= call.deaths >= DEATHS_MAX;
            if (replay_safe || is_on(Bug::DoubleRun)) && call.deaths < DEATHS_MAX {
                call.status = CallStatus::Ready { by, confined };
            } else {
                turn.finish_call(id, ToolOutput::error(words::OUTCOME_UNKNOWN), 0, out);
            }
        }
        if gives_up {
            turn.cancel_calls(out);
            let message = words::died_repeatedly("running a tool call");
            turn.ends_after_batch = Some(TurnOutcome::Failed { message });
        }
        // What may run again is judged by the rules of today.
        self.judge_again(out);
        self.close_batch(out);
    }

    /// Ends a turn of which records are missing; what is unanswered may have run.
    fn end_in_hole(&mut self, out: &mut Announcer) {
        let Some(turn) = &mut self.turn else { return };
        let open: Vec<_> = turn
            .calls
            .iter()
            .filter(|call| !matches!(call.status, CallStatus::Done(_)))
            .map(|call| call.id)
            .collect();
        for id in open {
            turn.finish_call(id, ToolOutput::error(words::OUTCOME_UNKNOWN), 0, out);
        }
        self.close_batch(out);
        if let Some(turn) = &mut self.turn {
            let message = words::TURN_WITH_HOLE.into();
            turn.phase = Phase::Ending(TurnOutcome::Failed { message });
        }
    }

    fn compaction_died(&mut self, out: &mut Announcer) {
        let Some(compaction) = &mut self.compaction else { return };
        compaction.deaths += 1;
        if compaction.deaths >= DEATHS_MAX {
            let error = words::died_repeatedly("compacting the conversation");
            self.give_compaction_up(&error, out);
        }
    }
}

impl CutOffCall {
    fn of(call: &Call) -> Self {
        Self { id: call.id, name: call.name.clone(), input: call.input.clone() }
    }
}
