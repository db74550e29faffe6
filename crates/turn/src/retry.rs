//! Whether and when a failed model request is sent again. Pure: the driver waits.

use heeler_core::ProviderError;

/// When a failed request is sent again.
///
/// Waits grow exponentially with full jitter: anything from nothing to the whole step, so that many
/// sessions that failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How often a request is sent at most, the first time included; 0 and 1 both mean once.
    pub attempts_max: u32,
    /// The longest wait after the first failure; each later one doubles it.
    pub base_millis: u64,
    /// No own wait is longer.
    pub cap_millis: u64,
    /// A provider that asks for a longer wait than this is not waited for.
    pub retry_after_max_millis: u64,
}

impl Default for Policy {
    /// Six attempts, one second doubling up to a minute, at most ten minutes when asked to wait.
    fn default() -> Self {
        Self {
            attempts_max: 6,
            base_millis: 1000,
            cap_millis: 60_000,
            retry_after_max_millis: 600_000,
        }
    }
}

impl Policy {
    /// How long to wait in milliseconds after `attempt` (counted from 1) failed with `error`;
    /// `None` when it is not tried again. `random` is 64 random bits.
    #[must_use]
    pub fn next_wait(&self, attempt: u32, error: &ProviderError, random: u64) -> Option<u64> {
        if !error.kind.is_transient() || self.attempts_max <= attempt {
            return None;
        }
        let doublings = attempt.saturating_sub(1).min(63);
        let step = self.base_millis.saturating_mul(1 << doublings).min(self.cap_millis);
        // The high half of the product spreads `random` evenly over 0..=step.
        let own =
            u64::try_from((u128::from(random) * (u128::from(step) + 1)) >> 64).unwrap_or(step);
        let Some(asked) = error.retry_after else { return Some(own) };
        let asked = u64::try_from(asked.as_millis()).unwrap_or(u64::MAX);
        // Never earlier than asked; a little later, so that all who were asked do not come at once.
        let spread = own.min(self.base_millis);
        (asked <= self.retry_after_max_millis).then(|| asked.saturating_add(spread))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use heeler_core::ProviderErrorKind::{self, *};
    use proptest::prelude::*;

    use super::*;

    const LONGEST: u64 = u64::MAX;

    #[test]
    fn waits_grow_up_to_the_cap_and_attempts_end() {
        let waits = |random| (1..=7).map(|n| wait(n, Overloaded, None, random)).collect::<Vec<_>>();
        let some =
            |millis: [u64; 5]| millis.into_iter().map(Some).chain([None, None]).collect::<Vec<_>>();
        assert_eq!(waits(LONGEST), some([1000, 2000, 4000, 8000, 16_000]));
        assert_eq!(waits(LONGEST / 2), some([500, 1000, 2000, 4000, 8000]));
        assert_eq!(waits(0), some([0, 0, 0, 0, 0]));
        let patient = Policy { attempts_max: u32::MAX, ..Policy::default() };
        let error = ProviderError::new(Network, "");
        assert_eq!(patient.next_wait(7, &error, LONGEST), Some(60_000));
        assert_eq!(patient.next_wait(u32::MAX - 1, &error, LONGEST), Some(60_000));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for kind in [RateLimit, Overloaded, Network, Server, Format] {
            assert!(wait(1, kind, None, 0).is_some(), "{kind:?}");
        }
        for kind in [Auth, Billing, ContextOverflow, UnknownModel, RefusedItem, InvalidRequest] {
            assert_eq!(wait(1, kind, Some(1), 0), None, "{kind:?}");
        }
    }

    #[test]
    fn an_asked_wait_is_honoured_unless_it_is_too_long() {
        assert_eq!(wait(1, RateLimit, Some(30_000), 0), Some(30_000));
        assert_eq!(wait(5, RateLimit, Some(30_000), LONGEST), Some(31_000));
        assert_eq!(wait(1, RateLimit, Some(600_000), 0), Some(600_000));
        assert_eq!(wait(1, RateLimit, Some(600_001), 0), None);
    }

    proptest! {
        #[test]
        fn a_wait_is_bounded(
            attempts_max in any::<u32>(), base_millis in any::<u64>(), cap_millis in any::<u64>(),
            attempt in any::<u32>(), random in any::<u64>(), asked in prop::option::of(any::<u64>()),
        ) {
            let policy = Policy { attempts_max, base_millis, cap_millis, ..Policy::default() };
            let mut error = ProviderError::new(RateLimit, "");
            error.retry_after = asked.map(Duration::from_millis);
            if let Some(wait) = policy.next_wait(attempt, &error, random) {
                prop_assert!(attempt < attempts_max);
                let longest = asked.unwrap_or(0).saturating_add(base_millis.min(cap_millis));
                match asked {
                    Some(asked) => prop_assert!((asked..=longest).contains(&wait)),
                    None => prop_assert!(wait <= cap_millis),
                }
            }
        }
    }

    fn wait(attempt: u32, kind: ProviderErrorKind, asked: Option<u64>, random: u64) -> Option<u64> {
        let mut error = ProviderError::new(kind, "");
        error.retry_after = asked.map(Duration::from_millis);
        Policy::default().next_wait(attempt, &error, random)
    }
}
