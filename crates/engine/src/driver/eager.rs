//! Eager start: calls that only look begin while the answer that asks for them still streams.
//!
//! This is speculation outside the machine. Nothing is journalled or shown of it; the machine plans,
//! judges and starts each call as if nothing had happened, and only where it starts exactly the
//! call that runs already (same attempt, place, name and input bytes) is that one taken instead of
//! a new one. Whatever else becomes of the answer ends the call.
//!
//! Nothing overtakes a write: a call starts only when every call before it was started this way,
//! so all of them only look, and no call of an earlier round runs while a model answers.

use std::sync::Arc;

use heeler_core::{
    Access, Background, Block, BoxFuture, CallId, CallPlan, CancellationToken, EffectId, Facts,
    Progress, RawJson, Reply, ToolUse,
};
use heeler_turn::state::CallStatus;
use tokio::sync::oneshot;

use super::Driver;
use super::held::HeldProgress;
use super::perform::{Run, Spawned, finish_call};
use super::running::Task;
use crate::pipeline;

/// The most calls of one answer that begin before it is whole, whatever the settings let run.
const EAGER_CALLS_MAX: usize = 32;

/// The calls of one answer that were begun: its first ones, in call order.
#[derive(Default)]
pub(super) struct EagerCalls {
    calls: Vec<EagerCall>,
    /// One call was not begun, so none after it is.
    is_over: bool,
}

/// A call that runs, or has run, though nobody asked for it yet. Dropping it stops it.
struct EagerCall {
    id: CallId,
    said: ToolUse,
    plan: CallPlan,
    facts: Facts,
    /// What it was begun with: `said.input`, put right where it had to be.
    input: RawJson,
    held: Arc<HeldProgress>,
    /// Lets the call end in its record.
    wanted: Option<oneshot::Sender<()>>,
    task: Option<Spawned>,
}

impl Driver {
    /// Begins what can be begun of the answer so far.
    pub(super) fn start_eager_calls(&mut self) {
        let at_once_max = match self.state.settings.limits.calls_at_once {
            0 => EAGER_CALLS_MAX,
            n => EAGER_CALLS_MAX.min(n as usize),
        };
        let Some(stream) = self.stream.as_mut().filter(|stream| !stream.eager.is_over) else {
            return;
        };
        let EffectId::Model(turn, round, _) = stream.id else { return };
        let mut eager = std::mem::take(&mut stream.eager);
        let new: Vec<ToolUse> =
            stream.draft.leading_calls().skip(eager.calls.len()).cloned().collect();
        for said in new {
            let begun = u32::try_from(eager.calls.len())
                .ok()
                .filter(|_| eager.calls.len() < at_once_max)
                .and_then(|index| self.begin_eagerly(CallId { turn, round, index }, said));
            let Some(begun) = begun else {
                eager.is_over = true;
                break;
            };
            eager.calls.push(begun);
        }
        if let Some(stream) = &mut self.stream {
            stream.eager = eager;
        }
    }

    /// Begins one call, if everything is in favour and no hook wants a word in it.
    fn begin_eagerly(&mut self, id: CallId, said: ToolUse) -> Option<EagerCall> {
        let tool = Arc::clone(self.tools.get(&said.name)?);
        let is_read_only = pipeline::said_or(false, || tool.metadata().read_only);
        if said.invalid.is_some() || !is_read_only || self.is_hooked(&said.name) {
            return None;
        }
        let plan = self.plan(&said.name, &said.input);
        let CallPlan::Ready { facts, input, .. } = &plan else { return None };
        let (facts, input) = (facts.clone(), input.as_ref().unwrap_or(&said.input).clone());
        let has_limit = self.state.settings.limits.calls != 0;
        let must_wait = || {
            pipeline::facts_change(&self.tools, &tool, &input)
                // How many calls those within it would find room for is known once the answer is whole.
                || has_limit && !tool.inner_calls(&input).is_empty()
        };
        if pipeline::said_or(true, must_wait) {
            return None;
        }
        if !only_looks(&facts) || !self.state.would_run(id.index, &said.name, &input, &facts) {
            return None;
        }
        let held = Arc::new(HeldProgress::new(Arc::clone(&self.log), id));
        let progress = Progress::new({
            let held = Arc::clone(&held);
            move |text| held.take(text)
        });
        let cancel = CancellationToken::new();
        // What only looks starts nothing, so the box is no loss.
        let run = Run { name: said.name.clone(), input: input.clone(), confined: true };
        let mut execution = self.execution(id, run, cancel.clone(), progress);
        // Maybe nobody wants it, and then nothing of it may go on.
        execution.context.background = Background::nowhere();
        let (wanted, is_wanted) = oneshot::channel();
        let is_wanted = async move {
            // Nobody wants it: it is about to be aborted.
            if is_wanted.await.is_err() {
                std::future::pending().await
            }
        };
        // It has no effect id until the machine gives it one, so its end means nothing until then.
        let abort =
            self.tasks.spawn(Box::pin(finish_call(id, execution, is_wanted)) as BoxFuture<_>);
        let task = Some(Spawned { cancel, abort });
        Some(EagerCall { id, said, plan, facts, input, held, wanted: Some(wanted), task })
    }

    /// Stops what the machine would not start any more.
    pub(super) fn drop_unwanted_eager_calls(&mut self) {
        let state = &self.state;
        if let Some(stream) = &mut self.stream {
            stream.eager.keep_leading(|call| {
                state.would_run(call.id.index, &call.said.name, &call.input, &call.facts)
            });
        }
        let batch = state.turn.as_ref().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        self.eager.calls.retain(|eager| {
            batch.iter().any(|call| {
                call.id == eager.id
                    && matches!(call.status, CallStatus::Unplanned | CallStatus::Ready { .. })
            })
        });
    }
}

/// Whether a call leaves everything as it is, whoever runs beside it.
fn only_looks(facts: &Facts) -> bool {
    facts.replay_safe
        && !facts.exclusive
        && !facts.terminal
        && facts.accesses.iter().all(|access| matches!(access, Access::Read(_)))
        && facts.resources.iter().all(|resource| !resource.write)
}

impl EagerCalls {
    /// The calls that the whole answer makes in the same words at the same places, up to the first
    /// that differs.
    pub(super) fn confirmed_by(mut self, reply: &Reply) -> Self {
        let mut said = reply.blocks.iter().filter_map(Block::as_tool_use);
        self.keep_leading(|call| said.next() == Some(&call.said));
        self
    }

    /// The plan that was made of exactly this call already.
    pub(super) fn plan_of(&self, id: CallId, name: &str, input: &RawJson) -> Option<CallPlan> {
        let call = self.calls.iter().find(|call| call.id == id)?;
        (call.said.name == name && call.said.input == *input).then(|| call.plan.clone())
    }

    /// The running call that is exactly this one: from here on it is like any other.
    pub(super) fn adopt(&mut self, id: CallId, name: &str, input: &RawJson) -> Option<Spawned> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        let mut call = self.calls.swap_remove(at);
        if call.said.name != name || call.input != *input {
            return None;
        }
        // Nobody listens where it crashed in a defect of ours; it is run again like any other.
        call.wanted.take()?.send(()).ok()?;
        call.held.let_go();
        call.task.take()
    }

    fn keep_leading(&mut self, mut is_kept: impl FnMut(&EagerCall) -> bool) {
        let kept = self.calls.iter().take_while(|call| is_kept(call)).count();
        self.is_over |= kept < self.calls.len();
        self.calls.truncate(kept);
    }
}

impl Drop for EagerCall {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.stop();
        }
    }
}
