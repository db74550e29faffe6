//! What planning, start and end of a call do to the state.

use heeler_core::{
    CallId, CallPlan, CallPlanned, Decision, Event, Facts, FactsChanged, HookVerdict, Judgement,
    LimitKind, PermissionReason, Policy, RawJson, Rule, ToolOutput, TurnOutcome, Verdict,
};

use super::plan::needs_leaving;
use super::{Announcer, Call, CallStatus, Phase, State, Turn};
use crate::bugs::{Bug, is_on};
use crate::limits::FACTS_CHANGED_MAX;
use crate::{verdict, words};

impl State {
    pub(super) fn on_call_planned(&mut self, planned: &CallPlanned, out: &mut Announcer) {
        let Some(call) = self.call_in(planned.call, |s| matches!(s, CallStatus::Unplanned)) else {
            return;
        };
        if call.answered_before != planned.answered_before {
            self.misfits += 1;
            return;
        }
        match &planned.plan {
            CallPlan::Invalid { error } => self.answer_invalid(planned.call, error, out),
            CallPlan::Ready { facts, input, notes, hook } => {
                call.facts = facts.clone();
                call.hook = hook.as_deref().cloned();
                call.notes.extend(notes.iter().cloned());
                if let Some(input) = input {
                    call.input = input.clone();
                    // Nobody has seen this one.
                    call.decided_by = None;
                }
                self.judge_call(planned.call, out);
            }
        }
    }

    /// Lets a planned call run, asks, or answers it as denied.
    pub(super) fn judge_call(&mut self, id: CallId, out: &mut Announcer) {
        let repeated = self.repeated_failures(id);
        let interactive = self.settings.policy.interactive;
        let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) else { return };
        if let Some(HookVerdict::Stop { by, reason }) = &call.hook {
            let text = words::stopped_by_hook(by, reason);
            return self.deny_and_stop(id, &text, out);
        }
        let Judgement { verdict, confined, .. } = judge(&self.settings.policy, &self.grants, call);
        let decided_by = call.decided_by.take();
        let reason = match (verdict, repeated) {
            (Verdict::Deny { .. }, None)
                if needs_leaving(&self.settings.policy, &self.grants, call) =>
            {
                PermissionReason::LeavePlan { calls: vec![call.summary()], more: 0 }
            }
            (Verdict::Deny { by }, _) => return self.refuse(id, &by, out),
            (Verdict::Ask { .. } | Verdict::Allow { .. }, _) if let Some(by) = decided_by => {
                call.status = CallStatus::Ready { by: format!("decision of {by}"), confined };
                return;
            }
            (Verdict::Ask { why }, _) if !interactive => {
                return self.refuse(id, &words::nobody_to_ask(&why), out);
            }
            (_, Some(times)) if !interactive => {
                return self.answer_invalid(id, &words::repeated_stop(times), out);
            }
            // That it failed must not hide what it is asked about for.
            (Verdict::Ask { why }, Some(times)) => {
                PermissionReason::Policy(words::repeated_ask(times, &why))
            }
            (_, Some(times)) => PermissionReason::Repeated(times),
            (Verdict::Ask { why }, None) => PermissionReason::Policy(why),
            (Verdict::Allow { by }, None) => {
                call.status = CallStatus::Ready { by, confined };
                return;
            }
        };
        call.status = CallStatus::Asking { reason, asked: false };
    }

    /// Whether the call at this place of the answer that is being streamed would run as soon as it
    /// is planned with these facts, if nothing changes until then: nobody is asked about it and no
    /// limit is in its way. Answers a question and decides nothing; the call is judged when it is
    /// planned.
    #[must_use]
    pub fn would_run(&self, index: u32, name: &str, input: &RawJson, facts: &Facts) -> bool {
        let calls_max = self.settings.limits.calls;
        let has_room = self.turn.as_ref().is_some_and(|turn| {
            matches!(turn.phase, Phase::Model { started: true, .. })
                && (calls_max == 0 || turn.calls_spent.saturating_add(index) < calls_max)
        });
        let judgement = verdict::judge(&self.settings.policy, &self.grants, name, facts);
        has_room
            && matches!(judgement.verdict, Verdict::Allow { .. })
            && self.repeated_failures_of(name, input).is_none()
    }

    /// Answers a call as not allowed. A model that insists on exactly this call ends its turn.
    pub(super) fn refuse(&mut self, id: CallId, by: &str, out: &mut Announcer) {
        self.end_if_repeated(id, TurnOutcome::Denied { reason: by.to_owned() });
        self.finish(id, ToolOutput::error(format!("Not allowed: {by}.")), 0, out);
    }

    /// Answers a call that cannot run, so that nobody can be asked to let it.
    pub(super) fn answer_invalid(&mut self, id: CallId, text: &str, out: &mut Announcer) {
        self.end_if_repeated(id, TurnOutcome::Limit { limit: LimitKind::Repeats });
        self.finish(id, ToolOutput::error(text), 0, out);
    }

    fn end_if_repeated(&mut self, id: CallId, outcome: TurnOutcome) {
        let repeated = self.repeated_failures(id).is_some();
        if let Some(turn) = self.turn.as_mut().filter(|_| repeated) {
            turn.ends_after_batch.get_or_insert(outcome);
        }
    }

    /// How often exactly this call failed in a row, when that is as often as the limit lets.
    fn repeated_failures(&self, id: CallId) -> Option<u32> {
        let call = self.turn.as_ref()?.calls.iter().find(|call| call.id == id)?;
        self.repeated_failures_of(&call.name, &call.input)
    }

    pub(super) fn repeated_failures_of(&self, name: &str, input: &RawJson) -> Option<u32> {
        let repeats_max = self.settings.limits.repeats;
        let turn = self.turn.as_ref()?;
        let failed = turn.repeats.call.as_ref();
        let same = failed.is_some_and(|(failed, with)| failed == name && with == input);
        let reached = repeats_max != 0
            && !is_on(Bug::EndlessRepeats)
            && turn.repeats.count.saturating_add(1) >= repeats_max;
        (same && reached).then_some(turn.repeats.count)
    }

    /// Judges again what has not started: rules or grants have changed.
    pub(super) fn judge_again(&mut self, out: &mut Announcer) {
        let Some(turn) = self.turn.as_ref().filter(|_| !is_on(Bug::ForgottenJudgement)) else {
            return;
        };
        let unstarted =
            |s: &CallStatus| matches!(s, CallStatus::Asking { .. } | CallStatus::Ready { .. });
        let calls: Vec<CallId> =
            turn.calls.iter().filter(|call| unstarted(&call.status)).map(|call| call.id).collect();
        for id in calls {
            self.judge_call_again(id, out);
        }
    }

    /// A denial holds for every call; only one that waits because of the policy alone can be let run.
    /// What failed too often stays asked about: a rule says nothing of that.
    fn judge_call_again(&mut self, id: CallId, out: &mut Announcer) {
        let interactive = self.settings.policy.interactive;
        let failed_often = self.repeated_failures(id).is_some();
        let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) else { return };
        if call.asks_to_leave_plan() {
            return self.judge_in_plan_again(id, out);
        }
        let Judgement { verdict, confined, .. } = judge(&self.settings.policy, &self.grants, call);
        let waits = match &call.status {
            CallStatus::Asking { reason: PermissionReason::Policy(_), .. } => true,
            CallStatus::Asking { .. } | CallStatus::Ready { .. } => false,
            // The batch went on while its other calls were judged.
            _ => return,
        };
        match verdict {
            Verdict::Deny { by } => self.refuse(id, &by, out),
            Verdict::Ask { why } if waits && !interactive => {
                self.refuse(id, &words::nobody_to_ask(&why), out);
            }
            Verdict::Allow { by } if waits && !failed_often => {
                let was_open = call.open_permission();
                call.status = CallStatus::Ready { by: by.clone(), confined };
                if let Some(open) = was_open {
                    let decision = Decision::Once;
                    out.say(|| Event::PermissionDecided { id: open.id, decision, by });
                }
            }
            Verdict::Ask { .. } | Verdict::Allow { .. } => {}
        }
    }

    /// What a call that may run touches has changed since it was judged, so it is judged again, and
    /// whoever let it run before is asked again. What hooks had against it stands; what one allowed was
    /// another call. Whatever is no access says nothing of permission.
    pub(super) fn on_facts_changed(&mut self, changed: &FactsChanged, out: &mut Announcer) {
        let ready = |s: &CallStatus| matches!(s, CallStatus::Ready { .. });
        let Some(call) = self.call_in(changed.call, ready) else { return };
        let touches_the_same = call.facts.accesses == changed.facts.accesses;
        call.facts = changed.facts.clone();
        call.facts_changed = call.facts_changed.saturating_add(1);
        if call.facts_changed > FACTS_CHANGED_MAX {
            let output = ToolOutput::error(words::FACTS_KEEP_CHANGING);
            return self.finish(changed.call, output, 0, out);
        }
        if touches_the_same || is_on(Bug::UnheardChange) {
            return;
        }
        if changed.ends_allowance {
            call.hook.take_if(|said| matches!(said, HookVerdict::Allow { .. }));
        }
        // An answer to one request is none to the next.
        call.answered_before += u32::from(call.asked_at != 0);
        self.judge_call(changed.call, out);
        let call = self.turn.as_mut().and_then(|turn| find(turn, changed.call));
        if let Some(CallStatus::Asking { reason: PermissionReason::Policy(why), .. }) =
            call.map(|call| &mut call.status)
        {
            *why = words::changed_since_judged(why);
        }
    }

    pub(super) fn on_call_started(&mut self, id: CallId, out: &mut Announcer) {
        let ready = |s: &CallStatus| matches!(s, CallStatus::Ready { .. });
        let Some(call) = self.call_in(id, ready) else { return };
        if let CallStatus::Ready { by, confined } = &call.status {
            call.status = CallStatus::Started { by: by.clone(), confined: *confined };
        }
        out.say(|| Event::CallStarted {
            call: id,
            index: id.index,
            name: call.name.clone(),
            summary: call.summary(),
        });
    }

    pub(super) fn on_call_finished(
        &mut self,
        id: CallId,
        output: &ToolOutput,
        (millis, inner_calls): (u64, u32),
        out: &mut Announcer,
    ) {
        // What finished ran, also when the record of its start is missing.
        let has_hole = self.turn.as_ref().is_some_and(|turn| turn.has_hole);
        let ran = |s: &CallStatus| match s {
            CallStatus::Started { .. } => true,
            CallStatus::Done(_) => false,
            _ => has_hole,
        };
        let Some(call) = self.call_in(id, ran) else { return };
        if output.is_background && !output.is_error {
            let tool = call.name.clone();
            self.begin_background(id, tool);
        }
        for change in &output.state {
            if self.is_overwritten(id, &change.key) && !is_on(Bug::OrderOfOutcomes) {
                continue;
            }
            if change.value.get() == "null" {
                self.values.remove_mut(&change.key);
            } else {
                self.values.insert_mut(change.key.clone(), change.value.clone());
            }
        }
        self.spend_inner(inner_calls);
        self.finish(id, output.clone(), millis, out);
    }

    /// Counts calls within a call. Those that were too many were not run, and the turn ends as one
    /// whose own calls are too many.
    fn spend_inner(&mut self, inner_calls: u32) {
        let calls_max = self.settings.limits.calls;
        let Some(turn) = self.turn.as_mut().filter(|_| inner_calls > 0) else { return };
        turn.calls_spent = turn.calls_spent.saturating_add(inner_calls);
        if calls_max != 0 && turn.calls_spent > calls_max {
            let limit = TurnOutcome::Limit { limit: LimitKind::Calls };
            turn.ends_after_batch.get_or_insert(limit);
        }
    }

    /// Whether a later call of the batch already gave the value: the values after a batch are
    /// those of its calls in call order, whatever order they ended in.
    fn is_overwritten(&self, id: CallId, key: &str) -> bool {
        let later = self.turn.iter().flat_map(|turn| &turn.calls).filter(|call| call.id > id);
        later.into_iter().any(|call| match &call.status {
            CallStatus::Done(output) => output.state.iter().any(|change| change.key == key),
            _ => false,
        })
    }

    pub(super) fn finish(
        &mut self,
        id: CallId,
        output: ToolOutput,
        millis: u64,
        out: &mut Announcer,
    ) {
        if let Some(turn) = &mut self.turn {
            turn.finish_call(id, output, millis, out);
        }
        self.close_batch(out);
    }

    /// The call, when it is in a fitting status; otherwise the record is a misfit.
    pub(super) fn call_in(
        &mut self,
        id: CallId,
        fits: impl Fn(&CallStatus) -> bool,
    ) -> Option<&mut Call> {
        let found = self.turn.as_mut().and_then(|turn| find(turn, id));
        match found {
            Some(call) if fits(&call.status) => Some(call),
            _ => {
                self.misfits += 1;
                None
            }
        }
    }
}

/// What the policy and the hooks say of a planned call.
pub(super) fn judge(policy: &Policy, grants: &[Rule], call: &Call) -> Judgement {
    verdict::judge_heeding(policy, grants, &call.name, &call.facts, call.hook.as_ref())
}

pub(super) fn find(turn: &mut Turn, id: CallId) -> Option<&mut Call> {
    turn.calls.iter_mut().find(|call| call.id == id)
}
