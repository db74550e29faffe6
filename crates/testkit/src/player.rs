//! A test program that starts itself again, as another process that plays a role.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// What stands before each word of a player; what else the test harness prints is none.
const SAYS: &str = "says ";

/// The arguments with which a test program runs one role only: a test that is ignored otherwise.
#[must_use]
pub fn role_arguments(role: &str) -> [String; 4] {
    ["--ignored", "--exact", "--nocapture", role].map(str::to_owned)
}

/// The command that plays a role of this test program.
#[must_use]
pub fn role(role: &str) -> Command {
    let mut command = command(std::env::current_exe().unwrap());
    command.args(role_arguments(role)).stdout(Stdio::piped());
    command
}

/// A program of a test, which waits for it or kills it itself.
#[expect(clippy::disallowed_methods, reason = "the test waits for the child or kills it itself")]
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Says a word to the test that started this process.
pub fn say(word: impl Display) {
    let mut output = std::io::stdout();
    output.write_all(format!("{SAYS}{word}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

/// A process that says line by line how far it is; killed when dropped.
pub struct Player {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Player {
    /// Starts the command of a [`role`].
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The process, to write to or wait for.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for its next word.
    pub fn next_word(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the child ended");
            if let Some((_, word)) = line.trim_end().split_once(SAYS) {
                return word.to_owned();
            }
        }
    }

    /// Kills it as nothing can prevent, and gives its last words.
    #[must_use]
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let rest = self.rest();
        self.child.wait().unwrap();
        let words = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        words.filter_map(|line| Some(line.split_once(SAYS)?.1.trim_end().to_owned())).collect()
    }

    /// Waits until it has done its part.
    pub fn finish(mut self) {
        let rest = self.rest();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }

    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
