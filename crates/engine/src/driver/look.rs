//! Plans calls, and lets a tool look into a call before somebody is asked about it: what it would
//! refuse is answered with its own words, and nobody is asked.
//!
//! The machine says which calls these are. What the tool finds is part of the call's plan, so its
//! record says it; the tool looks again when the call runs.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use heeler_core::{
    BoxFuture, CallId, CallPlan, CallPlanned, CancellationToken, Clock, Effect, EffectId,
    EffectKind, Outcome, RawJson, Record, Spill, ToolContext, ToolError, ToolOutput, panic_text,
};
use heeler_secrets::Secrets;

use super::Driver;
use crate::{Toolset, pipeline};

/// How long a tool may look; then somebody is asked.
const LOOK_MILLIS: u64 = 1_000;

/// Effects with the plans of the calls among them.
#[derive(Default)]
pub(super) struct Planned {
    /// The effects, but for those in `looking`.
    pub(super) effects: Vec<Effect>,
    /// The plans, of all calls.
    pub(super) plans: BTreeMap<CallId, CallPlan>,
    /// Calls whose tools still look into them.
    pub(super) looking: Vec<(EffectId, BoxFuture<Outcome>)>,
}

/// Lets tools look into calls as everything stood when it was made.
pub(super) struct Looker {
    tools: Toolset,
    secrets: Arc<Secrets>,
    spill: Option<Arc<dyn Spill>>,
    chars_max: usize,
    context: ToolContext,
}

impl Driver {
    /// Plans the calls among these effects, in order, and begins to look into what somebody would be
    /// asked about.
    pub(super) fn plan_calls(&mut self, effects: Vec<Effect>) -> Planned {
        let mut planned = Planned::default();
        if !effects.iter().any(|effect| matches!(effect.kind, EffectKind::PlanCall { .. })) {
            return Planned { effects, ..planned };
        }
        for effect in effects {
            let EffectKind::PlanCall { call, answered_before, name, input } = &effect.kind else {
                planned.effects.push(effect);
                continue;
            };
            let (id, call, answered_before) = (effect.id, *call, *answered_before);
            let known = self.eager.plan_of(call, name, input);
            let mut plan = known.unwrap_or_else(|| self.plan(name, input));
            self.just_planned.push(call);
            if self.state.is_looked_into(call, &plan, &planned.plans) {
                let looker = self.looker(call);
                let mut looked = looker.look(name.clone(), input.clone(), plan.clone());
                // Most tools have nothing to look into.
                match (&mut looked).now_or_never() {
                    Some(looked) => plan = looked,
                    None => {
                        planned.plans.insert(call, plan);
                        let outcome =
                            looked.map(move |plan| outcome(id, call, answered_before, plan));
                        planned.looking.push((id, Box::pin(outcome)));
                        continue;
                    }
                }
            }
            planned.plans.insert(call, plan);
            planned.effects.push(effect);
        }
        planned
    }

    /// Waits for what tools find in calls.
    pub(super) fn go_on_looking(&mut self, looking: Vec<(EffectId, BoxFuture<Outcome>)>) {
        for (id, looked) in looking {
            self.spawn(id, CancellationToken::new(), looked);
        }
    }

    /// What lets tools look into a call.
    pub(super) fn looker(&self, call: CallId) -> Looker {
        Looker {
            tools: self.tools.clone(),
            secrets: Arc::clone(&self.parts.secrets),
            spill: self.parts.spill.clone(),
            chars_max: self.parts.result_chars_max,
            context: self.looking_context(call),
        }
    }

    /// The context of a call that does nothing: it says who calls and what may be reached.
    pub(super) fn looking_context(&self, call: CallId) -> ToolContext {
        let workspace = self.workspace.clone();
        let clock = Arc::clone(&self.parts.clock);
        let origin = self.state.turn.as_ref().map(|turn| turn.origin.clone());
        ToolContext {
            call,
            round: self.state.round(),
            origin: origin.unwrap_or_default(),
            // It starts nothing, so the box is no loss.
            confined: true,
            reach: Arc::clone(&self.parts.reach),
            state: self.state.values(),
            ..ToolContext::new(self.lease.id.clone(), workspace, clock)
        }
    }
}

impl Looker {
    /// The plan of a call after its tool looked into it.
    pub(super) fn look(self, name: String, said: RawJson, plan: CallPlan) -> BoxFuture<CallPlan> {
        let tool = self.tools.get(&name).cloned();
        let (CallPlan::Ready { input, notes, .. }, Some(tool)) = (&plan, tool) else {
            return Box::pin(std::future::ready(plan));
        };
        let (input, notes) = (input.clone().unwrap_or(said), notes.clone());
        let Self { secrets, spill, chars_max, context, .. } = self;
        let (session, call) = (context.session.clone(), context.call);
        let clock = Arc::clone(&context.clock);
        Box::pin(async move {
            // It may panic before it gives a future, so that happens inside one.
            let look = async move { tool.check(context, input).await };
            let Some(text) = refusal(&name, &clock, AssertUnwindSafe(look)).await else {
                return plan;
            };
            let mut output = ToolOutput::error(text);
            pipeline::bound_late(
                &mut output,
                &secrets,
                chars_max,
                spill.as_deref(),
                &session,
                call,
            );
            let texts = std::iter::once(output.text_content()).chain(notes);
            CallPlan::Invalid { error: texts.collect::<Vec<_>>().join("\n") }
        })
    }
}

/// Why a tool refuses a call, if it does within a moment. Whatever else comes of it, somebody is
/// asked.
async fn refusal(
    name: &str,
    clock: &Arc<dyn Clock>,
    look: AssertUnwindSafe<impl Future<Output = Result<(), ToolError>>>,
) -> Option<String> {
    let why = tokio::select! {
        biased;
        looked = look.catch_unwind() => match looked {
            Ok(Ok(())) => return None,
            Ok(Err(ToolError::ForModel(text))) => return Some(text),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => format!("it crashed: {}", panic_text(panic.as_ref())),
        },
        () = clock.sleep_until(clock.now().plus(LOOK_MILLIS)) => "it takes too long".to_owned(),
    };
    tracing::warn!(tool = name, why, "a call could not be looked into before asking");
    None
}

fn outcome(id: EffectId, call: CallId, answered_before: u32, plan: CallPlan) -> Outcome {
    let planned = CallPlanned { call, answered_before, plan };
    Outcome { effect: id, records: vec![Record::CallPlanned(Box::new(planned))] }
}
