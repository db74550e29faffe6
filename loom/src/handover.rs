//! How what performers come to is handed to the driver: at any time, stopped or not.
//!
//! Who performs what is the engine's own code. Tokio's `JoinSet` cannot run on loom's threads, so
//! `Ended` stands for it: every task is told of once, whatever became of it, and a task that is
//! stopped may have ended before it notices.

use std::collections::HashMap;
use std::sync::Arc;

use heeler_core::EffectId;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread::{self, JoinHandle};

use crate::running::{Running, Task};
use crate::sync::{Order, is_reversed};

/// Who performs which effect, as the driver asks about it.
trait Performers: Default {
    fn begin(&mut self, effect: EffectId, task: Spawned);
    fn stop_all(&mut self);
    fn finish(&mut self, task: u32) -> Option<EffectId>;
}

impl Performers for Running<Spawned> {
    fn begin(&mut self, effect: EffectId, task: Spawned) {
        self.begin(effect, task);
    }

    fn stop_all(&mut self) {
        self.keep(|_| false);
    }

    fn finish(&mut self, task: u32) -> Option<EffectId> {
        self.finish(task)
    }
}

/// Lets any task that ever performed an effect end it, which is wrong.
#[derive(Default)]
struct ByEffect {
    running: HashMap<EffectId, Spawned>,
    effects: HashMap<u32, EffectId>,
}

impl Performers for ByEffect {
    fn begin(&mut self, effect: EffectId, task: Spawned) {
        self.effects.insert(task.id, effect);
        self.running.insert(effect, task);
    }

    fn stop_all(&mut self) {
        self.running.drain().for_each(|(_, task)| task.stop());
    }

    fn finish(&mut self, task: u32) -> Option<EffectId> {
        let effect = self.effects.remove(&task)?;
        self.running.remove(&effect).map(|_| effect)
    }
}

struct Spawned {
    id: u32,
    is_stopped: Arc<AtomicBool>,
}

impl Task for Spawned {
    type Id = u32;

    fn id(&self) -> u32 {
        self.id
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Outcome,
    Crashed,
    Stopped,
}

/// The tasks that have ended, in that order.
#[derive(Default)]
struct Ended(Mutex<Vec<(u32, End)>>);

impl Ended {
    fn tell(&self, task: u32, end: End) {
        self.0.lock().unwrap().push((task, end));
    }
}

/// The driver: it alone begins, stops and collects.
struct Driver<P> {
    performers: P,
    ended: Arc<Ended>,
    threads: Vec<JoinHandle<()>>,
    /// What was accepted: whose outcome, as which effect's.
    accepted: Vec<(u32, EffectId, End)>,
}

impl<P: Performers> Driver<P> {
    fn new() -> Self {
        let (performers, ended) = (P::default(), Arc::default());
        Self { performers, ended, threads: Vec::new(), accepted: Vec::new() }
    }

    /// A task that ends like this, unless it is stopped first.
    fn spawn(&mut self, id: u32, end: End) -> Spawned {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (ended, stopped) = (Arc::clone(&self.ended), Arc::clone(&is_stopped));
        self.threads.push(thread::spawn(move || {
            let end = if stopped.load(Ordering::Acquire) { End::Stopped } else { end };
            ended.tell(id, end);
        }));
        Spawned { id, is_stopped }
    }

    fn begin(&mut self, effect: EffectId, id: u32, end: End) {
        let task = self.spawn(id, end);
        self.performers.begin(effect, task);
    }

    /// Takes what has ended so far.
    fn collect(&mut self) {
        let ended = std::mem::take(&mut *self.ended.0.lock().unwrap());
        for (task, end) in ended {
            if let Some(effect) = self.performers.finish(task) {
                self.accepted.push((task, effect, end));
            }
        }
    }

    /// Takes the rest, once everything has ended.
    fn collect_all(mut self) -> Vec<(u32, EffectId, End)> {
        for thread in std::mem::take(&mut self.threads) {
            thread.join().unwrap();
        }
        self.collect();
        self.accepted
    }
}

const EFFECT: EffectId = EffectId::Compact(1);
const OTHER: EffectId = EffectId::Compact(2);

/// An effect is stopped and begun anew while its task ends: the old task's outcome counts before
/// the stop or not at all, the new one's always, once.
pub fn an_outcome_counts_from_the_newest_task() {
    begun_anew::<Running<Spawned>>();
}

/// The same, where a task's outcome counts whenever its effect runs: the model does not hold.
pub fn an_outcome_counts_by_its_effect() {
    begun_anew::<ByEffect>();
}

fn begun_anew<P: Performers>() {
    loom::model(|| {
        let mut driver = Driver::<P>::new();
        driver.begin(EFFECT, 1, End::Outcome);
        driver.collect();
        let before = std::mem::take(&mut driver.accepted);
        driver.performers.stop_all();
        driver.begin(EFFECT, 2, End::Outcome);
        driver.collect();
        let after = driver.collect_all();
        assert!(before.is_empty() || before == [(1, EFFECT, End::Outcome)], "{before:?}");
        assert_eq!(after, [(2, EFFECT, End::Outcome)]);
    });
}

/// Effects end side by side, one of them in a crash: each counts once, as what it was.
pub fn every_end_counts_once() {
    loom::model(|| {
        let mut driver = Driver::<Running<Spawned>>::new();
        driver.begin(EFFECT, 1, End::Outcome);
        driver.begin(OTHER, 2, End::Crashed);
        driver.collect();
        let mut accepted = driver.collect_all();
        accepted.sort_by_key(|(task, ..)| *task);
        assert_eq!(accepted, [(1, EFFECT, End::Outcome), (2, OTHER, End::Crashed)]);
    });
}

/// The driver stops everything, as when a session closes, and collects once more: nothing counts
/// from there on.
pub fn nothing_counts_after_the_stop() {
    loom::model(|| {
        let mut driver = Driver::<Running<Spawned>>::new();
        driver.begin(EFFECT, 1, End::Outcome);
        driver.begin(OTHER, 2, End::Crashed);
        driver.collect();
        driver.performers.stop_all();
        let before = driver.accepted.len();
        let accepted = driver.collect_all();
        assert_eq!(accepted.len(), before, "{accepted:?}");
    });
}

/// A call that began early crashes while the driver takes it over: either its crash counts, or
/// the call is run anew. It never waits for an end that was told already.
pub fn a_crash_is_taken_over_or_run_anew() {
    loom::model(|| {
        let mut driver = Driver::<Running<Spawned>>::new();
        // Stands for the channel on which a call that began early hears that it is wanted.
        let listens = Arc::new(AtomicBool::new(true));
        let early = Spawned { id: 1, is_stopped: Arc::default() };
        driver.threads.push(thread::spawn({
            let (ended, listens) = (Arc::clone(&driver.ended), Arc::clone(&listens));
            move || {
                // A task drops all it holds, and then its end is told.
                if is_reversed(Order::DropThenEnd) {
                    ended.tell(1, End::Crashed);
                }
                listens.store(false, Ordering::Release);
                if !is_reversed(Order::DropThenEnd) {
                    ended.tell(1, End::Crashed);
                }
            }
        }));
        driver.collect();
        match listens.load(Ordering::Acquire) {
            true => driver.performers.begin(EFFECT, early),
            false => driver.begin(EFFECT, 2, End::Outcome),
        }
        driver.collect();
        let accepted = driver.collect_all();
        let known = [(1, EFFECT, End::Crashed), (2, EFFECT, End::Outcome)];
        assert!(accepted.len() == 1 && known.contains(&accepted[0]), "{accepted:?}");
    });
}
