//! What a new process does to what an old one left: the crash rules.

use heeler_core::{Opened, ToolOutput, TurnOutcome};

use super::turn::{CallStatus, Phase};
use super::{Announcer, State};
use crate::bugs::{Bug, is_on};
use crate::limits::DEATHS_MAX;
use crate::words;

impl State {
    /// Nothing of the old process runs any more. A sent request counts as a failed attempt, a
    /// started call is answered as unknown unless running it twice is harmless, and an effect in
    /// which several processes died ends the turn. So does a hole: a call whose start is missing
    /// would otherwise run twice.
    pub(super) fn on_opened(&mut self, opened: &Opened, out: &mut Announcer) {
        self.incarnation = opened.incarnation.max(self.incarnation.saturating_add(1));
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
