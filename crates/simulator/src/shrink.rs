//! Finds a simpler run that breaks the same invariant: shorter and calmer tapes, tried in turn.

use crate::chance::Chance;
use crate::run::{Arm, Broken, Totals, play};

/// The most runs spent on one shrink of the machine's.
const MACHINE_RUNS_MAX: u32 = 6000;
/// The most runs spent on one shrink of the engine's, which are slower.
const ENGINE_RUNS_MAX: u32 = 300;

/// The simplest run found that breaks what `broken` breaks.
#[must_use]
pub fn shrink(broken: Broken) -> Broken {
    let runs_left = match broken.arm {
        Arm::Machine => MACHINE_RUNS_MAX,
        Arm::Engine => ENGINE_RUNS_MAX,
    };
    let mut search = Search { best: broken, runs_left };
    loop {
        let before = search.best.tape.clone();
        search.drop_chunks();
        search.calm_numbers();
        if search.best.tape == before || search.runs_left == 0 {
            return search.best;
        }
    }
}

struct Search {
    best: Broken,
    runs_left: u32,
}

impl Search {
    /// Leaves out parts of the tape, long ones first. They overlap: what belongs together, a turn or
    /// a call, begins anywhere.
    fn drop_chunks(&mut self) {
        let mut length = self.best.tape.len() / 2;
        while length > 0 && self.runs_left > 0 {
            let mut at = self.best.tape.len();
            while at > 0 && self.runs_left > 0 {
                at = at.saturating_sub(length.div_ceil(8)).min(self.best.tape.len());
                let mut tape = self.best.tape.clone();
                let end = (at + length).min(tape.len());
                tape.drain(at..end);
                self.try_tape(tape);
            }
            length = length * 3 / 4;
        }
    }

    /// Makes numbers zero, or half.
    fn calm_numbers(&mut self) {
        let mut at = 0;
        while at < self.best.tape.len() && self.runs_left > 0 {
            let number = self.best.tape[at];
            for calmer in [0, number / 2] {
                if calmer >= number {
                    continue;
                }
                let mut tape = self.best.tape.clone();
                tape[at] = calmer;
                if self.try_tape(tape) {
                    break;
                }
            }
            at += 1;
        }
    }

    fn try_tape(&mut self, tape: Vec<u32>) -> bool {
        self.runs_left = self.runs_left.saturating_sub(1);
        let Err(broken) = play(Chance::taped(tape), &mut Totals::of(self.best.arm)) else {
            return false;
        };
        let same = broken.violation.invariant == self.best.violation.invariant;
        let key = |broken: &Broken| (broken.journal.len(), broken.tape.len(), sum(&broken.tape));
        let simpler = same && key(&broken) < key(&self.best);
        if simpler {
            self.best = *broken;
        }
        simpler
    }
}

fn sum(tape: &[u32]) -> u64 {
    tape.iter().map(|number| u64::from(*number)).sum()
}
