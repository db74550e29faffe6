//! What people come up with: the next thing to say, a name, other settings, a moment to leave.

use heeler_core::{
    Effect, EffectKind, Entry, PermissionId, Record, Settings, SteeringId, WakeCause,
};

use super::outside::Inner;
use crate::matrix::Fault;
use crate::scene;

impl Inner {
    pub(super) fn closes_early(&mut self) -> bool {
        // What goes on in the background then is told.
        let wish = match self.has_works() {
            true if self.is_rare_moment() => 40,
            true => 25,
            false => 8,
        };
        let closes = self.scene.closes_left > 0 && self.chance.percent(wish);
        self.scene.closes_left -= u32::from(closes);
        closes
    }

    /// Whether a request is answered before anything else. While work goes on there is more to do.
    pub(super) fn answers_first(&mut self) -> bool {
        let wish = if self.has_works() { 30 } else { 60 };
        self.chance.percent(wish)
    }

    /// Whether somebody who is asked and waits for the end does something else all the same.
    pub(super) fn does_something_else(&mut self) -> bool {
        self.has_works() && self.scene.acts_left > 0 && self.chance.percent(60)
    }

    pub(super) fn next_number(&mut self) -> u32 {
        self.things_done += 1;
        self.things_done
    }

    /// The next thing the user says, if there is one.
    pub(super) fn next_input(&mut self) -> Option<String> {
        self.scene.inputs_left = self.scene.inputs_left.checked_sub(1)?;
        let number = self.next_number();
        Some(match self.chance.below(20) {
            19 => "\n".to_owned(),
            _ => format!("input {number}{}", self.more_words()),
        })
    }

    /// What makes some of what is said long: a few such fill a small context.
    pub(super) fn more_words(&mut self) -> String {
        match self.chance.percent(self.scene.long_winded) {
            true => " long".repeat(60),
            false => String::new(),
        }
    }

    /// Whether something is due that seldom is, or for no longer than its own append takes: it is
    /// met by too little unless appends are slow then, people quick, and deaths frequent.
    pub(super) fn is_rare_moment(&self) -> bool {
        let has_works = self.has_works();
        let is_rare = |effect: &Effect| match &effect.kind {
            EffectKind::Trim(_) | EffectKind::Prune(_) | EffectKind::PlanCall { .. } => true,
            EffectKind::FinishTurn { .. } => has_works,
            EffectKind::Wake { cause, .. } => *cause == WakeCause::Retry,
            _ => false,
        };
        let is_written = |entry: &Entry| {
            matches!(entry.record, Record::Trimmed(_) | Record::Pruned(_) | Record::CallPlanned(_))
        };
        self.judge.pending().iter().any(is_rare) || self.writing.iter().any(is_written)
    }

    /// Whether hardly anybody would be there if people did not happen to look just now: old results
    /// are cut short, a turn ends while work goes on, or somebody is asked about one call while
    /// another is not looked up yet.
    pub(super) fn is_rarest_moment(&self) -> bool {
        let ends = |kind: &EffectKind| matches!(kind, EffectKind::FinishTurn { .. });
        let asks = |kind: &EffectKind| matches!(kind, EffectKind::AskPermission { .. });
        let plans = |kind: &EffectKind| matches!(kind, EffectKind::PlanCall { .. });
        let pending = self.judge.pending();
        let is_due = |is: fn(&EffectKind) -> bool| pending.iter().any(|effect| is(&effect.kind));
        self.prunes() || self.has_works() && is_due(ends) || is_due(asks) && is_due(plans)
    }

    /// Whether old results are cut short, or are due to be.
    pub(super) fn prunes(&self) -> bool {
        let is_due = |effect: &Effect| matches!(effect.kind, EffectKind::Prune(_));
        let is_written = |entry: &Entry| matches!(entry.record, Record::Pruned(_));
        self.judge.pending().iter().any(is_due) || self.writing.iter().any(is_written)
    }

    /// Whether work goes on after its call.
    pub(super) fn has_works(&self) -> bool {
        !self.judge.state.background.is_empty()
    }

    pub(super) fn next_steering(&mut self) -> SteeringId {
        SteeringId(format!("steer-{}", self.next_number()))
    }

    /// Steering that waits, or that did once.
    pub(super) fn some_steering(&mut self) -> Option<SteeringId> {
        let waits = self.judge.state.steering.last().map(|queued| queued.id.clone());
        if waits.is_some() && !self.chance.percent(20) {
            return waits;
        }
        let known = self.judge.known.steering();
        let at = self.chance.index(known.len());
        known.into_iter().nth(at)
    }

    /// A request that was made at some time.
    pub(super) fn some_request(&mut self) -> Option<PermissionId> {
        let asked = self.judge.known.requests();
        let at = self.chance.index(asked.len());
        asked.into_iter().nth(at)
    }

    pub(super) fn change_settings(&mut self, act: Fault) -> Settings {
        let Self { chance, scene, .. } = self;
        match act {
            Fault::Limits => scene.settings.limits = scene::limits(chance),
            Fault::Policy => scene.settings.policy = scene::policy(chance),
            _ => scene.settings = scene.other_settings(chance),
        }
        scene.settings.clone()
    }

    pub(super) fn reader_joins(&mut self, view: &heeler_core::View) -> usize {
        let (number, checked) = self.judge.reader_joins(view);
        self.check(checked);
        number
    }

    pub(super) fn closed(&mut self, is_synced: bool) {
        let (is_leased, synced) = (self.is_leased, self.store.synced());
        let synced = is_synced.then_some(synced);
        self.see(|judge| judge.closed(is_leased, synced));
    }
}
