//! What people want of the session, and what was pending when they said so.
//!
//! A wish is counted once the session has answered it, and only if it came to something: a cancel
//! that found nothing to stop met nothing.

use heeler_core::{CallId, Decision, Input, PermissionId, TurnOutcome};
use heeler_engine::{DecideError, Session, SessionError};

use super::{Crowd, system};
use crate::check::Violation;
use crate::live::judge::Judge;
use crate::live::outside::Inner;
use crate::live::tool::toolset;
use crate::matrix::Fault;
use crate::people;

/// What people do besides saying the next thing, the calmest first.
const ACTS: [Fault; 25] = [
    Fault::Steer,
    Fault::Interrupt,
    Fault::SteerTwice,
    Fault::TakeBack,
    Fault::Queue,
    Fault::DropTurn,
    Fault::DropTurn,
    Fault::Limits,
    Fault::Policy,
    Fault::Settings,
    Fault::System,
    Fault::Tools,
    Fault::Compact,
    Fault::SlowReader,
    Fault::LostReader,
    Fault::Late,
    Fault::Late,
    Fault::Late,
    Fault::TakeBack,
    Fault::Compact,
    Fault::Undo,
    Fault::Rename,
    Fault::Undo,
    Fault::WorkCancelled,
    Fault::WorkAwaited,
];

/// What becomes of somebody's interest in what they began.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    Stays,
    Goes,
}

/// Whether a wish came to something, if its answer is true.
type Came = Result<bool, Violation>;

impl Crowd {
    /// Somebody does something.
    pub(super) fn act(&mut self) {
        self.ask(|inner| inner.scene.acts_left = inner.scene.acts_left.saturating_sub(1));
        if let Some(id) = self.ask(|inner| inner.judge.open_request())
            && self.ask(Inner::answers_first)
        {
            return self.answer(id);
        }
        let act = self.outside.with(|inner| {
            let wish = if inner.is_rare_moment() { 50 } else { 30 };
            match inner.has_works() && inner.chance.percent(wish) {
                true => inner.chance.pick(&[Fault::WorkCancelled, Fault::WorkAwaited]),
                false => inner.chance.pick(&ACTS),
            }
        });
        match act {
            Some(act @ (Fault::Steer | Fault::SteerTwice)) => self.steer(act),
            Some(Fault::Interrupt) => self.cancel(),
            Some(Fault::TakeBack) => self.take_back(),
            Some(Fault::Queue) if self.ask(|inner| inner.judge.state.turn.is_some()) => {
                self.say(Interest::Stays);
            }
            Some(Fault::DropTurn) => self.say(Interest::Goes),
            Some(act @ (Fault::Limits | Fault::Policy | Fault::Settings)) => self.change(act),
            Some(act @ (Fault::System | Fault::Tools)) => self.change_prefix(act),
            Some(Fault::Compact) => self.compact(),
            Some(Fault::Undo) => self.undo(),
            Some(Fault::Rename) => self.rename(),
            Some(Fault::SlowReader) => {
                self.ask(|inner| inner.hit(Fault::SlowReader));
                self.watch(700, None);
            }
            Some(Fault::LostReader) => {
                let sees = self.ask(|inner| 1 + inner.chance.below(20));
                self.watch(0, Some(sees));
            }
            Some(act @ (Fault::WorkCancelled | Fault::WorkAwaited)) => {
                if let Some(call) = self.ask(|inner| inner.some_work(act)) {
                    self.ask_about_work(act, call);
                }
            }
            Some(Fault::Late) => {
                if let Some(id) = self.ask(Inner::some_request) {
                    self.decide(Fault::Late, id, Decision::Once);
                }
            }
            _ => {}
        }
    }

    /// What is seldom due is met by somebody who was waiting for something else.
    pub(super) fn act_at_rare_moment(&mut self) {
        if self.ask(|inner| inner.scene.acts_left > 0 && inner.chance.percent(70)) {
            self.act();
        }
    }

    /// Says the next thing, also while a turn runs, and may lose interest in what becomes of it.
    pub(super) fn say(&mut self, interest: Interest) {
        let Some(said) = self.ask(Inner::next_input) else { return };
        let outside = self.outside.clone();
        let turn = self.session.turn(Input::text(said.clone()));
        let due = |inner: &mut Inner| inner.judge.running_turn().map(|_| inner.now_due());
        let due = self.ask(due);
        let stays_millis = self.ask(|inner| match inner.is_rarest_moment() {
            true => 0,
            false => inner.chance.pick(&[0, 1, 30, 900]),
        });
        self.doings.spawn(async move {
            if interest == Interest::Goes {
                outside.pass(stays_millis).await;
                outside.with(|inner| {
                    if inner.judge.may_be_dropped(&said) {
                        inner.hit(Fault::DropTurn);
                    }
                });
                return;
            }
            let outcome = turn.await;
            outside.judge(|judge| judge.turn_ended(&said, &outcome));
            outside.with(|inner| {
                let began = inner.judge.began_turn(&said);
                if let Some(due) = due.filter(|_| began) {
                    inner.matrix.meet(Fault::Queue, due);
                }
            });
        });
    }

    pub(super) fn resume(&mut self) {
        let runs = self.ask(|inner| inner.judge.running_turn()).unwrap_or(0);
        let (outside, turn) = (self.outside.clone(), self.session.resume());
        self.doings.spawn(async move {
            let outcome: TurnOutcome = turn.await;
            outside.judge(|judge| judge.resumed(runs, &outcome));
        });
    }

    /// Asks something of the session, and judges the answer.
    fn wish<T, W>(
        &mut self,
        act: Fault,
        wish: impl FnOnce(Session) -> W,
        judge: impl FnOnce(&mut Judge, T) -> Came + Send + 'static,
    ) where
        T: Send + 'static,
        W: Future<Output = Result<T, SessionError>> + Send + 'static,
    {
        let (outside, wish) = (self.outside.clone(), wish(self.session.clone()));
        self.doings.spawn(async move {
            let due = outside.take(|inner| inner.now_due()).await;
            let answer = wish.await;
            outside.with(|inner| {
                let mut came = false;
                inner.see(|seen| match answer {
                    Ok(answer) => judge(seen, answer).map(|is_true| came = is_true),
                    Err(SessionError) => seen.is_closed(),
                });
                if came {
                    inner.matrix.meet(act, due);
                }
            });
        });
    }

    fn steer(&mut self, act: Fault) {
        let Some(id) = self.outside.with(Inner::next_steering) else { return };
        let tail = self.ask(|inner| {
            let tail = inner.chance.pick(&["please", " ", "and more and more"]);
            format!("{tail}{}", inner.more_words())
        });
        let times = if act == Fault::SteerTwice { 2 } else { 1 };
        for time in 1..=times {
            let (id, input) = (id.clone(), Input::text(format!("{} {tail}", id.0)));
            let name = id.clone();
            let wish = |session: Session| async move { session.steer(id, input).await };
            self.wish(act, wish, move |judge, _| judge.steered(&name).map(|()| time == times));
        }
    }

    fn take_back(&mut self) {
        let Some(id) = self.ask(Inner::some_steering) else { return };
        let name = id.clone();
        let wish = |session: Session| async move { session.take_back(id).await };
        self.wish(Fault::TakeBack, wish, move |judge, worked| {
            judge.took_back(&name, worked).map(|()| true)
        });
    }

    /// Somebody does not want work any more, or waits for its end.
    fn ask_about_work(&mut self, act: Fault, call: CallId) {
        if act == Fault::WorkAwaited {
            let wish = |session: Session| async move { session.wait_for_background(call).await };
            return self.wish(act, wish, move |judge, ()| judge.work_is_over(call).map(|()| true));
        }
        self.ask(|inner| inner.judge.works.cancel(call));
        let wish = |session: Session| async move { session.cancel_background(call).await };
        self.wish(act, wish, move |judge, worked| {
            judge.work_is_cancelled(call, worked).map(|()| true)
        });
    }

    fn cancel(&mut self) {
        if !self.ask(|inner| inner.judge.is_busy()) {
            return;
        }
        let (outside, session) = (self.outside.clone(), self.session.clone());
        self.doings.spawn(async move {
            let ask = |inner: &mut Inner| {
                let (turn, after) = (inner.judge.running_turn(), inner.judge.state.seq);
                (inner.judge.is_busy().then(|| inner.now_due()), turn, after, inner.now())
            };
            let (due, turn, after, since) = outside.take(ask).await;
            session.cancel().await;
            outside.judge(|judge| judge.cancelled(turn, since));
            outside.with(|inner| {
                if let Some(due) = due.filter(|_| inner.judge.was_interrupted(after)) {
                    inner.matrix.meet(Fault::Interrupt, due);
                }
            });
        });
    }

    fn compact(&mut self) {
        let after = self.ask(|inner| inner.judge.state.seq);
        let focus = self.ask(|inner| inner.chance.percent(30)).then_some("the last error");
        let wish = move |session: Session| async move { session.compact(focus).await };
        self.wish(Fault::Compact, wish, move |judge, worked| {
            judge.compacted(after, worked).map(|()| true)
        });
    }

    fn undo(&mut self) {
        let after = self.ask(|inner| inner.judge.state.seq);
        let wish = |session: Session| async move { session.undo_compaction().await };
        self.wish(Fault::Undo, wish, move |judge, worked| {
            judge.restored(after, worked).map(|()| true)
        });
    }

    fn rename(&mut self) {
        let after = self.ask(|inner| inner.judge.state.seq);
        let name = self.ask(|inner| inner.chance.pick(&[Some("first"), Some("second"), None]));
        let name = name.and_then(|name| name.parse().ok());
        let wish = |session: Session| async move { session.rename(name).await };
        self.wish(Fault::Rename, wish, move |judge, ()| judge.renamed(after).map(|()| true));
    }

    fn change(&mut self, act: Fault) {
        let Some(settings) = self.outside.with(|inner| inner.change_settings(act)) else { return };
        let after = self.ask(|inner| inner.judge.state.seq);
        let wish = |session: Session| async move { session.set_settings(settings).await };
        self.wish(act, wish, move |judge, ()| judge.changed_settings(after).map(|()| true));
    }

    fn change_prefix(&mut self, act: Fault) {
        if act == Fault::System {
            self.system_version += 1;
            let system = system(self.system_version);
            let wish = |session: Session| async move { session.set_system(system).await };
            return self.wish(act, wish, |_, ()| Ok(true));
        }
        self.tools_version += 1;
        let Ok(tools) = toolset(&self.outside, self.tools_version) else { return };
        let wish = |session: Session| async move { session.set_tools(tools).await };
        self.wish(act, wish, |_, ()| Ok(true));
    }

    /// Answers an open request in one of the ways people do.
    pub(super) fn answer(&mut self, id: PermissionId) {
        let Some(act) = self.outside.with(|inner| inner.chance.pick(&people::ANSWERS)) else {
            return;
        };
        let decision = self.outside.with(|inner| match act {
            Fault::Deny => Decision::Deny { reason: Some("no".into()) },
            Fault::DenyAndStop => Decision::DenyAndStop { reason: None },
            Fault::LeavePlan => people::leave_plan(&mut inner.chance),
            Fault::Edit => people::edit(&mut inner.chance),
            Fault::Grant => people::grant(&mut inner.chance),
            _ => Decision::Once,
        });
        let Some(decision) = decision else { return };
        self.decide(act, id, decision);
        if act == Fault::ApproveTwice
            && let Some(second) = self.outside.with(|inner| people::decision(&mut inner.chance))
        {
            self.decide(Fault::Late, id, second);
        }
    }

    fn decide(&mut self, act: Fault, id: PermissionId, decision: Decision) {
        let by = format!("person {}", self.ask(Inner::next_number));
        let (outside, session) = (self.outside.clone(), self.session.clone());
        self.doings.spawn(async move {
            let due = outside.take(|inner| inner.now_due()).await;
            let answer = session.decide(id, decision, &by).await;
            outside.judge(|judge| judge.decided(&by, &answer));
            let met = match answer {
                Ok(()) | Err(DecideError::Unusable(..)) if act == Fault::Late => Fault::Approve,
                Ok(()) | Err(DecideError::Unusable(..)) => act,
                // Whatever it was to be.
                Err(DecideError::NotOpen(_)) => Fault::Late,
                Err(DecideError::Closed) => return,
            };
            outside.with(|inner| inner.matrix.meet(met, due));
        });
    }
}
