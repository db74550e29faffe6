//! A running command, as its owner sees it.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::launcher::Killer;
use crate::{Exit, Killed, LauncherError, Streams};

/// How much output is read at once; also what a pipe usually holds.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// A running command. Dropping it kills the command and everything that it started, however that
/// detached itself.
pub struct Child {
    killer: Option<Killer>,
    exit: ExitState,
    pid: u32,
    output: Option<OutputStream>,
    errors: Option<OutputStream>,
}

enum ExitState {
    Awaited(oneshot::Receiver<Exit>),
    Known(Result<Exit, LauncherError>),
}

/// One pipe a command writes to.
pub struct OutputStream(pipe::Receiver);

/// The two ends of a command's output pipes.
pub(crate) struct Pipes {
    pub(crate) readers: Vec<OwnedFd>,
    pub(crate) writers: Vec<OwnedFd>,
}

impl Child {
    pub(crate) fn new(
        killer: Killer,
        exited: oneshot::Receiver<Exit>,
        readers: Vec<OwnedFd>,
    ) -> io::Result<Self> {
        let mut child = Self {
            killer: Some(killer),
            exit: ExitState::Awaited(exited),
            pid: 0,
            output: None,
            errors: None,
        };
        let mut readers = readers.into_iter();
        child.output = readers.next().map(OutputStream::new).transpose()?;
        child.errors = readers.next().map(OutputStream::new).transpose()?;
        Ok(child)
    }

    pub(crate) fn set_pid(&mut self, pid: u32) {
        self.pid = pid;
    }

    /// The process id, which is also the id of its process group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Standard output, and standard error too when they are merged. `None` the second time.
    pub fn take_output(&mut self) -> Option<OutputStream> {
        self.output.take()
    }

    /// Standard error. `None` when the streams are merged, and the second time.
    pub fn take_errors(&mut self) -> Option<OutputStream> {
        self.errors.take()
    }

    /// Waits until the command itself ends; what it left running still runs. May be asked again,
    /// and dropping the future loses nothing.
    ///
    /// # Errors
    /// [`LauncherError::Gone`] when the launcher died.
    pub async fn wait(&mut self) -> Result<Exit, LauncherError> {
        if let ExitState::Awaited(receiver) = &mut self.exit {
            let exit = receiver.await.map_err(|_| LauncherError::Gone);
            self.exit = ExitState::Known(exit);
        }
        match &self.exit {
            ExitState::Known(exit) => exit.clone(),
            ExitState::Awaited(_) => Err(LauncherError::Gone),
        }
    }

    /// Kills the command and everything it started, and waits until none is left.
    ///
    /// # Errors
    /// [`LauncherError::Gone`] when the launcher died, which killed everything too.
    pub async fn kill_tree(&mut self) -> Result<Killed, LauncherError> {
        match self.killer.take() {
            Some(killer) => killer.kill().await.map_err(|_| LauncherError::Gone),
            None => Ok(Killed::default()),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(killer) = &self.killer {
            killer.kill_unheard();
        }
    }
}

impl OutputStream {
    fn new(reader: OwnedFd) -> io::Result<Self> {
        Ok(Self(pipe::Receiver::from_owned_fd(reader)?))
    }

    /// The next bytes, at most 64 KiB; `None` once every process that could write has closed its
    /// end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the pipe cannot be read.
    pub async fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::with_capacity(CHUNK_BYTES_MAX);
        let n_read = self.0.read_buf(&mut bytes).await?;
        Ok((n_read > 0).then_some(bytes))
    }
}

impl Pipes {
    pub(crate) fn new(streams: Streams) -> io::Result<Self> {
        let n_pipes = match streams {
            Streams::Merged => 1,
            Streams::Separate => 2,
        };
        let mut pipes = Self { readers: Vec::new(), writers: Vec::new() };
        for _ in 0..n_pipes {
            let (reader, writer) = io::pipe()?;
            pipes.readers.push(reader.into());
            pipes.writers.push(writer.into());
        }
        Ok(pipes)
    }
}
