//! The handle to the launcher process, and the door that process enters by.

mod connection;
#[cfg(target_os = "linux")]
mod forked;
pub(crate) mod heir;
mod process;
mod serve;
mod start;
mod tree;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::Mutex;

use crate::pipes::Pipes;
use crate::{Child, Command, Confines, LauncherError, Probe};
use connection::{Begins, Connection, Lost};
use process::Ahead;

pub(crate) use connection::{Ended, Killer};
use heir::Heir;
pub(crate) use start::Start;

/// The hidden argument that makes a program that called [`init`] the launcher.
const ARGUMENT: &str = "--heeler-launcher";

/// Whether [`init`] was called, so that executing this program again ends up there.
static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Call this first in `main`, before any thread starts and before arguments are read.
///
/// When this process was executed to be the launcher, it is one until its parent is gone, and the
/// call never returns. Otherwise it returns at once.
pub fn init() {
    INITIALIZED.store(true, Ordering::Relaxed);
    let is_asked = std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT);
    if is_asked && let Some(socket) = serve::inherited_socket() {
        std::process::exit(serve::run(socket));
    }
}

/// Starts commands through a launcher process.
///
/// Cheap to clone; all clones share one launcher. It starts with the first command, on the tokio
/// runtime that command is run on, and starts again after it died. It ends, and kills all that
/// still runs, when the last clone and the last [`Child`] are dropped, when the runtime ends, or
/// when this process dies in whatever way.
///
/// ```no_run
/// use heeler_sandbox::{Command, Launcher, launcher};
///
/// #[tokio::main]
/// async fn run() -> Result<(), Box<dyn std::error::Error>> {
///     let command = Command::new("cargo", "/space/project").args(["test"]);
///     let mut child = Launcher::new().run(&command).await?;
///     let mut output = child.take_output().ok_or("it is there once")?;
///     while let Some(chunk) = output.chunk().await? {
///         print!("{}", String::from_utf8_lossy(&chunk));
///     }
///     println!("{}", child.wait().await?);
///     Ok(())
/// }
///
/// // Before the runtime and everything else: this program is executed again to be the launcher.
/// launcher::init();
/// run()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Launcher {
    shared: Arc<Shared>,
}

struct Shared {
    program: Program,
    landlock_at_most: u32,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The first one, if it was started ahead and nobody has needed it yet.
    ahead: std::sync::Mutex<Option<Ahead>>,
}

/// What is executed to be the launcher.
enum Program {
    This,
    Other(PathBuf),
}

impl Launcher {
    /// The launcher is this program, executed again; its `main` must call [`init`] first.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Program::This, u32::MAX)
    }

    /// The launcher is another program that calls [`init`] first, such as an installed `heeler`.
    pub fn with_program(program: impl Into<PathBuf>) -> Self {
        Self::of(Program::Other(program.into()), u32::MAX)
    }

    /// As [`Launcher::new`], and confines commands as on a kernel whose Landlock is of this version
    /// at most: what holds there is tried on newer ones.
    #[doc(hidden)]
    #[must_use]
    pub fn with_landlock_at_most(version: u32) -> Self {
        Self::of(Program::This, version)
    }

    fn of(program: Program, landlock_at_most: u32) -> Self {
        let (connection, ahead) = (Mutex::new(None), std::sync::Mutex::new(None));
        Self { shared: Arc::new(Shared { program, landlock_at_most, connection, ahead }) }
    }

    /// Starts a command. Dropping the future kills it if it started.
    ///
    /// # Errors
    /// When there is no launcher, or the command cannot be started.
    pub async fn run(&self, command: &Command) -> Result<Child, LauncherError> {
        self.start(command, Begins::AtOnce).await
    }

    /// As [`Launcher::run`], for a command that does nothing before it is told what: nobody looks at
    /// what it takes until [`Child::begin`], so that one that waits for long wakes nobody.
    ///
    /// # Errors
    /// As [`Launcher::run`].
    pub async fn run_waiting(&self, command: &Command) -> Result<Child, LauncherError> {
        self.start(command, Begins::WhenTold).await
    }

    async fn start(&self, command: &Command, begins: Begins) -> Result<Child, LauncherError> {
        // Of a launcher that died before it was told anything, another can take the place.
        match self.run_once(command, begins).await {
            Err(Lost::Unsent) => self.run_once(command, begins).await.map_err(LauncherError::from),
            other => other.map_err(LauncherError::from),
        }
    }

    /// Has the launcher started now, also where there is no runtime yet: who assembles an agent
    /// meanwhile finds it there. What goes wrong is told to the first command. Call it once, before
    /// any other use.
    ///
    /// On Linux, in a process that has one thread and opened nothing yet, the launcher is a copy of it,
    /// without its arguments and environment, which takes a tenth of the time. Otherwise a thread
    /// executes it.
    pub fn start_ahead(&self) {
        let landlock_at_most = self.shared.landlock_at_most;
        // Without one the first command starts it, and says why it cannot.
        let Ok(program) = self.program() else { return };
        let forked = match self.shared.program {
            Program::This => Ahead::fork(landlock_at_most),
            Program::Other(_) => None,
        };
        *self.ahead() = forked.or_else(|| Ahead::execute(program, landlock_at_most));
    }

    /// Has a launcher that was [started ahead](Self::start_ahead), and that nobody has used yet, make a
    /// box beside whatever its first command waits for. What goes wrong is told to that command.
    pub fn make_box_ahead(&self, confines: &Arc<Confines>) {
        if let Some(ahead) = &mut *self.ahead() {
            ahead.make_box(confines);
        }
    }

    /// Starts the launcher now instead of with the first command, and returns its process id.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn warm(&self) -> Result<u32, LauncherError> {
        Ok(self.connection().await?.pid())
    }

    /// What a box can be made of on this machine, tried by the launcher once and then known.
    ///
    /// # Errors
    /// When there is no launcher.
    pub async fn probe(&self) -> Result<Probe, LauncherError> {
        self.connection().await?.probe().await
    }

    async fn run_once(&self, command: &Command, begins: Begins) -> Result<Child, Lost> {
        let connection = self.connection().await?;
        let pipes =
            Pipes::new(command.input, command.streams).map_err(|error| LauncherError::Refused {
                program: command.program.clone(),
                reason: format!("no pipes for it: {error}"),
            })?;
        connection.run(command, begins, pipes).await
    }

    async fn connection(&self) -> Result<Arc<Connection>, LauncherError> {
        let mut connection = self.shared.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| open.is_open()) {
            return Ok(Arc::clone(open));
        }
        let (program, ahead) = (self.program()?, self.ahead().take());
        let opened = Connection::open(program, self.shared.landlock_at_most, ahead).await?;
        let opened = Arc::new(opened);
        *connection = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn program(&self) -> Result<PathBuf, LauncherError> {
        match &self.shared.program {
            Program::Other(program) => Ok(program.clone()),
            Program::This if !INITIALIZED.load(Ordering::Relaxed) => {
                Err(LauncherError::NotInitialized)
            }
            Program::This => this_program(),
        }
    }

    fn ahead(&self) -> MutexGuard<'_, Option<Ahead>> {
        // Only ever replaced whole.
        self.shared.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new()
    }
}

/// This program's file. The link of the kernel stays right when the file is replaced by an
/// upgrade, and names the same build as the one that runs.
fn this_program() -> Result<PathBuf, LauncherError> {
    let link = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && link.exists() {
        return Ok(link);
    }
    std::env::current_exe().map_err(|error| LauncherError::NotStarted {
        program: "this program".into(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_did_not_call_init_is_never_executed_again() {
        let command = Command::new("/bin/true", "/");
        let error = Launcher::new().run(&command).await.err().unwrap();
        assert_eq!(error, LauncherError::NotInitialized);
        assert_eq!(
            error.to_string(),
            "commands cannot run: this program did not call `heeler::launcher::init()` first in \
             its `main`; add that call, or point the launcher to an installed `heeler`"
        );
    }
}
