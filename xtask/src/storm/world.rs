//! The folders of one session, its commands, and what its processes leave.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use heeler_testkit::MockServer;

use super::disk::Disk;
use super::running::PATIENCE;
use super::system::{pause, program};

/// The variable that marks what a session's commands start; commands may see its family.
const MARK: &str = "XDG_HEELER_STORM";
/// A model of the catalogue, behind the mock server.
const MODEL: &str = "anthropic/claude-sonnet-5-5";

/// Whether this machine shows what runs.
pub(super) fn sees_processes() -> bool {
    Path::new("/proc/self/environ").exists()
}

/// Whether this machine can make a box.
pub(super) fn has_box(binary: &Path) -> bool {
    let told = program(binary).args(["doctor", "--json"]).output();
    told.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains(r#""sandbox":true"#))
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
    /// What holds the home, when it is small.
    pub(super) disk: Option<Disk>,
}

impl World {
    /// Makes the folders below `base`; the program is a link of its own, so that its processes can
    /// be told from all others.
    pub(super) fn make(
        base: &Path,
        seed: u64,
        binary: &Path,
        disk: bool,
        commands: Commands,
    ) -> Result<Self> {
        let root = base.join(format!("seed-{seed}"));
        for name in ["home", "work", "temp"] {
            let folder = root.join(name);
            fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let link = root.join("heeler");
        fs::hard_link(binary, &link).with_context(|| format!("linking {}", link.display()))?;
        let disk = if disk { Some(Disk::mount(&root.join("home"))?) } else { None };
        Ok(Self { root, commands, disk })
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
            let left = self.processes();
            if left.is_empty() {
                return Ok(());
            }
            ensure!(begun.elapsed() < PATIENCE, "processes are left: {}", left.join("; "));
            pause();
        }
    }

    /// Refuses whatever is in these folders and not expected there.
    pub(super) fn check_leftovers(&self, expected: impl Fn(&str) -> bool) -> Result<()> {
        let mut strange = Vec::new();
        look(&self.workspace(), &mut strange, expected)?;
        look(&self.root.join("temp"), &mut strange, |_| false)?;
        look(&self.root, &mut strange, |name| ["heeler", "home", "temp", "work"].contains(&name))?;
        let is_ballast = |name: &str| self.disk.is_some() && name == Disk::BALLAST;
        // Beside the sessions only what is remembered of them and of the machine.
        let own = ["sessions", "sessions.index", "sandbox-tried", "media.lock", "media.cleaned"];
        let is_own = |name: &str| own.contains(&name);
        look(&self.home(), &mut strange, |name| is_own(name) || is_ballast(name))?;
        // The last owner ended well, so nobody listens at the session's door any more.
        let kept = [".jsonl", ".spill", ".media", ".checkpoint-0", ".checkpoint-1"];
        let is_kept = |name: &str| kept.iter().any(|suffix| name.ends_with(suffix));
        look(&self.home().join("sessions"), &mut strange, is_kept)?;
        ensure!(strange.is_empty(), "files are left: {}", strange.join(", "));
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
    fn processes(&self) -> Vec<String> {
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
        let numbered = listed.filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str()?.parse::<u32>().ok()?;
            Some(entry.path())
        });
        let ours = numbered.filter(|folder| is_ours(folder)).map(|folder| {
            let arguments = fs::read(folder.join("cmdline")).unwrap_or_default();
            let shown = String::from_utf8_lossy(&arguments).replace('\0', " ");
            format!("{} {shown}", folder.display())
        });
        ours.collect()
    }
}

/// Adds what stands in a folder and is not expected there.
fn look(folder: &Path, strange: &mut Vec<String>, expected: impl Fn(&str) -> bool) -> Result<()> {
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => bail!("reading {}: {error}", folder.display()),
    };
    for entry in listed {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(&expected) {
            strange.push(entry.path().display().to_string());
        }
    }
    Ok(())
}
