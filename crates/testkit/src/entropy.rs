//! Chance that repeats itself.

use std::sync::atomic::{AtomicU64, Ordering};

use heeler_core::Entropy;

/// Random numbers that are the same for the same seed (splitmix64).
#[derive(Debug)]
pub struct SeededEntropy(AtomicU64);

impl SeededEntropy {
    /// Starts the sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_sequence() {
        let entropy = SeededEntropy::new(1_234_567);
        let numbers = [entropy.next(), entropy.next(), entropy.next()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
    }
}
