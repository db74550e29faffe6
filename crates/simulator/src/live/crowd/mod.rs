//! People around one process: they say things, want things ([`wishes`]), watch at any speed, wait
//! until all has come to rest, and close the session in the middle.

mod wishes;

use std::time::Duration;

use heeler_core::{SessionId, Timestamp};
use heeler_engine::{Parts, Session, SessionError};
use tokio::task::JoinSet;

use super::judge::Halt;
use super::outside::{Inner, Outside};
use super::tool::toolset;
use crate::check::{Invariant, Violation};
use crate::matrix::Fault;
use wishes::Interest;

/// How often people look whether all has come to rest; they wait longer each time.
const LOOKS_MAX: u32 = 60;
/// The longest they wait between two looks.
const LOOK_MILLIS_MAX: u64 = 400_000;
/// Longer than anything takes that ends.
const FOR_EVER: Duration = Duration::from_secs(10_000_000);

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
            self.say(Interest::Stays);
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
        self.outside.pass_until_rare(millis).await;
    }

    /// Waits until nothing runs and nobody waits; answers what is asked meanwhile.
    async fn settle(&mut self) {
        if self.ask(|inner| inner.judge.is_busy()) {
            self.resume();
        }
        let mut looks = 0;
        while looks < LOOKS_MAX {
            while self.doings.try_join_next().is_some() {}
            let runs = self.ask(|inner| inner.judge.is_busy());
            if !runs && self.doings.is_empty() {
                return;
            }
            if let Some(id) = self.ask(|inner| inner.judge.open_request()) {
                match self.ask(Inner::does_something_else) {
                    true => self.act(),
                    false => self.answer(id),
                }
            }
            let millis = (50_u64 << looks.min(20)).min(LOOK_MILLIS_MAX);
            match self.outside.pass_until_rare(millis).await {
                true => self.act_at_rare_moment(),
                false => looks += 1,
            }
        }
        let words = format!("{} people wait for ever", self.doings.len());
        self.outside.judge(|_| Err(Violation::new(Invariant::Ends, words)));
    }

    /// Somebody begins to watch, at a pace, and stays to the end, or goes after some events or at a
    /// rare moment.
    fn watch(&mut self, pace_millis: u64, sees: Option<u32>) {
        let (view, mut cursor) = self.session.subscribe();
        let outside = self.outside.clone();
        let Some(number) = outside.with(|inner| inner.reader_joins(&view)) else { return };
        self.watchers.spawn(async move {
            let mut sees_left = sees;
            while sees_left != Some(0) {
                let seen = tokio::select! {
                    biased;
                    seen = cursor.next() => seen,
                    () = outside.rare_moment(), if sees.is_some() => break,
                };
                let Some(seen) = seen else {
                    return outside.judge(|judge| judge.reader_ends(number));
                };
                outside.judge(|judge| judge.reads(number, &seen));
                outside.moment().await;
                sees_left = sees_left.map(|left| left - 1);
                if pace_millis > 0 {
                    tokio::time::sleep(Duration::from_millis(pace_millis)).await;
                }
            }
            outside.with(|inner| inner.hit(Fault::LostReader));
        });
    }

    /// The process is told to end; whatever people say until it has ended begins nothing.
    async fn halt(&mut self) {
        self.ask(|inner| {
            inner.judge.is_closing = true;
            inner.judge.halt = Halt::Asked;
            inner.hit(Fault::Halted);
        });
        self.session.halt().await;
        self.ask(|inner| inner.judge.halt = Halt::Answered);
        self.say(Interest::Stays);
        self.act();
        self.linger().await;
    }

    /// The end of the process's session: closed, or let go by everybody.
    async fn leave(mut self, is_done: bool) {
        if !is_done && self.ask(|inner| !inner.judge.is_broken && inner.chance.percent(50)) {
            self.halt().await;
        }
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
            if inner.has_works() {
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
