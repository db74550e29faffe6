//! What keeps a command in, and how: the box, what it is made of, and what it stopped.

mod bound;
#[cfg(target_os = "linux")]
mod cached;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod findings;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod other;
#[cfg(target_os = "linux")]
mod porter;
mod probe;
#[cfg(target_os = "linux")]
mod rules;
pub mod seatbelt;
mod signs;
#[cfg(target_os = "linux")]
mod space;
#[cfg(target_os = "linux")]
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use bound::Bound;
#[cfg(target_os = "linux")]
pub(crate) use cached::{Boxes, Prepared};
#[cfg(target_os = "macos")]
pub(crate) use macos::{Boxes, Watch};
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use other::{Boxes, Watch};
pub(crate) use probe::probe;
pub use probe::{Probe, ProbeLine};
pub use signs::looks_confined;
#[cfg(target_os = "linux")]
pub(crate) use watch::Watch;

/// What keeps a command in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Confinement {
    /// Nothing: it may do what the user may do.
    #[default]
    None,
    /// A box. Where the system cannot make it, the command is refused, never run without.
    Box(Arc<Confines>),
}

/// The walls of a box. Two commands with equal confines share what is prepared for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confines {
    /// The folder that may be written, but for what is protected in it.
    pub workspace: PathBuf,
    /// A private folder that may be written; the caller names it in the command's `TMPDIR`.
    pub temp: PathBuf,
    /// More folders that may be written, such as the git folder of a linked work tree.
    pub writable: Vec<PathBuf>,
    /// What may be read and not changed although it lies in a folder that may be written.
    /// Relative to the workspace, or absolute. A name that does not exist yet must not come to be.
    pub protected: Vec<PathBuf>,
    /// Absolute paths that can be neither read nor written, whether or not they exist yet.
    pub secrets: Vec<PathBuf>,
    /// Whom it may talk to.
    pub network: Network,
    /// How much of the machine it may take.
    pub limits: Limits,
}

/// Whom a confined command may talk to. Sockets of the local machine that have a path or an
/// abstract name are never reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nobody, this machine's own ports included.
    #[default]
    None,
    /// Everybody over IPv4 and IPv6.
    Full,
}

/// How much of the machine a command and all that it started may take together. Looked at every
/// few milliseconds: what is taken between two looks comes on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Resident memory, and memory in shared files that came to be meanwhile.
    pub resident_bytes_max: u64,
    /// Processes at the same time.
    pub processes_max: u32,
    /// Bytes that are written, to files and pipes alike; also the longest file, and how much less
    /// room the workspace's and the temporary folder's file systems may have.
    pub written_bytes_max: u64,
}

/// What a launcher makes boxes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Means {
    /// The newest version of Landlock that is used.
    pub(crate) landlock_at_most: u32,
    /// The mark of what is the launcher's own.
    pub(crate) mark: u64,
}

impl Default for Means {
    fn default() -> Self {
        Self { landlock_at_most: u32::MAX, mark: 0 }
    }
}

impl Confines {
    /// A box around a workspace: nothing protected, nothing secret, no network, usual limits.
    pub fn new(workspace: impl Into<PathBuf>, temp: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            temp: temp.into(),
            writable: Vec::new(),
            protected: Vec::new(),
            secrets: Vec::new(),
            network: Network::None,
            limits: Limits::default(),
        }
    }

    /// The same box for who only looks: nothing but the temporary folder may be written, so nothing
    /// needs protection from it either.
    #[must_use]
    pub fn only_to_look(&self) -> Self {
        Self {
            workspace: self.temp.clone(),
            writable: Vec::new(),
            protected: Vec::new(),
            ..self.clone()
        }
    }

    /// Everything that may be written.
    pub(crate) fn writable_folders(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.workspace, &self.temp].into_iter().chain(&self.writable)
    }

    /// Every path of it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.writable_folders().chain(&self.protected).chain(&self.secrets)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { resident_bytes_max: 8 << 30, processes_max: 1024, written_bytes_max: 32 << 30 }
    }
}
