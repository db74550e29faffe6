//! Time that passes when a test says so.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use heeler_core::{BoxFuture, Clock, Timestamp};

/// How often a sleeper of an automatic clock lets everything else run before time jumps to it.
/// Others that are ready within these rounds come first, whatever the order of the executor.
const ROUNDS_BEFORE_JUMP: u32 = 64;

/// A clock that stands until it is advanced. Clones share the time.
#[derive(Debug, Clone)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    /// Sleeps that begin with up to this long to go end by themselves; 0 for none.
    jump_millis_max: u64,
    next_id: u64,
    /// By deadline, then by age.
    sleepers: BTreeMap<(Timestamp, u64), Sleeper>,
}

#[derive(Debug)]
struct Sleeper {
    waker: Waker,
    /// Whether time may jump for it.
    jumps: bool,
}

impl VirtualClock {
    /// A clock that stands at `now_millis`.
    #[must_use]
    pub fn new(now_millis: u64) -> Self {
        Self::with_jumps(now_millis, 0)
    }

    /// A clock that jumps towards those who sleep when everything else waits. Sleeps that begin
    /// more than `jump_millis_max` before their deadline (a limit on wall time, say) move nothing;
    /// they end when others, or [`VirtualClock::advance`], have moved time far enough. What waits for a process or a socket does not count as waiting
    /// for the clock: where time must not run past such work, use [`VirtualClock::new`].
    #[must_use]
    pub fn auto(now_millis: u64, jump_millis_max: u64) -> Self {
        Self::with_jumps(now_millis, jump_millis_max)
    }

    fn with_jumps(now_millis: u64, jump_millis_max: u64) -> Self {
        let state = State {
            now: Timestamp(now_millis),
            jump_millis_max,
            next_id: 0,
            sleepers: BTreeMap::new(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Lets time pass and wakes who has slept enough.
    pub fn advance(&self, millis: u64) {
        let due = {
            let mut state = self.state();
            let now = state.now.plus(millis);
            state.pass_to(now)
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// Lets time pass until the earliest sleeper wakes; false when nobody sleeps.
    pub fn advance_to_next(&self) -> bool {
        let due = {
            let mut state = self.state();
            let Some(&(deadline, _)) = state.sleepers.keys().next() else { return false };
            state.pass_to(deadline)
        };
        due.into_iter().for_each(Waker::wake);
        true
    }

    /// The deadlines of those who sleep, earliest first.
    #[must_use]
    pub fn sleepers(&self) -> Vec<Timestamp> {
        self.state().sleepers.keys().map(|(deadline, _)| *deadline).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.state().now
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        Box::pin(Sleep { clock: self.clone(), deadline, begun: None, rounds: 0 })
    }
}

impl State {
    fn begin(&mut self, deadline: Timestamp) -> (u64, bool) {
        self.next_id += 1;
        let jumps = deadline.since(self.now) <= self.jump_millis_max;
        (self.next_id, jumps)
    }

    /// Moves time forward, never back, and returns whom to wake.
    fn pass_to(&mut self, now: Timestamp) -> Vec<Waker> {
        self.now = self.now.max(now);
        let later = self.sleepers.split_off(&(self.now.plus(1), 0));
        let due = std::mem::replace(&mut self.sleepers, later);
        due.into_values().map(|sleeper| sleeper.waker).collect()
    }

    /// Whether nobody else for whom time may jump sleeps shorter.
    fn leads(&self, key: (Timestamp, u64)) -> bool {
        let first = self.sleepers.iter().find(|(_, sleeper)| sleeper.jumps);
        first.is_some_and(|(first, _)| *first == key)
    }
}

struct Sleep {
    clock: VirtualClock,
    deadline: Timestamp,
    /// Given when the sleep is first polled, with whether time may jump for it.
    begun: Option<(u64, bool)>,
    rounds: u32,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut state = clock.state();
        if state.now >= self.deadline {
            return Poll::Ready(());
        }
        let deadline = self.deadline;
        let (id, jumps) = *self.begun.get_or_insert_with(|| state.begin(deadline));
        let key = (self.deadline, id);
        state.sleepers.insert(key, Sleeper { waker: context.waker().clone(), jumps });
        if !jumps {
            return Poll::Pending;
        }
        self.rounds = if state.leads(key) { self.rounds + 1 } else { 0 };
        let mut due = Vec::new();
        if self.rounds > ROUNDS_BEFORE_JUMP {
            self.rounds = 0;
            // Those who sleep shorter without moving time wake first, and in order.
            let next = state.sleepers.keys().next().map_or(self.deadline, |(next, _)| *next);
            due = state.pass_to(next);
        }
        drop(state);
        due.into_iter().for_each(Waker::wake);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some((id, _)) = self.begun {
            self.clock.state().sleepers.remove(&(self.deadline, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs futures side by side on one thread and returns the order in which they end.
    fn run(sleeps: &[(VirtualClock, u64)], polls_max: usize) -> Vec<u64> {
        let mut context = Context::from_waker(Waker::noop());
        let mut open: Vec<_> = sleeps
            .iter()
            .map(|(clock, deadline)| (*deadline, clock.sleep_until(Timestamp(*deadline))))
            .collect();
        let mut order = Vec::new();
        for _ in 0..polls_max {
            open.retain_mut(|(deadline, sleep)| {
                let is_ready = sleep.as_mut().poll(&mut context).is_ready();
                if is_ready {
                    order.push(*deadline);
                }
                !is_ready
            });
        }
        order
    }

    #[test]
    fn time_stands_until_it_is_advanced() {
        let clock = VirtualClock::new(100);
        let mut context = Context::from_waker(Waker::noop());
        let mut early = clock.sleep_until(Timestamp(110));
        let mut late = clock.sleep_until(Timestamp(120));
        assert!(early.as_mut().poll(&mut context).is_pending());
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.sleepers(), [Timestamp(110), Timestamp(120)]);
        clock.advance(10);
        assert!(early.as_mut().poll(&mut context).is_ready());
        assert!(late.as_mut().poll(&mut context).is_pending());
        drop(late);
        assert_eq!(clock.sleepers(), []);
        assert!(!clock.advance_to_next());
        assert_eq!(clock.now(), Timestamp(110));
    }

    #[test]
    fn an_automatic_clock_jumps_to_the_earliest_and_for_short_sleeps_only() {
        let clock = VirtualClock::auto(0, 1_000);
        let sleeps = [900, 2_500, 300, 5_000].map(|deadline| (clock.clone(), deadline));
        assert_eq!(run(&sleeps, 1_000), [300, 900]);
        assert_eq!(clock.now(), Timestamp(900));
    }

    #[test]
    fn a_long_sleep_on_the_way_of_a_jump_ends_in_its_turn() {
        let clock = VirtualClock::auto(0, 1_000);
        let mut context = Context::from_waker(Waker::noop());
        let mut long = clock.sleep_until(Timestamp(1_500));
        assert!(long.as_mut().poll(&mut context).is_pending());
        assert_eq!(run(&[(clock.clone(), 900)], 1_000), [900]);
        let mut short = clock.sleep_until(Timestamp(1_800));
        while long.as_mut().poll(&mut context).is_pending() {
            assert!(short.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(clock.now(), Timestamp(1_500));
    }

    #[test]
    fn sleeping_tasks_end_in_order_under_an_executor() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let clock = VirtualClock::auto(0, 60_000);
        let order = Arc::new(Mutex::new(Vec::new()));
        runtime.block_on(async {
            let tasks = [30, 10, 20].map(|millis| {
                let (clock, order) = (clock.clone(), Arc::clone(&order));
                tokio::spawn(async move {
                    clock.sleep_until(Timestamp(millis)).await;
                    order.lock().unwrap().push(clock.now());
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*order.lock().unwrap(), [10, 20, 30].map(Timestamp));
    }

    #[test]
    fn advancing_to_the_next_sleeper_wakes_it_alone() {
        let clock = VirtualClock::new(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut sleep = clock.sleep_until(Timestamp(7));
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        assert!(clock.advance_to_next());
        assert!(sleep.as_mut().poll(&mut context).is_ready());
        assert_eq!(clock.now(), Timestamp(7));
    }
}
