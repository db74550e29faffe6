//! `cargo xtask simulate`: seeds through the shipped machine, and what they met.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use heeler_simulator::{Broken, Bug, Totals, run, shrink, turn_on};

/// Cells of the matrix that can be reached and were hit less often are told.
const HITS_MIN: u64 = 20;
/// Seeds of the standard run, when nobody says how many.
const SEEDS: u64 = 10_000;

/// What the command line asks for.
struct Wish {
    first: u64,
    seeds: u64,
    bug: Option<Bug>,
}

/// Runs `simulate` with its arguments.
pub(crate) fn run_command(arguments: &[&str]) -> Result<ExitCode> {
    let Some(wish) = parse(arguments)? else { return Ok(ExitCode::SUCCESS) };
    let started = Instant::now();
    let (totals, broken) = run_seeds(&wish);
    println!("{}", totals.matrix);
    for cell in totals.matrix.surprising() {
        println!("held unreachable, and hit: {cell}");
    }
    // Fewer runs than the standard ones cannot reach everything.
    if totals.runs >= SEEDS {
        for cell in totals.matrix.rare(HITS_MIN) {
            println!("hit less than {HITS_MIN} times: {cell}");
        }
    }
    println!(
        "runs {}, turns {}, records {}, crashes {}, seconds {:.1}",
        totals.runs,
        totals.turns,
        totals.records,
        totals.crashes,
        started.elapsed().as_secs_f64()
    );
    println!("violations: {}", u32::from(broken.is_some()));
    let Some((seed, broken)) = broken else { return Ok(ExitCode::SUCCESS) };
    turn_on(wish.bug);
    println!("\nseed {seed} breaks {}", shrink(broken));
    let bug = wish.bug.map_or(String::new(), |bug| format!(" --break {}", bug.name()));
    println!("again: cargo xtask simulate --seed {seed}{bug}");
    Ok(ExitCode::FAILURE)
}

/// `None` when everything asked for is told already.
fn parse(arguments: &[&str]) -> Result<Option<Wish>> {
    let (mut seeds, mut seed, mut bug) = (None, None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = rest.next().with_context(|| format!("{argument} needs a value"))?;
        match *argument {
            "--seeds" => seeds = Some(value.parse().context("--seeds is a number")?),
            "--seed" => seed = Some(value.parse().context("--seed is a number")?),
            "--break" => bug = Some(*value),
            other => bail!("simulate knows --seeds N, --seed S and --break NAME, not {other}"),
        }
    }
    if bug == Some("list") {
        Bug::ALL.iter().for_each(|bug| println!("{}", bug.name()));
        return Ok(None);
    }
    let bug = bug.map(find_bug).transpose()?;
    let seeds = seeds.unwrap_or(if seed.is_some() { 1 } else { SEEDS });
    Ok(Some(Wish { first: seed.unwrap_or(0), seeds, bug }))
}

fn find_bug(name: &str) -> Result<Bug> {
    let found = Bug::ALL.iter().copied().find(|bug| bug.name() == name);
    found.with_context(|| format!("there is no seeded bug {name}; --break list prints them"))
}

/// Runs on all cores; of several violations, the one of the lowest seed is kept.
fn run_seeds(wish: &Wish) -> (Totals, Option<(u64, Broken)>) {
    let next = AtomicU64::new(wish.first);
    let end = wish.first.saturating_add(wish.seeds);
    let found: Mutex<(Totals, Option<(u64, Broken)>)> = Mutex::default();
    let work = || {
        turn_on(wish.bug);
        let mut totals = Totals::default();
        let mut broken = None;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                break;
            }
            if let Err(found) = run(seed, &mut totals) {
                broken = Some((seed, *found));
                next.store(end, Ordering::Relaxed);
            }
        }
        if let Ok(mut all) = found.lock() {
            all.0.add(&totals);
            let earlier = |(seed, _): &(u64, Broken)| all.1.as_ref().is_none_or(|(s, _)| seed < s);
            if broken.as_ref().is_some_and(earlier) {
                all.1 = broken;
            }
        }
    };
    std::thread::scope(|scope| {
        let n = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        (0..n).for_each(|_| {
            scope.spawn(work);
        });
    });
    found.into_inner().unwrap_or_default()
}
