//! What of another session does not go with its records: what runs, waits or was allowed there.

use heeler_core::{Cost, Event, ForkOrigin, InterruptCause, Reread, Usage};

use super::{Announcer, Phase, State};
use crate::bugs::{Bug, is_on};

impl State {
    /// The conversation stays, with every open call answered as cancelled. Nothing of the other session
    /// runs or waits here, nobody allowed anything here yet, and what was paid was paid there.
    pub(super) fn on_forked(&mut self, origin: &ForkOrigin, out: &mut Announcer) {
        for queued in std::mem::take(&mut self.steering) {
            out.say(|| Event::SteeringTakenBack { id: queued.id });
        }
        self.background.clear();
        if !is_on(Bug::InheritedGrants) {
            self.withdraw_grants();
        }
        let is_ending =
            |turn: &super::Turn| matches!(turn.phase, Phase::Ending(_)) && !turn.has_hole;
        if !self.turn.as_ref().is_some_and(is_ending) {
            self.on_interrupted(InterruptCause::Cancelled, out);
        }
        self.given_up.clear();
        self.name = None;
        self.forked = Some(origin.clone());
        (self.usage, self.cost, self.reread) =
            (Usage::default(), Cost::default(), Reread::default());
        let (total, total_cost) = (self.usage, self.cost);
        let usage = Usage::default();
        out.say(|| Event::Usage { usage, cost: None, total, total_cost, reread: None });
    }
}
