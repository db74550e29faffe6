//! The `heeler` command: parse, choose, exit code.
//!
//! What an agent is stands in the library; here is what a terminal needs beside it: words, signals, and
//! which code a script sees at the end. Read in this order: `arguments`, `exec` (an agent at work),
//! `terminal` (the same as a person meets it), `attach` (the same from elsewhere), `sessions` (what is
//! stored), `permissions` (what may run), `config` (what is set), `login`, `models` (who can be asked).
//!
//! Invariant: nothing here that somebody who builds on the library would miss.

mod arguments;
mod attach;
mod completions;
mod config;
mod demo;
mod doctor;
mod editor;
mod exec;
mod exit;
mod folder;
mod login;
mod models;
mod permissions;
mod person;
mod say;
mod scarce;
mod sessions;
mod stage;
mod terminal;
mod whole;

use std::process::ExitCode;
use std::sync::Arc;

use arguments::{Command, Parsed};
use exit::Exit;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

/// A third less processor time than the system's where many sessions run at once.
#[global_allocator]
static ALLOCATOR: heeler_allocator::Allocator = heeler_allocator::Allocator;

fn main() -> ExitCode {
    // First of all: this very program is executed again to be the launcher of commands.
    heeler::launcher::init();
    leave_no_dump();
    outlive_file_limit();
    match scarce::caught(run) {
        Ok(exit) => exit.into(),
        Err(error) => {
            say::say(format_args!("heeler: {}", say::told(&error)));
            Exit::Usage.into()
        }
    }
}

/// Has the system write no dump of this process when it crashes: keys are in its memory. What may be set
/// at most stays, so that a command can have its own again.
fn leave_no_dump() {
    let before = getrlimit(Resource::Core);
    // Where it cannot be set nothing else can be done about it.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..before });
}

/// Has a write beyond the limit on the size of files (`ulimit -f`) fail and be told, where the system would
/// end the process without a word. Heard, not ignored: a program that is started would go on ignoring it,
/// and has the system's way again of what was heard.
fn outlive_file_limit() {
    // Where it cannot be heard nothing else can be done about it, and only who meets the limit misses it.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::default());
}

fn run() -> anyhow::Result<Exit> {
    let command = match arguments::parse() {
        Parsed::Command(command) => command,
        Parsed::Terminal(arguments) => return terminal::run(arguments),
        Parsed::Exit(exit) => return Ok(exit),
    };
    match command {
        Command::Exec(arguments) => exec::run(arguments),
        Command::Attach(arguments) => attach::run(&arguments),
        Command::Stop { id } => attach::stop(&id),
        Command::Demo => demo::run(),
        Command::Sessions(arguments) => sessions::run(&arguments),
        Command::Show(arguments) => sessions::show(&arguments),
        Command::Audit(arguments) => sessions::audit(&arguments),
        Command::Replay(arguments) => sessions::replay(&arguments),
        Command::Permissions(arguments) => permissions::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Login(arguments) => login::login(&arguments),
        Command::Logout { provider } => login::logout(&provider),
        Command::Stage(arguments) => stage::run(&arguments),
        Command::Schema { of } => exec::schema::run(of),
        Command::Models { json } => models::run(json),
        Command::Doctor { json } => doctor::run(json),
        Command::Completions { shell } => completions::print(shell),
    }
}
