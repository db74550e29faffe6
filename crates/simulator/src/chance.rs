//! The one source of chance: a seeded generator that writes down what it gave, or such a tape.
//!
//! Zero is always the calmest choice, so that a tape with fewer and smaller numbers is a simpler
//! run. That is all shrinking needs to know.

/// Gives numbers and remembers them.
#[derive(Debug)]
pub(crate) struct Chance {
    source: Source,
    given: Vec<u32>,
    given_max: usize,
}

/// So many numbers more than its tape has a run that becomes calm may ask for: to come to its end.
const CALM_NUMBERS_MAX: usize = 400;

#[derive(Debug)]
enum Source {
    Seed(u64),
    Tape(std::vec::IntoIter<u32>),
}

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { source: Source::Seed(seed), given: Vec::new(), given_max: usize::MAX }
    }

    /// Gives what the tape says, and nothing but zeros after it.
    pub(crate) fn taped(tape: Vec<u32>) -> Self {
        let given_max = tape.len() * 3 / 2 + CALM_NUMBERS_MAX;
        Self { source: Source::Tape(tape.into_iter()), given: Vec::new(), given_max }
    }

    /// Whether a run goes on so long after its tape that it is none of the simpler ones.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.given.len() > self.given_max
    }

    /// What was given so far.
    pub(crate) fn into_tape(self) -> Vec<u32> {
        self.given
    }

    /// A number below `end`; 0 when `end` is 0.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let number = match &mut self.source {
            Source::Seed(state) => {
                let wide = (next(state) >> 32) * u64::from(end);
                u32::try_from(wide >> 32).unwrap_or_default()
            }
            Source::Tape(tape) => tape.next().unwrap_or_default() % end.max(1),
        };
        self.given.push(number);
        number
    }

    /// As [`Chance::below`], for indexes.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        self.below(u32::try_from(end).unwrap_or(u32::MAX)) as usize
    }

    /// Whether something happens that does so in `percent` of all cases.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        100 - percent.min(100) <= self.below(100)
    }

    /// One of `items`, the first the calmest.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}

/// SplitMix64: small, fast, and good enough to wander about with.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_gives_the_same_again_and_then_calms_down() {
        let mut first = Chance::seeded(7);
        let given: Vec<u32> = (2..50).map(|end| first.below(end)).collect();
        let mut again = Chance::taped(first.into_tape());
        assert_eq!((2..50).map(|end| again.below(end)).collect::<Vec<_>>(), given);
        assert!(!again.percent(99) && again.pick(&[1, 2]) == 1);
    }
}
