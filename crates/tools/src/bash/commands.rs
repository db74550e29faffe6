//! How commands start: through which launcher, in which box, and what they see.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use heeler_core::{Access, Facts, Mode, Policy, ShellLine, ToolContext, ToolError};
use heeler_sandbox::{Command, Confinement, Confines, Launcher};
use heeler_shell::Place;

use super::environment::with_safe_git;
use super::gitlinks::{looks_at_files, resource};
use super::{PrivateTemp, boxed};

/// What all tools have in common that start commands.
pub(crate) struct Commands {
    pub(crate) launcher: Launcher,
    environment: Vec<(String, String)>,
    shell: OnceLock<PathBuf>,
    /// The walls of the box, when there is one, and the folder of its temporary files.
    confines: Option<Arc<Confines>>,
    /// The same walls where plan mode is on.
    confines_to_look: Option<Arc<Confines>>,
    _temp: Option<PrivateTemp>,
    /// Held by each program that runs on in the box after its call.
    in_box: Arc<()>,
}

impl Commands {
    pub(super) fn new(launcher: Launcher, environment: Vec<(String, String)>) -> Self {
        let environment = with_safe_git(environment);
        let (shell, in_box) = (OnceLock::new(), Arc::default());
        let (confines, confines_to_look) = (None, None);
        Self { launcher, environment, shell, confines, confines_to_look, _temp: None, in_box }
    }

    /// The same in a box.
    pub(super) fn confined_by(&self, confines: Arc<Confines>, temp: PrivateTemp) -> Self {
        let path = confines.temp.to_string_lossy().into_owned();
        let mut environment = self.environment.clone();
        environment.retain(|(name, _)| name != "TMPDIR");
        environment.push(("TMPDIR".to_owned(), path));
        Self {
            launcher: self.launcher.clone(),
            environment,
            shell: OnceLock::new(),
            confines_to_look: Some(Arc::new(confines.only_to_look())),
            confines: Some(confines),
            _temp: Some(temp),
            in_box: Arc::default(),
        }
    }

    /// The box around a workspace.
    pub(super) fn confinement(&self, workspace: &Path) -> Option<Confinement> {
        let confines = self.confines.as_ref()?;
        Some(Confinement::Box(boxed::around(confines, workspace)))
    }

    /// The box in plan mode, the same for every workspace: what was taken for looking and is not
    /// changes nothing there.
    pub(super) fn confinement_to_look(&self) -> Option<Confinement> {
        self.confines_to_look.clone().map(Confinement::Box)
    }

    /// How this call is confined; an error where it has to be and cannot.
    pub(crate) fn confinement_of(&self, context: &ToolContext) -> Result<Confinement, ToolError> {
        if !context.confined {
            return Ok(Confinement::None);
        }
        let confinement = match only_looks(&context.permission.policy) {
            true => self.confinement_to_look(),
            false => self.confinement(&context.workspace),
        };
        confinement.ok_or_else(|| ToolError::for_model(boxed::NO_BOX))
    }

    /// The shell without arguments.
    pub(super) fn shell(&self, folder: &Path, confinement: Confinement) -> Command {
        let shell = self
            .shell
            .get_or_init(|| self.program(&["bash", "sh"]).unwrap_or_else(|| "/bin/sh".into()));
        self.command(shell, folder, confinement)
    }

    /// Any program without arguments.
    pub(crate) fn command(
        &self,
        program: &Path,
        folder: &Path,
        confinement: Confinement,
    ) -> Command {
        Command::new(program, folder).env(self.environment.clone()).confinement(confinement)
    }

    /// Where the first of these programs is that commands find in their PATH.
    pub(crate) fn program(&self, names: &[&str]) -> Option<PathBuf> {
        find_program(&self.environment, names)
    }

    /// A folder for one call's own files, which its commands may write; gone when it is dropped.
    pub(crate) fn temporary_folder(&self) -> io::Result<tempfile::TempDir> {
        match &self.confines {
            Some(confines) => tempfile::tempdir_in(&confines.temp),
            None => tempfile::tempdir(),
        }
    }

    /// The shell with a command line.
    pub(crate) fn line(&self, folder: &Path, line: &str, confinement: Confinement) -> Command {
        // The dashes keep a command line that begins with one from being an option.
        self.shell(folder, confinement).args(["-c", "--", line])
    }

    /// What a program holds for as long as it runs on in the box.
    pub(crate) fn in_box(&self) -> Arc<()> {
        Arc::clone(&self.in_box)
    }

    /// What a line touches that was read in this workspace. While a program runs on in the box, nobody can
    /// tell beforehand what git will find that looks at files: it may write the index at any moment.
    pub(crate) fn facts(&self, mut line: ShellLine, workspace: &str) -> Facts {
        let is_watched = Arc::strong_count(&self.in_box) > 1;
        line.is_open_ended |= is_watched && looks_at_files(&line);
        let resources = self.read(workspace, |place| resource(&line, place)).into_iter().collect();
        Facts { accesses: vec![Access::Shell(Box::new(line))], resources, ..Facts::default() }
    }

    /// Reads a command line as one that starts in this workspace.
    pub(crate) fn read<T>(&self, workspace: &str, read: impl FnOnce(&Place<'_>) -> T) -> T {
        let temp = self.confines.as_ref().map(|confines| confines.temp.to_string_lossy());
        let home = self.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, value)| value.as_str());
        read(&Place { workspace, home, temp: temp.as_deref() })
    }
}

/// Whether plan mode is on, here or for whom an agent works.
pub(super) fn only_looks(policy: &Policy) -> bool {
    policy.mode == Mode::Plan || policy.within.as_deref().is_some_and(only_looks)
}

/// The first program of the first of these names in the commands' own PATH.
fn find_program(environment: &[(String, String)], names: &[&str]) -> Option<PathBuf> {
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
    let folders: Vec<PathBuf> = std::env::split_paths(path.unwrap_or("/usr/bin:/bin")).collect();
    let mut candidates = names.iter().flat_map(|name| {
        // A relative folder would be another one in each workspace.
        folders.iter().filter(|folder| folder.is_absolute()).map(move |folder| folder.join(name))
    });
    candidates.find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_looks_at_is_open_while_a_program_runs_on_in_the_box() {
        let commands = Commands::new(Launcher::new(), Vec::new());
        let is_open = |text: &str| {
            let line = commands.read("/nowhere", |place| crate::bash::read_line(text, place));
            let facts = commands.facts(line, "/nowhere");
            matches!(&facts.accesses[..], [Access::Shell(line)] if line.is_open_ended)
        };
        assert!(!is_open("git status"));
        let program = commands.in_box();
        assert!(is_open("git status") && !is_open("git push") && !is_open("ls"));
        drop(program);
        assert!(!is_open("git status"));
    }

    #[test]
    fn bash_is_taken_before_sh_and_only_from_absolute_folders() {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, mode: u32| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let path = std::env::join_paths([
            "relative".into(),
            folder.path().join("a"),
            folder.path().join("b"),
        ]);
        let environment = vec![("PATH".to_owned(), path.unwrap().into_string().unwrap())];
        let find_shell = || find_program(&environment, &["bash", "sh"]);
        assert_eq!(find_shell(), None);
        let sh = program("a/sh", 0o755);
        program("a/bash", 0o644);
        assert_eq!(find_shell(), Some(sh));
        let bash = program("b/bash", 0o755);
        assert_eq!(find_shell(), Some(bash));
    }
}
