//! `heeler completions`: what a shell needs to complete our command line.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use clap_complete::{Shell as Script, generate};

use crate::arguments::{Shell, command_line};
use crate::exit::Exit;

/// Prints the shell's script.
pub(crate) fn print(shell: Shell) -> Result<Exit> {
    let script = match shell {
        Shell::Bash => Script::Bash,
        Shell::Zsh => Script::Zsh,
        Shell::Fish => Script::Fish,
    };
    // Into memory first: writing into a closed pipe would panic in there.
    let mut text = Vec::new();
    generate(script, &mut command_line(), "heeler", &mut text);
    match std::io::stdout().write_all(&text) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        written => written.map(|()| Exit::Done).context("cannot write the completions to stdout"),
    }
}
