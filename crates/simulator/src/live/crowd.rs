//! People around one process: they say things, steer, take back, interrupt, decide twice and late,
//! watch at any speed, drop turns, change settings, and close the session in the middle.

use std::time::Duration;

use heeler_core::{CallId, Decision, Input, PermissionId, SessionId, Timestamp, TurnOutcome};
use heeler_engine::{Parts, Session, SessionError};
use tokio::task::JoinSet;

use super::judge::Judge;
use super::outside::{Inner, Outside};
use super::tool::toolset;
use crate::check::{Invariant, Violation};
use crate::matrix::Fault;
use crate::people;

/// How often people look whether all has come to rest; they wait longer each time.
const LOOKS_MAX: u32 = 60;
/// The longest they wait between two looks.
const LOOK_MILLIS_MAX: u64 = 400_000;
/// Longer than anything takes that ends.
const FOR_EVER: Duration = Duration::from_secs(10_000_000);

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

/// How people answer a request.
const ANSWERS: [Fault; 7] = [
    Fault::Approve,
    Fault::ApproveTwice,
    Fault::Deny,
    Fault::Grant,
    Fault::DenyAndStop,
    Fault::Edit,
    Fault::LeavePlan,
];

/// Everybody around one process, and the handle they share.
pub(super) struct Crowd {
    outside: Outside,
    session: Session,
    /// What people wait for.
    doings: JoinSet<()>,
    watchers: JoinSet<()>,
    system_version: u32,
    tools_version: u32,
}

impl Crowd {
    /// Lives through a process. Whether everything was said and done, and came to its end.
    pub(super) async fn live(outside: Outside) -> bool {
        let Some(parts) = parts(&outside) else { return false };
        let id = SessionId::mint(Timestamp(0), &outside);
        let Ok(session) = Session::open(parts, id).await else { return false };
        let mut crowd = Self {
            outside,
            session,
            doings: JoinSet::new(),
            watchers: JoinSet::new(),
            system_version: 0,
            tools_version: 0,
        };
        crowd.watch(0, None);
        let is_done = crowd.act_until_done().await;
        let is_done = is_done && !crowd.ask(|inner| inner.judge.is_broken);
        let outside = crowd.outside.clone();
        crowd.leave(is_done).await;
        // A turn nobody waited for may have begun, and its journal failed, since all was done.
        is_done && outside.with(|inner| inner.judge.is_broken) == Some(false)
    }

    fn ask<T: Default>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        self.outside.with(act).unwrap_or_default()
    }

    /// `false` when the session is to be closed in the middle.
    async fn act_until_done(&mut self) -> bool {
        loop {
            let (acts, inputs) = self.ask(|inner| (inner.scene.acts_left, inner.scene.inputs_left));
            if (acts, inputs) == (0, 0) || self.ask(|inner| inner.judge.is_broken) {
                break;
            }
            self.linger().await;
            if self.ask(Inner::closes_early) {
                return false;
            }
            if inputs == 0 || (acts > 0 && self.ask(|inner| inner.chance.percent(70))) {
                self.act();
                continue;
            }
            if self.ask(|inner| inner.chance.percent(60)) {
                self.settle().await;
            }
            self.say(false);
        }
        self.settle().await;
        true
    }

    /// A little time passes, or only a few steps of others.
    async fn linger(&self) {
        let millis = self.ask(|inner| match inner.is_rare_moment() {
            true => 0,
            false => inner.chance.pick(&[0, 0, 0, 1, 5, 50, 700, 4000]),
        });
        for _ in 0..self.ask(|inner| inner.chance.below(6)) {
            tokio::task::yield_now().await;
        }
        self.outside.pass(millis).await;
    }

    /// Waits until nothing runs and nobody waits; answers what is asked meanwhile.
    async fn settle(&mut self) {
        if self.ask(|inner| inner.judge.is_busy()) {
            self.resume();
        }
        for look in 0..LOOKS_MAX {
            while self.doings.try_join_next().is_some() {}
            let runs = self.ask(|inner| inner.judge.is_busy());
            if !runs && self.doings.is_empty() {
                return;
            }
            if let Some(id) = self.ask(|inner| inner.judge.open_request()) {
                self.answer(id);
            }
            let millis = (50_u64 << look.min(20)).min(LOOK_MILLIS_MAX);
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        let words = format!("{} people wait for ever", self.doings.len());
        self.outside.judge(|_| Err(Violation::new(Invariant::Ends, words)));
    }

    /// Somebody does something.
    fn act(&mut self) {
        self.ask(|inner| inner.scene.acts_left = inner.scene.acts_left.saturating_sub(1));
        if let Some(id) = self.ask(|inner| inner.judge.open_request())
            && self.ask(|inner| inner.chance.percent(60))
        {
            return self.answer(id);
        }
        let act = self.outside.with(|inner| {
            let has_works = !inner.judge.state.background.is_empty();
            match has_works && inner.chance.percent(30) {
                true => inner.chance.pick(&[Fault::WorkCancelled, Fault::WorkAwaited]),
                false => inner.chance.pick(&ACTS),
            }
        });
        match act {
            Some(act @ (Fault::Steer | Fault::SteerTwice)) => self.steer(act),
            Some(Fault::Interrupt) => self.cancel(),
            Some(Fault::TakeBack) => self.take_back(),
            Some(Fault::Queue) if self.ask(|inner| inner.judge.state.turn.is_some()) => {
                self.hit(Fault::Queue);
                self.say(false);
            }
            Some(Fault::DropTurn) => self.say(true),
            Some(act @ (Fault::Limits | Fault::Policy | Fault::Settings)) => self.change(act),
            Some(act @ (Fault::System | Fault::Tools)) => self.change_prefix(act),
            Some(Fault::Compact) => self.compact(),
            Some(Fault::Undo) => self.undo(),
            Some(Fault::Rename) => self.rename(),
            Some(Fault::SlowReader) => {
                self.hit(Fault::SlowReader);
                self.watch(700, None);
            }
            Some(Fault::LostReader) => {
                self.hit(Fault::LostReader);
                let sees = self.ask(|inner| inner.chance.below(20));
                self.watch(0, Some(sees));
            }
            Some(act @ (Fault::WorkCancelled | Fault::WorkAwaited)) => {
                if let Some(call) = self.ask(|inner| inner.some_work(act)) {
                    self.hit(act);
                    self.ask_about_work(act, call);
                }
            }
            Some(Fault::Late) => {
                if let Some(id) = self.ask(Inner::some_request) {
                    self.hit(Fault::Late);
                    self.decide(id, Decision::Once);
                }
            }
            _ => {}
        }
    }

    fn hit(&self, fault: Fault) {
        self.ask(|inner| inner.hit(fault));
    }

    /// Says the next thing, and may lose interest in what becomes of it.
    fn say(&mut self, drops: bool) {
        let Some(said) = self.ask(Inner::next_input) else { return };
        let outside = self.outside.clone();
        let turn = self.session.turn(Input::text(said.clone()));
        let interest = self.ask(|inner| inner.chance.pick(&[0, 1, 30, 900]));
        self.doings.spawn(async move {
            if drops {
                outside.pass(interest).await;
                outside.with(|inner| inner.hit(Fault::DropTurn));
                return;
            }
            let outcome = turn.await;
            outside.judge(|judge| judge.turn_ended(&said, &outcome));
        });
    }

    fn resume(&mut self) {
        let (outside, turn) = (self.outside.clone(), self.session.resume());
        self.doings.spawn(async move {
            let outcome: TurnOutcome = turn.await;
            outside.judge(|judge| judge.resumed(&outcome));
        });
    }

    /// Asks something of the session, and judges the answer.
    fn wish<T, W>(
        &mut self,
        wish: impl FnOnce(Session) -> W,
        judge: impl FnOnce(&mut Judge, T) -> crate::check::Checked + Send + 'static,
    ) where
        T: Send + 'static,
        W: Future<Output = Result<T, SessionError>> + Send + 'static,
    {
        let (outside, wish) = (self.outside.clone(), wish(self.session.clone()));
        self.doings.spawn(async move {
            let answer = wish.await;
            outside.judge(|seen| match answer {
                Ok(answer) => judge(seen, answer),
                Err(SessionError) => seen.is_closed(),
            });
        });
    }

    fn steer(&mut self, act: Fault) {
        let Some(id) = self.outside.with(Inner::next_steering) else { return };
        self.hit(act);
        let times = if act == Fault::SteerTwice { 2 } else { 1 };
        let tail = self.ask(|inner| {
            let tail = inner.chance.pick(&["please", " ", "and more and more"]);
            format!("{tail}{}", inner.more_words())
        });
        for _ in 0..times {
            let (id, input) = (id.clone(), Input::text(format!("{} {tail}", id.0)));
            let name = id.clone();
            let wish = |session: Session| async move { session.steer(id, input).await };
            self.wish(wish, move |judge, _| judge.steered(&name));
        }
    }

    fn take_back(&mut self) {
        let Some(id) = self.ask(Inner::some_steering) else { return };
        self.hit(Fault::TakeBack);
        let name = id.clone();
        let wish = |session: Session| async move { session.take_back(id).await };
        self.wish(wish, move |judge, worked| judge.took_back(&name, worked));
    }

    /// Somebody does not want work any more, or waits for its end.
    fn ask_about_work(&mut self, act: Fault, call: CallId) {
        if act == Fault::WorkAwaited {
            let wish = |session: Session| async move { session.wait_for_background(call).await };
            return self.wish(wish, move |judge, ()| judge.work_is_over(call));
        }
        self.ask(|inner| inner.judge.works.cancel(call));
        let wish = |session: Session| async move { session.cancel_background(call).await };
        self.wish(wish, move |judge, worked| judge.work_is_cancelled(call, worked));
    }

    fn cancel(&mut self) {
        if !self.ask(|inner| inner.judge.is_busy()) {
            return;
        }
        self.hit(Fault::Interrupt);
        let (turn, since) = self.ask(|inner| (inner.judge.running_turn(), inner.now()));
        let wish = |session: Session| async move {
            session.cancel().await;
            Ok(())
        };
        self.wish(wish, move |judge, ()| judge.cancelled(turn, since));
    }

    fn compact(&mut self) {
        self.hit(Fault::Compact);
        let after = self.ask(|inner| inner.judge.state.seq);
        let focus = self.ask(|inner| inner.chance.percent(30)).then_some("the last error");
        let wish = move |session: Session| async move { session.compact(focus).await };
        self.wish(wish, move |judge, worked| judge.compacted(after, worked));
    }

    fn undo(&mut self) {
        self.hit(Fault::Undo);
        let after = self.ask(|inner| inner.judge.state.seq);
        let wish = |session: Session| async move { session.undo_compaction().await };
        self.wish(wish, move |judge, worked| judge.restored(after, worked));
    }

    fn rename(&mut self) {
        self.hit(Fault::Rename);
        let after = self.ask(|inner| inner.judge.state.seq);
        let name = self.ask(|inner| inner.chance.pick(&[Some("first"), Some("second"), None]));
        let name = name.and_then(|name| name.parse().ok());
        let wish = |session: Session| async move { session.rename(name).await };
        self.wish(wish, move |judge, ()| judge.renamed(after));
    }

    fn change(&mut self, act: Fault) {
        self.hit(act);
        let Some(settings) = self.outside.with(|inner| inner.change_settings(act)) else { return };
        let after = self.ask(|inner| inner.judge.state.seq);
        let wish = |session: Session| async move { session.set_settings(settings).await };
        self.wish(wish, move |judge, ()| judge.changed_settings(after));
    }

    fn change_prefix(&mut self, act: Fault) {
        self.hit(act);
        if act == Fault::System {
            self.system_version += 1;
            let system = system(self.system_version);
            let wish = |session: Session| async move { session.set_system(system).await };
            return self.wish(wish, |_, ()| Ok(()));
        }
        self.tools_version += 1;
        let Ok(tools) = toolset(&self.outside, self.tools_version) else { return };
        let wish = |session: Session| async move { session.set_tools(tools).await };
        self.wish(wish, |_, ()| Ok(()));
    }

    /// Answers an open request in one of the ways people do.
    fn answer(&mut self, id: PermissionId) {
        let Some(act) = self.outside.with(|inner| inner.chance.pick(&ANSWERS)) else { return };
        self.hit(act);
        let decision = match act {
            Fault::Deny => Decision::Deny { reason: Some("no".into()) },
            Fault::DenyAndStop => Decision::DenyAndStop { reason: None },
            Fault::LeavePlan => {
                match self.outside.with(|inner| people::leave_plan(&mut inner.chance)) {
                    Some(leave) => leave,
                    None => return,
                }
            }
            Fault::Edit => match self.outside.with(|inner| people::edit(&mut inner.chance)) {
                Some(edit) => edit,
                None => return,
            },
            Fault::Grant => match self.outside.with(|inner| people::grant(&mut inner.chance)) {
                Some(grant) => grant,
                None => return,
            },
            _ => Decision::Once,
        };
        self.decide(id, decision);
        if act == Fault::ApproveTwice
            && let Some(second) = self.outside.with(|inner| people::decision(&mut inner.chance))
        {
            self.decide(id, second);
        }
    }

    fn decide(&mut self, id: PermissionId, decision: Decision) {
        let by = format!("person {}", self.ask(Inner::next_number));
        let (outside, session) = (self.outside.clone(), self.session.clone());
        self.doings.spawn(async move {
            let answer = session.decide(id, decision, &by).await;
            outside.judge(|judge| judge.decided(&by, &answer));
        });
    }

    /// Somebody begins to watch, at a pace, and stays to the end or goes after some events.
    fn watch(&mut self, pace_millis: u64, sees: Option<u32>) {
        let (view, mut cursor) = self.session.subscribe();
        let outside = self.outside.clone();
        let Some(number) = outside.with(|inner| inner.reader_joins(&view)) else { return };
        self.watchers.spawn(async move {
            let mut seen_count = 0;
            while let Some(seen) = cursor.next().await {
                outside.judge(|judge| judge.reads(number, &seen));
                outside.moment().await;
                seen_count += 1;
                if sees.is_some_and(|sees| seen_count > sees) {
                    return;
                }
                if pace_millis > 0 {
                    tokio::time::sleep(Duration::from_millis(pace_millis)).await;
                }
            }
            outside.judge(|judge| judge.reader_ends(number));
        });
    }

    /// The end of the process's session: closed, or let go by everybody.
    async fn leave(self, is_done: bool) {
        let Self { outside, session, mut doings, mut watchers, .. } = self;
        let is_broken = outside.with(|inner| inner.judge.is_broken).unwrap_or(true);
        if is_done && !is_broken {
            match session.state().await {
                Ok(state) => outside.judge(|judge| judge.is_state(&state)),
                Err(SessionError) => outside.judge(|judge| judge.is_closed()),
            }
        }
        outside.with(|inner| {
            inner.judge.is_closing = true;
            inner.judge.works.close();
            if !inner.judge.state.background.is_empty() {
                inner.hit(Fault::WorkClosed);
            }
        });
        let closes = !is_done || outside.with(|inner| inner.chance.percent(60)) == Some(true);
        if closes {
            outside.with(|inner| {
                if !is_done {
                    inner.hit(Fault::Closed);
                }
            });
            session.close().await;
            outside.with(|inner| inner.closed(true));
        } else {
            drop(session);
        }
        let rest = async {
            while doings.join_next().await.is_some() {}
            while watchers.join_next().await.is_some() {}
        };
        if tokio::time::timeout(FOR_EVER, rest).await.is_err() {
            let words = "somebody waits for a session that is closed";
            outside.judge(|_| Err(Violation::new(Invariant::Ends, words)));
        }
        outside.with(|inner| inner.closed(false));
        // Whatever still has something to do gets to it.
        tokio::time::sleep(FOR_EVER).await;
    }
}

/// What a process is handed.
fn parts(outside: &Outside) -> Option<Parts> {
    let shared = std::sync::Arc::new(outside.clone());
    let mut parts = Parts::new(shared.clone(), shared.clone());
    parts.tools = toolset(outside, 0).ok()?;
    parts.clock = shared.clone();
    parts.entropy = shared.clone();
    parts.system = system(0);
    parts.build = "simulated".into();
    outside.with(|inner| {
        let scene = &inner.scene;
        if scene.has_approver {
            parts.approvers = vec![shared];
        }
        parts.settings = scene.settings.clone();
        parts.retry = scene.retry;
        parts.call_timeout_millis = scene.call_timeout_millis;
        parts
    })
}

fn system(version: u32) -> String {
    let more = " It is longer now.".repeat(version as usize);
    format!("You are simulated, version {version}.{more}")
}
