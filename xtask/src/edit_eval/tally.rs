//! What became of the calls.

use std::fmt::Write as _;

use super::drift::Drift;
use super::play::Outcome;

/// The share of calls, in percent, that must come out right.
const RIGHT_PERCENT_MIN: f64 = 95.0;

#[derive(Default)]
pub(super) struct Tally {
    counts: [[usize; 3]; Drift::ALL.len()],
}

impl Tally {
    pub(super) fn count(&mut self, drift: Drift, outcome: Outcome) {
        self.counts[drift as usize][outcome as usize] += 1;
    }

    pub(super) fn n_of(&self, drift: Drift) -> usize {
        self.counts[drift as usize].iter().sum()
    }

    /// Calls that were not as they should be.
    pub(super) fn n_drifted(&self) -> usize {
        Drift::ALL.into_iter().skip(1).map(|drift| self.n_of(drift)).sum()
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *mine += theirs;
        }
    }

    /// One line a drift.
    pub(super) fn table(&self) -> String {
        let mut table =
            "| drift | calls | right | refused | wrong |\n|---|---|---|---|---|\n".to_owned();
        for drift in Drift::ALL {
            let [right, refused, wrong] = self.counts[drift as usize];
            let calls = self.n_of(drift);
            let percent = percent(right, calls);
            let _ = writeln!(
                table,
                "| {} | {calls} | {percent:.2} % | {refused} | {wrong} |",
                drift.name()
            );
        }
        table
    }

    /// The figures of all calls with a drift, and whether those without all came out right.
    pub(super) fn line(&self) -> String {
        let [right, refused, mut wrong] = self.drifted();
        let faithful = self.counts[Drift::None as usize];
        wrong += faithful[Outcome::Wrong as usize];
        format!(
            "calls {}, right {:.2} %, refused {refused}, wrong {wrong} (undrifted {:.2} % of {})",
            self.n_drifted(),
            percent(right, self.n_drifted()),
            percent(faithful[0], faithful.iter().sum()),
            faithful.iter().sum::<usize>(),
        )
    }

    pub(super) fn meets_the_marks(&self) -> bool {
        let [right, _, wrong] = self.drifted();
        let [_, refused_undrifted, wrong_undrifted] = self.counts[Drift::None as usize];
        wrong + wrong_undrifted + refused_undrifted == 0
            && RIGHT_PERCENT_MIN <= percent(right, self.n_drifted())
    }

    fn drifted(&self) -> [usize; 3] {
        let mut sum = [0; 3];
        for counts in &self.counts[1..] {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        sum
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}
