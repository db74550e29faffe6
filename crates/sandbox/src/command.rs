//! What to run, and how it ended.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Confinement;

/// One program to run. Nothing is inherited: it sees this environment and no other, has no
/// controlling terminal but the one it is given, and no open files besides its input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program: a path, or a name that is looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// What it reads.
    pub input: Input,
    /// How its output is read.
    pub streams: Streams,
    /// What keeps it in.
    pub confinement: Confinement,
}

impl Command {
    /// A command without arguments, environment and input, its two outputs merged, not confined.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: cwd.into(),
            input: Input::Empty,
            streams: Streams::Merged,
            confinement: Confinement::None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Replaces the environment.
    #[must_use]
    pub fn env(mut self, env: Vec<(String, String)>) -> Self {
        self.env = env;
        self
    }

    /// Chooses what keeps it in.
    #[must_use]
    pub fn confinement(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// Chooses what it reads.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Chooses how the output is read.
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }
}

/// What a command reads from its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing: `/dev/null`.
    Empty,
    /// What its owner sends.
    Pipe,
}

/// How a command's output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// Standard output and standard error through one pipe, in the order they were written.
    Merged,
    /// Through two pipes.
    Separate,
    /// A terminal of this size is its input and both outputs, and it leads a session of its own on
    /// it, so that keys give signals and shells have jobs. [`Input`] then says nothing.
    Terminal(TerminalSize),
}

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in each.
    pub columns: u16,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What killing a command came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Killed {
    /// Processes that were killed, besides the command itself; 0 where only groups are known.
    pub n_killed: usize,
    /// Processes that could not be killed: another user's, or stuck in the kernel.
    pub n_survivors: usize,
}

impl Exit {
    /// Whether it exited with code 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}
