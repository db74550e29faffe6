//! The launcher's process: started ahead or when it is needed, and heard to be a launcher.

use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitOptions};

use super::{ARGUMENT, serve, tree};
use crate::Confines;
use crate::wire::{self, Order, Report};

/// How long a launcher may take to say that it is one.
const HANDSHAKE_WAIT: Duration = Duration::from_secs(5);
/// The longest description of a box that is sent before anybody listens.
const BOX_AHEAD_BYTES_MAX: usize = 64 * 1024;
/// The longest answer to the handshake.
const HANDSHAKE_BYTES_MAX: usize = 1024;

/// The launcher as a child of this process; waited for when dropped, or it would stay a zombie.
pub(super) struct Process(Pid);

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.0.as_raw_pid().cast_unsigned()
    }

    /// It is not waited for before it is dropped, so the number is its own.
    pub(super) fn kill(&self) {
        // An error means that it is dead already.
        let _ = rustix::process::kill_process(self.0, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let pid = self.0;
        let wait = move |options| rustix::process::waitpid(Some(pid), options);
        if matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {
            return;
        }
        // It ends by itself once the socket is closed, which may be after this drop.
        // Without a thread the zombie stays until this process ends.
        let _ = std::thread::Builder::new()
            .name("launcher-reaper".into())
            .spawn(move || wait(WaitOptions::empty()));
    }
}

/// A launcher that was greeted; it is one once it was heard to answer.
pub(crate) struct Started {
    pub(super) process: Process,
    pub(super) socket: UnixStream,
    pub(super) mark_base: u64,
    /// The box that it was told to make.
    pub(super) box_ahead: Option<Arc<Confines>>,
}

/// A launcher that is being started, for whoever needs it first.
pub(crate) enum Ahead {
    /// By a thread, which executes it.
    Executed(JoinHandle<io::Result<Started>>),
    /// As a copy of this process, which was not heard yet.
    Forked(Started),
}

impl Ahead {
    /// Begins with a copy of this process; `None` where that cannot be.
    pub(crate) fn fork(landlock_at_most: u32) -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            let (ours, theirs) = UnixStream::pair().ok()?;
            let process = Process(super::forked::fork(&ours, &theirs)?.ok()?);
            // The other end is the copy's alone: while it is open here, its end cannot be seen.
            drop(theirs);
            Started::greet(process, ours, landlock_at_most).ok().map(Self::Forked)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = landlock_at_most;
            None
        }
    }

    /// Begins with a program; `None` where there can be no thread.
    pub(crate) fn execute(program: PathBuf, landlock_at_most: u32) -> Option<Self> {
        let start = move || start(&program, landlock_at_most);
        let thread = std::thread::Builder::new().name("launcher-start".into()).spawn(start);
        thread.ok().map(Self::Executed)
    }

    /// Tells a copy of this process to make a box. One that is executed can be told nothing yet.
    pub(crate) fn make_box(&mut self, confines: &Arc<Confines>) {
        let Self::Forked(copy) = self else { return };
        let order = wire::frame(&Order::Prepare(Arc::clone(confines)));
        // More than the socket holds would be waited for.
        let Some(frame) = order.filter(|frame| frame.len() <= BOX_AHEAD_BYTES_MAX) else { return };
        if copy.socket.write_all(&frame).is_ok() {
            copy.box_ahead = Some(Arc::clone(confines));
        }
    }

    /// Whether there is nothing to wait for.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Executed(thread) => thread.is_finished(),
            Self::Forked(copy) => {
                let mut answer = [PollFd::new(&copy.socket, PollFlags::IN)];
                rustix::event::poll(&mut answer, Some(&Timespec::default())).is_ok_and(|n| n > 0)
            }
        }
    }
}

/// Executes the launcher and shakes hands with it.
pub(super) fn start(program: &Path, landlock_at_most: u32) -> io::Result<Started> {
    let (ours, theirs) = UnixStream::pair()?;
    #[expect(clippy::disallowed_methods, reason = "the launcher is the one child started here")]
    let mut command = std::process::Command::new(std::path::absolute(program)?);
    command.arg0("heeler-launcher").arg(ARGUMENT).env_clear().current_dir("/");
    for name in serve::LOADER_VARIABLES {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let process = Process(Pid::from_child(&command.spawn()?));
    // The command holds the other end; while it is open here, its end of file cannot be seen.
    drop(command);
    Started::greet(process, ours, landlock_at_most)?.hear()
}

impl Started {
    fn greet(process: Process, mut socket: UnixStream, landlock_at_most: u32) -> io::Result<Self> {
        let mark_base = tree::mark_base(std::hash::RandomState::new().build_hasher().finish());
        let hello = Order::Hello { version: wire::VERSION, mark_base, landlock_at_most };
        // To one that is gone nothing can be written; that it does not answer is told then.
        let _ = socket.write_all(&wire::frame(&hello).unwrap_or_default());
        Ok(Self { process, socket, mark_base, box_ahead: None })
    }

    pub(super) fn hear(self) -> io::Result<Self> {
        match hear_ready(&self.socket) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.process.kill();
                let text = format!("it does not answer as a launcher ({error})");
                Err(io::Error::new(error.kind(), text))
            }
        }
    }
}

fn hear_ready(mut socket: &UnixStream) -> io::Result<()> {
    socket.set_read_timeout(Some(HANDSHAKE_WAIT))?;
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > HANDSHAKE_BYTES_MAX {
        return Err(io::Error::other(format!("its answer has {length} bytes")));
    }
    let mut answer = vec![0; length];
    socket.read_exact(&mut answer)?;
    match serde_json::from_slice(&answer)? {
        Report::Ready { version: wire::VERSION } => Ok(()),
        other => Err(io::Error::other(format!("its answer is {other:?}"))),
    }
}
