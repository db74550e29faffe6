//! The folders of one session, its commands, and what its processes leave.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use heeler_testkit::MockServer;
use rustix::process::{Pid, Signal, kill_process};

use super::disk::Disk;
use super::leftovers;
use super::running::Running;
use super::session::Harbor;
use super::system::{pause, program};

/// The variable that marks what a session's commands start; commands may see its family.
const MARK: &str = "XDG_HEELER_STORM";
/// A model of the catalogue, behind the mock server.
const MODEL: &str = "anthropic/claude-sonnet-5-5";
/// A process that is there for longer after its program's end was left.
const GONE_WITHIN: Duration = Duration::from_secs(20);

/// Whether this machine shows what runs.
pub(super) fn sees_processes() -> bool {
    Path::new("/proc/self/environ").exists()
}

/// Whether this machine can make a box.
pub(super) fn has_box(binary: &Path, patience: Duration) -> Result<bool> {
    let mut doctor = program(binary);
    doctor.args(["doctor", "--json"]);
    let told = Running::start(doctor, patience)?.finish().context("asking its doctor")?;
    Ok(told.events.iter().any(|told| told.json["sandbox"] == true))
}

/// Where a session's commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    InBox,
    Outside,
}

/// A home, a workspace and a program that no other session uses.
pub(super) struct World {
    root: PathBuf,
    commands: Commands,
    patience: Duration,
    /// What holds the home, when it is small.
    pub(super) disk: Option<Disk>,
}

impl World {
    /// Makes the folders below the harbor's; the program is a link of its own, so that its processes can
    /// be told from all others.
    pub(super) fn make(
        harbor: &Harbor<'_>,
        seed: u64,
        disk: bool,
        commands: Commands,
    ) -> Result<Self> {
        let root = harbor.base.join(format!("seed-{seed}"));
        for name in ["home", "work", "temp"] {
            let folder = root.join(name);
            fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let link = root.join("heeler");
        fs::hard_link(harbor.binary, &link)
            .with_context(|| format!("linking {}", link.display()))?;
        let disk = if disk { Some(Disk::mount(&root.join("home"))?) } else { None };
        Ok(Self { root, commands, patience: harbor.patience, disk })
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The home as it is seen from outside.
    pub(super) fn home(&self) -> PathBuf {
        let home = self.root.join("home");
        self.disk.as_ref().map_or(home.clone(), |disk| disk.seen(&home))
    }

    /// `heeler exec --json` with these arguments.
    pub(super) fn exec(&self, server: &MockServer, arguments: &[&str]) -> Command {
        let heeler = self.root.join("heeler");
        let mut command = match &self.disk {
            Some(disk) => disk.inside(&heeler),
            None => program(&heeler),
        };
        command.args(["exec", "--json", "--model", MODEL, "--max-rounds", "0", "--cwd"]);
        command.arg(self.workspace()).args(["--allow", "Edit", "--allow", "Write"]);
        if self.commands == Commands::Outside {
            // What no rule allows stays in the box.
            command.args(["--allow", "Bash"]);
        }
        command.args(arguments);
        command.current_dir(self.workspace()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.root).env("TMPDIR", self.root.join("temp"));
        command.env("HEELER_HOME", self.root.join("home")).env(MARK, &self.root);
        command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "storm");
        command
    }

    /// A file of the workspace; empty when there is none.
    pub(super) fn worked(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).unwrap_or_default()
    }

    /// Waits until no process of this world is left.
    pub(super) fn wait_until_gone(&self) -> Result<()> {
        let begun = Instant::now();
        loop {
            if self.processes().is_empty() {
                return Ok(());
            }
            let is_in_time = begun.elapsed() < self.patience.min(GONE_WITHIN);
            ensure!(is_in_time, "processes are left: {}", self.shown_processes());
            pause();
        }
    }

    /// The living processes of this world, for people.
    pub(super) fn shown_processes(&self) -> String {
        let processes = self.processes();
        let shown: Vec<String> = processes.iter().map(ToString::to_string).collect();
        if shown.is_empty() { "none".to_owned() } else { shown.join("; ") }
    }

    /// Ends whatever still runs, so that what a broken session left does not stay.
    pub(super) fn end_processes(&self) {
        for Process { pid, .. } in self.processes() {
            // An error means that it has ended.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Refuses whatever is below the session's folder and not expected there: in the home, in the
    /// workspace, among the temporary files and beside them. `made` are the workspace's own files, and
    /// `session` is the one that the home holds.
    pub(super) fn check_leftovers(&self, session: &str, made: &[&str]) -> Result<()> {
        let expected = leftovers::expected(session, made, self.disk.is_some());
        let mut strange = leftovers::strange(&self.root, "", &expected)?;
        if self.disk.is_some() {
            // From outside the folder under the disk is seen, and that is empty.
            strange.extend(leftovers::strange(&self.home(), "home/", &expected)?);
        }
        ensure!(strange.is_empty(), "files are left: {}", leftovers::shown(&strange));
        let root = self.root.display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let left = mounts.lines().find(|mount| mount.contains(&root));
        ensure!(left.is_none(), "a mount is left: {}", left.unwrap_or_default());
        Ok(())
    }

    /// Removes everything, when all was well.
    pub(super) fn remove(self) -> Result<()> {
        drop(self.disk);
        fs::remove_dir_all(&self.root).with_context(|| format!("removing {}", self.root.display()))
    }

    /// The living processes of this world: those that carry its mark, run its program, or stand in
    /// its folders.
    fn processes(&self) -> Vec<Process> {
        let mark = format!("{MARK}={}", self.root.display());
        // Without this folder nothing can be seen of other processes; that was said at the start.
        let Ok(listed) = fs::read_dir("/proc") else { return Vec::new() };
        let is_ours = |folder: &Path| {
            let stands = |link: &str| {
                let target = fs::read_link(folder.join(link));
                target.is_ok_and(|target| target.starts_with(&self.root))
            };
            let environ = fs::read(folder.join("environ")).unwrap_or_default();
            stands("exe")
                || stands("cwd")
                || environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let ours = listed.filter_map(|entry| {
            let entry = entry.ok()?;
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            is_ours(&entry.path()).then(|| Process::read(pid, &entry.path()))
        });
        ours.collect()
    }
}

/// A living process.
struct Process {
    pid: Pid,
    /// `S` while it sleeps, `T` while it is stopped, and so on.
    state: String,
    arguments: String,
}

impl Process {
    /// Reads what its folder in /proc says; what it no longer says is empty.
    fn read(pid: Pid, folder: &Path) -> Self {
        let arguments = fs::read(folder.join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let status = fs::read_to_string(folder.join("stat")).unwrap_or_default();
        // The name before it stands in brackets, and may hold any.
        let state = status.rsplit(") ").next().and_then(|rest| rest.split(' ').next());
        let state = state.unwrap_or_default().to_owned();
        Self { pid, state, arguments: arguments.trim_end().to_owned() }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) {}", self.pid.as_raw_nonzero(), self.state, self.arguments)
    }
}
