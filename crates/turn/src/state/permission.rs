//! What requests for permission and the answers to them do to the state.

use heeler_core::{
    CallId, Decision, Event, Judgement, Mode, OpenPermission, PermissionAsked, PermissionDecided,
    PermissionId, PermissionReason, RawJson, RuleEffect, ToolOutput, TurnOutcome, Verdict,
};

use super::calls::{find, judge};
use super::{Announcer, CallStatus, State};
use crate::bugs::{Bug, is_on};
use crate::limits::EDITS_MAX;
use crate::words;

impl State {
    pub(super) fn on_permission_asked(&mut self, asked: &PermissionAsked, out: &mut Announcer) {
        let (id, seq) = (asked.id.call, self.seq);
        let waits = |s: &CallStatus| matches!(s, CallStatus::Asking { asked: false, .. });
        let Some(call) = self.call_in(id, waits) else { return };
        let is_about_plan = matches!(asked.reason, PermissionReason::LeavePlan { .. });
        if call.permission_id() != asked.id || is_about_plan != call.asks_to_leave_plan() {
            self.misfits += 1;
            return;
        }
        call.asked_at = seq;
        call.status = CallStatus::Asking { reason: asked.reason.clone(), asked: true };
        if let Some(open) = call.open_permission() {
            out.say(|| Event::PermissionRequested(open));
        }
    }

    /// Takes an answer. A denial by the policy stands whatever anybody answers.
    pub(super) fn on_permission_decided(
        &mut self,
        decided: &PermissionDecided,
        out: &mut Announcer,
    ) {
        let id = decided.id.call;
        let open = self.open_permission(decided.id);
        let open = open.filter(|open| objection(open, &decided.decision).is_none());
        let Some(open) = open else {
            self.misfits += 1;
            return;
        };
        out.say(|| Event::PermissionDecided {
            id: decided.id,
            decision: decided.decision.clone(),
            by: decided.by.clone(),
        });
        if matches!(open.reason, PermissionReason::LeavePlan { .. }) {
            return self.on_plan_decided(id, &decided.decision, out);
        }
        match &decided.decision {
            // No answer to a request about one call; told before.
            Decision::LeavePlan { .. } => {}
            Decision::Once => self.let_run(id, &decided.by, out),
            Decision::Session { rule } | Decision::Always { rule } => {
                // A decision can only widen: a rule that is no allow rule grants nothing.
                if rule.effect == RuleEffect::Allow {
                    self.grants.push(rule.clone());
                }
                self.let_run(id, &decided.by, out);
                self.judge_again(out);
            }
            Decision::Edited { input } => self.take_edit(id, input, &decided.by),
            Decision::Deny { reason: None } if is_on(Bug::DeniedRuns) => {
                self.let_run(id, &decided.by, out);
            }
            Decision::Deny { reason } => {
                self.finish(id, ToolOutput::error(denial(reason.as_deref())), 0, out);
            }
            Decision::DenyAndStop { reason } => {
                self.deny_and_stop(id, &denial(reason.as_deref()), out);
            }
        }
    }

    /// The call is looked up again with what somebody made of its input, hooks included, and then
    /// judged with that somebody's consent to exactly this input.
    fn take_edit(&mut self, id: CallId, input: &RawJson, by: &str) {
        let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) else { return };
        call.answered_before += 1;
        call.input = input.clone();
        call.notes.push(words::edited(input));
        call.decided_by = Some(by.to_owned());
        call.status = match is_on(Bug::UnjudgedEdit) {
            true => CallStatus::Ready { by: format!("decision of {by}"), confined: false },
            false => CallStatus::Unplanned,
        };
    }

    pub(super) fn let_run(&mut self, id: CallId, by: &str, out: &mut Announcer) {
        let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) else { return };
        let Judgement { verdict, confined, .. } = judge(&self.settings.policy, &self.grants, call);
        match verdict {
            Verdict::Deny { by } => self.refuse(id, &by, out),
            Verdict::Ask { .. } | Verdict::Allow { .. } => {
                call.status = CallStatus::Ready { by: format!("decision of {by}"), confined };
            }
        }
    }

    /// Ends the turn: what has not started is answered as not run, what runs is let finish.
    pub(super) fn deny_and_stop(&mut self, id: CallId, text: &str, out: &mut Announcer) {
        if let Some(turn) = &mut self.turn {
            turn.ends_after_batch = Some(TurnOutcome::Denied { reason: text.to_owned() });
            turn.cancel_unstarted(Some(id), out);
        }
        self.finish(id, ToolOutput::error(text), 0, out);
    }

    /// The request somebody must decide that has this id.
    #[must_use]
    pub fn open_permission(&self, id: PermissionId) -> Option<OpenPermission> {
        let calls = &self.turn.as_ref()?.calls;
        let call = calls.iter().find(|call| call.permission_id() == id)?;
        call.open_permission()
    }
}

/// Why a request cannot be answered with this decision, in words for whoever gave it.
#[must_use]
pub fn objection(open: &OpenPermission, decision: &Decision) -> Option<String> {
    let is_about_plan = matches!(open.reason, PermissionReason::LeavePlan { .. });
    match decision {
        Decision::Deny { .. } | Decision::DenyAndStop { .. } => None,
        Decision::LeavePlan { mode: Mode::Ask | Mode::AcceptEdits } if is_about_plan => None,
        _ if is_about_plan => Some(words::NO_ANSWER_ABOUT_PLAN.to_owned()),
        Decision::LeavePlan { .. } => Some(words::NO_ANSWER_ABOUT_CALL.to_owned()),
        Decision::Edited { .. } if open.id.answered_before >= EDITS_MAX => {
            Some(words::edited_too_often())
        }
        Decision::Once
        | Decision::Session { .. }
        | Decision::Always { .. }
        | Decision::Edited { .. } => None,
    }
}

/// A reason, when it says something.
pub(super) fn said(reason: Option<&str>) -> Option<&str> {
    reason.map(str::trim).filter(|reason| !reason.is_empty())
}

fn denial(reason: Option<&str>) -> String {
    match said(reason) {
        Some(reason) => format!("The user denied this call: {reason}"),
        None => words::DENIED_BY_USER.to_owned(),
    }
}
