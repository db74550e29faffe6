//! A home with secrets, a workspace in it, and a box around the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_sandbox::{Bound, Child, Command, Confinement, Confines, Exit, Launcher};

/// What must never be read.
pub(crate) const SECRET: &str = "SECRET-KEY-MATERIAL";

/// What is protected in the workspace.
const PROTECTED: [&str; 7] = [
    ".git/hooks",
    ".git/config",
    ".git/commondir",
    ".claude",
    ".envrc",
    ".vscode/tasks.json",
    ".idea",
];

/// What is closed in the home; the last ones lie in the workspace and are not there.
const SECRETS: [&str; 6] =
    [".ssh", ".netrc", ".config/gh", ".aws", "project/.npmrc", "project/.kube/config"];

/// A home of one test.
pub(crate) struct Place {
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) temp: PathBuf,
    pub(crate) launcher: Launcher,
    _folder: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) output: String,
    pub(crate) exit: Exit,
    pub(crate) bound: Option<Bound>,
}

/// The newest Landlock of this kernel, and the oldest that a box is made with.
pub(crate) const VERSIONS: [u32; 2] = [u32::MAX, 2];

impl Place {
    pub(crate) fn new() -> Self {
        Self::on(u32::MAX)
    }

    /// As on a kernel with this version of Landlock.
    pub(crate) fn on(landlock: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, temp) = (root.join("home"), root.join("temp"));
        let workspace = home.join("project");
        fs::create_dir_all(&temp).unwrap();
        let place = Self {
            home,
            workspace,
            temp,
            launcher: Launcher::with_landlock_at_most(landlock),
            _folder: folder,
        };
        place.write("home/.ssh/id_ed25519", SECRET);
        place.write("home/.netrc", SECRET);
        place.write("home/.config/gh/hosts.yml", SECRET);
        place.write("home/.config/git/config", "[user]\n name = t\n email = t@localhost\n");
        place.write("home/notes.txt", "notes\n");
        place.write("home/project/src/main.rs", "fn main() {}\n");
        place
    }

    /// Writes a file below the root of the place, with its folders.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home.parent().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes the workspace a repository with something protected in it.
    pub(crate) fn make_repository(&self) {
        self.write("home/project/.git/config", "[core]\n repositoryformatversion = 0\n");
        self.write("home/project/.git/HEAD", "ref: refs/heads/main\n");
        self.write("home/project/.git/objects/info/x", "");
        self.write("home/project/.git/refs/heads/x", "");
        self.write("home/project/.git/hooks/README", "");
        self.write("home/project/.claude/settings.json", "{}\n\n");
    }

    pub(crate) fn confines(&self) -> Confines {
        let mut confines = Confines::new(&self.workspace, &self.temp);
        confines.secrets = SECRETS.map(|name| self.home.join(name)).into();
        confines.protected = PROTECTED.map(PathBuf::from).into();
        // As for what tools keep in a home that may be written.
        confines.protected.extend(SECRETS[4..].iter().map(|name| self.home.join(name)));
        confines
    }

    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let env = [("PATH", Path::new(&path)), ("HOME", &self.home), ("TMPDIR", &self.temp)];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_str().unwrap().to_owned()));
        Command::new(program, &self.workspace).args(args.iter().copied()).env(env.to_vec())
    }

    pub(crate) fn sh(&self, script: &str) -> Command {
        self.command("sh", &["-c", script])
    }

    /// Runs a command in the usual box.
    pub(crate) async fn boxed(&self, command: Command) -> Ended {
        self.boxed_in(self.confines(), command).await
    }

    pub(crate) async fn boxed_in(&self, confines: Confines, command: Command) -> Ended {
        self.finish(command.confinement(Confinement::Box(Arc::new(confines)))).await
    }

    /// A command that waited and begins now. Whoever makes something in the folders above, where other
    /// tests have theirs, makes a box old, and a command that waits in it does not begin.
    pub(crate) async fn begun(&self, waits: &Command) -> Child {
        for _ in 0..100 {
            let child = self.launcher.run_waiting(waits).await.unwrap();
            if child.begin().await {
                return child;
            }
        }
        panic!("its box is never as it was");
    }

    pub(crate) async fn finish(&self, command: Command) -> Ended {
        let mut child = self.launcher.run(&command).await.unwrap();
        let output = read_all(&mut child).await;
        let exit = child.wait().await.unwrap();
        child.kill_tree().await.unwrap();
        Ended { output, exit, bound: child.bound().cloned() }
    }
}

pub(crate) async fn read_all(child: &mut Child) -> String {
    let mut output = child.take_output().unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = output.chunk().await.unwrap() {
        all.extend(chunk);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Whether a test's real part can run here; says so when not, and fails where none may be skipped.
pub(crate) fn require(what: &str, is_there: bool) -> bool {
    let all = std::env::var("HEELER_TEST_REQUIRE").is_ok_and(|value| value == "all");
    assert!(is_there || !all, "needs {what}, and HEELER_TEST_REQUIRE=all lets no test be skipped");
    if !is_there {
        eprintln!("skipped: needs {what}");
    }
    is_there
}
