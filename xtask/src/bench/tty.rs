//! A program on a terminal of its own, driven and read by one thread, so that nobody stands between
//! its bytes and the time at which they were there.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::process::{Tree, again};

/// Whoever shows nothing for so long has stopped.
const PATIENCE: Duration = Duration::from_secs(60);
/// What one read takes at most; a terminal's buffer holds less.
const READ_BYTES: usize = 64 * 1024;
/// The size that is measured at.
const SIZE: Winsize = Winsize { ws_col: 120, ws_row: 40, ws_xpixel: 0, ws_ypixel: 0 };
/// Ctrl-D, which leaves.
const LEAVE: &str = "\x04";

/// A program on a terminal. Dropping it ends it.
pub(super) struct Tty {
    child: Child,
    master: File,
    started: Instant,
    /// What it wrote since the last keys, or the last text that was waited for.
    written: Vec<u8>,
    /// How much it wrote in all.
    n_written: usize,
}

impl Tty {
    /// Starts this command on a terminal.
    pub(super) fn start(command: &Command) -> Result<Self> {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).context("opening a terminal")?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = ptsname(&master, Vec::new())?.into_string()?;
        tcsetwinsize(&master, SIZE)?;
        let mut command = again(command);
        for end in 0..3 {
            let side = OpenOptions::new().read(true).write(true).open(&path)?;
            match end {
                0 => command.stdin(side),
                1 => command.stdout(side),
                _ => command.stderr(side),
            };
        }
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        // The ends that are kept for the child would keep the terminal open.
        drop(command);
        let master = File::from(master);
        Ok(Self { child, master, started, written: Vec::new(), n_written: 0 })
    }

    /// When it was started.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// How many bytes it wrote so far.
    pub(super) fn n_written(&self) -> usize {
        self.n_written
    }

    /// What it and all that it started used so far.
    pub(super) fn used(&self) -> Result<Tree> {
        Tree::of(self.child.id())
    }

    /// Presses keys; what was written before them is forgotten. Gives when.
    pub(super) fn types(&mut self, keys: &str) -> Result<Instant> {
        self.written.clear();
        let at = Instant::now();
        self.master.write_all(keys.as_bytes()).context("typing")?;
        Ok(at)
    }

    /// Reads until this text was written, after the last keys and the last such text; gives when.
    pub(super) fn reads_until(&mut self, text: &str) -> Result<Instant> {
        let deadline = Instant::now() + PATIENCE;
        let mut looked = 0;
        loop {
            if let Some(at) = find(&self.written[looked..], text.as_bytes()) {
                let then = Instant::now();
                self.written.drain(..looked + at + text.len());
                return Ok(then);
            }
            // It may have been cut.
            looked = self.written.len().saturating_sub(text.len());
            if !self.read(deadline)? {
                let end = self.written.len().saturating_sub(2000);
                bail!(
                    "waited for `{text}` in vain: {}",
                    String::from_utf8_lossy(&self.written[end..]).escape_debug()
                );
            }
        }
    }

    /// Reads for so long.
    pub(super) fn reads_for(&mut self, duration: Duration) -> Result<()> {
        let deadline = Instant::now() + duration;
        while self.read(deadline)? {
            self.written.clear();
        }
        ensure!(Instant::now() >= deadline, "the program ended by itself");
        Ok(())
    }

    /// Reads until nothing came for so long.
    pub(super) fn reads_until_quiet(&mut self, duration: Duration) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if !self.read(Instant::now() + duration)? {
                return Ok(());
            }
        }
        bail!("the program does not become quiet")
    }

    /// Leaves it, and waits for its end.
    pub(super) fn leaves(mut self) -> Result<()> {
        self.types(LEAVE)?;
        while self.read(Instant::now() + PATIENCE)? {}
        let status = self.child.wait()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    /// Reads what is there until then; `false` when nothing was, or nothing comes any more.
    fn read(&mut self, deadline: Instant) -> Result<bool> {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now()))?;
        let mut ends = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut ends, Some(&left))? == 0 {
            return Ok(false);
        }
        let before = self.written.len();
        self.written.resize(before + READ_BYTES, 0);
        // A terminal that everybody has left ends with an error.
        let n = self.master.read(&mut self.written[before..]).unwrap_or(0);
        self.written.truncate(before + n);
        self.n_written += n;
        Ok(n > 0)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // A measurement that failed leaves no program behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}
