//! Confinement with real processes: what has to work in a box, and what must not get out of it.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

mod ahead;
mod escapes;
mod everyday;
#[path = "../family/mod.rs"]
mod family;
#[path = "../harness/mod.rs"]
mod harness;
mod place;
mod porter;
mod probe;
#[path = "../processes/mod.rs"]
mod processes;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some(escapes::ATTEMPT_MODE), Some(name)) => {
            return ExitCode::from(escapes::attempt(&name));
        }
        (Some(escapes::VICTIM_MODE), _) => escapes::be_victim(),
        (Some(ahead::OWNER_MODE), Some(command_in)) => {
            ahead::be_owner(&command_in);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut cases: Vec<harness::Case> = Vec::new();
    if cfg!(target_os = "linux") {
        cases.extend_from_slice(ahead::CASES);
        cases.extend_from_slice(everyday::CASES);
        cases.extend_from_slice(porter::CASES);
        cases.extend_from_slice(probe::CASES);
        cases.extend_from_slice(terminal::CASES);
        cases.extend(escapes::cases());
    }
    harness::run(&cases)
}
