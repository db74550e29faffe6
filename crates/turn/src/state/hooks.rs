//! What hooks do to the state when they are heard, calls they were asked about beforehand aside.

use heeler_core::{
    Block, Decision, Event, HookAnswered, HookEvent, HookVerdict, InputOrigin, PermissionId,
    PermissionReason, TurnOutcome,
};

use super::{Announcer, CallStatus, Phase, State};
use crate::limits::ENDS_REFUSED_MAX;
use crate::words;

impl State {
    pub(super) fn on_hook_answered(&mut self, answered: &HookAnswered, out: &mut Announcer) {
        match answered.event {
            HookEvent::UserPromptSubmit => self.on_prompt_heard(&answered.verdict, out),
            HookEvent::PermissionRequest => self.on_permission_heard(answered, out),
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure => {
                self.on_call_heard(answered);
            }
            HookEvent::Stop => self.on_end_heard(&answered.verdict, out),
            // What came of these stands in records of their own.
            HookEvent::SessionStart
            | HookEvent::PreToolUse
            | HookEvent::PreCompact
            | HookEvent::SubagentStart
            | HookEvent::SubagentStop
            | HookEvent::SessionEnd => {}
        }
    }

    /// An input that was not let through is a turn in which nothing is said. Where a turn runs, it
    /// would only have joined that.
    fn on_prompt_heard(&mut self, verdict: &HookVerdict, out: &mut Announcer) {
        let (HookVerdict::Deny { by, reason } | HookVerdict::Stop { by, reason }) = verdict else {
            return;
        };
        let reason = words::prompt_blocked(by, reason);
        if self.turn.is_some() {
            out.say(|| Event::Notice { text: reason });
            return;
        }
        self.begin_turn(InputOrigin::default(), out);
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Ending(TurnOutcome::Denied { reason });
        }
    }

    /// A hook answers a request as somebody at a prompt would: what the policy denies stays denied.
    fn on_permission_heard(&mut self, answered: &HookAnswered, out: &mut Announcer) {
        // Plan mode is a person's to leave.
        let waits = |s: &CallStatus| match s {
            CallStatus::Asking { reason, asked } => {
                *asked && !matches!(reason, PermissionReason::LeavePlan { .. })
            }
            _ => false,
        };
        let call = answered.call.and_then(|id| self.call_in(id, waits));
        let Some(request) = call.map(|call| call.permission_id()) else { return };
        let id = request.call;
        match &answered.verdict {
            HookVerdict::Continue | HookVerdict::Ask { .. } => {}
            HookVerdict::Allow { by, .. } => {
                announce(request, by, Decision::Once, out);
                self.let_run(id, &hook_called(by), out);
            }
            HookVerdict::Deny { by, reason } => {
                let reason = words::denied_by_hook(by, reason);
                announce(request, by, Decision::Deny { reason: Some(reason.clone()) }, out);
                self.refuse(id, &reason, out);
            }
            HookVerdict::Broken { by, why } => {
                let reason = words::broken_hook(by, why);
                announce(request, by, Decision::Deny { reason: Some(reason.clone()) }, out);
                self.refuse(id, &reason, out);
            }
            HookVerdict::Stop { by, reason } => {
                let text = words::stopped_by_hook(by, reason);
                announce(request, by, Decision::DenyAndStop { reason: Some(reason.clone()) }, out);
                self.deny_and_stop(id, &text, out);
            }
        }
    }

    /// What was said of a call that ran is in its output; here is only whether the turn goes on.
    fn on_call_heard(&mut self, answered: &HookAnswered) {
        let started = |s: &CallStatus| matches!(s, CallStatus::Started { .. });
        let ran = answered.call.is_some_and(|id| self.call_in(id, started).is_some());
        let HookVerdict::Stop { by, reason } = &answered.verdict else { return };
        if let Some(turn) = self.turn.as_mut().filter(|_| ran) {
            let reason = words::stopped_by_hook(by, reason);
            turn.ends_after_batch.get_or_insert(TurnOutcome::Denied { reason });
        }
    }

    /// The model is told why it is not done, a bounded number of times.
    fn on_end_heard(&mut self, verdict: &HookVerdict, out: &mut Announcer) {
        let HookVerdict::Deny { by, reason } = verdict else { return };
        let ends = |phase: &Phase| *phase == Phase::Ending(TurnOutcome::Done);
        let Some(turn) = self
            .turn
            .as_mut()
            .filter(|turn| ends(&turn.phase) && turn.ends_refused < ENDS_REFUSED_MAX)
        else {
            self.misfits += 1;
            return;
        };
        turn.ends_refused += 1;
        let is_last = turn.ends_refused == ENDS_REFUSED_MAX;
        // A batch that ended the turn has counted its round already; an answer has not.
        turn.round += u32::from(turn.calls.is_empty());
        turn.attempt = 1;
        turn.phase = Phase::Model { started: false, retry_at: None };
        self.append_user(vec![Block::text(words::end_refused(by, reason))], out);
        out.say(|| Event::Notice { text: words::end_refused_notice(by, reason, is_last) });
    }
}

fn announce(id: PermissionId, by: &str, decision: Decision, out: &mut Announcer) {
    out.say(|| Event::PermissionDecided { id, decision, by: hook_called(by) });
}

fn hook_called(by: &str) -> String {
    format!("the hook `{by}`")
}
