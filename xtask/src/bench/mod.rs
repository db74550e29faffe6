//! `cargo xtask bench`: heeler beside a loop without an engine, in one run.
//!
//! Nothing is written: the table goes to standard output, progress to standard error. Read in this
//! order: `measure` (what is measured), `server` and `wire` (the model), `place` (where), `prefix`
//! (whether requests begin with the ones before), `resume` (a very long session), `terminal` and `tty` (the
//! window), `many` (where there is much), `process` (what a process used), `figure` (the table).

mod figure;
mod many;
mod measure;
mod place;
mod prefix;
mod process;
mod resume;
mod server;
mod terminal;
mod tty;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};

use figure::Figure;
use place::Place;
use wire::Chunks;

/// What the command line asks for.
struct Wish<'a> {
    profile: &'a str,
    /// The folder with programs that are built already, instead.
    built: Option<PathBuf>,
    size: Size,
    /// Only the measurements whose name begins so.
    only: &'a str,
}

/// How much is measured.
struct Size {
    sessions: usize,
    files: usize,
    /// Runs of what takes milliseconds, and of what takes seconds.
    runs_short: usize,
    runs_long: usize,
}

const FULL: Size = Size { sessions: 1000, files: 50_000, runs_short: 31, runs_long: 5 };
const QUICK: Size = Size { sessions: 100, files: 1000, runs_short: 9, runs_long: 2 };

type Measure = fn(&Place, &Size) -> Result<Vec<Figure>>;

/// In the order they are run and printed.
const MEASURES: [(&str, Measure); 19] = [
    ("start", |place, size| measure::start(place, size.runs_short)),
    ("resume", |place, size| resume::resume(place, size.runs_short)),
    ("prefix", |place, _| measure::prefix(place)),
    ("rounds-short", |place, size| measure::rounds(place, size, 0)),
    ("rounds-2kb", |place, size| measure::rounds(place, size, 2000)),
    ("rounds-13kb", |place, size| measure::rounds(place, size, 13_000)),
    ("in-box", measure::in_box),
    ("in-box-bubblewrap", |place, size| measure::in_bubblewrap(place, size.runs_long)),
    ("deltas-events", |place, size| measure::stream(place, size.runs_long, Chunks::PerEvent)),
    ("deltas-large", |place, size| measure::stream(place, size.runs_long, Chunks::Large)),
    ("parallel", |place, size| measure::parallel(place, size.runs_long)),
    ("sessions", |place, size| measure::sessions(place, size.runs_long)),
    ("terminal-start", |place, size| terminal::start(place, size.runs_short)),
    ("terminal-idle", |place, size| terminal::idle(place, size.runs_long)),
    ("terminal-stream", |place, size| terminal::stream(place, size.runs_long)),
    ("terminal-keys", |place, size| terminal::keys(place, size.runs_long)),
    ("terminal-files", |place, size| many::files(place, size.runs_long)),
    ("many-sessions", |place, size| many::sessions(place, size.runs_short)),
    ("program", |place, size| measure::program(place, size.runs_short)),
];

/// Runs `bench` with its arguments.
pub(crate) fn run_command(arguments: &[&str]) -> Result<ExitCode> {
    let Wish { profile, built, size, only } = parse(arguments)?;
    process::adopt_orphans()?;
    let from = match &built {
        Some(folder) => format!("the programs in {}", folder.display()),
        None => format!("profile {profile}"),
    };
    let built = built.map_or_else(|| build(profile), Ok)?;
    eprintln!("making {} sessions and {} files", size.sessions, size.files);
    let place = Place::make(&built, size.sessions, size.files)?;
    println!("{from}; median (least..most)\n\n{}", Figure::HEAD);
    let (mut n_met, mut n_missed) = (0, 0);
    for (name, measure) in MEASURES.iter().filter(|(name, _)| name.starts_with(only)) {
        eprintln!("measuring {name}");
        // What the one before wrote would be brought to the disk beside this one's syncs.
        rustix::fs::sync();
        for figure in measure(&place, &size).with_context(|| format!("measuring {name}"))? {
            println!("{figure}");
            match figure.is_met() {
                Some(true) => n_met += 1,
                Some(false) => n_missed += 1,
                None => {}
            }
        }
    }
    println!("\nbudgets met: {n_met}, not met: {n_missed}");
    Ok(ExitCode::SUCCESS)
}

fn parse<'a>(arguments: &[&'a str]) -> Result<Wish<'a>> {
    let mut wish = Wish { profile: "dist", built: None, size: FULL, only: "" };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
        match *argument {
            "--quick" => wish.size = QUICK,
            "--profile" => wish.profile = value()?,
            "--built" => wish.built = Some(value()?.into()),
            "--only" => wish.only = value()?,
            other => bail!(
                "bench knows --quick, --profile NAME, --built FOLDER and --only NAME, not {other}"
            ),
        }
    }
    Ok(wish)
}

/// Builds the programs and returns the folder they are in.
fn build(profile: &str) -> Result<PathBuf> {
    let mut build = crate::cargo::cargo();
    build.args(["build", "--profile", profile, "-p", "heeler-bench"]);
    crate::dist::as_shipped(&mut build);
    ensure!(build.status()?.success(), "the programs do not build");
    let heeler = crate::dist::build(profile)?;
    Ok(heeler.parent().context("no target folder")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_says_how_much_and_of_what() {
        let wish = parse(&["--quick", "--profile", "release", "--only", "rounds"]).unwrap();
        assert_eq!((wish.profile, wish.size.files, wish.only), ("release", QUICK.files, "rounds"));
        assert_eq!(parse(&["--built", "a/b"]).unwrap().built, Some("a/b".into()));
        for wrong in [&["--profile"][..], &["--fast"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
