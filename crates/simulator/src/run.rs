//! One run of a seed or a tape, and the sums of many.

use std::fmt;

use heeler_core::Entry;

use crate::chance::Chance;
use crate::check::Violation;
use crate::drive::World;
use crate::matrix::Matrix;

/// A run in which an invariant did not hold.
#[derive(Debug, Clone)]
pub struct Broken {
    /// What did not hold.
    pub violation: Violation,
    /// The journal as it was then.
    pub journal: Vec<Entry>,
    /// What chance gave, for shrinking.
    pub(crate) tape: Vec<u32>,
}

/// What many runs came to.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Runs.
    pub runs: u64,
    /// Turns begun.
    pub turns: u64,
    /// Records kept.
    pub records: u64,
    /// Processes that died.
    pub crashes: u64,
    /// Faults and what they met.
    pub matrix: Matrix,
}

impl Totals {
    /// Adds other runs.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.turns += other.turns;
        self.records += other.records;
        self.crashes += other.crashes;
        self.matrix.add(&other.matrix);
    }
}

/// Runs a seed, adding what happened to `totals`.
///
/// # Errors
/// The first invariant that does not hold.
pub fn run(seed: u64, totals: &mut Totals) -> Result<(), Box<Broken>> {
    play(Chance::seeded(seed), totals)
}

pub(crate) fn play(mut chance: Chance, totals: &mut Totals) -> Result<(), Box<Broken>> {
    let mut world = World::new(&mut chance);
    let result = world.run();
    totals.runs += 1;
    totals.turns += world.counts.turns;
    totals.records += world.counts.records;
    totals.crashes += world.counts.crashes;
    totals.matrix.add(&world.matrix);
    let journal = world.store.entries().to_vec();
    result.map_err(|violation| {
        Box::new(Broken { violation: *violation, journal, tape: chance.into_tape() })
    })
}

impl fmt::Display for Broken {
    /// The invariant, then one line a record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.violation)?;
        for Entry { seq, at, record } in &self.journal {
            let body = serde_json::to_string(record).unwrap_or_default();
            let body = heeler_core::truncate_chars(&body, LINE_CHARS_MAX);
            write!(f, "\n{seq:>4} {:>6} {body}", at.millis() % 1_000_000)?;
        }
        Ok(())
    }
}

/// The longest line of a printed journal.
const LINE_CHARS_MAX: usize = 300;
