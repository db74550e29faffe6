//! A process that runs: its events as they come, signals, its end.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use super::system::{POLL, pause};

/// A process that lives for so many times the patience comes to no end, however much it says.
const LIVES_MAX: u32 = 10;

/// A `heeler` with `--json`; killed when it is dropped.
pub(super) struct Running {
    child: Child,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<String>,
    /// The events so far.
    pub(super) events: Vec<Seen>,
    /// How often it was looked at.
    pub(super) polls: usize,
    begun: Instant,
    /// When it said its last word.
    heard: Instant,
    /// Who is silent for longer hangs.
    patience: Duration,
}

/// An event that was seen.
pub(super) struct Seen {
    pub(super) kind: String,
    /// The record that brought it.
    pub(super) seq: Option<u64>,
    /// When it was seen.
    pub(super) poll: usize,
    pub(super) json: Value,
}

/// What a process left.
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) events: Vec<Seen>,
    pub(super) stderr: String,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
}

impl Running {
    pub(super) fn start(mut command: Command, patience: Duration) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start heeler")?;
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take().map(BufReader::new);
        std::thread::spawn(move || {
            let Some(mut stdout) = stdout else { return };
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                // Nobody listens to a process that is given up.
                let _ = sender.send(std::mem::take(&mut line));
            }
        });
        let from_child = child.stderr.take();
        let (sender, stderr) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut from_child) = from_child {
                // What came is told, whatever ends it.
                let _ = from_child.read_to_end(&mut bytes);
            }
            // Nobody listens to a process that is given up.
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        let (events, begun) = (Vec::new(), Instant::now());
        Ok(Self { child, lines, stderr, events, polls: 0, begun, heard: begun, patience })
    }

    /// Looks once, for at most one poll's time; false when it has said its last word.
    pub(super) fn poll(&mut self) -> Result<bool> {
        self.polls += 1;
        self.check_patience()?;
        match self.lines.recv_timeout(POLL) {
            Ok(line) => self.take(&line)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line)?;
        }
        Ok(true)
    }

    /// Whether an event of this type was seen.
    pub(super) fn saw(&self, kind: &str) -> bool {
        self.events.iter().any(|event| event.kind == kind)
    }

    /// Sends a signal; nothing happens to a process that has ended.
    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits until a stop has taken effect; false when the process ended before.
    pub(super) fn is_stopped(&self) -> Result<bool> {
        let id = WaitId::Pid(Pid::from_child(&self.child));
        let options = WaitIdOptions::STOPPED
            | WaitIdOptions::EXITED
            | WaitIdOptions::NOHANG
            | WaitIdOptions::NOWAIT;
        let begun = Instant::now();
        while begun.elapsed() < self.patience {
            if let Some(status) = waitid(id.clone(), options)? {
                return Ok(status.stopped());
            }
            pause();
        }
        bail!("it neither stops nor ends");
    }

    /// Waits for the end, all it says included.
    pub(super) fn finish(&mut self) -> Result<Ended> {
        while self.poll()? {}
        let closed = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure!(closed.elapsed() < self.patience, "it closed its output and does not end");
            pause();
        };
        // Whoever holds the other end was left by it.
        let stderr = self.stderr.recv_timeout(self.patience);
        let stderr = stderr.map_err(|_| anyhow!("it ended, and its stderr stays open"))?;
        Ok(Ended { end: End::of(status), events: std::mem::take(&mut self.events), stderr })
    }

    /// Its number, and the last it said.
    pub(super) fn shown(&self) -> String {
        let last = self.events.iter().rev().take(5).map(|event| event.kind.as_str());
        let last = last.collect::<Vec<_>>().join(" < ");
        format!("process {}, its last events: {last}", self.child.id())
    }

    fn check_patience(&mut self) -> Result<()> {
        let (silent, lived) = (self.heard.elapsed(), self.begun.elapsed());
        if silent >= self.patience {
            let has_ended = self.child.try_wait()?.is_some();
            ensure!(!has_ended, "it ended, and its output stays open");
            bail!("it hangs: not a word for {} s", silent.as_secs());
        }
        ensure!(lived < self.patience * LIVES_MAX, "it goes on after {} s", lived.as_secs());
        Ok(())
    }

    fn take(&mut self, line: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(line);
        // A process that is killed may leave half a line.
        let Some(text) = text.strip_suffix('\n') else { return Ok(()) };
        let json: Value =
            serde_json::from_str(text).with_context(|| format!("no JSON on stdout: {text}"))?;
        self.heard = Instant::now();
        let kind = json["type"].as_str().unwrap_or_default().to_owned();
        self.events.push(Seen { kind, seq: json["seq"].as_u64(), poll: self.polls, json });
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The answer and the words of the last turn's end, as the terminal event has them.
    pub(super) fn terminal(&self) -> Option<&Value> {
        self.events.last().filter(|event| event.kind == "turn_finished").map(|event| &event.json)
    }

    /// All it said of its end.
    pub(super) fn words(&self) -> String {
        let terminal = self.terminal().map(ToString::to_string).unwrap_or_default();
        format!("{}{terminal}", self.stderr)
    }
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}
