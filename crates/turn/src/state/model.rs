//! What model calls do to the state.

use heeler_core::{
    AcceptedAnswer, CallId, Cost, EpochCause, Event, ModelAccepted, ModelFailed, ModelReplied,
    ModelStarted, ProviderErrorKind, RawJson, Reply, Reread, StopReason, ToolOutput, ToolUse,
    TurnOutcome, Usage,
};

use super::turn::{Accepted, Call, CallStatus, Phase};
use super::{Announcer, QueuedInput, State, announce_messages};
use crate::bugs::{Bug, is_on};
use crate::fit::{Fit, OVERFLOWS_MAX};
use crate::words;

/// How many attempts may fail to read one answer to its end, the one that asked for it among them.
const UNREAD_MAX: u32 = 3;

impl State {
    /// A request is sent: what waited is delivered with it. Nothing is with an attempt that goes on
    /// with an answer: it cannot hear it any more.
    pub(super) fn on_model_started(&mut self, started: &ModelStarted, out: &mut Announcer) {
        let fits = self.turn.as_mut().filter(|turn| {
            turn.number == started.turn
                && turn.round == started.round
                && matches!(turn.phase, Phase::Model { .. })
        });
        let Some(turn) = fits else {
            self.misfits += 1;
            // A turn whose beginning is missing had calls of its own; their ids stay theirs. No
            // session has more turns than records.
            if u64::from(started.turn) <= self.seq {
                self.turns = self.turns.max(started.turn);
            }
            return;
        };
        turn.attempt = started.attempt;
        turn.phase = Phase::Model { started: true, retry_at: None };
        turn.calls.clear();
        let attempt_started =
            || Event::AttemptStarted { round: started.round, attempt: started.attempt };
        if let Some(accepted) = &mut turn.accepted {
            accepted.resumed = true;
            out.say(attempt_started);
            return;
        }
        let (due, later): (Vec<QueuedInput>, Vec<QueuedInput>) =
            std::mem::take(&mut self.steering).into_iter().partition(|q| q.seq <= started.up_to);
        self.steering = later;
        if is_on(Bug::RepeatedSteering) {
            self.steering.extend(due.iter().cloned());
        }
        if !is_on(Bug::LostSteering) || started.attempt == 1 {
            self.deliver(due, out);
        }
        out.say(attempt_started);
    }

    /// The provider writes the answer whether or not this process lives to read it.
    pub(super) fn on_model_accepted(&mut self, accepted: &ModelAccepted) {
        let Some(turn) = self.turn.as_mut().filter(|turn| {
            turn.number == accepted.turn
                && turn.round == accepted.round
                && turn.attempt == accepted.attempt
                && matches!(turn.phase, Phase::Model { started: true, .. })
        }) else {
            self.misfits += 1;
            return;
        };
        let (resumed, unread) = turn
            .accepted
            .as_ref()
            .map(|before| (before.resumed, before.unread))
            .unwrap_or_default();
        turn.accepted = Some(Accepted { answer: accepted.answer.clone(), resumed, unread });
    }

    /// The answer that the model call that is due or runs goes on with.
    #[must_use]
    pub fn resumes(&self) -> Option<&AcceptedAnswer> {
        let turn = self.turn.as_ref()?;
        let accepted = turn.accepted.as_ref()?;
        let is_due = match turn.phase {
            Phase::Model { started, .. } => !started || accepted.resumed,
            Phase::Calls | Phase::Ending(_) => false,
        };
        is_due.then_some(&accepted.answer)
    }

    /// Whether the answer to the model call that runs is made elsewhere, too, and may be fetched there
    /// after an attempt failed so.
    #[must_use]
    pub fn is_fetched_after(&self, failure: ProviderErrorKind) -> bool {
        let accepted = self.turn.as_ref().and_then(|turn| turn.accepted.as_ref());
        accepted.is_some_and(|accepted| outlives(accepted, failure))
    }

    pub(super) fn on_model_replied(&mut self, replied: &ModelReplied, out: &mut Announcer) {
        let usage = &replied.reply.usage;
        let reread = self.reread(usage);
        self.spend(usage, replied.cost, reread, out);
        let waits = |phase: &Phase| matches!(phase, Phase::Model { started: true, .. });
        let Some(turn) = self.turn.as_mut().filter(|turn| {
            turn.number == replied.turn
                && turn.round == replied.round
                && turn.attempt == replied.attempt
                && waits(&turn.phase)
        }) else {
            self.misfits += 1;
            return;
        };
        turn.rounds_spent += 1;
        self.rounds += 1;
        turn.deaths = 0;
        turn.accepted = None;
        turn.compaction_tried = false;
        turn.overflowed = false;
        turn.overflows = 0;
        let (number, round) = (turn.number, turn.round);
        // Nothing was said since the request, so this is what it was estimated at.
        let estimated = self.estimate_uncalibrated();
        self.calibrate(estimated, replied.reply.usage);
        let mint = |index| format!("call_{number}_{round}_{index}");
        let appended = self.history.push_assistant(&replied.reply.blocks, mint);
        // The last one holds the reply's calls under the ids the history gave them.
        let said = appended.last().cloned();
        announce_messages(appended, out);
        let calls: Vec<ToolUse> =
            said.iter().flat_map(|message| message.tool_uses().cloned()).collect();
        if calls.is_empty() {
            self.after_answer(&replied.reply, said.is_none(), out);
        } else {
            self.begin_batch(&replied.reply.stop, &calls, out);
        }
    }

    /// What an answer that is the first of a later epoch read again.
    fn reread(&mut self, usage: &Usage) -> Option<Reread> {
        // Nobody told where it was read from.
        if usage.is_estimated {
            return None;
        }
        let epoch = self.epoch.as_ref()?.number;
        let (last, before) = self.last_input.replace((epoch, usage.input_total()))?;
        Reread::of(usage, before, self.settings.model.prices).filter(|_| last != epoch)
    }

    fn calibrate(&mut self, estimated: u64, usage: Usage) {
        let mut usage = usage;
        if is_on(Bug::ForgottenCache) {
            usage.cache_read = 0;
        }
        self.calibration.learn(estimated, &usage);
    }

    /// A reply without calls: the final answer, or a pause.
    fn after_answer(&mut self, reply: &Reply, is_empty: bool, out: &mut Announcer) {
        let Some(turn) = &mut self.turn else { return };
        turn.phase = match &reply.stop {
            StopReason::Pause if !is_empty => {
                turn.round += 1;
                turn.attempt = 1;
                Phase::Model { started: false, retry_at: None }
            }
            StopReason::MaxTokens if !is_on(Bug::UnseenLimit) => {
                Phase::Ending(TurnOutcome::Truncated)
            }
            StopReason::Refusal | StopReason::ContentFilter => Phase::Ending(TurnOutcome::Refused),
            StopReason::Interrupted => Phase::Ending(TurnOutcome::Cancelled),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::StopSequence
            | StopReason::MaxTokens
            | StopReason::Pause
            | StopReason::Other(_) => Phase::Ending(TurnOutcome::Done),
        };
        if is_empty && turn.phase == Phase::Ending(TurnOutcome::Done) {
            out.say(|| Event::Notice { text: words::EMPTY_REPLY.into() });
        }
    }

    fn begin_batch(&mut self, stop: &StopReason, calls: &[ToolUse], out: &mut Announcer) {
        let calls_max = self.settings.limits.calls;
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Calls;
        turn.ends_after_batch = match stop {
            StopReason::Refusal | StopReason::ContentFilter => Some(TurnOutcome::Refused),
            StopReason::Interrupted => Some(TurnOutcome::Cancelled),
            _ => None,
        };
        let (number, round) = (turn.number, turn.round);
        let id = |index: usize| CallId {
            turn: number,
            round,
            index: u32::try_from(index).unwrap_or(u32::MAX),
        };
        turn.calls = calls
            .iter()
            .enumerate()
            .map(|(index, call)| Call {
                id: id(index),
                wire_id: call.id.clone(),
                name: call.name.clone(),
                input: input_of(call),
                facts: heeler_core::Facts::default(),
                notes: Vec::new(),
                hook: None,
                status: CallStatus::Unplanned,
                asked_at: 0,
                answered_before: 0,
                decided_by: None,
                deaths: 0,
                facts_changed: 0,
            })
            .collect();
        if turn.ends_after_batch.is_some() {
            turn.cancel_calls(out);
            self.close_batch(out);
            return;
        }
        for call in turn.calls.iter().map(|call| call.id).collect::<Vec<_>>() {
            let spent = turn.calls_spent.saturating_sub(u32::from(is_on(Bug::CallOverrun)));
            let over = calls_max != 0 && spent >= calls_max;
            turn.calls_spent = turn.calls_spent.saturating_add(1);
            if over {
                turn.ends_after_batch =
                    Some(TurnOutcome::Limit { limit: heeler_core::LimitKind::Calls });
                turn.finish_call(call, ToolOutput::error(words::CALL_LIMIT), 0, out);
            }
        }
        let within =
            turn.calls.iter().zip(calls).filter(|(c, _)| c.status == CallStatus::Unplanned);
        let mut invalid: Vec<(CallId, String)> =
            within.filter_map(|(call, said)| Some((call.id, said.invalid.clone()?))).collect();
        let last = turn.calls.last().map(|call| call.id);
        invalid.retain(|(call, _)| {
            !is_on(Bug::TruncatedRuns) && (!is_on(Bug::BrokenRuns) || Some(*call) == last)
        });
        for (call, reason) in invalid {
            self.answer_invalid(call, &words::invalid_input(&reason), out);
        }
        self.close_batch(out);
    }

    pub(super) fn on_model_failed(&mut self, failed: &ModelFailed, out: &mut Announcer) {
        let is_free =
            (failed.usage, failed.cost.unwrap_or_default()) == (Usage::default(), Cost(0));
        if !is_free && !is_on(Bug::ForgottenUsage) {
            self.spend(&failed.usage, failed.cost, None, out);
        }
        let now = self.now;
        let overflows = failed.kind == ProviderErrorKind::ContextOverflow;
        let Some(turn) = self.turn.as_mut().filter(|turn| {
            turn.number == failed.turn
                && turn.round == failed.round
                && turn.attempt == failed.attempt
                && matches!(turn.phase, Phase::Model { started: true, .. })
        }) else {
            self.misfits += 1;
            return;
        };
        turn.attempt = failed.attempt.saturating_add(u32::from(!is_on(Bug::RepeatedAttempt)));
        turn.accepted.take_if(|accepted| !outlives(accepted, failed.kind));
        if let Some(accepted) = &mut turn.accepted {
            accepted.unread += u32::from(failed.kind == ProviderErrorKind::Format);
        }
        turn.overflowed = overflows;
        turn.overflows = turn.overflows.saturating_add(u32::from(overflows));
        let left_out = match failed.kind {
            ProviderErrorKind::RefusedItem => self.leave_items_out(),
            ProviderErrorKind::RefusedReasoning => self.leave_reasoning_out(),
            _ => 0,
        };
        let goes_on = left_out > 0 && !is_on(Bug::EndedByReasoning);
        let mends = goes_on || overflows && self.can_mend();
        let Some(turn) = &mut self.turn else { return };
        turn.phase = match failed.retry_at {
            Some(at) => Phase::Model { started: false, retry_at: Some(at) },
            None if mends => Phase::Model { started: false, retry_at: None },
            None => Phase::Ending(TurnOutcome::ProviderFailed {
                kind: failed.kind,
                message: failed.message.clone(),
            }),
        };
        out.say(|| Event::Retry {
            attempt: failed.attempt,
            kind: failed.kind,
            message: failed.message.clone(),
            wait_millis: match failed.retry_at {
                Some(at) => Some(at.since(now)),
                None => mends.then_some(0),
            },
        });
        if left_out > 0 {
            self.tell_left_out(failed.kind, left_out, out);
        }
    }

    /// The conversation goes on without what the provider could not take.
    pub(super) fn tell_left_out(
        &mut self,
        kind: ProviderErrorKind,
        left_out: u32,
        out: &mut Announcer,
    ) {
        let messages = || self.history.messages().iter().cloned().collect();
        if kind == ProviderErrorKind::RefusedReasoning {
            self.epoch_due = Some(EpochCause::RefusedReasoning);
            out.say(|| Event::ReasoningLeftOut { messages: messages(), blocks: left_out });
            out.say(|| Event::Notice { text: words::reasoning_left_out() });
        } else {
            self.epoch_due = Some(EpochCause::RefusedItem);
            out.say(|| Event::ItemsLeftOut { messages: messages(), items: left_out });
            out.say(|| Event::Notice { text: words::items_left_out(left_out) });
        }
    }

    /// Whether something can be done about a request that the provider found too long.
    fn can_mend(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            let is_bounded = turn.overflows < OVERFLOWS_MAX || is_on(Bug::EndlessOverflow);
            is_bounded && matches!(self.fit(turn), Fit::Prune(_) | Fit::Compact(_) | Fit::Trim(_))
        })
    }
}

/// Whether an answer may still be had after an attempt to read it failed so: the connection broke,
/// or it ended early, which a proxy does to any answer. Else a request would fail for ever on one
/// bad answer.
fn outlives(accepted: &Accepted, failure: ProviderErrorKind) -> bool {
    match failure {
        ProviderErrorKind::Network => true,
        ProviderErrorKind::Format => accepted.unread + 1 < UNREAD_MAX,
        _ => false,
    }
}

/// What a call runs with. Of one that cannot be read it is why: it never runs, and is the same as another
/// only where that is the same.
fn input_of(call: &ToolUse) -> RawJson {
    let runs = is_on(Bug::TruncatedRuns) || is_on(Bug::BrokenRuns);
    match call.invalid.as_deref().filter(|_| !runs) {
        Some(why) => RawJson::from_value(&why.into()),
        None => call.input.clone(),
    }
}
