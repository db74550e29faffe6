//! How git is started beside a stage: with settings of nobody, for a limited time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::fs::Access;
use rustix::process::{Pid, Signal, kill_process};

/// How long one start of git may take.
const RUN_TIME_MAX: Duration = Duration::from_secs(600);
/// How much it may say.
const OUTPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How much of its complaints is told.
const ERRORS_BYTES_MAX: u64 = 4096;
/// Settings that hold whatever a repository says. What else of it could be run, talks to others.
const SETTINGS: [&str; 4] =
    ["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"];
/// Nothing but the repository's own settings count, and no object is fetched that is missing.
const VARIABLES: [(&str, &str); 7] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C.UTF-8"),
];

/// The program, which is none that a run could have made in the folder it worked in.
pub(super) fn program(base: &Path) -> Result<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let base = real(base);
    let is_apart = |path: &PathBuf| {
        let folder = real(path);
        path.is_absolute()
            && folder.is_some_and(|it| base.as_ref().is_none_or(|base| !it.starts_with(base)))
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs =
        std::env::split_paths(&path).filter(is_apart).map(|folder| folder.join("git"));
    let is_program = |program: &PathBuf| {
        rustix::fs::access(program, Access::EXEC_OK).is_ok() && program.is_file()
    };
    programs.find(is_program).context("there is no git in PATH outside of the folder")
}

/// One start of git.
pub(super) struct Git<'a> {
    program: &'a Path,
    /// Its repository.
    folder: &'a Path,
    /// Where its objects are, if not in the repository.
    objects: Option<&'a Path>,
}

/// What git hears.
pub(super) enum Told<'a> {
    Text(&'a str),
    File(File),
}

impl<'a> Git<'a> {
    pub(super) fn of(program: &'a Path, folder: &'a Path) -> Self {
        Self { program, folder, objects: None }
    }

    /// The same with objects from elsewhere, and to be put there.
    pub(super) fn with_objects(self, objects: &'a Path) -> Self {
        Self { objects: Some(objects), ..self }
    }

    /// What it says.
    pub(super) fn run(&self, arguments: &[&str], told: Told<'_>) -> Result<String> {
        let mut said = Vec::new();
        self.start(arguments, told, Stdio::piped(), |output| {
            output.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut said)
        })?;
        ensure!(said.len() as u64 <= OUTPUT_BYTES_MAX, "git {}: too much", arguments[0]);
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// What it says, in a file.
    pub(super) fn run_into(&self, file: &Path, arguments: &[&str], told: &str) -> Result<()> {
        let file = File::create(file)?;
        self.start(arguments, Told::Text(told), file.into(), |_| Ok(0))
    }

    fn start(
        &self,
        arguments: &[&str],
        told: Told<'_>,
        output: Stdio,
        hear: impl FnOnce(&mut dyn std::io::Read) -> std::io::Result<usize>,
    ) -> Result<()> {
        let what = format!("git {}", arguments.first().copied().unwrap_or_default());
        #[expect(clippy::disallowed_methods, reason = "the person's own git, when no session runs")]
        let mut command = Command::new(self.program);
        let own = |name: &OsString| name.as_bytes().starts_with(b"GIT_");
        std::env::vars_os().map(|(name, _)| name).filter(own).for_each(|name| {
            command.env_remove(name);
        });
        command.envs(VARIABLES).env("GIT_DIR", self.folder).current_dir(self.folder);
        command.envs(self.objects.map(|objects| ("GIT_OBJECT_DIRECTORY", objects)));
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(arguments);
        let (text, input) = match told {
            Told::Text(text) => (text, Stdio::piped()),
            Told::File(file) => ("", file.into()),
        };
        let mut running = command
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start git")?;
        let pid = Pid::from_child(&running);
        let (stdin, stdout) = (running.stdin.take(), running.stdout.take());
        let stderr = running.stderr.take();
        let (ended, over) = mpsc::channel::<()>();
        let mut errors = String::new();
        let heard = std::thread::scope(|scope| {
            // It answers while it is told, and any of its pipes may be full.
            scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
            let complaints = scope.spawn(|| {
                let mut bytes = Vec::new();
                let read = stderr.map(|pipe| pipe.take(ERRORS_BYTES_MAX).read_to_end(&mut bytes));
                errors = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                drop(read);
            });
            // It is not waited for before this ends, so the number is its own.
            scope.spawn(move || {
                if over.recv_timeout(RUN_TIME_MAX) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // An error means that it has ended.
                    let _ = kill_process(pid, Signal::KILL);
                }
            });
            let heard = stdout.map_or(Ok(0), |mut stdout| hear(&mut stdout));
            // They end when it does, also where what it says goes to a file.
            let _ = complaints.join();
            drop(ended);
            heard
        });
        let status = running.wait()?;
        heard?;
        match status.success() {
            true => Ok(()),
            false if errors.is_empty() => bail!("{what}: {status}"),
            false => bail!("{what}: {errors}"),
        }
    }
}
