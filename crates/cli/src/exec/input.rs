//! Where the prompt comes from, and what is piped in beside it.

use std::io::{IsTerminal, Read, stdin};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use heeler_core::{Block, Input};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat, tell};
use rustix::io::Errno;

use super::writer::{self, Writer};
use crate::say::say;

/// The longest text read from stdin, in bytes.
const STDIN_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// How long what is piped in beside a prompt may take to begin; counted from our own beginning, so
/// that it costs nothing where it is there by the time all else is ready.
const PIPE_PATIENCE: Duration = Duration::from_secs(1);
/// The same where the system does not tell whether anybody is about to write.
const UNKNOWN_PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at who could write.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Stands before what was piped in. Nothing stands behind it, so nothing in it can end it.
const PIPED_IN: &str = "Piped in on stdin:\n\n";

/// The first input where the others come as lines of stdin.
pub(super) fn beside_stream(argument: Option<&str>) -> Result<Option<String>> {
    match argument {
        Some("-") => bail!(
            "with --stream-input stdin holds messages; leave out the -, or give the prompt itself"
        ),
        Some(_) => prompt(argument, false),
        None => Ok(None),
    }
}

/// The prompt: the argument, or stdin for `-`, or stdin when it is a pipe and a new session has no
/// other prompt. A continued session without a prompt reads stdin only for `-`: an inherited pipe
/// that nobody closes must not hold it up.
pub(super) fn prompt(argument: Option<&str>, continues: bool) -> Result<Option<String>> {
    match argument {
        Some("-") => from_stdin().map(Some),
        Some(text) if text.trim().is_empty() => {
            bail!("the prompt is empty; write `heeler exec 'what to do'`")
        }
        Some(text) => Ok(Some(text.to_owned())),
        None if continues => Ok(None),
        None if !stdin().is_terminal() => from_stdin().map(Some),
        None => bail!("there is no prompt; write `heeler exec 'what to do'`, or - to read stdin"),
    }
}

fn from_stdin() -> Result<String> {
    let text = read_stdin("the prompt on stdin")?;
    if text.trim_start().is_empty() {
        bail!("the prompt on stdin is empty; write `heeler exec 'what to do'`, or pipe it in");
    }
    Ok(text)
}

/// All of stdin, without the blanks at its end.
fn read_stdin(what: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let mut stdin = stdin().lock().take(STDIN_BYTES_MAX + 1);
    stdin.read_to_end(&mut bytes).with_context(|| format!("cannot read {what}"))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        bail!("{what} is longer than {STDIN_BYTES_MAX} bytes; put it into a file");
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{what} is not UTF-8 text"))?;
    Ok(text.trim_end().to_owned())
}

/// What may be piped in beside a prompt that was given as an argument.
///
/// A pipe is read when it begins, or ends, within a second, and is waited for while a program beside us
/// holds its other end, as in every pipeline: `cargo test` prints nothing for minutes. Else whoever
/// started us left it open and means nothing by it. A file is read from its beginning only: who is
/// further in it reads it themselves, as the loop of a shell does. Terminals, devices and sockets are
/// left alone.
pub(super) struct Piped {
    begun: Instant,
}

impl Piped {
    /// Looks what stdin is, and reads nothing yet.
    pub(super) fn beside(argument: Option<&str>) -> Option<Self> {
        argument.filter(|argument| *argument != "-")?;
        let stdin = stdin();
        let is_read = match FileType::from_raw_mode(fstat(&stdin).ok()?.st_mode) {
            FileType::Fifo => true,
            FileType::RegularFile => tell(&stdin) == Ok(0),
            _ => false,
        };
        is_read.then(|| Self { begun: Instant::now() })
    }

    /// Reads it, if it begins. That it is waited for, or not read, is told in any case: somebody sits
    /// before a program that does nothing, or gets an answer to less than they asked.
    pub(super) fn read(self, is_quiet: bool) -> Result<Option<String>> {
        if !self.begins() {
            say("heeler: nothing comes on stdin, so it is not read; to wait for it: \
                 (echo 'PROMPT'; COMMAND) | heeler exec -");
            return Ok(None);
        }
        let text = read_stdin("what is piped in beside the prompt")
            .context("cannot take stdin; where it is not meant for heeler, add </dev/null")?;
        if !is_quiet && !text.is_empty() {
            say(format!(
                "heeler: {} bytes of stdin go with the prompt; where that is not meant, add </dev/null",
                text.len()
            ));
        }
        Ok(Some(text).filter(|text| !text.trim_start().is_empty()))
    }

    /// Whether something is there, be it the end, before it is clear that nothing will be.
    fn begins(&self) -> bool {
        if has_begun(self.begun + PIPE_PATIENCE) {
            return true;
        }
        let mut is_told = false;
        loop {
            let is_awaited = match writer::of_stdin() {
                Writer::Beside => true,
                Writer::Unknown => self.begun.elapsed() < UNKNOWN_PATIENCE,
                Writer::Elsewhere => false,
            };
            // What came in the last moment counts, too.
            if !is_awaited {
                return has_begun(Instant::now());
            }
            if !is_told {
                say(
                    "heeler: waiting for what is piped in on stdin; where nothing is meant to be, \
                     add </dev/null",
                );
                is_told = true;
            }
            if has_begun(Instant::now() + LOOK_EVERY) {
                return true;
            }
        }
    }
}

/// Whether stdin has something to read, be it the end, by then.
fn has_begun(until: Instant) -> bool {
    let stdin = stdin();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], timeout.as_ref()) {
            Err(Errno::INTR) => {}
            ready => return ready.is_ok_and(|ready| ready > 0),
        }
    }
}

/// A prompt, and behind it, as a block of its own, what was piped in.
pub(super) fn joined(prompt: String, piped: Option<String>) -> Input {
    let mut input = Input::text(prompt);
    input.blocks.extend(piped.map(|piped| Block::text(format!("{PIPED_IN}{piped}"))));
    input
}
