//! Starting effects: their first records in one append, then what they do.

use heeler_core::{
    AcceptedAnswer, CallPlanned, CompactionCause, CompactionFailed, CompactionStarted, Durability,
    Effect, EffectId, EffectKind, EpochCause, EpochStarted, Event, FactsChanged, ModelAccepted,
    ModelRequest, ModelStarted, PermissionAsked, ProviderErrorKind, Record, Reply, Reserve, Usage,
    WakeCause,
};
use heeler_turn::limits;
use heeler_turn::state::Phase;

use super::{Cargo, Flight, Stop, World};
use crate::matrix::Fault;
use crate::{model, people, tools};

impl World<'_> {
    /// Writes what starting these effects means, in one append, and acts.
    pub(super) fn start(&mut self, effects: Vec<Effect>) -> Result<(), Stop> {
        // What is reserved counts the prefix in force, so a new one comes first, by itself.
        let asks = |effect: &Effect| matches!(effect.kind, EffectKind::CallModel { .. });
        if effects.iter().any(asks)
            && self.state.resumes().is_none()
            && let Some(cause) = self.changed_prefix()
        {
            let epoch = self.epoch(cause);
            return self.write(vec![epoch], Durability::Written);
        }
        let changed = self.changed_facts(&effects);
        if !changed.is_empty() {
            return self.write(changed, Durability::Written);
        }
        let mut records = Vec::new();
        let mut durability = Durability::Written;
        for effect in &effects {
            records.extend(self.first_records(&effect.kind));
            durability = durability.max(durability_of(&effect.kind));
        }
        self.write(records, durability)?;
        for effect in effects {
            self.perform(effect)?;
        }
        Ok(())
    }

    /// Calls that do not touch any more what they were judged by, though they are about to start.
    fn changed_facts(&mut self, effects: &[Effect]) -> Vec<Record> {
        let mut changed = Vec::new();
        for effect in effects {
            let EffectKind::RunCall { call, name, input, .. } = &effect.kind else { continue };
            if !tools::facts_change(name) || !self.chance.percent(12) {
                continue;
            }
            let changes = self.chance.pick(&[1, 2, 3]);
            let Some(facts) = tools::facts_after(name, input, changes) else { continue };
            let change = FactsChanged { call: *call, facts, ends_allowance: true };
            changed.push(Record::FactsChanged(Box::new(change)));
            self.count(Fault::FactsChanged);
        }
        changed
    }

    fn first_records(&mut self, kind: &EffectKind) -> Vec<Record> {
        match kind {
            EffectKind::StartEpoch { cause } => vec![self.epoch(*cause)],
            EffectKind::CallModel { turn, round, attempt, reserve } => {
                let started = ModelStarted {
                    turn: *turn,
                    round: *round,
                    attempt: *attempt,
                    epoch: self.state.epoch.as_ref().map_or(0, |epoch| epoch.number),
                    up_to: self.state.seq,
                    reserve: *reserve,
                };
                self.asked_prices = self.state.settings.model.prices;
                vec![Record::ModelStarted(started)]
            }
            EffectKind::PlanCall { call, answered_before, name, input } => {
                let plan = tools::plan(name, input, self.chance);
                let (call, answered_before) = (*call, *answered_before);
                vec![Record::CallPlanned(Box::new(CallPlanned { call, answered_before, plan }))]
            }
            EffectKind::AskPermission { id, reason, asked: false, .. } => {
                vec![Record::PermissionAsked(Box::new(PermissionAsked {
                    id: *id,
                    reason: reason.clone(),
                }))]
            }
            EffectKind::RunCall { call, .. } => vec![Record::CallStarted { call: *call }],
            EffectKind::Compact { cut, cause, focus, started: false } => {
                let (cut, cause, focus) = (*cut, *cause, focus.clone());
                vec![Record::CompactionStarted(CompactionStarted { cut, cause, focus })]
            }
            EffectKind::Trim(trimmed) => vec![Record::Trimmed(*trimmed)],
            EffectKind::Prune(pruned) => vec![Record::Pruned(*pruned)],
            EffectKind::FinishTurn { turn, outcome } => {
                vec![Record::TurnFinished { turn: *turn, outcome: outcome.clone() }]
            }
            EffectKind::AskPermission { .. }
            | EffectKind::Compact { .. }
            | EffectKind::Wake { .. } => Vec::new(),
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<(), Stop> {
        let Effect { id, kind } = effect;
        let (lands_at, cargo) = match kind {
            EffectKind::CallModel { reserve, .. } => {
                if let Some(answer) = self.state.resumes().cloned() {
                    self.checker.reads_again(&answer)?;
                    self.count(Fault::Reread);
                    let ending = self.kept_answer(&answer.id);
                    self.show_some_text(&ending)?;
                    let lands_at = Some(self.now + self.chance.pick(&[5, 50, 20_000]));
                    self.flights.insert(id, Flight { lands_at, cargo: Cargo::Model(ending) });
                    return Ok(());
                }
                let request = self.state.request(reserve.output);
                let request = self.checker.requested(request.as_ref(), reserve)?;
                let reserve = Reserve { input: self.state.estimate_uncalibrated(), ..reserve };
                let temper = self.scene.temper;
                let (ending, millis) =
                    model::answer(temper, &mut self.memory, (request, reserve), self.chance);
                self.show_some_text(&ending)?;
                if let model::Ending::Reply(reply) = &ending
                    && self.chance.percent(self.scene.keeps)
                {
                    let reply = reply.clone();
                    return self.accept(id, reply, millis);
                }
                (Some(self.now + millis), Cargo::Model(ending))
            }
            EffectKind::Compact { cut, focus, .. } => {
                let cut = usize::try_from(cut).unwrap_or(usize::MAX);
                let output = limits::summary_output_max(&self.state.settings);
                let request = match self.state.summary_request(cut, focus.as_deref(), output) {
                    Ok(request) => request,
                    Err(error) => {
                        let cargo = Cargo::Summary(Err(CompactionFailed::because(error)));
                        self.flights.insert(id, Flight::at(self.now, cargo));
                        return Ok(());
                    }
                };
                self.checker.requested_summary(&request)?;
                let input = self.scene.temper.counted(self.state.estimate_uncalibrated());
                let summary = self.summary(&request, Reserve { input, output });
                (Some(self.now + 500), Cargo::Summary(summary))
            }
            EffectKind::RunCall { call, name, input, .. } => {
                self.checker.executes(call, &name, &input)?;
                let (output, millis) =
                    tools::end(&name, &call.to_string(), self.scene.results, self.chance);
                let hangs = millis > 100_000;
                (Some(self.now + millis), Cargo::Call { output, millis, hangs })
            }
            EffectKind::AskPermission { .. } => {
                let answers = self.scene.has_approver && !self.chance.percent(20);
                let decision = people::decision(self.chance);
                (answers.then_some(self.now + 40), Cargo::Ask(Some(decision)))
            }
            EffectKind::Wake { at, cause } => (Some(at.millis()), Cargo::Wake(cause)),
            // Their records are all there is to them.
            EffectKind::StartEpoch { .. }
            | EffectKind::PlanCall { .. }
            | EffectKind::Trim(_)
            | EffectKind::Prune(_)
            | EffectKind::FinishTurn { .. } => return Ok(()),
        };
        self.flights.insert(id, Flight { lands_at, cargo });
        Ok(())
    }

    /// The provider says that it keeps the answer, whatever becomes of the connection.
    fn accept(&mut self, id: EffectId, reply: Reply, millis: u64) -> Result<(), Stop> {
        let EffectId::Model(turn, round, attempt) = id else { return Ok(()) };
        let answer = AcceptedAnswer { dialect: "d".into(), id: self.kept.len().to_string() };
        self.kept.push(reply);
        let ending = self.kept_answer(&answer.id);
        let lands_at = Some(self.now + millis);
        self.flights.insert(id, Flight { lands_at, cargo: Cargo::Model(ending) });
        let accepted = ModelAccepted { turn, round, attempt, answer };
        self.write(vec![Record::ModelAccepted(Box::new(accepted))], Durability::Written)
    }

    /// What comes of reading a kept answer: the connection may break, and it may be gone.
    fn kept_answer(&mut self, id: &str) -> model::Ending {
        use ProviderErrorKind::{Format, Network, Server};
        let kept = id.parse().ok().and_then(|at: usize| self.kept.get(at));
        let Some(reply) = kept.filter(|_| !self.chance.percent(30)) else {
            let kind = self.chance.pick(&[Network, Format, Server]);
            return model::Ending::Error { kind, usage: Usage::default(), is_cut: kind == Format };
        };
        model::Ending::Reply(reply.clone())
    }

    /// Deltas are shown as they come; they are no records.
    fn show_some_text(&mut self, ending: &model::Ending) -> Result<(), Stop> {
        if matches!(ending, model::Ending::Error { is_cut: false, .. }) {
            return Ok(());
        }
        let text = "I s".to_owned();
        self.checker.shown(&Event::TextDelta { block: 0, offset: 0, text });
        Ok(())
    }

    fn summary(
        &mut self,
        request: &ModelRequest,
        reserve: Reserve,
    ) -> Result<Reply, CompactionFailed> {
        if model::refuses(self.scene.temper, request, self.chance) {
            let failed = CompactionFailed::because("the reasoning is of another account");
            return Err(CompactionFailed {
                kind: Some(ProviderErrorKind::RefusedReasoning),
                ..failed
            });
        }
        if self.chance.percent(20) {
            use ProviderErrorKind::{Network, Server};
            let kind = self.chance.pick(&[None, Some(Network), Some(Server)]);
            let failed = CompactionFailed::because("the provider is down");
            return Err(CompactionFailed { kind, ..failed });
        }
        // Some models never come to an end.
        let text = "What was said. ".repeat(self.chance.pick(&[1, 1, 1, 20, 80]));
        let usage: Usage = model::usage(reserve, self.chance);
        Ok(Reply {
            blocks: vec![heeler_core::Block::text(text)],
            stop: heeler_core::StopReason::EndTurn,
            usage,
            provider_id: None,
        })
    }

    fn epoch(&self, cause: EpochCause) -> Record {
        let number = self.state.epoch.as_ref().map_or(0, |epoch| epoch.number);
        Record::EpochStarted(Box::new(EpochStarted {
            epoch: number + 1,
            cause,
            system: self.system(),
            tools: tools::definitions(self.tools_version),
            provider_tools: Vec::new(),
            model: self.state.settings.model.name.clone(),
            system_hash: self.system(),
            tools_hash: self.tools_version.to_string(),
        }))
    }

    fn system(&self) -> String {
        let version = self.system_version;
        let more = " It is longer now.".repeat(version as usize);
        format!("You are simulated, version {version}.{more}")
    }

    fn changed_prefix(&self) -> Option<EpochCause> {
        let epoch = self.state.epoch.as_ref()?;
        if *epoch.system != *self.system() {
            return Some(EpochCause::SystemPrompt);
        }
        (epoch.tools_hash != self.tools_version.to_string()).then_some(EpochCause::Tools)
    }

    /// Begins the turn that waits first, once none runs.
    pub(super) fn begin_queued_turn(&mut self) -> Result<(), Stop> {
        while self.state.turn.is_none() {
            let Some(input) = self.queue.pop_front() else { break };
            self.write(vec![Record::Input(Box::new(input))], Durability::Written)?;
        }
        Ok(())
    }

    /// Whether no model call, batch or compaction is in the way of what changes the conversation.
    fn may_change_history(&self) -> bool {
        let is_free = match &self.state.turn {
            None => true,
            Some(turn) => matches!(turn.phase, Phase::Model { started: false, .. }),
        };
        is_free && self.state.compaction.is_none()
    }

    /// Puts back what the last compaction replaced, if somebody wants that and it fits.
    pub(super) fn undo_compaction_if_wanted(&mut self) -> Result<(), Stop> {
        if !self.undo_wanted || !self.may_change_history() {
            return Ok(());
        }
        self.undo_wanted = false;
        let records: Vec<Record> = self.state.undo_compaction().into_iter().collect();
        self.checker.undoes(!records.is_empty())?;
        self.write(records, Durability::Written)
    }

    /// Begins the compaction that somebody waits for, once nothing is in its way.
    pub(super) fn begin_wanted_compaction(&mut self) -> Result<(), Stop> {
        if !self.compaction_wanted || !self.may_change_history() {
            return Ok(());
        }
        self.compaction_wanted = false;
        let focus: Option<Box<str>> = self.chance.percent(30).then(|| "the last error".into());
        let Some(cut) = self.state.compaction_cut(focus.as_deref()) else {
            return Ok(());
        };
        let (cut, cause) = (cut as u64, CompactionCause::Manual);
        let started = CompactionStarted { cut, cause, focus };
        self.write(vec![Record::CompactionStarted(started)], Durability::Written)
    }

    /// Counts a fault that comes from an effect's own work.
    pub(super) fn count(&mut self, fault: Fault) {
        self.matrix.hit(fault, &self.state.pending());
    }

    pub(super) fn wakes(&self, id: EffectId) -> Option<WakeCause> {
        match self.flights.get(&id)?.cargo {
            Cargo::Wake(cause) => Some(cause),
            _ => None,
        }
    }
}

fn durability_of(kind: &EffectKind) -> Durability {
    match kind {
        EffectKind::RunCall { replay_safe: false, .. } | EffectKind::FinishTurn { .. } => {
            Durability::Synced
        }
        _ => Durability::Written,
    }
}
