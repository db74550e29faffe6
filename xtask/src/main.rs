//! The project's own checks and chores: `cargo xtask COMMAND`.
//!
//! What CI runs beside the tests (`tidy`, `simulate`, `storm`, `instructions`, `surface`), what is measured
//! (`bench`, `edit-eval`, `pictures`), and the program as it is installed (`dist`). Each is a module of its
//! name. Read `tree` (the files, in memory), `rust_text` (one without comments and strings) and `tidy` first.

mod bench;
mod cargo;
mod dice;
mod dist;
mod edit_eval;
mod finding;
mod instructions;
mod pictures;
mod rust_text;
mod seeds;
mod shipped;
mod simulate;
mod storm;
mod surface;
mod tidy;
mod tree;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::seeds::OpenRows;
use crate::tree::Tree;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy              every rule of the house that a compiler does not check
  seeds             docs/seeds.md: every item of the seeds has an answer that holds
  seeds --closed    the same, and no row may be left open
  simulate          the shipped turn machine through faults: --seeds N, --seed S, --break NAME
  storm             the shipped program, killed and resumed: --kills N, --seed S, --binary PATH, --patience SECONDS
  bench             heeler beside a bare loop: --quick, --profile NAME, --only NAME
  edit-eval         real changes as models write them, through the tools: PATH...
  dist              the program to ship, its functions in the order of use: --profile NAME
  instructions      what the hot paths execute, beside bench/instructions.toml: --update
  pictures          the README's pictures, of the real program in tmux: --check
  surface           what users of the library can name, beside docs/surface.txt: --update
";

fn main() -> ExitCode {
    let as_rustdoc = surface::stand_in();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = || run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    match as_rustdoc.unwrap_or_else(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode> {
    match arguments {
        ["tidy"] => Ok(tidy::run(&workspace()?)),
        ["seeds"] => Ok(seeds::run(&workspace()?, OpenRows::Counted)),
        ["seeds", "--closed"] => Ok(seeds::run(&workspace()?, OpenRows::Refused)),
        ["simulate", rest @ ..] => simulate::run_command(rest),
        ["bench", rest @ ..] => bench::run_command(rest),
        ["edit-eval", rest @ ..] => edit_eval::run_command(rest, root()?),
        ["dist", rest @ ..] => dist::run_command(rest),
        ["instructions", rest @ ..] => instructions::run_command(rest, root()?),
        ["surface", rest @ ..] => surface::run_command(rest, root()?),
        ["pictures", rest @ ..] => pictures::run_command(rest, root()?),
        ["storm", rest @ ..] => storm::run_command(rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask stands directly below the workspace root")
}

fn workspace() -> Result<Tree> {
    let root = root()?;
    Tree::read(root).with_context(|| format!("reading {}", root.display()))
}
