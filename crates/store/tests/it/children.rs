//! Starts this test program again as another process that plays a role with a store.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use heeler_store::FileStore;

/// Tells a child which folder its store is in.
const ROOT: &str = "HEELER_STORE_TEST_ROOT";

/// The command that runs the role: a test of this program that is ignored otherwise.
pub(crate) fn command(role: &str, root: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = program_command(program.to_str().unwrap());
    command.args(role_arguments(role)).env(ROOT, root).stdout(Stdio::piped());
    command
}

/// The command that runs a shell script, in which `"$@"` runs the role and `$ROOT` is the folder.
pub(crate) fn in_shell(wrapper: &[&str], script: &str, role: &str, root: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let words: Vec<&str> = [wrapper, &["sh", "-c", script, "sh"]].concat();
    let mut command = program_command(words[0]);
    command.args(&words[1..]).arg(program).args(role_arguments(role));
    command.env("ROOT", root).env(ROOT, root);
    command
}

#[expect(clippy::disallowed_methods, reason = "the test waits for the child or kills it itself")]
fn program_command(program: &str) -> Command {
    Command::new(program)
}

fn role_arguments(role: &str) -> [String; 4] {
    ["--ignored", "--exact", "--nocapture", role].map(str::to_owned)
}

/// The store of a child.
pub(crate) fn store_of_child() -> FileStore {
    FileStore::open(root_of_child()).unwrap()
}

/// The folder a child was given.
pub(crate) fn root_of_child() -> PathBuf {
    std::env::var_os(ROOT).expect("only another test runs this").into()
}

/// A child that says line by line how far it is; killed when dropped.
pub(crate) struct Player {
    pub(crate) child: Child,
    output: BufReader<ChildStdout>,
}

impl Player {
    pub(crate) fn start(role: &str, root: &Path) -> Self {
        let mut child = command(role, root).stdin(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits for the child's next word; what the test harness prints is not one.
    pub(crate) fn next_word(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the child ended");
            if let Some((_, word)) = line.trim_end().split_once("says ") {
                return word.to_owned();
            }
        }
    }

    /// Kills the child as nothing can prevent, and gives its last words.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        self.child.wait().unwrap();
        let words = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        words.filter_map(|line| Some(line.split_once("says ")?.1.trim_end().to_owned())).collect()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says a word to the process that started this one.
pub(crate) fn say(word: impl std::fmt::Display) {
    let mut output = std::io::stdout();
    output.write_all(format!("says {word}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}
