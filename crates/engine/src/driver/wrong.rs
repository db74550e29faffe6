//! What the driver does wrong when a bug of more than a line is switched on ([`crate::bugs`]).

use heeler_core::{Decision, Effect, Envelope, Event, ModelEvent, StopReason, TurnOutcome};

use super::Driver;
use super::stream::Step;
use super::write::ended_turn;
use crate::bugs::{Bug, is_on};
use crate::draft::Draft;
use crate::log::EventLog;

impl Driver {
    /// Tells watchers, or whoever waits for a turn, before the journal knows.
    pub(super) fn tell_too_early(&mut self) {
        if is_on(Bug::EarlyEvent) {
            self.log.publish(std::mem::take(&mut self.unwritten.seen));
        }
        if is_on(Bug::EarlyOutcome) {
            let ended = self.unwritten.seen.iter().filter_map(ended_turn);
            for (turn, outcome) in ended.collect::<Vec<_>>() {
                self.tell_outcome(turn, &outcome);
            }
        }
    }

    /// Allows what a decision allows without the record of it.
    pub(super) fn grant_beside(&mut self, decision: &Decision) {
        if let Decision::Session { rule } | Decision::Always { rule } = decision
            && is_on(Bug::DoubledGrant)
        {
            self.state.grants.push(rule.clone());
        }
    }

    /// What would be pending if any number of calls could run at once.
    pub(super) fn pending_without_limit(&self) -> Vec<Effect> {
        let mut wide = self.state.clone();
        wide.settings.limits.calls_at_once = 0;
        wide.pending()
    }
}

/// Loses or turns around what watchers are about to see.
pub(super) fn spoil(seen: &mut Vec<Envelope>) {
    if is_on(Bug::BackwardEvents) {
        seen.reverse();
    }
    if is_on(Bug::SilentEnd) {
        seen.retain(|seen| {
            !matches!(&seen.event, Event::TurnFinished { outcome: TurnOutcome::Cancelled, .. })
        });
    }
}

/// Takes what came of a cut answer for all of it.
pub(super) fn whole(draft: &mut Draft, log: &EventLog) -> Option<Step> {
    let draft = std::mem::take(draft);
    let reply = log.with_draft(|shown| draft.interrupted(shown))?;
    Some(Ok(ModelEvent::Finished(heeler_core::Reply { stop: StopReason::EndTurn, ..reply })))
}
