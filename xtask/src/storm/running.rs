//! A process that runs: its events as they come, signals, its end.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use super::system::{POLL, pause};

/// Whatever takes longer hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A `heeler` with `--json`; killed when it is dropped.
pub(super) struct Running {
    child: Child,
    lines: Receiver<Vec<u8>>,
    stderr: Option<JoinHandle<String>>,
    /// The events so far.
    pub(super) events: Vec<Seen>,
    /// How often it was looked at.
    pub(super) polls: usize,
    begun: Instant,
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
    pub(super) fn start(mut command: Command) -> Result<Self> {
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
        let stderr = child.stderr.take();
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stderr) = stderr {
                // What came is told, whatever ends it.
                let _ = stderr.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let begun = Instant::now();
        Ok(Self { child, lines, stderr: Some(stderr), events: Vec::new(), polls: 0, begun })
    }

    /// Looks once, for at most one poll's time; false when it has said its last word.
    pub(super) fn poll(&mut self) -> Result<bool> {
        self.polls += 1;
        ensure!(self.begun.elapsed() < PATIENCE, "it hangs; its last events: {}", self.tail());
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
        while begun.elapsed() < PATIENCE {
            if let Some(status) = waitid(id.clone(), options)? {
                return Ok(status.stopped());
            }
            pause();
        }
        bail!("it neither stops nor ends");
    }

    /// Waits for the end, all it says included.
    pub(super) fn finish(mut self) -> Result<Ended> {
        while self.poll()? {}
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure!(self.begun.elapsed() < PATIENCE, "it closed its output and does not end");
            pause();
        };
        let stderr = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        Ok(Ended { end: End::of(status), events: std::mem::take(&mut self.events), stderr })
    }

    fn take(&mut self, line: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(line);
        // A process that is killed may leave half a line.
        let Some(text) = text.strip_suffix('\n') else { return Ok(()) };
        let json: Value =
            serde_json::from_str(text).with_context(|| format!("no JSON on stdout: {text}"))?;
        let kind = json["type"].as_str().unwrap_or_default().to_owned();
        self.events.push(Seen { kind, seq: json["seq"].as_u64(), poll: self.polls, json });
        Ok(())
    }

    fn tail(&self) -> String {
        let last = self.events.iter().rev().take(5).map(|event| event.kind.as_str());
        last.collect::<Vec<_>>().join(" < ")
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
