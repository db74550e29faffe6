//! The calls of one answer, as the checker follows them.

use heeler_core::{
    Block, CallId, CallPlan, Decision, Entry, Facts, FactsChanged, Message, Mode, ModelReplied,
    PermissionId, PermissionReason, Record, Resource, Rule, RuleEffect, Seq, Settings, ToolOutput,
    ToolUse,
};

use super::account::DEATHS_MAX;
use super::{Checked, Invariant, ensure, permission};
use crate::tools;

/// How often an input may be changed; said here a second time.
const EDITS_MAX: u32 = 8;

/// The calls of one answer.
pub(super) struct Batch {
    calls: Vec<Followed>,
    is_answered: bool,
}

struct Followed {
    id: CallId,
    wire_id: String,
    name: String,
    input: String,
    /// What the call really does, as it was looked up last.
    facts: Facts,
    /// It is over the limit of calls, or its input was broken.
    must_not_run: Option<Invariant>,
    is_planned: bool,
    /// Some policy in force since it was planned let it run.
    was_allowed: bool,
    is_asked: bool,
    was_asked: bool,
    /// What is asked is whether to leave plan mode, on behalf of all that wait for that.
    asks_to_leave_plan: bool,
    /// Answers about it that left it waiting.
    answered_before: u32,
    decision: Option<bool>,
    running: Option<Seq>,
    output: Option<ToolOutput>,
    is_done: bool,
    deaths: u32,
}

impl Batch {
    /// The calls of an answer, in order.
    pub(super) fn of(replied: &ModelReplied) -> Self {
        let uses = replied.reply.blocks.iter().filter_map(Block::as_tool_use);
        let calls = uses.zip(0..).map(|(call, index)| Followed {
            id: CallId { turn: replied.turn, round: replied.round, index },
            wire_id: call.id.clone(),
            name: call.name.clone(),
            input: call.invalid.as_deref().unwrap_or(call.input.get()).to_owned(),
            facts: tools::facts(&call.name, &call.input).unwrap_or_default(),
            must_not_run: is_broken(call).then_some(Invariant::InvalidNeverRuns),
            is_planned: false,
            was_allowed: false,
            is_asked: false,
            was_asked: false,
            asks_to_leave_plan: false,
            answered_before: 0,
            decision: None,
            running: None,
            output: None,
            is_done: false,
            deaths: 0,
        });
        Self { calls: calls.collect(), is_answered: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Counts the calls against the turn's limit.
    pub(super) fn admit(&mut self, calls_max: u32, spent: &mut u32) {
        for call in &mut self.calls {
            if calls_max != 0 && *spent >= calls_max {
                call.must_not_run = Some(Invariant::CallLimit);
            }
            *spent += 1;
        }
    }

    /// The most processes that died in one of the calls.
    pub(super) fn deaths(&self) -> u32 {
        self.calls.iter().map(|call| call.deaths).max().unwrap_or_default()
    }

    pub(super) fn waits_for(&self, id: CallId) -> bool {
        self.calls.iter().any(|call| call.id == id && !call.is_done)
    }

    pub(super) fn running_since(&self, id: CallId) -> Option<Seq> {
        self.calls.iter().find(|call| call.id == id)?.running
    }

    /// What the last look at a call found.
    pub(super) fn facts_of(&self, id: CallId) -> Option<&Facts> {
        Some(&self.calls.iter().find(|call| call.id == id)?.facts)
    }

    /// The history gave the calls their ids.
    pub(super) fn named(&mut self, message: &Message) -> Checked {
        let names: Vec<(&str, &str)> =
            message.tool_uses().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        let same =
            names.iter().map(|(_, name)| *name).eq(self.calls.iter().map(|c| c.name.as_str()));
        ensure(same, Invariant::RequestIsHistory, || "calls of an answer are lost".into())?;
        for (call, (id, _)) in self.calls.iter_mut().zip(names) {
            call.wire_id = id.to_owned();
        }
        Ok(())
    }

    /// Judges what may run under the rules in force.
    pub(super) fn judge(&mut self, settings: &Settings, grants: &[Rule]) {
        for call in self.calls.iter_mut().filter(|call| call.is_planned) {
            call.was_allowed |=
                permission::allows(&settings.policy, grants, &call.name, &call.facts);
        }
    }

    /// The process died: what ran does so no more.
    pub(super) fn die(&mut self) {
        for call in &mut self.calls {
            call.deaths += u32::from(call.running.take().is_some());
        }
    }

    pub(super) fn done(&mut self, id: CallId) {
        if let Some(call) = self.find(id) {
            call.is_done = true;
            call.running = None;
        }
    }

    /// The request about a call is not open any more.
    pub(super) fn resolved(&mut self, id: PermissionId, decision: &Decision) {
        if let Some(call) = self.asks(id) {
            call.is_asked = false;
            // Other settings left plan mode: what is asked next is another request.
            call.answered_before += u32::from(matches!(decision, Decision::LeavePlan { .. }));
        }
    }

    /// Takes in a record about a call. `true` when it ends the turn by denial.
    pub(super) fn take(
        &mut self,
        entry: &Entry,
        settings: &mut Settings,
        grants: &mut Vec<Rule>,
        limits_moved: bool,
        repeats: &(Option<(String, String)>, u32),
    ) -> Result<bool, super::Violation> {
        match &entry.record {
            Record::CallPlanned(planned) => {
                let Some(call) = self.find(planned.call) else { return Ok(false) };
                if call.is_planned || call.answered_before != planned.answered_before {
                    return Ok(false);
                }
                call.is_planned = true;
                match &planned.plan {
                    CallPlan::Invalid { .. } => {
                        call.must_not_run = Some(Invariant::InvalidNeverRuns);
                    }
                    CallPlan::Ready { facts, .. } => call.facts = facts.clone(),
                }
                self.judge(settings, grants);
            }
            Record::FactsChanged(changed) => {
                self.changed(changed);
                self.judge(settings, grants);
            }
            Record::PermissionAsked(asked) => {
                if let Some(call) = self.asks(asked.id).filter(|call| !call.is_done) {
                    call.is_asked = true;
                    call.was_asked = true;
                    call.asks_to_leave_plan =
                        matches!(asked.reason, PermissionReason::LeavePlan { .. });
                }
            }
            Record::PermissionDecided(decided) => {
                return Ok(self.decided(decided.id, &decided.decision, settings, grants));
            }
            Record::CallStarted { call } => {
                self.started(*call, entry.seq, settings, grants, limits_moved, repeats)?;
            }
            Record::CallFinished { call, output, .. } => {
                let call = self.find(*call).filter(|call| call.running.is_some());
                if let Some(call) = call {
                    call.output = Some((**output).clone());
                }
            }
            _ => {}
        }
        Ok(false)
    }

    /// Whoever let a call run let another one run, if it touches something else.
    fn changed(&mut self, changed: &FactsChanged) {
        let waits = |call: &&mut Followed| call.is_planned && call.running.is_none();
        let Some(call) = self.find(changed.call).filter(waits) else { return };
        let is_other = call.facts.accesses != changed.facts.accesses;
        call.facts = changed.facts.clone();
        if is_other && !call.is_done {
            call.decision.take_if(|allows| *allows);
            call.was_allowed = false;
            call.answered_before += u32::from(call.was_asked);
        }
    }

    /// The first answer counts, and only while the question is open.
    fn decided(
        &mut self,
        id: PermissionId,
        decision: &Decision,
        settings: &mut Settings,
        grants: &mut Vec<Rule>,
    ) -> bool {
        let open = |call: &&mut Followed| call.is_asked && !call.is_done;
        let Some(call) = self.asks(id).filter(open) else { return false };
        let denies = matches!(decision, Decision::Deny { .. } | Decision::DenyAndStop { .. });
        if call.asks_to_leave_plan && !denies {
            return self.left_plan(id, decision, settings, grants);
        }
        if matches!(decision, Decision::LeavePlan { .. }) {
            return false;
        }
        call.is_asked = false;
        match decision {
            Decision::LeavePlan { .. } => {}
            Decision::Once => call.decision = Some(true),
            Decision::Session { rule } | Decision::Always { rule } => {
                call.decision = Some(true);
                if rule.effect == RuleEffect::Allow {
                    grants.push(rule.clone());
                }
                self.judge(settings, grants);
            }
            Decision::Edited { .. } if call.answered_before >= EDITS_MAX => call.is_asked = true,
            Decision::Edited { input } => {
                // It is another call from here on, and one that somebody wants to run.
                call.input = input.get().to_owned();
                call.facts = tools::facts(&call.name, input).unwrap_or_default();
                if !tools::fits(&call.name, input) {
                    call.must_not_run = Some(Invariant::InvalidNeverRuns);
                }
                call.answered_before += 1;
                call.is_planned = false;
                call.was_allowed = false;
                call.decision = Some(true);
            }
            Decision::Deny { .. } => call.decision = Some(false),
            Decision::DenyAndStop { .. } => {
                call.decision = Some(false);
                return true;
            }
        }
        false
    }

    /// Somebody who is asked to leave plan mode does not deny it.
    fn left_plan(
        &mut self,
        id: PermissionId,
        decision: &Decision,
        settings: &mut Settings,
        grants: &[Rule],
    ) -> bool {
        if let Decision::LeavePlan { mode: mode @ (Mode::Ask | Mode::AcceptEdits) } = decision {
            settings.policy.mode = *mode;
            if let Some(call) = self.asks(id) {
                call.is_asked = false;
                call.answered_before += 1;
            }
            self.judge(settings, grants);
        }
        false
    }

    fn started(
        &mut self,
        id: CallId,
        seq: Seq,
        settings: &Settings,
        grants: &[Rule],
        limits_moved: bool,
        repeats: &(Option<(String, String)>, u32),
    ) -> Checked {
        let Some(at) = self.calls.iter().position(|call| call.id == id) else { return Ok(()) };
        let call = &self.calls[at];
        // Said twice, it starts nothing.
        if call.running.is_some() || call.is_done {
            return Ok(());
        }
        call.may_run(settings, grants)?;
        self.has_room(at, settings.limits.calls_at_once)?;
        let key = (call.name.clone(), call.input.clone());
        let repeats_max = settings.limits.repeats;
        let insists = repeats.0.as_ref() == Some(&key)
            && repeats_max != 0
            && repeats.1 + 1 >= repeats_max
            && !limits_moved;
        ensure(!insists || call.decision == Some(true), Invariant::RepeatLimit, || {
            format!("{id} failed {} times in a row and runs unasked", repeats.1)
        })?;
        self.calls[at].running = Some(seq);
        Ok(())
    }

    /// Runs beside what runs already, and after what comes before.
    fn has_room(&self, at: usize, at_once_max: u32) -> Checked {
        let call = &self.calls[at];
        let running = || self.calls.iter().filter(|other| other.running.is_some());
        let n_running = u32::try_from(running().count()).unwrap_or(u32::MAX);
        ensure(at_once_max == 0 || n_running < at_once_max, Invariant::AtOnceLimit, || {
            format!("{} starts beside {n_running} others", call.id)
        })?;
        let alone = !call.facts.exclusive || n_running == 0;
        let beside = running().any(|other| other.facts.exclusive);
        ensure(alone && !beside, Invariant::ExclusiveRunsAlone, || {
            format!("{} ({}) starts beside another", call.id, call.name)
        })?;
        let earlier = self.calls[..at].iter().filter(|other| !other.is_done);
        let meets = running().chain(earlier).find(|other| collide(&other.facts, &call.facts));
        ensure(meets.is_none(), Invariant::CollidingNeverOverlap, || {
            format!("{} starts before another call on the same resource ended", call.id)
        })
    }

    /// The results of the batch: each call's own, in call order.
    pub(super) fn answered(&mut self, message: &Message) -> Checked {
        let results: Vec<_> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect();
        let ids = results.iter().map(|result| &result.tool_use_id);
        let in_order = ids.eq(self.calls.iter().map(|call| &call.wire_id));
        ensure(in_order && !self.is_answered, Invariant::ResultsInCallOrder, || {
            "results are not those of the calls, in order, once".into()
        })?;
        self.is_answered = true;
        for (call, result) in self.calls.iter().zip(results) {
            let id = call.id;
            ensure(call.is_done, Invariant::ResultsInCallOrder, || {
                format!("{id} has a result and did not end")
            })?;
            let is_told = call.must_not_run.is_none() || result.is_error;
            ensure(is_told, Invariant::ResultIsOutput, || {
                format!("{id} could not run, and the model is told of a success")
            })?;
            let Some(output) = &call.output else { continue };
            let said =
                |blocks: &[Block]| blocks.first().and_then(Block::as_text).map(str::to_owned);
            let expected = said(&output.content).filter(|text| !text.trim().is_empty());
            let same = expected.is_none() || said(&result.content) == expected;
            ensure(same && result.is_error == output.is_error, Invariant::ResultIsOutput, || {
                format!("{id} gave {expected:?}, the model is told {:?}", said(&result.content))
            })?;
        }
        Ok(())
    }

    /// Counts identical failing calls in a row, in call order; the model is told in time.
    pub(super) fn count_repeats(
        &self,
        message: &Message,
        repeats_max: u32,
        repeats: &mut (Option<(String, String)>, u32),
    ) -> Checked {
        let results = message.blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        });
        for (call, result) in self.calls.iter().zip(results) {
            let key = (call.name.clone(), call.input.clone());
            *repeats = match (result.is_error, repeats.0.as_ref() == Some(&key)) {
                (false, _) => (None, 0),
                (true, true) => (Some(key), repeats.1 + 1),
                (true, false) => (Some(key), 1),
            };
            let is_due = repeats_max > 2 && repeats.1 == repeats_max.saturating_sub(2).max(2);
            let mut texts = result.content.iter().filter_map(Block::as_text);
            let is_told = texts.any(|text| text.contains("times in a row"));
            ensure(is_told || !is_due, Invariant::RepeatIsTold, || {
                format!(
                    "{} failed {} times in a row, and the model is not told",
                    call.id, repeats.1
                )
            })?;
        }
        Ok(())
    }

    /// The call whose request this is, or would be.
    fn asks(&mut self, id: PermissionId) -> Option<&mut Followed> {
        self.find(id.call).filter(|call| call.answered_before == id.answered_before)
    }

    fn find(&mut self, id: CallId) -> Option<&mut Followed> {
        self.calls.iter_mut().find(|call| call.id == id)
    }
}

impl Followed {
    fn may_run(&self, settings: &Settings, grants: &[Rule]) -> Checked {
        let id = self.id;
        if let Some(invariant) = self.must_not_run {
            return ensure(false, invariant, || format!("{id} ({}) runs", self.name));
        }
        ensure(self.is_planned, Invariant::OnlyAllowedRuns, || format!("{id} runs unplanned"))?;
        let denied = self.decision == Some(false);
        let forbidden = permission::forbids(&settings.policy, grants, &self.name, &self.facts);
        ensure(!denied && !forbidden, Invariant::DeniedNeverRuns, || {
            let by = if denied { "a person" } else { "a rule or the mode" };
            format!("{id} ({}) runs though {by} denied it", self.name)
        })?;
        let allowed = self.was_allowed || self.decision == Some(true);
        ensure(allowed, Invariant::OnlyAllowedRuns, || {
            format!("{id} ({}) runs and nobody allowed it", self.name)
        })?;
        ensure(self.deaths < DEATHS_MAX, Invariant::DeathsAreBounded, || {
            format!("{id} runs again after {} processes died of it", self.deaths)
        })
    }
}

/// Whether a call's input is none that its tool takes, or none at all.
fn is_broken(call: &ToolUse) -> bool {
    call.invalid.is_some() || !tools::fits(&call.name, &call.input)
}

/// Whether two calls must not run at the same time, or out of order.
pub(crate) fn collide(a: &Facts, b: &Facts) -> bool {
    let meet = |x: &Resource, y: &Resource| x.key == y.key && (x.write || y.write);
    let share = a.resources.iter().any(|x| b.resources.iter().any(|y| meet(x, y)));
    a.exclusive || b.exclusive || share
}
