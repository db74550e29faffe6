//! `exec` and the git tools with real programs, through the launcher that this executable becomes.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

mod background;
mod edits;
mod git;
#[path = "../../../sandbox/tests/harness/mod.rs"]
mod harness;
mod limits;
#[path = "../../../sandbox/tests/processes/mod.rs"]
mod processes;
mod programs;
mod room;
mod rules;

use std::process::ExitCode;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    if std::env::args().nth(1).is_some_and(|argument| argument == limits::HEELER_MODE) {
        limits::be_heeler();
    }
    if std::env::args().nth(1).is_some_and(|argument| argument == edits::EDITOR_MODE) {
        edits::be_editor();
    }
    let mut cases: Vec<harness::Case> = Vec::new();
    cases.extend_from_slice(programs::CASES);
    cases.extend_from_slice(background::CASES);
    cases.extend_from_slice(rules::CASES);
    cases.extend_from_slice(limits::CASES);
    cases.extend_from_slice(edits::CASES);
    let git = [
        git::shown::CASES,
        git::committed::CASES,
        git::hostile::CASES,
        git::boxed::CASES,
        git::elsewhere::CASES,
    ];
    for git in git {
        cases.extend_from_slice(git);
    }
    harness::run(&cases)
}
