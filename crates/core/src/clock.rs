//! Time and chance, handed in so that everything above them can be replayed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BoxFuture;

/// Milliseconds since the Unix epoch.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn millis(self) -> u64 {
        self.0
    }

    /// The time `millis` later.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to here; 0 when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Tells the time and waits.
///
/// `now` never steps back while a session is open, whoever sets the machine's clock: waits and limits
/// of time are counted by it. Between two processes it may.
/// Dropping the future of `sleep_until` ends the wait.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
    /// Resolves at `deadline` or soon after; at once when it has passed.
    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()>;
}

/// A source of random numbers for ids and jitter; not for secrets.
pub trait Entropy: Send + Sync + 'static {
    /// The next 64 random bits.
    fn next(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_neither_overflows_nor_goes_below_zero() {
        let (early, late) = (Timestamp(1_000), Timestamp(4_500));
        assert_eq!((late.millis(), late.since(early), early.since(late)), (4_500, 3_500, 0));
        assert_eq!((early.plus(3_500), late.plus(u64::MAX)), (late, Timestamp(u64::MAX)));
    }
}
