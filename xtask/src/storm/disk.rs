//! A home on a disk that is nearly full: a small file system in a mount namespace of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::system::program;

/// The disk's size; what is not ballast is free.
const DISK_BYTES: u64 = 16 * 1024 * 1024;
/// What is free at first.
const FREE_BYTES: u64 = 32 * 1024;

/// A mounted disk. It lasts as long as the process that holds its namespace.
pub(super) struct Disk {
    holder: Child,
    ballast: PathBuf,
}

impl Disk {
    /// The file that fills the disk.
    pub(super) const BALLAST: &str = "ballast";

    /// Whether this machine lets us mount one.
    pub(super) fn is_possible() -> bool {
        let mut mount = unshare();
        mount.args(["mount", "-t", "tmpfs", "none", "/mnt"]);
        let mut enter = program("nsenter");
        enter.arg("--version");
        [mount, enter].iter_mut().all(|command| {
            let tried = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            tried.is_ok_and(|status| status.success())
        })
    }

    /// Mounts a nearly full disk over a folder, for those inside only.
    pub(super) fn mount(folder: &Path) -> Result<Self> {
        let line = "set -e; mount -t tmpfs -o size=$2 none \"$1\"; \
                    head -c $3 /dev/zero > \"$1/$4\"; echo mounted; exec cat";
        let mut command = unshare();
        command.args(["bash", "-c", line, "bash"]).arg(folder);
        command.args([DISK_BYTES, DISK_BYTES - FREE_BYTES].map(|bytes| bytes.to_string()));
        command.arg(Self::BALLAST).current_dir("/");
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut said = String::new();
        if let Some(stdout) = holder.stdout.take() {
            BufReader::new(stdout).read_line(&mut said)?;
        }
        let mut disk = Self { holder, ballast: PathBuf::new() };
        ensure!(said == "mounted\n", "cannot mount a small disk");
        disk.ballast = disk.seen(&folder.join(Self::BALLAST));
        Ok(disk)
    }

    /// A path of the inside as it is seen from outside.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        path.strip_prefix("/").map_or_else(|_| path.to_owned(), |path| root.join(path))
    }

    /// A program that runs inside.
    pub(super) fn inside(&self, path: &Path) -> Command {
        let mut command = program("nsenter");
        command.args(["-t", &self.holder.id().to_string()]);
        if !rustix::process::geteuid().is_root() {
            command.args(["-U", "--preserve-credentials"]);
        }
        command.args(["-m", "--"]).arg(path);
        command
    }

    /// Makes room, as a person does who is told that the disk is full.
    pub(super) fn free(&self, bytes: u64) -> Result<()> {
        let file = fs::OpenOptions::new().write(true).open(&self.ballast);
        let file = file.with_context(|| format!("opening {}", self.ballast.display()))?;
        let length = file.metadata()?.len();
        ensure!(length > 0, "the whole disk of {DISK_BYTES} bytes is full");
        file.set_len(length.saturating_sub(bytes))?;
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It ends with its stdin, and the disk with it.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// A mount namespace of our own: as root directly, else through a user namespace.
fn unshare() -> Command {
    let mut command = program("unshare");
    command.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" });
    command
}
