//! One command: told something, heard, and gone.

use std::path::Path;
use std::sync::Arc;

use heeler_core::{Clock, Timestamp};
use heeler_sandbox::{Child, Command, Exit, Input, Launcher, LauncherError, OutputStream, Streams};

/// How long a hook may run when its setting says nothing.
pub const HOOK_TIMEOUT_MILLIS_DEFAULT: u64 = 60_000;
/// How long it may run at most.
pub const HOOK_TIMEOUT_MILLIS_MAX: u64 = 600_000;
/// How much of what it writes is kept, of its output and of its errors each.
pub const HOOK_OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// How long its output may still come after it ended: something it started may hold it open.
const GRACE_MILLIS: u64 = 200;

/// What a command came to.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It ended by itself.
    Exited { exit: Exit, output: String, errors: String, is_cut: bool, is_text: bool },
    /// It took too long, and was killed.
    TimedOut,
    /// It could not be started, or was lost.
    Lost(LauncherError),
}

/// Where commands run.
pub(crate) struct Place<'a> {
    pub(crate) launcher: &'a Launcher,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) workspace: &'a Path,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Place<'_> {
    /// Runs a command line that reads `told`, until it ends or the time is up. Nothing of it is
    /// left then.
    pub(crate) async fn run(&self, line: &str, told: &[u8], timeout_millis: u64) -> Ended {
        let deadline = self.clock.now().plus(timeout_millis);
        let mut child = match self.before(deadline, self.start(line)).await {
            Some(Ok(child)) => child,
            Some(Err(error)) => return Ended::Lost(error),
            None => return Ended::TimedOut,
        };
        let ended = self.before(deadline, self.talk(&mut child, told)).await;
        // Of a launcher that died nothing is left either.
        let _ = child.kill_tree().await;
        match ended {
            Some(Ok((exit, output, errors))) => {
                let (is_cut, is_text) = (output.is_cut, output.is_text());
                Ended::Exited {
                    exit,
                    output: output.text(),
                    errors: errors.text(),
                    is_cut,
                    is_text,
                }
            }
            Some(Err(error)) => Ended::Lost(error),
            None => Ended::TimedOut,
        }
    }

    async fn before<T>(&self, deadline: Timestamp, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.clock.sleep_until(deadline) => None,
        }
    }

    /// With `bash`, or where there is none, with `sh`.
    async fn start(&self, line: &str) -> Result<Child, LauncherError> {
        let command = |shell: &str| {
            // The dashes keep a command line that begins with one from being an option.
            Command::new(shell, self.workspace)
                .args(["-c", "--", line])
                .env(self.environment.clone())
                .input(Input::Pipe)
                .streams(Streams::Separate)
        };
        match self.launcher.run(&command("bash")).await {
            Err(LauncherError::ProgramNotFound { .. }) => self.launcher.run(&command("sh")).await,
            started => started,
        }
    }

    async fn talk(
        &self,
        child: &mut Child,
        told: &[u8],
    ) -> Result<(Exit, Kept, Kept), LauncherError> {
        let (input, output, errors) =
            (child.take_input(), child.take_output(), child.take_errors());
        let (mut kept_output, mut kept_errors) = (Kept::default(), Kept::default());
        let exit = {
            let tell = async move {
                // Whoever does not listen may still answer.
                if let Some(mut input) = input {
                    let _ = input.send(told).await;
                }
            };
            let listen = async {
                tokio::join!(tell, kept_output.read(output), kept_errors.read(errors));
            };
            let mut listen = std::pin::pin!(listen);
            let mut is_over = false;
            let exit = loop {
                tokio::select! {
                    exit = child.wait() => break exit?,
                    () = &mut listen, if !is_over => is_over = true,
                }
            };
            if !is_over {
                let grace = self.clock.now().plus(GRACE_MILLIS);
                self.before(grace, listen).await;
            }
            exit
        };
        Ok((exit, kept_output, kept_errors))
    }
}

/// The beginning of what a command writes; all of it is read, so that it can go on.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    /// There was more.
    is_cut: bool,
}

impl Kept {
    async fn read(&mut self, stream: Option<OutputStream>) {
        let Some(mut stream) = stream else { return };
        // A pipe that cannot be read has nothing more for us.
        while let Ok(Some(bytes)) = stream.chunk().await {
            let room = HOOK_OUTPUT_BYTES_MAX - self.bytes.len();
            self.is_cut |= bytes.len() > room;
            self.bytes.extend(bytes.iter().take(room));
        }
    }

    /// Whether it is UTF-8 that people can read: other encodings have bytes that are none, or are null.
    fn is_text(&self) -> bool {
        !self.bytes.contains(&0) && std::str::from_utf8(&self.bytes).is_ok()
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
