//! Processes and what they used: time, processor, memory.
#![expect(clippy::disallowed_methods, reason = "programs are measured from outside")]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// The program that tells a child's peak memory without what a parent had.
const TIME: &str = "/usr/bin/time";

/// What a process and all it started used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    /// When it was started.
    pub(super) started: Instant,
    /// Until its end.
    pub(super) wall: Duration,
    /// By itself and everything below it.
    pub(super) processor: Duration,
    /// Its peak, in kB; `None` where no program tells it.
    pub(super) memory_kb: Option<f64>,
}

/// What a process that still runs used so far, with all below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// By all of them.
    pub(super) processor: Duration,
    /// How often one of their threads went on after it had waited.
    pub(super) times_woken: u32,
}

impl Tree {
    /// What the process of this number used, and all that it started and that still run.
    pub(super) fn of(process: u32) -> Result<Self> {
        let folder = Path::new("/proc").join(process.to_string());
        let stat = folder.join("stat");
        let text =
            fs::read_to_string(&stat).with_context(|| format!("reading {}", stat.display()))?;
        let mut tree = Self { processor: ticks(used_ticks(&text, OWN)?), times_woken: 0 };
        for thread in fs::read_dir(folder.join("task"))? {
            let thread = thread?.path();
            // A thread, or a child, may end meanwhile.
            let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
            let woken = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
            tree.times_woken += woken.map_or(Ok(0), |woken| woken.trim().parse::<u32>())?;
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            for child in children.split_whitespace() {
                let below = Self::of(child.parse()?).unwrap_or_default();
                tree.processor += below.processor;
                tree.times_woken += below.times_woken;
            }
        }
        Ok(tree)
    }

    /// What was used since then.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            times_woken: self.times_woken.saturating_sub(before.times_woken),
        }
    }
}

/// A program to run.
pub(super) fn program(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Runs a command to its good end, with nobody reading what it prints.
pub(super) fn run(command: &mut Command) -> Result<Used> {
    let before = children_ticks()?;
    let started = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.spawn().with_context(|| format!("{command:?}"))?.wait_with_output()?;
    let wall = started.elapsed();
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    bury_orphans();
    let processor = ticks(children_ticks()?.saturating_sub(before));
    Ok(Used { started, wall, processor, memory_kb: None })
}

/// As [`run`], with the peak of its memory; the few processor milliseconds that this takes are
/// counted for whatever is measured.
pub(super) fn run_weighed(command: &Command, note: &Path) -> Result<Used> {
    if !Path::new(TIME).exists() {
        return run(&mut again(command));
    }
    let mut weighed = program(TIME);
    weighed.args(["-f", "%M", "-o"]).arg(note).arg(command.get_program());
    weighed.args(command.get_args());
    copy_surroundings(command, &mut weighed);
    let used = run(&mut weighed)?;
    let noted = fs::read_to_string(note).with_context(|| format!("reading {}", note.display()))?;
    Ok(Used { memory_kb: Some(noted.trim().parse()?), ..used })
}

/// As [`run`], with the processor time to the millisecond, as bash tells it. What a program leaves
/// behind is not in it.
pub(super) fn run_timed(command: &Command, note: &Path) -> Result<Used> {
    let mut timed = program("bash");
    // Its own words go to the note, those of the program to where they went.
    let line = "TIMEFORMAT='%3U %3S'; { time \"$@\" 2>&3; } 3>&2 2>\"$NOTE\"";
    timed.args(["-c", line, "bash"]).arg(command.get_program()).args(command.get_args());
    copy_surroundings(command, &mut timed);
    let used = run(timed.env("NOTE", note))?;
    let noted = fs::read_to_string(note).with_context(|| format!("reading {}", note.display()))?;
    let seconds: Vec<f64> = noted.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    Ok(Used { processor: Duration::try_from_secs_f64(seconds.iter().sum())?, ..used })
}

/// The same command once more.
pub(super) fn again(command: &Command) -> Command {
    let mut same = program(command.get_program());
    same.args(command.get_args());
    copy_surroundings(command, &mut same);
    same
}

fn copy_surroundings(from: &Command, to: &mut Command) {
    // What is measured is given all it may see; nothing of ours changes a figure.
    to.env_clear().envs(from.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = from.get_current_dir() {
        to.current_dir(folder);
    }
}

/// Makes orphans of what is measured our children, so that their processor time is counted too.
pub(super) fn adopt_orphans() -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).context("adopting orphans")
    }
    #[cfg(not(target_os = "linux"))]
    bail!("the bench reads /proc and runs on Linux only")
}

/// Waits for whatever a process left; its launcher ends right after it.
fn bury_orphans() {
    while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::empty()) {}
}

/// The clock ticks that ended children of this process used.
fn children_ticks() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/stat").context("reading /proc/self/stat")?;
    used_ticks(&text, OF_CHILDREN)
}

/// Where in `/proc/PID/stat`, behind the name, ticks in and outside of the kernel stand: of the process,
/// and of its children that ended.
const OWN: usize = 11;
const OF_CHILDREN: usize = 13;

/// The ticks that such a file tells at this place.
fn used_ticks(stat: &str, place: usize) -> Result<u64> {
    // The name may hold anything.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(place).take(2));
    let Some(fields) = fields else { bail!("a process without a name") };
    let numbers: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>()?;
    Ok(numbers.iter().sum())
}

fn ticks(n: u64) -> Duration {
    let in_a_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_micros(n * 1_000_000 / in_a_second)
}
