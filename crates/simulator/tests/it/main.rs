//! The machine holds in thousands of runs, and its seeded bugs are found.

mod bugs;
mod pruning;
mod seeds;
