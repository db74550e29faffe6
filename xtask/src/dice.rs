//! Choices that repeat themselves: the same seed makes the same ones in the same order.

use std::ops::RangeInclusive;

use heeler_core::Entropy as _;
use heeler_testkit::SeededEntropy;

/// A source of choices.
pub(crate) struct Dice(SeededEntropy);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// A number of the range; its start when it is empty.
    pub(crate) fn roll(&mut self, range: RangeInclusive<usize>) -> usize {
        let (start, end) = range.into_inner();
        let n = u64::try_from(end.saturating_sub(start)).unwrap_or(u64::MAX).saturating_add(1);
        start + usize::try_from(self.0.next() % n).unwrap_or(0)
    }

    /// True once in so many times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.roll(1..=n) == 1
    }

    /// One of these.
    pub(crate) fn pick<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        const { assert!(N > 0) };
        choices[self.roll(0..=N - 1)]
    }
}
