//! A home with secrets, a workspace in it, and a box around the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_sandbox::{Bound, Child, Command, Confinement, Confines, Exit, Launcher};

/// What must never be read.
pub(crate) const SECRET: &str = "SECRET-KEY-MATERIAL";

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

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, temp) = (root.join("home"), root.join("temp"));
        let workspace = home.join("project");
        fs::create_dir_all(&temp).unwrap();
        let place = Self { home, workspace, temp, launcher: Launcher::new(), _folder: folder };
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

    pub(crate) fn confines(&self) -> Confines {
        let mut confines = Confines::new(&self.workspace, &self.temp);
        confines.secrets =
            [".ssh", ".netrc", ".config/gh", ".aws"].map(|n| self.home.join(n)).into();
        confines.protected =
            [".git/hooks", ".git/config", ".claude", ".envrc"].map(PathBuf::from).into();
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

    pub(crate) async fn finish(&self, command: Command) -> Ended {
        let mut child = self.launcher.run(&command).await.unwrap();
        let output = read_all(&mut child).await;
        let exit = child.wait().await.unwrap();
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
