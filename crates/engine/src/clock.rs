//! The real clock and the real dice.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use heeler_core::{BoxFuture, Clock, Entropy, Timestamp};

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        // One more: a wait that ends within the deadline's own millisecond would look early.
        let wait = Duration::from_millis(deadline.since(self.now()).saturating_add(1));
        Box::pin(tokio::time::sleep(wait))
    }
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
