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
        self.interrupt_compaction(out);
        self.given_up.clear();
        self.name = None;
        self.forked = Some(origin.clone());
        (self.usage, self.cost, self.reread) =
            (Usage::default(), Cost::default(), Reread::default());
        self.cost_is_partial = false;
        let (usage, total, total_cost) = (Usage::default(), self.usage, self.cost);
        out.say(|| Event::Usage {
            usage,
            cost: None,
            total,
            total_cost,
            cost_is_partial: false,
            reread: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::{
        CompactionCause, CompactionStarted, Entry, Input, ModelFailed, ModelStarted, Opened,
        ProviderErrorKind, Record, Reserve, Rule, RuleEffect, Timestamp,
    };

    use super::*;

    fn forked(state: &mut State) {
        let origin = ForkOrigin { session: "source".parse().unwrap(), at: 2 };
        let seq = state.seq + 1;
        state.apply(&Entry { seq, at: Timestamp(0), record: Record::Forked(Box::new(origin)) });
    }

    #[test]
    fn a_turn_that_runs_and_what_was_allowed_are_not_the_forks() {
        let rule = Rule::parse("Read", RuleEffect::Allow, "test").unwrap();
        let mut state = State::new();
        let records = [
            Record::Opened(Opened { incarnation: 1, build: String::new() }),
            Record::RuleGranted(Box::new(rule)),
            Record::Input(Box::new(Input::text("hi"))),
        ];
        for (seq, record) in (1..).zip(records) {
            state.apply(&Entry { seq, at: Timestamp(0), record });
        }
        assert_eq!(state.grants.len(), 1);
        forked(&mut state);
        assert_eq!((state.grants.len(), state.misfits), (0, 0));
        let ends = state.turn.as_ref().is_none_or(|turn| matches!(turn.phase, Phase::Ending(_)));
        assert!(ends, "{:?}", state.turn);
    }

    #[test]
    fn a_compaction_that_waits_for_the_end_of_a_turn_is_not_the_forks() {
        let (turn, round, attempt) = (1, 1, 1);
        let reserve = Reserve::default();
        let mut state = State::new();
        let records = [
            Record::Opened(Opened { incarnation: 1, build: String::new() }),
            Record::Input(Box::new(Input::text("hi"))),
            Record::ModelStarted(ModelStarted {
                turn,
                round,
                attempt,
                epoch: 0,
                up_to: 2,
                reserve,
            }),
            Record::CompactionStarted(CompactionStarted {
                cut: 1,
                cause: CompactionCause::Manual,
                focus: None,
            }),
            Record::ModelFailed(Box::new(ModelFailed {
                turn,
                round,
                attempt,
                kind: ProviderErrorKind::Auth,
                message: "no".into(),
                retry_at: None,
                usage: Usage::default(),
                cost: None,
            })),
        ];
        for (seq, record) in (1..).zip(records) {
            state.apply(&Entry { seq, at: Timestamp(0), record });
        }
        assert!(matches!(state.turn.as_ref().unwrap().phase, Phase::Ending(_)));
        assert!(state.compaction.is_some());
        forked(&mut state);
        assert_eq!((state.compaction.is_none(), state.misfits), (true, 0));
    }
}
