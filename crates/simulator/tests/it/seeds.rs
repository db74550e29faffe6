//! Seeds run through the shipped machine.

use heeler_simulator::{Totals, run, shrink};

#[test]
fn two_thousand_seeds_break_nothing() {
    let mut totals = Totals::default();
    for seed in 0..2000 {
        if let Err(broken) = run(seed, &mut totals) {
            panic!("seed {seed}: {}", shrink(*broken));
        }
    }
    assert_eq!(totals.runs, 2000);
}
