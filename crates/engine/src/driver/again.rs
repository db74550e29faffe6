//! Looks calls up once more right before they start, where what they touch may have changed since they
//! were judged: another call ran, somebody took their time to answer, or something runs in the background.
//!
//! It only looks. What differs becomes a record, and the machine judges the call again.

use heeler_core::{CallId, Effect, EffectId, EffectKind, FactsChanged, Record};

use super::Driver;
use crate::bugs::{Bug, is_on};
use crate::pipeline;

impl Driver {
    /// Says in records which calls do not touch any more what they were judged by. Then no call starts:
    /// what changed may be in the way of the others, and all are due again once it is known.
    pub(super) fn look_again(&self, effects: &mut Vec<Effect>) -> Vec<Record> {
        let changed = effects.iter().filter_map(|effect| self.changed_facts(&effect.kind));
        let records: Vec<_> =
            changed.map(|changed| Record::FactsChanged(Box::new(changed))).collect();
        if !records.is_empty() {
            effects.retain(|effect| !matches!(effect.kind, EffectKind::RunCall { .. }));
        }
        records
    }

    fn changed_facts(&self, kind: &EffectKind) -> Option<FactsChanged> {
        let EffectKind::RunCall { call, name, input, .. } = kind else { return None };
        if self.is_fresh(*call) || is_on(Bug::StaleFacts) {
            return None;
        }
        let judged = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let judged = &judged.into_iter().find(|judged| judged.id == *call)?.facts;
        let facts = pipeline::facts_now(&self.tools, &self.workspace, name, input)?;
        (facts != *judged).then_some(FactsChanged { call: *call, facts, ends_allowance: true })
    }

    /// Whether a call was looked up since anything that was started here could have changed something.
    fn is_fresh(&self, call: CallId) -> bool {
        let runs = |(id, _)| matches!(id, EffectId::Run(_));
        self.just_planned.contains(&call)
            && self.done_at_once.is_empty()
            && !self.running.iter().any(runs)
            && self.desk.is_idle()
    }
}
