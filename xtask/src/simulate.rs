//! `cargo xtask simulate`: seeds through the shipped machine and engine, and what they met.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use heeler_simulator::{Arm, Broken, Bug, Totals, run, shrink, turn_on};

/// The standard run fails when it hits a cell of the matrix that can be reached less often.
const HITS_MIN: u64 = 20;
/// Seeds of the standard run, when nobody says how many.
const SEEDS: u64 = 100_000;

/// What the command line asks for.
struct Wish {
    seeds: Option<u64>,
    seed: Option<u64>,
    bug: Option<Bug>,
    arm: Option<Arm>,
}

impl Wish {
    /// The seeds to run through a simulation; none when it is not asked for.
    fn seeds(&self, arm: Arm) -> std::ops::Range<u64> {
        if self.arm.or(self.bug.map(Bug::arm)).is_some_and(|wanted| wanted != arm) {
            return 0..0;
        }
        let first = self.seed.unwrap_or_default();
        let seeds = match (self.seeds, self.seed) {
            (None, Some(_)) => 1,
            (seeds, _) => seeds.unwrap_or(SEEDS),
        };
        first..first.saturating_add(seeds)
    }
}

/// Runs `simulate` with its arguments.
pub(crate) fn run_command(arguments: &[&str]) -> Result<ExitCode> {
    let Some(wish) = parse(arguments)? else { return Ok(ExitCode::SUCCESS) };
    let (mut violations, mut wrong) = (Vec::new(), 0);
    for arm in Arm::ALL.iter().copied() {
        let seeds = wish.seeds(arm);
        if seeds.is_empty() {
            continue;
        }
        let started = Instant::now();
        let (totals, broken) = run_seeds(arm, &seeds, wish.bug);
        wrong += tell(&totals, started);
        violations.extend(broken.map(|(seed, broken)| (arm, seed, broken)));
    }
    println!("violations: {}", violations.len());
    if violations.is_empty() {
        return Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    turn_on(wish.bug);
    for (arm, seed, broken) in violations {
        // Before the search for a simpler run, which takes its time and may be cut off.
        println!("\n{} seed {seed} breaks {}", arm.name(), broken.violation);
        let bug = wish.bug.map_or(String::new(), |bug| format!(" --break {}", bug.name()));
        println!("again: cargo xtask simulate --arm {} --seed {seed}{bug}", arm.name());
        println!("the simplest run found that breaks it: {}", shrink(broken));
    }
    Ok(ExitCode::FAILURE)
}

/// Prints what the runs of a simulation came to; how many cells of the matrix are met too seldom by the
/// standard run, or are held unreachable and were met.
fn tell(totals: &Totals, started: Instant) -> usize {
    println!("{}: {}", totals.arm.name(), totals.matrix);
    let mut n_wrong = 0;
    for cell in totals.matrix.surprising() {
        n_wrong += 1;
        println!("held unreachable, and hit: {cell}");
    }
    // Fewer runs than the standard ones cannot reach everything.
    if totals.runs >= SEEDS {
        for cell in totals.matrix.rare(HITS_MIN) {
            n_wrong += 1;
            println!("hit less than {HITS_MIN} times: {cell}");
        }
    }
    println!(
        "{}: runs {}, turns {}, records {}, crashes {}, seconds {:.1}\n",
        totals.arm.name(),
        totals.runs,
        totals.turns,
        totals.records,
        totals.crashes,
        started.elapsed().as_secs_f64()
    );
    n_wrong
}

/// `None` when everything asked for is told already.
fn parse(arguments: &[&str]) -> Result<Option<Wish>> {
    let (mut seeds, mut seed, mut bug, mut arm) = (None, None, None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = rest.next().with_context(|| format!("{argument} needs a value"))?;
        match *argument {
            "--seeds" => seeds = Some(value.parse().context("--seeds is a number")?),
            "--seed" => seed = Some(value.parse().context("--seed is a number")?),
            "--break" => bug = Some(*value),
            "--arm" => arm = Some(find_arm(value)?),
            other => bail!(
                "simulate knows --seeds N, --seed S, --arm NAME and --break NAME, not {other}"
            ),
        }
    }
    if bug == Some("list") {
        Bug::all().for_each(|bug| println!("{}", bug.name()));
        return Ok(None);
    }
    let bug = bug.map(find_bug).transpose()?;
    Ok(Some(Wish { seeds, seed, bug, arm }))
}

fn find_bug(name: &str) -> Result<Bug> {
    let found = Bug::all().find(|bug| bug.name() == name);
    found.with_context(|| format!("there is no seeded bug {name}; --break list prints them"))
}

fn find_arm(name: &str) -> Result<Arm> {
    let found = Arm::ALL.iter().copied().find(|arm| arm.name() == name);
    found.with_context(|| format!("--arm is machine or engine, not {name}"))
}

/// Runs on all cores; of several violations, the one of the lowest seed is kept.
fn run_seeds(
    arm: Arm,
    seeds: &std::ops::Range<u64>,
    bug: Option<Bug>,
) -> (Totals, Option<(u64, Broken)>) {
    let next = AtomicU64::new(seeds.start);
    let end = seeds.end;
    let found: Mutex<(Totals, Option<(u64, Broken)>)> = Mutex::new((Totals::of(arm), None));
    let work = || {
        turn_on(bug);
        let mut totals = Totals::of(arm);
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
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
