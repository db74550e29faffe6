//! How far the estimate is off, learned from what providers count.
//!
//! A fold over the replies of a session's own model calls, in whole numbers, so that every machine
//! that reads a journal comes to the same value. It belongs to the session: a compaction, a resume
//! or going back in the conversation does not undo it.

use heeler_core::Usage;
use serde::{Deserialize, Serialize};

/// What stands for a ratio of one.
pub const RATIO_ONE: u64 = 1_000_000;
/// An estimate below this says nothing about a long conversation.
pub const ESTIMATED_TOKENS_MIN: u64 = 64;
/// A provider that counts less did not count the request.
pub const REAL_TOKENS_MIN: u64 = 32;
/// The smallest ratio that is believed: 0.05.
pub const RATIO_MIN: u64 = RATIO_ONE / 20;
/// The largest ratio that is believed: 20.
pub const RATIO_MAX: u64 = RATIO_ONE * 20;
/// A new sample counts one part in so many: alpha 0.25.
const PARTS: u64 = 4;

/// The moving average of real tokens over estimated ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Real tokens for each estimated one, in millionths.
    pub ratio: u64,
    /// How many model calls it was learned from.
    pub samples: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { ratio: RATIO_ONE, samples: 0 }
    }
}

impl Calibration {
    /// Takes in what one request was estimated at, before any calibration, and what the provider
    /// counted. The first sample counts whole; what cannot be meant is ignored.
    pub fn learn(&mut self, estimated: u64, usage: &Usage) {
        if usage.is_estimated {
            return;
        }
        let real = usage.input_total();
        if estimated < ESTIMATED_TOKENS_MIN || real < REAL_TOKENS_MIN {
            return;
        }
        let sample = u128::from(real) * u128::from(RATIO_ONE) / u128::from(estimated);
        let Ok(sample) = u64::try_from(sample) else { return };
        if !(RATIO_MIN..=RATIO_MAX).contains(&sample) {
            return;
        }
        self.ratio = match self.samples {
            0 => sample,
            _ => ((PARTS - 1) * self.ratio + sample).div_ceil(PARTS),
        };
        self.samples = self.samples.saturating_add(1);
    }

    /// What so many estimated tokens really are, rounded up.
    #[must_use]
    pub fn correct(&self, estimated: u64) -> u64 {
        let real = (u128::from(estimated) * u128::from(self.ratio)).div_ceil(u128::from(RATIO_ONE));
        u64::try_from(real).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    fn learned(samples: &[(u64, u64)]) -> (u64, u64) {
        let mut calibration = Calibration::default();
        samples.iter().for_each(|(estimated, real)| calibration.learn(*estimated, &counted(*real)));
        (calibration.ratio, calibration.samples)
    }

    #[test]
    fn a_quarter_of_each_new_sample_counts_and_the_first_counts_whole() {
        assert_eq!(learned(&[]), (1_000_000, 0));
        assert_eq!(learned(&[(100, 200)]), (2_000_000, 1));
        assert_eq!(learned(&[(100, 200), (100, 100)]), (1_750_000, 2));
        assert_eq!(learned(&[(100, 200), (100, 100), (1000, 1000)]), (1_562_500, 3));
    }

    #[test]
    fn what_is_read_and_written_to_a_cache_counts() {
        let mut calibration = Calibration::default();
        let usage =
            Usage { input: 10, cache_read: 100, cache_write: 40, output: 999, ..Usage::default() };
        calibration.learn(100, &usage);
        assert_eq!(calibration.ratio, 1_500_000);
    }

    #[test]
    fn samples_that_cannot_be_meant_are_ignored() {
        for (estimated, real, counts) in [
            (63, 100, false),
            (64, 100, true),
            (100, 31, false),
            (100, 32, true),
            (640, 32, true),
            (641, 32, false),
            (100, 2000, true),
            (100, 2001, false),
            (64, u64::MAX, false),
            (u64::MAX, u64::MAX, true),
        ] {
            let samples = learned(&[(estimated, real)]).1;
            assert_eq!(samples == 1, counts, "{estimated} estimated, {real} real");
        }
    }

    #[test]
    fn nothing_is_learned_from_an_estimate() {
        let mut calibration = Calibration::default();
        calibration.learn(100, &Usage { input: 200, is_estimated: true, ..Usage::default() });
        assert_eq!(calibration, Calibration::default());
    }

    #[test]
    fn a_correction_is_rounded_up_and_one_changes_nothing() {
        assert_eq!(Calibration::default().correct(12_345), 12_345);
        assert_eq!(Calibration { ratio: 1_500_000, samples: 1 }.correct(3), 5);
        assert_eq!(Calibration { ratio: RATIO_MAX, samples: 1 }.correct(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn it_stays_between_the_samples_it_believes(
            samples in prop::collection::vec((0..5000u64, 0..20_000u64), 1..50),
        ) {
            let (ratio, n) = learned(&samples);
            let believed: Vec<u64> = samples
                .iter()
                .filter(|(estimated, real)| *estimated >= 64 && *real >= 32)
                .map(|(estimated, real)| real * 1_000_000 / estimated)
                .filter(|ratio| (50_000..=20_000_000).contains(ratio))
                .collect();
            prop_assert_eq!(n, believed.len() as u64);
            let least = believed.iter().copied().min().unwrap_or(1_000_000);
            let most = believed.iter().copied().max().unwrap_or(1_000_000);
            prop_assert!((least..=most).contains(&ratio), "{} of {}..={}", ratio, least, most);
        }
    }
}
