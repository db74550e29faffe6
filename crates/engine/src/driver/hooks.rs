//! Effects that wait for hooks: planning a call, and the end of a turn.
//!
//! Without a hook that matches, both are nothing but their record. With one, they are performed by
//! a task, whose records say what the hooks said.

use std::collections::BTreeMap;

use heeler_core::{
    BoxFuture, CallId, CallPlan, CallPlanned, CancellationToken, Effect, EffectId, EffectKind,
    HookEvent, HookMoment, HookOutcome, HookVerdict, HookedCall, InterruptCause, Outcome, RawJson,
    Record, TurnOutcome, truncate_chars,
};
use heeler_turn::limits::ENDS_REFUSED_MAX;
use heeler_turn::words::{INPUT_SHOWN_CHARS_MAX, stopped_by_hook};

use super::{Command, Driver};
use crate::hooks::{Asker, answered};
use crate::{Toolset, pipeline};

/// How long hooks may take when a session is closed, whatever limit they have.
const SESSION_END_MILLIS_MAX: u64 = 5_000;

impl Driver {
    /// Whom to ask at moments of this session, when there are hooks at all.
    pub(super) fn asker(&self) -> Option<Asker> {
        Some(Asker {
            hooks: self.parts.hooks.clone()?,
            session: self.lease.id.clone(),
            workspace: self.workspace.clone().into(),
            mode: self.state.settings.policy.mode,
            clock: self.parts.clock.clone(),
            log: self.log.clone(),
            secrets: self.parts.secrets.clone(),
        })
    }

    /// As [`Self::asker`], when a hook matches.
    pub(super) fn asker_for(&self, event: HookEvent, subject: &str) -> Option<Asker> {
        self.asker().filter(|asker| asker.matches(event, subject))
    }

    /// Whether hooks want a word in a call of this tool, before it or after.
    pub(super) fn is_hooked(&self, tool: &str) -> bool {
        self.asker().is_some_and(|asker| asker.hears(tool))
    }

    /// Whether an effect that is otherwise nothing but a record waits for hooks.
    pub(super) fn waits_for_hooks(&self, kind: &EffectKind) -> bool {
        match kind {
            EffectKind::PlanCall { name, input, .. } => {
                // What cannot run is nothing to ask about.
                self.asker_for(HookEvent::PreToolUse, name).is_some()
                    && matches!(self.plan(name, input), CallPlan::Ready { .. })
            }
            EffectKind::FinishTurn { outcome: TurnOutcome::Done, .. } => {
                let refused = self.state.turn.as_ref().map_or(0, |turn| turn.ends_refused);
                refused < ENDS_REFUSED_MAX && self.asker_for(HookEvent::Stop, "").is_some()
            }
            _ => false,
        }
    }

    /// What looking a call up finds.
    pub(super) fn plan(&self, name: &str, input: &RawJson) -> CallPlan {
        pipeline::plan(&self.tools, &self.workspace, name, input)
    }

    /// Performs an effect that waits for hooks.
    pub(super) fn act_with_hooks(&mut self, effect: Effect) {
        let Some(asker) = self.asker() else { return };
        let Effect { id, kind } = effect;
        match kind {
            EffectKind::PlanCall { call, answered_before, name, input } => {
                let (tools, workspace) = (self.tools.clone(), self.workspace.clone());
                let (state, looker) = (self.state.clone(), self.looker(call));
                self.spawn(id, CancellationToken::new(), async move {
                    let planning = Planning { tools, workspace, name };
                    let mut plan = planning.ask(&asker, call, &input).await;
                    if state.is_looked_into(call, &plan, &BTreeMap::new()) {
                        plan = looker.look(planning.name, input, plan).await;
                    }
                    let planned = CallPlanned { call, answered_before, plan };
                    let record = Record::CallPlanned(Box::new(planned));
                    Outcome { effect: id, records: vec![record] }
                });
            }
            EffectKind::FinishTurn { turn, outcome } => self.ask_for_end(id, asker, turn, outcome),
            _ => {}
        }
    }

    /// Tells hooks that the session is being closed. Nobody waits for long for that.
    pub(super) async fn tell_hooks_of_the_end(&mut self) {
        let moment = HookMoment::SessionEnd;
        let Some(asker) = self.asker_for(HookEvent::SessionEnd, moment.subject()) else { return };
        let clock = &self.parts.clock;
        let mut over = clock.sleep_until(clock.now().plus(SESSION_END_MILLIS_MAX));
        let mut told = std::pin::pin!(asker.ask(moment));
        let mut late = Vec::new();
        loop {
            tokio::select! {
                biased;
                _ = &mut told => break,
                () = &mut over => {
                    asker.tell(stopped_at_the_end());
                    break;
                }
                // Who asks whether somebody has the session open is answered: its lease is not
                // given back yet. All else comes too late, and is told so when it is.
                Some(command) = self.commands.recv() => match *command {
                    Command::State { .. } | Command::Watch { .. } => {
                        let _ = self.obey(*command).await;
                    }
                    _ => late.push(command),
                },
            }
        }
    }

    fn ask_for_end(&mut self, id: EffectId, asker: Asker, turn: u32, end: TurnOutcome) {
        let again = self.state.turn.as_ref().is_some_and(|turn| turn.ends_refused > 0);
        let answer = self.state.final_answer().as_str().to_owned();
        let moment = HookMoment::Stop { turn, again, answer };
        let is_late = self.wall_time_over();
        self.spawn(id, CancellationToken::new(), async move {
            let outcome = tokio::select! {
                biased;
                outcome = asker.ask(moment) => outcome,
                () = is_late => {
                    let record = Record::Interrupted { cause: InterruptCause::WallTime };
                    return Outcome { effect: id, records: vec![record] };
                }
            };
            if let HookVerdict::Stop { by, reason } = &outcome.verdict {
                asker.tell(stopped_by_hook(by, reason));
            }
            let goes_on = matches!(outcome.verdict, HookVerdict::Deny { .. });
            let mut records: Vec<Record> = answered(HookEvent::Stop, &outcome)
                .map(|answered| Record::HookAnswered(Box::new(answered)))
                .into_iter()
                .collect();
            if !goes_on {
                records.push(Record::TurnFinished { turn, outcome: end });
            }
            Outcome { effect: id, records }
        });
    }
}

impl Driver {
    /// The end of the turn's wall time, which no hook prolongs; never, where it has none.
    fn wall_time_over(&self) -> BoxFuture<()> {
        match self.state.wall_time_ends() {
            Some(at) => self.parts.clock.sleep_until(at),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// What is told of hooks that would hold up the end.
fn stopped_at_the_end() -> String {
    let seconds = SESSION_END_MILLIS_MAX / 1000;
    format!(
        "the SessionEnd hooks were stopped after {seconds} s; a session waits no longer at its end"
    )
}

/// What a call is looked up in.
struct Planning {
    tools: Toolset,
    workspace: String,
    name: String,
}

impl Planning {
    /// Plans a call, tells hooks of it, and plans it again with what they made of its input.
    async fn ask(&self, asker: &Asker, id: CallId, said: &RawJson) -> CallPlan {
        let plan = pipeline::plan(&self.tools, &self.workspace, &self.name, said);
        let CallPlan::Ready { mut facts, mut input, mut notes, .. } = plan else { return plan };
        let used = input.as_ref().unwrap_or(said).clone();
        let accesses = facts.accesses.clone();
        let call = HookedCall { id, tool: self.name.clone(), input: used.clone(), accesses };
        let HookOutcome { verdict, input: edited, context, .. } =
            asker.ask(HookMoment::PreToolUse(call)).await;
        if let Some(edited) = edited.filter(|edited| *edited != used && !blocks(&verdict)) {
            match pipeline::plan(&self.tools, &self.workspace, &self.name, &edited) {
                CallPlan::Invalid { error } => {
                    let error = asker.secrets.redact(&error);
                    let error = format!("a hook changed the input of this call: {error}");
                    return CallPlan::Invalid { error };
                }
                CallPlan::Ready { facts: now, input: changed, notes: more, .. } => {
                    let edited = changed.unwrap_or(edited);
                    // Before it is cut, or half a secret would not be known as one.
                    let shown = asker.secrets.redact(edited.get());
                    let shown = truncate_chars(&shown, INPUT_SHOWN_CHARS_MAX).into_owned();
                    notes.extend(more.iter().map(|note| asker.secrets.redact(note).into_owned()));
                    notes.push(format!("Note: a hook changed the input of this call to {shown}"));
                    (facts, input) = (now, Some(edited));
                }
            }
        }
        notes.extend(context);
        let hook = (verdict != HookVerdict::Continue).then(|| Box::new(verdict));
        CallPlan::Ready { facts, input, notes, hook }
    }
}

/// Whether a call does not run after this.
fn blocks(verdict: &HookVerdict) -> bool {
    match verdict {
        HookVerdict::Continue | HookVerdict::Allow { .. } | HookVerdict::Ask { .. } => false,
        HookVerdict::Broken { .. } | HookVerdict::Deny { .. } | HookVerdict::Stop { .. } => true,
    }
}
