//! A process that runs: what it says line by line, signals, its end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use heeler_testkit::MockServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::schema::check_event;
use crate::support::{Output, PATIENCE, program};

enum Input {
    Closed,
    Text(Vec<u8>),
    /// A pipe that nobody closes while the process runs.
    Open,
}

/// A process to start.
pub(crate) struct Heeler {
    command: Command,
    stdin: Input,
    patience: Duration,
}

impl Heeler {
    /// A process that has nothing on stdin, and whose output is read.
    pub(crate) fn new(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, stdin: Input::Closed, patience: PATIENCE }
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn at(self, server: &MockServer) -> Self {
        self.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "test-key")
    }

    pub(crate) fn cwd(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Input::Text(text.into());
        self
    }

    pub(crate) fn open_stdin(mut self) -> Self {
        self.stdin = Input::Open;
        self
    }

    pub(crate) fn run(self) -> Output {
        self.start().finish()
    }

    /// Runs it as the last arguments of another program, such as a shell.
    pub(crate) fn run_in(self, outer: &str, arguments: &[&str]) -> Output {
        self.within(outer, arguments).run()
    }

    /// Becomes the last arguments of another program.
    pub(crate) fn within(mut self, outer: &str, arguments: &[&str]) -> Self {
        let mut command = program(outer);
        command.args(arguments).arg(self.command.get_program()).args(self.command.get_args());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear().current_dir(self.command.get_current_dir().unwrap());
        let variables = self.command.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        self.command = command;
        self
    }

    /// Takes this as its stdout.
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    /// Takes this as its stderr.
    pub(crate) fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.command.stderr(stderr);
        self
    }

    pub(crate) fn start(mut self) -> Running {
        let is_closed = matches!(self.stdin, Input::Closed);
        let stdin = if is_closed { Stdio::null() } else { Stdio::piped() };
        self.command.stdin(stdin);
        let mut child = self.command.spawn().unwrap();
        let stdin = child.stdin.take().and_then(|mut pipe| match self.stdin {
            Input::Text(text) => {
                // A process that does not read its stdin closes it.
                let _ = pipe.write_all(&text);
                None
            }
            _ => Some(pipe),
        });
        let stderr = Stderr::collect(child.stderr.take());
        let stdout = child.stdout.take().map(BufReader::new);
        let watchdog = Watchdog::new(Pid::from_child(&child), self.patience);
        // With it goes our copy of a pipe it was given.
        drop(self.command);
        Running { child, stdin, stdout, stderr, seen: String::new(), watchdog }
    }
}

/// A process that runs; killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    stderr: Stderr,
    seen: String,
    watchdog: Watchdog,
}

impl Running {
    /// The next line of stdout.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let n = self.stdout.as_mut()?.read_line(&mut line).unwrap();
        self.seen.push_str(&line);
        (n > 0).then_some(line)
    }

    /// Reads events until one of this type and returns it.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        while let Some(line) = self.line() {
            let event: Value = serde_json::from_str(&line).unwrap();
            check_event(&event);
            if event["type"] == kind {
                return event;
            }
        }
        panic!("the output ended before `{kind}`:\n{}", self.seen);
    }

    /// Writes a line to its stdin.
    pub(crate) fn say(&mut self, line: impl std::fmt::Display) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends its stdin.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until it said this on stderr.
    #[track_caller]
    pub(crate) fn wait_for_stderr(&mut self, text: &str) {
        while let Some(line) = self.stderr.line() {
            if line.contains(text) {
                return;
            }
        }
        panic!("stderr ended before `{text}`:\n{}", self.stderr.seen);
    }

    /// Closes our end of its stdout, as `head` does.
    pub(crate) fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Kills it as the system does when memory runs out.
    pub(crate) fn kill(mut self) -> Output {
        self.child.kill().unwrap();
        self.end()
    }

    /// Waits for its own end.
    pub(crate) fn finish(mut self) -> Output {
        self.end()
    }

    fn end(&mut self) -> Output {
        if let Some(stdout) = &mut self.stdout {
            let mut rest = Vec::new();
            stdout.read_to_end(&mut rest).unwrap();
            self.seen.push_str(&String::from_utf8_lossy(&rest));
        }
        let stderr = self.stderr.rest();
        let status = self.child.wait().unwrap();
        drop(self.stdin.take());
        let stdout = std::mem::take(&mut self.seen);
        assert!(!self.watchdog.end(), "it hung and was killed\n{stdout}\n{stderr}");
        Output { code: code(status), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process says on stderr; read all the time, so that it never waits for us.
struct Stderr {
    lines: mpsc::Receiver<String>,
    seen: String,
}

impl Stderr {
    fn collect(pipe: Option<ChildStderr>) -> Self {
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n')) {
                let line = String::from_utf8_lossy(&line.unwrap()).into_owned();
                // A test that failed does not listen any more.
                let _ = sender.send(line + "\n");
            }
        });
        Self { lines, seen: String::new() }
    }

    /// The next line; `None` when all who could write are gone.
    fn line(&mut self) -> Option<String> {
        let line = self.lines.recv().ok()?;
        self.seen.push_str(&line);
        Some(line)
    }

    fn rest(&mut self) -> String {
        while self.line().is_some() {}
        std::mem::take(&mut self.seen)
    }
}

/// The exit code; 128 and the signal's number for a process that was killed.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap())
}

/// Kills a process that takes too long, so that whoever waits for it goes on.
struct Watchdog {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<bool>>,
}

impl Watchdog {
    fn new(process: Pid, patience: Duration) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let is_late = stopped.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
            // It may have ended at this very moment.
            let _ = is_late.then(|| kill_process(process, Signal::KILL));
            is_late
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }

    /// Stops watching; whether it had to kill.
    fn end(&mut self) -> bool {
        drop(self.stop.take());
        self.thread.take().is_some_and(|thread| thread.join().unwrap())
    }
}
