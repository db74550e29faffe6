//! One run of a seed or a tape, and the sums of many.

use std::fmt;

use heeler_core::Entry;

use crate::chance::Chance;
use crate::check::Violation;
use crate::matrix::Matrix;
use crate::{drive, live};

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arm {
    /// The shipped machine, driven by a small loop of the simulator's own: a thousand times faster.
    #[default]
    Machine,
    /// The whole shipped engine: its driver, pipeline, log and sessions.
    Engine,
}

impl Arm {
    /// Both of them.
    pub const ALL: &[Self] = &[Self::Machine, Self::Engine];

    /// Its name in what is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Engine => "engine",
        }
    }
}

/// A run in which an invariant did not hold.
#[derive(Debug, Clone)]
pub struct Broken {
    /// What did not hold.
    pub violation: Violation,
    /// The journal as it was then.
    pub journal: Vec<Entry>,
    pub(crate) arm: Arm,
    /// What chance gave, for shrinking.
    pub(crate) tape: Vec<u32>,
}

/// What many runs came to.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Of what.
    pub arm: Arm,
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
    /// No runs yet.
    #[must_use]
    pub fn of(arm: Arm) -> Self {
        let matrix = Matrix::of(arm);
        Self { arm, runs: 0, turns: 0, records: 0, crashes: 0, matrix }
    }

    /// Adds other runs.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.turns += other.turns;
        self.records += other.records;
        self.crashes += other.crashes;
        self.matrix.add(&other.matrix);
    }
}

/// What came of one run.
pub(crate) struct Run {
    pub(crate) result: Result<(), Violation>,
    pub(crate) turns: u64,
    pub(crate) crashes: u64,
    pub(crate) matrix: Matrix,
    pub(crate) journal: Vec<Entry>,
    pub(crate) tape: Vec<u32>,
}

/// Runs a seed, adding what happened to `totals`, in the simulation that `totals` are of.
///
/// # Errors
/// The first invariant that does not hold.
pub fn run(seed: u64, totals: &mut Totals) -> Result<(), Box<Broken>> {
    play(Chance::seeded(seed), totals)
}

pub(crate) fn play(chance: Chance, totals: &mut Totals) -> Result<(), Box<Broken>> {
    let arm = totals.arm;
    let Run { result, turns, crashes, matrix, journal, tape } = match arm {
        Arm::Machine => drive::play(chance),
        Arm::Engine => live::play(chance),
    };
    totals.runs += 1;
    totals.turns += turns;
    totals.records += journal.len() as u64;
    totals.crashes += crashes;
    totals.matrix.add(&matrix);
    result.map_err(|violation| Box::new(Broken { violation, journal, arm, tape }))
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
