//! The real clock and the real dice.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use heeler_core::{BoxFuture, Clock, Entropy, Timestamp};

/// When this process first asked for the time, and how far the wall clock was ahead of what passed
/// since, at most.
static BEGAN: LazyLock<(Instant, AtomicU64)> =
    LazyLock::new(|| (Instant::now(), AtomicU64::new(0)));

/// The system's clock. Within a process it never goes back, whoever sets the wall clock: waits and
/// the ends of turns are counted by it. It goes forward with the wall clock, so a machine that slept
/// has its time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let (began, ahead) = &*BEGAN;
        // The wall clock first: a process that is stopped between the two would be ahead for good.
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        told(wall, began.elapsed(), ahead)
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        // One more: a wait that ends within the deadline's own millisecond would look early.
        let wait = Duration::from_millis(deadline.since(self.now()).saturating_add(1));
        // Beside work that is always ready, which takes all that a task may do at a time, it would never
        // be asked whether it is over.
        Box::pin(tokio::task::unconstrained(tokio::time::sleep(wait)))
    }
}

/// The time by the wall clock, or by what passed since the process began where that is more. In
/// microseconds: parts of a millisecond that are cut off would add up to a step.
fn told(wall: Duration, passed: Duration, ahead: &AtomicU64) -> Timestamp {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let passed = micros(passed);
    let now_ahead = micros(wall).saturating_sub(passed);
    let ahead = ahead.fetch_max(now_ahead, Ordering::Relaxed).max(now_ahead);
    Timestamp(ahead.saturating_add(passed) / 1_000)
}

/// Random numbers seeded by the operating system, for ids and jitter; not for secrets.
#[derive(Debug, Default)]
pub struct OsEntropy {
    seed: RandomState,
    count: AtomicU64,
}

impl Entropy for OsEntropy {
    fn next(&self) -> u64 {
        let mut hasher = self.seed.build_hasher();
        hasher.write_u64(self.count.fetch_add(1, Ordering::Relaxed));
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Milliseconds of the wall clock and since the process began, and what is told then.
    fn check(readings: &[(u64, u64)], expected: Expect) {
        let ahead = AtomicU64::new(0);
        let told = readings.iter().map(|(wall, passed)| {
            told(Duration::from_millis(*wall), Duration::from_millis(*passed), &ahead).0
        });
        expected.assert_eq(&format!("{:?}", told.collect::<Vec<_>>()));
    }

    #[test]
    fn time_goes_on_when_the_clock_is_set_back() {
        check(&[(9_000, 0), (9_500, 500), (2_000, 1_000)], expect!["[9000, 9500, 10000]"]);
        // Set right again, it does not stand still until it is where it was.
        check(
            &[(9_000, 0), (2_000, 1_000), (10_000, 2_000), (11_500, 2_500)],
            expect!["[9000, 10000, 11000, 11500]"],
        );
        check(&[(0, 0), (0, 500)], expect!["[0, 500]"]);
    }

    #[test]
    fn time_follows_a_clock_that_is_set_forward_and_a_machine_that_slept() {
        check(&[(9_000, 0), (60_000, 1_000), (61_000, 2_000)], expect!["[9000, 60000, 61000]"]);
        // Forward and back: it stays ahead, and counts on.
        check(&[(9_000, 0), (60_000, 1_000), (11_000, 2_000)], expect!["[9000, 60000, 61000]"]);
    }

    #[test]
    fn no_reading_is_too_large() {
        let ahead = AtomicU64::new(0);
        let last = told(Duration::MAX, Duration::ZERO, &ahead);
        assert_eq!(told(Duration::MAX, Duration::MAX, &ahead), last);
    }
}
