//! Asks about a call: hooks, then approvers, against time; and reads what is decided.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt as _};
use heeler_core::{
    Approver, BoxFuture, CallPlan, CancellationToken, Decision, EffectId, HookAnswered, HookEvent,
    HookMoment, HookOutcome, HookVerdict, HookedCall, OpenPermission, Outcome, PermissionDecided,
    PermissionId, PermissionReason, RawJson, Record, panic_text,
};
use heeler_secrets::MARKER;
use heeler_turn::state;

use super::Driver;
use crate::hooks::answered;
use crate::{Toolset, pipeline};

/// How often one approver may answer a request with a decision that cannot be used.
const OBJECTIONS_MAX: u32 = 3;
/// What the model is told of a request that nobody decided.
const UNANSWERED: &str = "nobody answered the permission request";

impl Driver {
    /// Asks the approvers, if there are any; a decision by id makes this effect disappear.
    pub(super) fn ask(&mut self, id: EffectId, open: OpenPermission) {
        let request = open.id;
        // Plan mode is a person's to leave.
        let is_about_plan = matches!(open.reason, PermissionReason::LeavePlan { .. });
        let asker = self.asker_for(HookEvent::PermissionRequest, &open.tool);
        let asker = asker.filter(|_| !is_about_plan);
        let call = HookedCall {
            id: request.call,
            tool: open.tool.clone(),
            input: open.input.clone(),
            accesses: self.accesses(request.call),
        };
        let moment = HookMoment::PermissionRequest { call, reason: open.reason.clone() };
        let answer: BoxFuture<Answer> = match self.parts.approvers.as_slice() {
            // Whether anybody can answer is the policy's to say. They may look at any time, and need not
            // watch until then.
            [] => Box::pin(std::future::pending()),
            approvers => Box::pin(first_answer(approvers.to_vec(), open, self.reading())),
        };
        let expiry = self.expiry();
        self.spawn(id, CancellationToken::new(), async move {
            if let Some(asker) = asker
                && let Some(record) = decided_by_hook(request, &asker.ask(moment).await)
            {
                return Outcome { effect: id, records: vec![record] };
            }
            let answer = tokio::select! {
                biased;
                answer = answer => answer,
                expired = expiry => expired,
            };
            Outcome { effect: id, records: vec![decided(request, answer)] }
        });
    }

    /// The answer of time itself.
    fn expiry(&self) -> impl Future<Output = Answer> + Send + use<> {
        let millis = self.parts.permission_expiry_millis;
        let clock = Arc::clone(&self.parts.clock);
        async move {
            if millis == 0 {
                return std::future::pending().await;
            }
            clock.sleep_until(clock.now().plus(millis)).await;
            let reason = Some("the permission request expired before anybody answered it".into());
            (Ok(Decision::Deny { reason }), "expiry".into())
        }
    }

    /// What decisions about the running calls are read with.
    pub(super) fn reading(&self) -> Reading {
        Reading { tools: self.tools.clone(), workspace: self.workspace.clone() }
    }
}

/// Reads decisions before they are written, so that one that cannot be used is told to whoever gave
/// it and costs nothing.
#[derive(Clone)]
pub(super) struct Reading {
    tools: Toolset,
    workspace: String,
}

impl Reading {
    /// The decision as it is written.
    ///
    /// # Errors
    /// Why the request cannot be answered with it.
    pub(super) fn decision(
        &self,
        open: &OpenPermission,
        decision: Decision,
    ) -> Result<Decision, String> {
        if let Some(objection) = state::objection(open, &decision) {
            return Err(objection);
        }
        let Decision::Edited { input } = decision else { return Ok(decision) };
        if has_marker(&input) && !has_marker(&open.input) {
            return Err(format!(
                "the input holds `{MARKER}...]`, which stands for a secret that was taken out; give \
                 the call another input, or deny it"
            ));
        }
        match pipeline::plan(&self.tools, &self.workspace, &open.tool, &input) {
            CallPlan::Invalid { error } => Err(error),
            CallPlan::Ready { input: changed, .. } => {
                // Put right here, so that whatever planning finds changed was changed by hooks.
                let input = changed.unwrap_or(input);
                Ok(if input == open.input { Decision::Once } else { Decision::Edited { input } })
            }
        }
    }
}

/// Whether a text of the input was redacted when whoever wrote it saw it.
fn has_marker(input: &RawJson) -> bool {
    // Read first: a bracket may be written as an escape.
    input.value().to_string().contains(MARKER)
}

/// A decision, and who made it; or why there is none, for the model, and of whom.
type Answer = (Result<Decision, String>, String);

/// The first decision of several; when none gives one, the last of them counts as having denied.
async fn first_answer(
    approvers: Vec<Arc<dyn Approver>>,
    open: OpenPermission,
    reading: Reading,
) -> Answer {
    let mut asked: FuturesUnordered<_> = approvers
        .into_iter()
        .map(|approver| answer_of(approver, open.clone(), reading.clone()))
        .collect();
    let mut last = (Err(UNANSWERED.to_owned()), "nobody".to_owned());
    while let Some(answer) = asked.next().await {
        if answer.0.is_ok() {
            return answer;
        }
        last = answer;
    }
    last
}

/// What one approver decides. What cannot be used is given back to it.
async fn answer_of(
    approver: Arc<dyn Approver>,
    mut open: OpenPermission,
    reading: Reading,
) -> Answer {
    let name = approver.name().to_owned();
    for _ in 0..=OBJECTIONS_MAX {
        let decide = async { approver.decide(open.clone()).await };
        let decision = match AssertUnwindSafe(decide).catch_unwind().await {
            Ok(Some(decision)) => decision,
            Ok(None) => break,
            Err(panic) => {
                // What it said is no model's to read.
                let panic = panic_text(panic.as_ref());
                tracing::error!(approver = name, panic, "an approver panicked");
                let why = format!("{UNANSWERED}, since the approver `{name}` crashed");
                return (Err(why), name);
            }
        };
        match reading.decision(&open, decision) {
            Ok(decision) => return (Ok(decision), name),
            Err(objection) => open.objection = Some(objection),
        }
    }
    (Err(UNANSWERED.to_owned()), name)
}

/// A request that its effect crashed over.
pub(super) fn undecided(id: PermissionId) -> Record {
    decided(id, (Err(UNANSWERED.to_owned()), "nobody".to_owned()))
}

fn decided(id: PermissionId, (answer, by): Answer) -> Record {
    let decision = answer.unwrap_or_else(|why| Decision::Deny { reason: Some(why) });
    Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by }))
}

/// What hooks decided about a request; nothing when they leave it to others.
fn decided_by_hook(id: PermissionId, outcome: &HookOutcome) -> Option<Record> {
    if matches!(outcome.verdict, HookVerdict::Continue | HookVerdict::Ask { .. }) {
        return None;
    }
    let answered = answered(HookEvent::PermissionRequest, outcome)?;
    Some(Record::HookAnswered(Box::new(HookAnswered { call: Some(id.call), ..answered })))
}
