//! What effects come to: their last records.

use heeler_core::{
    Block, Compacted, CompactionFailed, Durability, EffectId, InterruptCause, ModelFailed,
    ModelReplied, PermissionDecided, ProviderError, ProviderErrorKind, Record, Reply, Timestamp,
    Usage, WakeCause,
};

use super::{Cargo, Flight, Stop, World};
use crate::matrix::Fault;
use crate::model::{self, Ending};

/// What a call's end is in the journal.
pub(super) fn call_record(id: EffectId, cargo: &Cargo) -> Option<Record> {
    let (EffectId::Run(call), Cargo::Call { output, millis, .. }) = (id, cargo) else {
        return None;
    };
    let output = Box::new(output.clone());
    Some(Record::CallFinished { call, output, millis: *millis, inner_calls: 0 })
}

impl World<'_> {
    /// An effect ends by itself.
    pub(super) fn land(&mut self, id: EffectId) -> Result<(), Stop> {
        if self.wakes(id) == Some(WakeCause::WallTime) {
            self.count(Fault::WallTime);
            return self.interrupt(InterruptCause::WallTime);
        }
        self.count_troubles(id);
        let Some(Flight { cargo, .. }) = self.flights.remove(&id) else { return Ok(()) };
        let record = match &cargo {
            Cargo::Model(ending) => self.model_record(id, ending),
            Cargo::Summary(summary) => Some(self.summary_record(summary)),
            Cargo::Call { .. } => call_record(id, &cargo),
            Cargo::Ask(decision) => decided(id, decision.clone(), "approver"),
            Cargo::Wake(_) => Some(Record::TimePassed),
        };
        self.write(record.into_iter().collect(), Durability::Written)
    }

    fn count_troubles(&mut self, id: EffectId) {
        let fault = match self.flights.get(&id).map(|flight| &flight.cargo) {
            Some(Cargo::Model(Ending::Error { kind, is_cut, .. })) => match kind {
                _ if *is_cut => Fault::ModelCut,
                ProviderErrorKind::ContextOverflow => Fault::ModelOverflow,
                ProviderErrorKind::RefusedReasoning => Fault::ReasoningRefused,
                kind if kind.is_transient() => Fault::ModelTransient,
                _ => Fault::ModelFatal,
            },
            Some(Cargo::Model(Ending::Reply(reply))) if model::is_odd(reply) => Fault::ModelSpoiled,
            Some(Cargo::Summary(Err(failed))) => match failed.kind {
                Some(ProviderErrorKind::RefusedReasoning) => Fault::ReasoningRefused,
                _ => Fault::SummaryFailed,
            },
            Some(Cargo::Call { hangs: true, .. }) => Fault::CallHung,
            Some(Cargo::Call { output, .. }) if output.is_error => Fault::CallFailed,
            _ => return,
        };
        self.count(fault);
    }

    fn model_record(&mut self, id: EffectId, ending: &Ending) -> Option<Record> {
        match ending {
            Ending::Reply(reply) => self.replied(id, reply.clone()),
            Ending::Error { kind, usage, .. } => self.failed(id, *kind, *usage),
        }
    }

    fn replied(&self, id: EffectId, reply: Reply) -> Option<Record> {
        let EffectId::Model(turn, round, attempt) = id else { return None };
        let cost = reply.usage.cost(self.asked_prices.as_ref());
        let replied = ModelReplied { turn, round, attempt, reply, cost };
        Some(Record::ModelReplied(Box::new(replied)))
    }

    fn failed(&mut self, id: EffectId, kind: ProviderErrorKind, usage: Usage) -> Option<Record> {
        let EffectId::Model(turn, round, attempt) = id else { return None };
        let error = ProviderError::new(kind, "it failed");
        let random = u64::from(self.chance.below(u32::MAX)) << 32;
        let wait = self.scene.retry.next_wait(attempt, &error, random);
        Some(Record::ModelFailed(Box::new(ModelFailed {
            turn,
            round,
            attempt,
            kind,
            message: error.message,
            retry_at: wait.map(|millis| Timestamp(self.now).plus(millis)),
            usage,
            cost: usage.cost(self.asked_prices.as_ref()),
        })))
    }

    fn summary_record(&self, summary: &Result<Reply, CompactionFailed>) -> Record {
        match summary {
            Err(failed) => Record::CompactionFailed(Box::new(failed.clone())),
            Ok(reply) => self.state.judge_summary(Compacted {
                summary: reply.blocks.iter().filter_map(Block::as_text).collect(),
                usage: reply.usage,
                cost: reply.usage.cost(self.state.settings.model.prices.as_ref()),
                kept: None,
            }),
        }
    }

    /// Stops the running turn: keeps what was streamed, lets running calls give what they have
    /// within a moment.
    pub(super) fn interrupt(&mut self, cause: InterruptCause) -> Result<(), Stop> {
        if self.state.turn.is_none() && self.state.compaction.is_none() {
            return Ok(());
        }
        self.is_active = true;
        let mut records = Vec::new();
        let model = self.flights.keys().find(|id| matches!(id, EffectId::Model(..))).copied();
        if let Some(id) = model
            && let Some(Flight { cargo: Cargo::Model(ending), .. }) = self.flights.remove(&id)
            && let Some(reply) = model::interrupted(&ending, self.chance)
        {
            records.extend(self.replied(id, reply));
        }
        records.extend(self.last_words());
        records.push(Record::Interrupted { cause });
        self.write(records, Durability::Written)
    }

    /// Some running calls still give what they have.
    fn last_words(&mut self) -> Vec<Record> {
        let running: Vec<EffectId> =
            self.flights.keys().filter(|id| matches!(id, EffectId::Run(_))).copied().collect();
        let mut records = Vec::new();
        for id in running {
            if !self.chance.percent(40) {
                continue;
            }
            let Some(flight) = self.flights.remove(&id) else { continue };
            records.extend(call_record(id, &flight.cargo));
        }
        records
    }
}

/// An answer to the request an effect asked.
pub(super) fn decided(
    id: EffectId,
    decision: Option<heeler_core::Decision>,
    by: &str,
) -> Option<Record> {
    let EffectId::Ask(id) = id else { return None };
    let decision = decision.unwrap_or(heeler_core::Decision::Deny { reason: None });
    Some(Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by: by.into() })))
}
