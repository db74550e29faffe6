//! Which calls their tools look into before somebody is asked about them.
//!
//! A tool that would refuse a call says so at once, and nobody is asked for nothing. That is planning
//! still, and its record tells what came of it, so a fold looks at nothing.

use std::collections::BTreeMap;

use heeler_core::{Access, CallId, CallPlan, Facts, Verdict};

use super::State;
use super::turn::CallStatus;
use crate::pending::slot;
use crate::schedule::{self, Slot};
use crate::verdict;

/// Reading is judged as what this tool does.
const READS: &str = "Read";

impl State {
    /// Whether a call that would be planned like this is to be looked into first. `beside` has plans
    /// of its batch that are made together with it.
    ///
    /// Only what the rules would ask about: a denial is told first, and what runs unasked says by
    /// itself what is wrong. Only what could run at once: an earlier call may make it right. And only
    /// what names nothing but what may be read unasked, or a host, which nobody goes to for a look, so
    /// a refusal tells nothing that is closed.
    #[must_use]
    pub fn is_looked_into(
        &self,
        id: CallId,
        plan: &CallPlan,
        beside: &BTreeMap<CallId, CallPlan>,
    ) -> bool {
        let CallPlan::Ready { facts, input, hook, .. } = plan else { return false };
        let policy = &self.settings.policy;
        let calls = self.turn.as_ref().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let unplanned = |call: &&super::Call| call.status == CallStatus::Unplanned;
        let Some(call) = calls.iter().filter(unplanned).find(|call| call.id == id) else {
            return false;
        };
        // Whoever gave the input has decided.
        let is_decided = call.decided_by.is_some() && input.is_none();
        let used = input.as_ref().unwrap_or(&call.input);
        let is_repeated = self.repeated_failures_of(&call.name, used).is_some();
        if !policy.interactive || is_decided || is_repeated {
            return false;
        }
        let judge = |tool: &str, facts: &Facts, hook| {
            verdict::judge_heeding(policy, &self.grants, tool, facts, hook).verdict
        };
        matches!(judge(&call.name, facts, hook.as_deref()), Verdict::Ask { .. })
            && as_read(facts)
                .is_some_and(|facts| matches!(judge(READS, &facts, None), Verdict::Allow { .. }))
            && self.could_run_at_once(id, facts, beside)
    }

    fn could_run_at_once(
        &self,
        id: CallId,
        facts: &Facts,
        beside: &BTreeMap<CallId, CallPlan>,
    ) -> bool {
        let calls = self.turn.as_ref().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let slots: Vec<Slot<'_>> = calls
            .iter()
            .map(|call| match (&call.status, beside.get(&call.id)) {
                _ if call.id == id => Slot::Ready(facts),
                (CallStatus::Unplanned, Some(CallPlan::Ready { facts, .. })) => {
                    Slot::Waiting(facts)
                }
                (CallStatus::Unplanned, Some(CallPlan::Invalid { .. })) => Slot::Done,
                _ => slot(call),
            })
            .collect();
        let startable = schedule::startable(&slots, usize::MAX);
        startable.into_iter().any(|at| calls.get(at).is_some_and(|call| call.id == id))
    }
}

/// What a call would touch that only looked at what this one changes; `None` when it does anything
/// else than that. A host is not among it: a look goes nowhere.
fn as_read(facts: &Facts) -> Option<Facts> {
    let read = |access: &Access| match access {
        Access::Read(path) | Access::Write(path) => Some(Some(Access::Read(path.clone()))),
        Access::Host(_) => Some(None),
        _ => None,
    };
    let accesses = facts.accesses.iter().map(read).collect::<Option<Vec<_>>>()?;
    Some(Facts { accesses: accesses.into_iter().flatten().collect(), ..Facts::default() })
}
