//! A shell that was started ahead and waits for its command line.
//!
//! To start a shell takes longer than most commands run, so one is started when a call ends and
//! does nothing until the next call. It is told the command line when that call runs, never before,
//! and one that is told nothing ends without having done anything.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use heeler_sandbox::{Child, Command, Confinement, Input, Launcher, LauncherError};
use tokio::task::JoinHandle;

/// What a waiting shell was started to run. From the command line on it is what `bash -c` is: the
/// variable holds it there too, the input is empty, the seconds begin. The line ends with a zero
/// byte, so what is cut runs not at all.
const WAIT: &str = r#"IFS= read -r -d '' BASH_EXECUTION_STRING || exit 125; exec </dev/null; SECONDS=0; eval -- "$BASH_EXECUTION_STRING""#;
/// A longer command line is given to a new shell: bash reads it byte by byte, in up to half a
/// microsecond each. No longer than what a pipe takes whole or not at all (`PIPE_BUF`).
const LINE_BYTES_MAX: usize = 1024;

/// The place of one waiting shell.
#[derive(Default)]
pub(super) struct Spare(Mutex<Option<Waiting>>);

struct Waiting {
    shell: JoinHandle<Result<Child, LauncherError>>,
    folder: Folder,
    confinement: Confinement,
}

/// A folder by its name and by what the name meant.
#[derive(PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    id: (u64, u64),
}

impl Spare {
    /// Starts a shell to wait, unless one does: the program, environment, folder and confinement of
    /// `shell`. Outside a runtime nothing happens.
    pub(super) fn start(&self, launcher: &Launcher, shell: Command) {
        let mut waiting = self.lock();
        if waiting.is_some() || !is_bash(&shell.program) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Some(folder) = Folder::of(&shell.cwd) else { return };
        let confinement = shell.confinement.clone();
        let command = shell.args(["-c", WAIT]).input(Input::Pipe);
        let launcher = launcher.clone();
        let shell = runtime.spawn(async move { launcher.run_waiting(&command).await });
        *waiting = Some(Waiting { shell, folder, confinement });
    }

    /// Gives the command line to the shell that waits in this folder, confined like this. `None`
    /// when there is none that took it: then nothing was run.
    pub(super) async fn run(
        &self,
        folder: &Path,
        line: &str,
        confinement: &Confinement,
    ) -> Option<Child> {
        if line.len() > LINE_BYTES_MAX || line.contains('\0') {
            return None;
        }
        let waiting = self.lock().take()?;
        // Who made the folder anew finds the old one nowhere.
        if Folder::of(folder).as_ref() != Some(&waiting.folder)
            || waiting.confinement != *confinement
        {
            return None;
        }
        let mut shell = waiting.shell.await.ok()?.ok()?;
        let mut bytes = line.as_bytes().to_vec();
        bytes.push(0);
        // Nobody looks at one without a box anyway.
        if *confinement != Confinement::None && !shell.begin().await {
            return None;
        }
        shell.take_input()?.send(&bytes).await.ok()?;
        Some(shell)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder {
    fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        Some(Self { path: path.to_owned(), id: (data.dev(), data.ino()) })
    }
}

/// Other shells know no line that ends with a zero byte.
fn is_bash(shell: &Path) -> bool {
    shell.file_name().is_some_and(|name| name == "bash")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::Stdio;

    use super::*;

    /// What a shell prints that waited for 100 seconds and then heard this, and how it ended.
    fn check(heard: &str, expected: &str) {
        #[expect(clippy::disallowed_methods, reason = "one that waits needs no launcher")]
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &format!("SECONDS=100; {WAIT}")]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        shell.stdin.take().unwrap().write_all(heard.as_bytes()).unwrap();
        let output = shell.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(format!("{said}{:?}", output.status.code()), expected, "{heard}");
    }

    #[test]
    fn what_is_not_heard_to_its_end_is_not_run() {
        check("", "Some(125)");
        check("echo ran", "Some(125)");
        check("echo ran\n", "Some(125)");
        check("echo ran\0", "ran\nSome(0)");
        check("exit 3\0echo ran", "Some(3)");
    }

    #[test]
    fn its_seconds_begin_with_the_line() {
        check("[ $SECONDS -lt 100 ] && echo begun\0", "begun\nSome(0)");
    }
}
