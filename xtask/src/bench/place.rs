//! A realistic place: a home with many sessions, a repository with many files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use heeler_core::{
    BoxFuture, Durability, Entry, Input, Record, SessionHeader, SessionId, SessionStore as _,
    StoreError, Timestamp,
};
use heeler_store::FileStore;

use super::figure::{Values, millis};
use super::process::program;

/// Files of one folder of the repository.
const FILES_IN_FOLDER: usize = 250;
/// So many are made to see what one costs.
const FILES_MADE: usize = 200;
/// A model of the catalogue, behind the bench's server.
const MODEL: &str = "anthropic/claude-sonnet-5-5";
/// The program that makes namespaces for one command.
const BUBBLEWRAP: &str = "bwrap";
/// Has the bare loop ask with the client that most programs would take.
pub(super) const OVER_REQWEST: &str = "--over-reqwest";
/// A session of 300 long results stays a conversation: what is measured is not a summary.
const CONTEXT_LIMIT: &str = "1000000000";

/// What people wrote for whoever works in the repository.
pub(super) const NOTES: &str = "\
# Notes

- `make check` builds everything and runs all tests; `make check ONLY=folder-007` is quicker.
- The files of a folder belong together: a change to one is a change to its neighbours, too.
- Names say what a file holds. No file is longer than a page.
- Commits say what and why; the first line has at most 72 characters.
- Nothing below `folder-000` is edited by hand.
";

/// The folders and programs of a bench.
pub(super) struct Place {
    root: tempfile::TempDir,
    heeler: PathBuf,
    bare_loop: PathBuf,
    delta_sink: PathBuf,
}

impl Place {
    /// Makes the folders; the programs lie in `built`.
    pub(super) fn make(built: &Path, n_sessions: usize, n_files: usize) -> Result<Self> {
        let root = tempfile::Builder::new().prefix("heeler-bench-").tempdir()?;
        for name in ["home", "work", "temp"] {
            fs::create_dir(root.path().join(name))?;
        }
        let copy = |name: &str| {
            // The original may be built anew while the bench goes on.
            let (from, to) = (built.join(name), root.path().join(name));
            // What is not there is missed by whoever measures it.
            if from.exists() {
                fs::copy(&from, &to).with_context(|| format!("copying {}", from.display()))?;
            }
            Ok::<_, anyhow::Error>(to)
        };
        let heeler = copy("heeler")?;
        let (bare_loop, delta_sink) = (copy("bare-loop")?, copy("delta-sink")?);
        let place = Self { root, heeler, bare_loop, delta_sink };
        place.fill_store(&place.folder("home"), n_sessions)?;
        place.fill_repository(n_files)?;
        // Or whoever makes a file waits for the disk to take all of these.
        rustix::fs::sync();
        Ok(place)
    }

    /// How long it takes to make a file here: 10 microseconds, or 20 times as many where files were
    /// removed by the thousand within the last minutes, whose numbers ext4 does not give out again so soon.
    /// The reference makes none before its first request, heeler a few.
    pub(super) fn files_made(&self) -> Result<Values> {
        let folder = tempfile::tempdir_in(self.root.path())?;
        let make = |n: usize| {
            let begun = Instant::now();
            fs::File::create_new(folder.path().join(n.to_string()))?;
            Ok(millis(begun.elapsed()))
        };
        (0..FILES_MADE).map(make).collect()
    }

    /// `heeler exec --json` with everything on but the box: a rule lets commands out of it.
    pub(super) fn exec(&self, url: &str) -> Command {
        let mut command = self.exec_in_box(url);
        command.args(["--allow", "Bash"]);
        command
    }

    /// `heeler exec --json` with everything on.
    pub(super) fn exec_in_box(&self, url: &str) -> Command {
        let mut command = self.command(&self.heeler, url);
        command.args(["exec", "--json", "--model", MODEL, "--max-rounds", "0"]);
        command.arg("--cwd").arg(self.folder("work")).arg("go");
        command
    }

    /// `heeler` as a person starts it.
    pub(super) fn window(&self, url: &str) -> Command {
        self.window_in(&self.folder("work"), url)
    }

    /// The same in another folder.
    pub(super) fn window_in(&self, folder: &Path, url: &str) -> Command {
        let mut command = self.command(&self.heeler, url);
        command.args(["--model", MODEL]).arg("--cwd").arg(folder);
        command.env("TERM", "xterm-256color");
        command
    }

    /// `heeler sessions list` over a home.
    pub(super) fn list(&self, home: &Path) -> Command {
        let mut command = self.command(&self.heeler, "");
        command.args(["sessions", "list"]).env("HEELER_HOME", home);
        command
    }

    /// The bare loop, over the same commands.
    pub(super) fn bare(&self, url: &str) -> Command {
        self.bare_with(url, &[])
    }

    /// The same over the client that most programs would take.
    pub(super) fn bare_over_reqwest(&self, url: &str) -> Command {
        self.bare_with(url, &[OVER_REQWEST])
    }

    fn bare_with(&self, url: &str, flags: &[&str]) -> Command {
        let mut command = self.command(&self.bare_loop, url);
        command.args(flags).arg("go").arg(self.folder("temp").join("bare.jsonl"));
        command
    }

    /// The bare loop with each command in namespaces that bubblewrap makes, as our box has them.
    pub(super) fn bare_in_bubblewrap(&self, url: &str) -> Command {
        let mut command = self.bare(url);
        command.args([BUBBLEWRAP, "--unshare-user", "--unshare-ipc", "--die-with-parent"]);
        command.args(["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]);
        for folder in ["work", "temp"].map(|name| self.folder(name)) {
            command.arg("--bind").args([&folder, &folder]);
        }
        let config = self.folder("work").join(".git/config");
        command.arg("--ro-bind").args([&config, &config]);
        command.args(["--tmpfs", "/dev/shm", "--"]);
        command
    }

    /// The bare loop with a tool in the process, many at once.
    pub(super) fn bare_sessions(&self, url: &str, flags: &[&str], n: usize) -> Command {
        let mut command = self.command(&self.bare_loop, url);
        command.args(flags).args(["--sessions", &n.to_string()]);
        command
    }

    /// One of the readers of a stream.
    pub(super) fn sink(&self, url: &str, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.delta_sink, url);
        command.args(arguments);
        command
    }

    /// What a program does that does nothing.
    pub(super) fn version(&self, of_heeler: &Path) -> Command {
        let mut command = self.command(of_heeler, "");
        command.arg("--version");
        command
    }

    pub(super) fn heeler(&self) -> &Path {
        &self.heeler
    }

    pub(super) fn bare_loop(&self) -> &Path {
        &self.bare_loop
    }

    /// Whether bubblewrap is installed and may make what it is asked for.
    pub(super) fn has_bubblewrap() -> bool {
        let mut tried = program(BUBBLEWRAP);
        tried.args(["--unshare-user", "--unshare-ipc", "--ro-bind", "/", "/", "true"]);
        let outputs = tried.stdout(Stdio::null()).stderr(Stdio::null());
        outputs.status().is_ok_and(|status| status.success())
    }

    /// Where something can be noted.
    pub(super) fn note(&self) -> PathBuf {
        self.folder("temp").join("note")
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn command(&self, file: &Path, url: &str) -> Command {
        let mut command = program(file);
        command.current_dir(self.folder("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.root.path()).env("TMPDIR", self.folder("temp"));
        command.env("HEELER_HOME", self.folder("home"));
        command.env("HEELER_CONTEXT_LIMIT", CONTEXT_LIMIT);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "bench");
        command
    }

    /// Makes a home with so many sessions of the repository.
    pub(super) fn fill_store(&self, home: &Path, n_sessions: usize) -> Result<()> {
        let store = FileStore::open(home)?;
        for n in 0..n_sessions {
            let id: SessionId = format!("bench-{n:05}").parse()?;
            let workspace = self.folder("work").display().to_string();
            let header = SessionHeader { id: id.clone(), created: Timestamp(1), workspace };
            now(store.create(header))?;
            let lease = std::sync::Arc::new(now(store.lease(id))?);
            let record = Record::Input(Box::new(Input::text("what a person asked some time ago")));
            let entry = Entry { seq: 1, at: Timestamp(1), record };
            now(store.append(lease, [entry].into(), Durability::Written))?;
        }
        Ok(())
    }

    fn fill_repository(&self, n_files: usize) -> Result<()> {
        let work = self.folder("work");
        fill_folder(&work, n_files)?;
        fs::write(work.join("AGENTS.md"), NOTES)?;
        let settings = [
            "user.name=bench",
            "user.email=bench@example.com",
            // Or git packs all of these files behind our back, while the first programs are measured.
            "maintenance.auto=false",
            "gc.auto=0",
        ];
        for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "files"]] {
            let mut git = program("git");
            git.args(settings.iter().flat_map(|setting| ["-c", setting]))
                .args(arguments)
                .current_dir(&work)
                .env("HOME", self.root.path());
            ensure!(git.status().context("starting git")?.success(), "git {arguments:?} fails");
        }
        Ok(())
    }
}

/// Writes so many small files into folders below this one.
pub(super) fn fill_folder(folder: &Path, n_files: usize) -> Result<()> {
    for n in 0..n_files {
        let folder = folder.join(format!("folder-{:03}", n / FILES_IN_FOLDER));
        if n % FILES_IN_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("file-{n}.txt")), format!("the text of file {n}\n"))?;
    }
    Ok(())
}

/// The store does its work at the first poll.
pub(super) fn now<T>(mut future: BoxFuture<Result<T, StoreError>>) -> Result<T> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Ok(result?),
        Poll::Pending => bail!("the store does not answer at once"),
    }
}
