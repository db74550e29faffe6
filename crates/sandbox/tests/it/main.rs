//! Confinement with real processes: what has to work in a box, and what must not get out of it.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

mod everyday;
#[path = "../harness/mod.rs"]
mod harness;
mod place;
mod probe;

use std::process::ExitCode;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    let mut cases: Vec<harness::Case> = Vec::new();
    if cfg!(target_os = "linux") {
        cases.extend_from_slice(everyday::CASES);
        cases.extend_from_slice(probe::CASES);
    }
    harness::run(&cases)
}
