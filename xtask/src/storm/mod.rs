//! `cargo xtask storm`: the shipped program, struck at random moments and resumed until done.
//!
//! Every session is a folder of its own, a mock server that plays a drawn script and checks every
//! request, and one `heeler exec` after the other: each is struck at a drawn moment by a drawn
//! signal, and the next one continues. Read in this order: `workload` (what the model says),
//! `strike` (when and how), `session` (the loop, and what must hold after each process), `check`
//! (what must hold of the effects), `world` (folders and processes), `leftovers`, `journal`, `running`,
//! `disk`.
//!
//! A seed draws the same choices again; when exactly they meet the processes is up to the machine.

mod check;
mod disk;
mod journal;
mod leftovers;
mod running;
mod session;
mod strike;
mod system;
mod totals;
mod workload;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_testkit::require;

use disk::Disk;
use session::Harbor;
use totals::Totals;

use crate::cargo::cargo;

/// Kills of a storm, when nobody says how many.
const KILLS: u64 = 200;
/// Sessions that run beside each other.
const SESSIONS_AT_ONCE: usize = 2;
/// How long a process may be silent, in seconds, when nobody says otherwise.
const PATIENCE_SECONDS: u64 = 60;
/// Sessions beyond the number of kills that is asked for: one may end before anything strikes it, and
/// when so many do, nothing strikes.
const SESSIONS_SPARE: u64 = 20;
/// Where the storm's sessions are, below the folder for temporary files.
const PREFIX: &str = "heeler-storm-";

/// What the command line asks for.
struct Wish {
    kills: u64,
    first: u64,
    binary: Option<PathBuf>,
    patience: Duration,
}

/// A session in which something is broken.
struct Broken {
    seed: u64,
    what: String,
}

/// Runs `storm` with its arguments.
pub(crate) fn run_command(arguments: &[&str]) -> Result<ExitCode> {
    let wish = parse(arguments)?;
    system::catch_ignored_signals()?;
    let binary = wish.binary.clone().map_or_else(build, Ok)?;
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
    let base = folder.path().canonicalize()?;
    // A copy: the original may be built anew while the storm goes on.
    let copy = base.join("heeler");
    std::fs::copy(&binary, &copy).with_context(|| format!("copying {}", binary.display()))?;
    let disks = require("a mount namespace (unshare, nsenter, tmpfs)", Disk::is_possible());
    // Without it, processes that are left are not found.
    let _ = require("the variables of processes in /proc", world::sees_processes());
    let has_box = world::has_box(&copy, wish.patience)?;
    let boxes = require("a box for commands (`heeler doctor` says more)", has_box);
    let started = Instant::now();
    let patience = wish.patience;
    let harbor = Harbor { base: &base, binary: &copy, disks, boxes, patience };
    let (totals, broken) = blow(&wish, &harbor);
    println!("{totals}, seconds {:.1}", started.elapsed().as_secs_f64());
    println!("violations: {}", broken.len());
    let of = wish.binary.as_ref().map(|binary| format!(" --binary {}", binary.display()));
    for Broken { seed, what } in &broken {
        println!("\nseed {seed}: {what}");
        let of = of.as_deref().unwrap_or_default();
        println!("again: cargo xtask storm --kills 1 --seed {seed}{of}");
    }
    if !broken.is_empty() {
        println!("\nwhat is left of it: {}", folder.keep().display());
        return Ok(ExitCode::FAILURE);
    }
    let unmet = unmet(&wish, &totals, &harbor);
    if unmet.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\ntoo weak a storm to say anything; it never met: {}", unmet.join(", "));
    Ok(ExitCode::FAILURE)
}

/// What a storm of this size should have met and has not.
fn unmet(wish: &Wish, totals: &Totals, harbor: &Harbor<'_>) -> Vec<String> {
    let mut unmet = Vec::new();
    if totals.kills() < wish.kills {
        unmet.push(format!("{} kills, only {}", wish.kills, totals.kills()));
    }
    if wish.kills >= KILLS {
        unmet.extend(totals.unmet(harbor.disks, harbor.boxes).into_iter().map(str::to_owned));
    }
    unmet
}

fn parse(arguments: &[&str]) -> Result<Wish> {
    let patience = Duration::from_secs(PATIENCE_SECONDS);
    let mut wish = Wish { kills: KILLS, first: 0, binary: None, patience };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = rest.next().with_context(|| format!("{argument} needs a value"))?;
        match *argument {
            "--kills" => wish.kills = value.parse().context("--kills is a number")?,
            "--seed" => wish.first = value.parse().context("--seed is a number")?,
            "--binary" => wish.binary = Some(value.into()),
            "--patience" => {
                let seconds = value.parse().context("--patience is a number of seconds")?;
                wish.patience = Duration::from_secs(seconds);
            }
            other => bail!(
                "storm knows --kills N, --seed S, --binary PATH and --patience SECONDS, not {other}"
            ),
        }
    }
    Ok(wish)
}

/// Builds the program and returns where it is.
fn build() -> Result<PathBuf> {
    let status = cargo().args(["build", "--quiet", "-p", "heeler-cli"]).status()?;
    ensure!(status.success(), "heeler does not build");
    // The build that runs now lies beside it.
    let beside = std::env::current_exe()?.with_file_name("heeler");
    ensure!(beside.exists(), "{} is not there; give --binary PATH", beside.display());
    Ok(beside)
}

/// Runs sessions until there were enough kills, or something is broken.
fn blow(wish: &Wish, harbor: &Harbor<'_>) -> (Totals, Vec<Broken>) {
    let next = AtomicU64::new(wish.first);
    let found: Mutex<(Totals, Vec<Broken>)> = Mutex::default();
    let is_enough = || {
        let enough = |all: &(Totals, Vec<Broken>)| all.0.kills() >= wish.kills || !all.1.is_empty();
        found.lock().map_or(true, |all| enough(&all))
    };
    let end = wish.first.saturating_add(wish.kills).saturating_add(SESSIONS_SPARE);
    let work = || {
        while !is_enough() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let result = session::run(seed, harbor);
            let Ok(mut all) = found.lock() else { return };
            match result {
                Ok(totals) => all.0.add(totals),
                Err(error) => all.1.push(Broken { seed, what: format!("{error:#}") }),
            }
        }
    };
    std::thread::scope(|scope| {
        // One kill is one session: that of the seed.
        let n = if wish.kills <= 1 { 1 } else { SESSIONS_AT_ONCE };
        (0..n).for_each(|_| {
            scope.spawn(work);
        });
    });
    found.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::journal::Place;
    use super::strike::Strike;
    use super::totals::Totals;
    use super::workload::Workload;
    use super::{Harbor, KILLS, Wish, unmet};
    use crate::dice::Dice;

    #[test]
    fn a_seed_draws_the_same_choices_and_another_one_others() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            let workload = Workload::draw(&mut dice, 5);
            let strikes: Vec<Strike> = (0..5).map(|_| Strike::draw(&mut dice)).collect();
            format!("{:?} {:?} {strikes:?}", workload.script, workload.chunking)
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
    /// Whether a machine has small disks and boxes.
    #[derive(PartialEq)]
    enum Machine {
        Able,
        Bare,
    }

    /// What a storm of so many kills by one signal lacks.
    fn check_unmet(wished: u64, kills: u64, machine: Machine, expected: &str) {
        let patience = Duration::ZERO;
        let wish = Wish { kills: wished, first: 0, binary: None, patience };
        let (base, is_able) = (Path::new(""), machine == Machine::Able);
        let harbor = Harbor { base, binary: base, disks: is_able, boxes: is_able, patience };
        let mut totals = Totals::default();
        (0..kills).for_each(|_| totals.died("SIGKILL", Place::InCall));
        assert_eq!(unmet(&wish, &totals, &harbor).join(", "), expected);
    }

    #[test]
    fn a_storm_that_does_not_blow_is_none() {
        check_unmet(1, 1, Machine::Able, "");
        check_unmet(100, 99, Machine::Able, "100 kills, only 99");
        let rest = "SIGINT, SIGTERM, SIGSTOP+KILL, death in a stream, \
                    second openers refused while the owner was stopped, stopped and continued, \
                    provider: rate limit, provider: overloaded, provider: connection broken, \
                    provider: stream cut, provider: stream silent";
        check_unmet(KILLS, KILLS, Machine::Bare, rest);
        let more = "stopped by a full disk, sessions with commands in the box";
        check_unmet(KILLS, KILLS, Machine::Able, &format!("{rest}, {more}"));
    }
}
