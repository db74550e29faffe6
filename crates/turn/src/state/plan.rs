//! Leaving plan mode: one request for all calls of an answer that nothing else denies.

use heeler_core::{
    CallId, Decision, Event, Mode, PermissionReason, Policy, Rule, Settings, ToolOutput,
    TurnOutcome, Verdict,
};

use super::calls::{find, judge};
use super::permission::said;
use super::{Announcer, Call, CallStatus, State, Turn};
use crate::bugs::{Bug, is_on};
use crate::limits::PLAN_CALLS_NAMED_MAX;
use crate::words;

/// Who ended plan mode when no decision did.
const BY_SETTINGS: &str = "the session's settings";

impl State {
    /// What a process that takes the session over goes on with: its own settings, but plan mode
    /// that was left stays left.
    #[must_use]
    pub fn settings_to_go_on_with(&self, mut settings: Settings) -> Settings {
        if let Some(mode) = self.left_plan.filter(|_| settings.policy.mode == Mode::Plan) {
            settings.policy.mode = mode;
        }
        settings
    }

    /// Takes an answer to the request that this call carries for all that wait with it.
    pub(super) fn on_plan_decided(&mut self, id: CallId, decision: &Decision, out: &mut Announcer) {
        match decision {
            Decision::LeavePlan { mode } => self.leave_plan(id, *mode, out),
            Decision::Deny { reason: None } if is_on(Bug::UndecidedLeave) => {
                self.leave_plan(id, Mode::Ask, out);
            }
            Decision::Deny { reason } => self.stay_in_plan(said(reason.as_deref()), None, out),
            Decision::DenyAndStop { reason } => {
                let reason = said(reason.as_deref());
                let ends = TurnOutcome::Denied { reason: words::stopped_in_plan(reason) };
                self.stay_in_plan(reason, Some(ends), out);
            }
            // Answers to a request about one call; told before.
            Decision::Once
            | Decision::Session { .. }
            | Decision::Always { .. }
            | Decision::Edited { .. } => {}
        }
    }

    fn leave_plan(&mut self, id: CallId, mode: Mode, out: &mut Announcer) {
        self.settings.policy.mode = mode;
        self.left_plan = Some(mode);
        if let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) {
            call.close_request();
        }
        self.judge_again(out);
    }

    /// Answers every call that waits for plan mode to be left, and ends the turn if that is wanted.
    fn stay_in_plan(
        &mut self,
        reason: Option<&str>,
        ends: Option<TurnOutcome>,
        out: &mut Announcer,
    ) {
        let Some(turn) = &mut self.turn else { return };
        let mut denied = Vec::new();
        for call in turn.calls.iter().filter(|call| call.asks_to_leave_plan()) {
            let by = match judge(&self.settings.policy, &self.grants, call).verdict {
                Verdict::Deny { by } => by,
                Verdict::Ask { .. } | Verdict::Allow { .. } => continue,
            };
            denied.push((call.id, words::stays_in_plan(&by, reason)));
        }
        for (id, text) in denied {
            turn.finish_call(id, ToolOutput::error(text), 0, out);
        }
        if let Some(outcome) = ends {
            turn.ends_after_batch = Some(outcome);
            turn.cancel_unstarted(None, out);
        }
        self.close_batch(out);
    }

    /// The policy changed while a call waits for plan mode to be left.
    pub(super) fn judge_in_plan_again(&mut self, id: CallId, out: &mut Announcer) {
        let policy = &self.settings.policy;
        let Some(call) = self.turn.as_mut().and_then(|turn| find(turn, id)) else { return };
        if needs_leaving(policy, &self.grants, call) {
            return;
        }
        if let Some(open) = call.open_permission().filter(|_| policy.mode != Mode::Plan) {
            call.close_request();
            let (decision, by) = (Decision::LeavePlan { mode: policy.mode }, BY_SETTINGS.into());
            out.say(|| Event::PermissionDecided { id: open.id, decision, by });
        }
        self.judge_call(id, out);
    }
}

impl Turn {
    /// The call that carries the request to leave plan mode, once all calls are looked up.
    pub(crate) fn asks_for_all(&self) -> Option<CallId> {
        let waiting = || self.calls.iter().filter(|call| call.asks_to_leave_plan());
        let is_open = |call: &&Call| matches!(call.status, CallStatus::Asking { asked: true, .. });
        let is_whole = || self.calls.iter().all(|call| call.status != CallStatus::Unplanned);
        let first = || waiting().next().filter(|_| is_whole());
        waiting().find(is_open).or_else(first).map(|call| call.id)
    }

    /// Why plan mode is to be left: all that waits for it.
    pub(crate) fn reason_to_leave_plan(&self) -> PermissionReason {
        let waiting: Vec<&Call> =
            self.calls.iter().filter(|call| call.asks_to_leave_plan()).collect();
        let named = waiting.iter().take(PLAN_CALLS_NAMED_MAX);
        let more = waiting.len().saturating_sub(PLAN_CALLS_NAMED_MAX);
        PermissionReason::LeavePlan {
            calls: named.map(|call| call.summary()).collect(),
            more: u32::try_from(more).unwrap_or(u32::MAX),
        }
    }
}

impl Call {
    /// The request about it is answered, and it waits for what comes of that.
    fn close_request(&mut self) {
        if let CallStatus::Asking { asked, .. } = &mut self.status {
            self.answered_before += u32::from(std::mem::take(asked));
        }
    }
}

/// Whether nothing but plan mode denies a call, and somebody can be asked to leave it.
pub(super) fn needs_leaving(policy: &Policy, grants: &[Rule], call: &Call) -> bool {
    if policy.mode != Mode::Plan || !policy.interactive || !policy.asks_to_leave_plan {
        return false;
    }
    let left = Policy { mode: Mode::Ask, ..policy.clone() };
    !matches!(judge(&left, grants, call).verdict, Verdict::Deny { .. })
}
