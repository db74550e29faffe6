//! Why a command gave nothing.

use std::path::PathBuf;

/// Why a command could not be started, or how it was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LauncherError {
    /// This program cannot be executed again as the launcher, since its `main` would run instead.
    #[error(
        "commands cannot run: this program did not call `heeler::launcher::init()` first in its \
         `main`; add that call, or point the launcher to an installed `heeler`"
    )]
    NotInitialized,
    /// The launcher did not start.
    #[error("the launcher `{program}` did not start: {reason}; check that it can be executed")]
    NotStarted {
        /// What was executed.
        program: PathBuf,
        /// What happened.
        reason: String,
    },
    /// The launcher died. What the command did until then is done; what it started was killed.
    #[error("the launcher died while the command ran; whether it finished its work is unknown")]
    Gone,
    /// There is no such program.
    #[error("there is no program `{program}`; check its name and PATH")]
    ProgramNotFound {
        /// The program as it was asked for.
        program: PathBuf,
    },
    /// There is no such folder to start in.
    #[error("cannot start in `{cwd}`: it is not a folder that can be entered")]
    FolderNotFound {
        /// The folder as it was asked for.
        cwd: PathBuf,
    },
    /// As many commands run already as may run.
    #[error("{count_max} commands run already; wait until one ends")]
    TooMany {
        /// How many may run.
        count_max: usize,
    },
    /// The command's text is too long to be handed over.
    #[error("the command's arguments and environment are longer than {bytes_max} bytes together")]
    TooLong {
        /// How long they may be.
        bytes_max: usize,
    },
    /// The operating system refused.
    #[error("`{program}` did not start: {reason}")]
    Refused {
        /// The program as it was asked for.
        program: PathBuf,
        /// What the operating system said.
        reason: String,
    },
}
