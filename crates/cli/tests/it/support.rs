//! A world of its own for each test, and what a process leaves in it.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use heeler_testkit::MockServer;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use crate::running::Heeler;
use crate::schema::check_event;

/// A process that takes longer hangs; it is killed, and its test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// A model of the catalogue, with prices.
pub(crate) const MODEL: &str = "anthropic/claude-sonnet-5-5";
/// The variable that marks whatever a world's processes start; commands may see its family.
pub(crate) const MARK: &str = "XDG_HEELER_TEST_WORLD";

/// A program to run. Tests drive the real program from outside, as a person's shell does.
#[expect(clippy::disallowed_methods, reason = "the launcher itself is what is under test")]
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Whether this machine can make the box around commands, as the program itself says.
pub(crate) fn can_confine() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let doctor = World::new().heeler(&["doctor", "--json"]).run();
        doctor.stdout.contains(r#""sandbox":true"#)
    })
}

/// A stdout whose disk is full, on a system that has one to test with.
pub(crate) fn full_disk() -> Option<File> {
    let full = Path::new("/dev/full");
    heeler_testkit::require("/dev/full", full.exists())
        .then(|| File::options().write(true).open(full).unwrap())
}

/// What `exec` is told on a machine that cannot make the box, since it would refuse to start.
fn without_box(arguments: &[impl AsRef<OsStr>]) -> Option<&'static str> {
    let flag = "--no-sandbox";
    let mut words = arguments.iter().map(AsRef::as_ref);
    let is_exec = words.next().is_some_and(|word| word == "exec");
    (is_exec && !words.any(|word| word == flag) && !can_confine()).then_some(flag)
}

/// A home and a workspace that nobody else uses; gone when it is dropped.
pub(crate) struct World {
    root: PathBuf,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("heeler-it-").tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home", "work", "temp"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        Self { root, _folder: folder }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("work")
    }

    /// Writes a file, given relative to the world.
    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A file of the workspace; empty when there is none.
    pub(crate) fn worked(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace().join(name)).unwrap_or_default()
    }

    /// The name of a model that plays this script.
    pub(crate) fn script(&self, toml: &str) -> String {
        format!("script:{}", self.write("script.toml", toml).display())
    }

    /// `heeler` with these arguments, in the workspace, with nothing of our own environment.
    pub(crate) fn heeler(&self, arguments: &[impl AsRef<OsStr>]) -> Heeler {
        let mut command = program(env!("CARGO_BIN_EXE_heeler"));
        command.args(arguments).args(without_box(arguments));
        self.settle(&mut command);
        Heeler::new(command)
    }

    /// `heeler exec` with a model that plays this script.
    pub(crate) fn exec(&self, script: &str, arguments: &[&str]) -> Heeler {
        let model = self.script(script);
        self.heeler(&[&["exec", "--model", &model], arguments].concat())
    }

    /// `heeler exec` with the model behind this server.
    pub(crate) fn exec_at(&self, server: &MockServer, arguments: &[&str]) -> Heeler {
        self.heeler(&[&["exec", "--model", MODEL], arguments].concat()).at(server)
    }

    /// Puts a command into this world.
    pub(crate) fn settle(&self, command: &mut Command) {
        command.current_dir(self.workspace()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.root).env("TMPDIR", self.path("temp"));
        command.env("HEELER_HOME", self.path("home")).env(MARK, &self.root);
    }

    /// The mark that this world's processes carry.
    pub(crate) fn mark(&self) -> String {
        format!("{MARK}={}", self.root.display())
    }

    /// The journals, oldest first.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let Ok(listed) = std::fs::read_dir(self.path("home/sessions")) else { return Vec::new() };
        let mut journals: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
        journals.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        journals.sort();
        journals
    }

    /// The journal of the only session.
    pub(crate) fn journal(&self) -> PathBuf {
        let [only] = self.journals().try_into().expect("one session");
        only
    }

    /// The ids of the sessions, oldest first.
    pub(crate) fn ids(&self) -> Vec<String> {
        let id = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        self.journals().into_iter().map(id).collect()
    }

    /// Makes all sessions older by a minute. Two that change within the same few milliseconds may have
    /// the same time, and are then in no order that a test could know.
    pub(crate) fn minute_passes(&self) {
        for journal in self.journals() {
            let file = std::fs::File::options().append(true).open(journal).unwrap();
            let before = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(60);
            file.set_modified(before).unwrap();
        }
    }

    /// The whole lines of the only journal.
    pub(crate) fn journal_lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.journal()).unwrap();
        text.split_inclusive('\n').filter(|l| l.ends_with('\n')).map(str::to_owned).collect()
    }

    /// The text without what differs from run to run: folders, ids, times, ports.
    pub(crate) fn plain(&self, text: &str) -> String {
        let mut text = text.replace(&*self.root.to_string_lossy(), "WORLD");
        if !can_confine() {
            let said =
                "heeler: commands are not confined; what a rule allows runs with your own rights\n";
            text = text.replace(said, "").replace(" --no-sandbox <", " <");
        }
        let rules = [
            ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
            (r"20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)?", "TIME"),
            (r"127\.0\.0\.1:\d+", "SERVER"),
            (r"\d+\.\d\d tokens counted", "RATIO tokens counted"),
        ];
        rules.iter().fold(text, |text, (pattern, name)| {
            Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
        })
    }
}

/// What a process left.
#[derive(Debug)]
pub(crate) struct Output {
    /// See [`code`].
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Fails, with all there is to see, unless it exited like this.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The events of `--json`, each as the published schema says.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let events = self.stdout.lines().map(|line| serde_json::from_str(line).expect(line));
        events.inspect(check_event).collect()
    }

    /// The last event of `--json`, which is the terminal one.
    #[track_caller]
    pub(crate) fn terminal(&self) -> Value {
        let events = self.events();
        let is_terminal = |event: &&Value| event["type"] == "turn_finished";
        assert_eq!(events.iter().filter(is_terminal).count(), 1, "{}", self.stdout);
        let last = events.last().unwrap().clone();
        assert_eq!(last["type"], "turn_finished", "{}", self.stdout);
        assert_eq!(last["exit_code"], self.code, "{}", self.stdout);
        last
    }

    /// Events of this type.
    #[track_caller]
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }
}
