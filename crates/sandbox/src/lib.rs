//! Starts child processes through one launcher that kills their whole tree.
//!
//! A [`Launcher`] is a small single-threaded process, this program executed once more or, before it
//! has a second thread, a copy of it. It starts every [`Command`], and when a command is killed, its
//! [`Child`] dropped, or the program that asked gone (by `kill -9` too), it kills everything the
//! command left behind. A command may be put in a box ([`Confinement`]), which says where it writes,
//! what it cannot read and whom it reaches. Read in this order: `command`, `launcher`, `child`, then
//! how it is done: `pipes`, `wire`, `launcher/connection`, `launcher/serve`, `launcher/tree`,
//! `launcher/heir`; then `confinement`, and in it `cached`, `porter`, `space`, `rules`, `calls`, `guard`, `watch`.
//!
//! Invariant: nothing here knows what an agent is, and no process starts anywhere else.

mod child;
mod command;
mod confinement;
mod error;
pub mod launcher;
#[cfg(target_os = "linux")]
mod overlay;
mod pipes;
mod wire;

pub use child::{Child, InputStream, OutputStream, Terminal};
pub use command::{Command, Exit, Input, Killed, Streams, TerminalSize};
pub use confinement::{
    Bound, Confinement, Confines, Limits, Network, Probe, ProbeLine, looks_confined, seatbelt,
};
pub use error::LauncherError;
pub use launcher::Launcher;
#[cfg(target_os = "linux")]
pub use overlay::{Overlay, Owners};
