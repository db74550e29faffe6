//! `heeler completions`: what a shell needs to complete our command line.

use anyhow::Result;
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
    let text = without_hidden(&String::from_utf8_lossy(&text));
    crate::say::print(&text)?;
    Ok(Exit::Done)
}

/// A script without the flag that heeler gives itself: what makes scripts does not know that it is hidden.
fn without_hidden(script: &str) -> String {
    // A line of its own for zsh and fish, a word among others for bash.
    let lines = script.split_inclusive('\n');
    let shown =
        lines.filter(|line| !line.contains("--detached[") && !line.contains(" -l detached"));
    shown.map(|line| line.replace(" --detached ", " ")).collect()
}
