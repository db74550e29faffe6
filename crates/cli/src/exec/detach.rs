//! `--detach`: the same program again, as a process of its own, which tells its beginning and then
//! nobody anything.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use anyhow::{Context as _, Result};
use heeler_core::SessionId;
use heeler_engine::{Seen, Session};

use super::Printer;
use super::finish::Finish;
use crate::exit::Exit;
use crate::say::say;

/// What the command line of the process that goes on has besides.
const DETACHED: &str = "--detached";
/// The most bytes of the line with the session's id.
const LINE_BYTES_MAX: u64 = 1024;

/// Starts the process, and returns once its session is begun and its input is written, or ends as the
/// process did.
pub(super) fn begin(is_quiet: bool) -> Result<Exit> {
    let program = std::env::current_exe().context("cannot find this program to start it anew")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is to outlive us, which the launcher prevents"
    )]
    let mut command = std::process::Command::new(program);
    command.args(["exec", DETACHED]).args(std::env::args_os().skip(2)).stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start the process that goes on")?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(std::io::Read::take(stdout, LINE_BYTES_MAX));
        stdout.read_line(&mut line).context("cannot read what the process says")?;
    }
    let Some(id) = line.strip_suffix('\n') else {
        // It told what is wrong itself.
        let status = child.wait().context("cannot wait for the process")?;
        std::process::exit(status.code().unwrap_or(Exit::Failure as i32));
    };
    crate::say::print(&line)?;
    if !is_quiet {
        say(format_args!(
            "heeler: it runs on its own; `heeler attach {id}` shows it and answers what it asks, \
             `heeler stop {id}` stops it"
        ));
    }
    Ok(Exit::Done)
}

/// Tells the session's id when its first record is there; from then on the journal has everything.
pub(super) struct DetachedPrinter {
    session: Option<SessionId>,
    is_free: bool,
}

impl DetachedPrinter {
    /// Takes this process away from the terminal that it was started at.
    pub(super) fn begin() -> Result<Self> {
        rustix::process::setsid().context("cannot leave the terminal")?;
        Ok(Self { session: None, is_free: false })
    }

    /// Tells whoever started it, and lets go of all it was given.
    fn free(&mut self) -> std::io::Result<()> {
        self.is_free = true;
        let Some(session) = &self.session else { return Ok(()) };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{session}")?;
        out.flush()?;
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(())
    }
}

impl Printer for DetachedPrinter {
    fn begin(&mut self, session: &Session, _: &str) -> std::io::Result<()> {
        self.session = Some(session.id().clone());
        Ok(())
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        let is_written = match seen {
            Seen::Event(envelope) => envelope.seq.is_some(),
            Seen::Resync(_) => true,
        };
        if is_written && !self.is_free { self.free() } else { Ok(()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        if let Some(complaint) = finish.complaint().filter(|_| !self.is_free) {
            say(format_args!("heeler: {complaint}"));
        }
        Ok(())
    }
}
