//! Everything outside the engine, in one place: chance, journal, tempers, and who judges.
//!
//! What the engine is handed (store, provider, tools, clock, approver) are thin fronts of this. A
//! process that died sees and does nothing more, whatever its tasks still do while they are torn
//! down.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{BoxFuture, Clock, Entropy, Entry, Seq, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

use super::judge::Judge;
use crate::chance::Chance;
use crate::check::{Checked, Violation};
use crate::matrix::{Fault, Matrix, Moment};
use crate::model::Memory;
use crate::run::Arm;
use crate::scene::Scene;
use crate::store::Store;

/// A front of what is outside; clones share it.
#[derive(Clone)]
pub(super) struct Outside(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    ended: Notify,
    /// Something seldom is due from here on, and whoever waits for no more than time is there.
    rare: Notify,
}

/// What is outside.
pub(super) struct Inner {
    pub(super) chance: Chance,
    pub(super) scene: Scene,
    pub(super) memory: Memory,
    pub(super) store: Store,
    pub(super) judge: Judge,
    pub(super) matrix: Matrix,
    /// Whether a process owns the journal.
    pub(super) is_leased: bool,
    /// What is being written.
    pub(super) writing: Arc<[Entry]>,
    /// For names.
    pub(super) things_done: u32,
    /// How often the world changed so that calls touch something else, and how many records there were
    /// the last time.
    pub(super) changes: u32,
    pub(super) changed_after: Seq,
    /// What the clock showed when this process began, and when that was.
    began: (u64, Option<Instant>),
    end: Option<End>,
}

/// Why a process stopped before its time.
#[derive(Debug)]
pub(super) enum End {
    Died { loses_power: bool },
    Broke(Violation),
}

impl Outside {
    pub(super) fn new(mut chance: Chance) -> Self {
        let scene = Scene::draw_for_engine(&mut chance);
        let inner = Inner {
            judge: Judge::new(scene.call_timeout_millis),
            scene,
            chance,
            memory: Memory::default(),
            store: Store::default(),
            matrix: Matrix::of(Arm::Engine),
            is_leased: false,
            writing: Arc::default(),
            things_done: 0,
            changes: 0,
            changed_after: 0,
            began: (1_000_000, None),
            end: None,
        };
        let (ended, rare) = (Notify::new(), Notify::new());
        Self(Arc::new(Shared { inner: Mutex::new(inner), ended, rare }))
    }

    /// Does something with it; `None` when the process is gone.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> Option<T> {
        let mut inner = self.lock();
        if inner.end.is_some() {
            return None;
        }
        let result = act(&mut inner);
        if inner.end.is_some() {
            drop(inner);
            self.0.ended.notify_one();
            return None;
        }
        Some(result)
    }

    /// As [`Outside::with`]; whoever asks stands still for ever when the process is gone.
    pub(super) async fn take<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        match self.with(act) {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }

    /// A moment at which the process may die.
    pub(super) async fn moment(&self) {
        self.take(Inner::may_die).await;
    }

    /// Waits, and may die before and after.
    pub(super) async fn pass(&self, millis: u64) {
        self.moment().await;
        if millis > 0 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        self.moment().await;
    }

    /// Time passes, or a rare moment comes: `true`.
    pub(super) async fn pass_until_rare(&self, millis: u64) -> bool {
        tokio::select! {
            biased;
            () = self.pass(millis) => false,
            () = self.rare_moment() => true,
        }
    }

    /// Returns when the next of the rarest moments begins.
    pub(super) async fn rare_moment(&self) {
        self.0.rare.notified().await;
    }

    /// Wakes people at the rarest moments.
    pub(super) fn call_people(&self) {
        if self.with(|inner| inner.is_rarest_moment()) == Some(true) {
            self.0.rare.notify_waiters();
        }
    }

    /// Judges something that was seen.
    pub(super) fn judge(&self, see: impl FnOnce(&mut Judge) -> Checked) {
        self.with(|inner| inner.see(see));
    }

    /// Returns once the process has to stop.
    pub(super) async fn ended(&self) {
        while self.lock().end.is_none() {
            self.0.ended.notified().await;
        }
    }

    /// Another process begins, some time later.
    pub(super) fn begin_process(&self) {
        let mut inner = self.lock();
        inner.began = (inner.now(), Some(Instant::now()));
    }

    /// Time stands from here on; it is the runtime's, and that is about to end.
    pub(super) fn stop_clock(&self) {
        let mut inner = self.lock();
        inner.began = (inner.now(), None);
    }

    /// The process is gone, with what nobody else keeps. Gives why.
    pub(super) fn end_process(&self) -> Option<End> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let now = inner.now();
        // Another machine's clock may be behind.
        let later = inner.chance.pick(&[10, 0, 100_000]);
        let now = if inner.chance.percent(10) { now - 50 } else { now + later };
        inner.began = (now, None);
        inner.is_leased = false;
        inner.writing = Arc::default();
        inner.judge.process_ended(inner.store.entries());
        let end = inner.end.take();
        if matches!(end, Some(End::Died { loses_power: true })) {
            inner.store.lose_power(&mut inner.chance);
        }
        end
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    pub(super) fn now(&self) -> u64 {
        let (at, began) = self.began;
        let passed = began.map_or(0, |began| began.elapsed().as_millis());
        at + u64::try_from(passed).unwrap_or(u64::MAX)
    }

    fn may_die(&mut self) {
        if self.has_crash() {
            self.die();
        }
    }

    pub(super) fn has_crash(&mut self) -> bool {
        if self.scene.crashes_left == 0 || self.scene.crashes == 0 {
            return false;
        }
        let times = match (self.is_rare_moment(), self.has_works()) {
            // Seldom anywhere else, or no death would be left for it.
            (_, true) if self.prunes() => 45,
            (_, false) if self.prunes() => 12,
            (true, true) => 6,
            (true, false) | (false, true) => 4,
            (false, false) => 1,
        };
        self.chance.percent(times * self.scene.crashes)
    }

    pub(super) fn die(&mut self) {
        self.scene.crashes_left = self.scene.crashes_left.saturating_sub(1);
        let loses_power = self.chance.percent(self.scene.power);
        self.hit(if loses_power { Fault::PowerLost } else { Fault::Killed });
        if self.has_works() {
            self.hit(Fault::WorkLost);
        }
        self.end.get_or_insert(End::Died { loses_power });
    }

    /// What there is to be met now.
    pub(super) fn now_due(&self) -> Moment {
        Moment::of(&self.judge.pending(), &self.writing)
    }

    /// Something happens now.
    pub(super) fn hit(&mut self, fault: Fault) {
        self.matrix.meet(fault, self.now_due());
    }

    pub(super) fn see(&mut self, see: impl FnOnce(&mut Judge) -> Checked) {
        self.judge.now = self.now();
        let checked = see(&mut self.judge);
        self.check(checked);
    }

    pub(super) fn check(&mut self, checked: Checked) {
        if let Err(violation) = checked {
            self.end.get_or_insert(End::Broke(violation));
        }
    }
}

impl Clock for Outside {
    fn now(&self) -> Timestamp {
        Timestamp(self.lock().now())
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        let wait = deadline.since(self.now());
        let late = self.with(|inner| inner.chance.pick(&[0, 0, 0, 1, 7])).unwrap_or_default();
        Box::pin(async move {
            if wait > 0 {
                tokio::time::sleep(Duration::from_millis(wait.saturating_add(late))).await;
            }
        })
    }
}

impl Entropy for Outside {
    fn next(&self) -> u64 {
        let word = |inner: &mut Inner| u64::from(inner.chance.below(u32::MAX));
        self.with(|inner| word(inner) << 32 | word(inner)).unwrap_or_default()
    }
}
