//! A running command, as its owner sees it.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::launcher::{Ended, Killer};
use crate::{Bound, Exit, Input, Killed, LauncherError, Streams};

/// How much output is read at once; also what a pipe usually holds.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// A running command. Dropping it kills the command and everything that it started, however that
/// detached itself.
pub struct Child {
    killer: Option<Killer>,
    exit: ExitState,
    bound: Option<Bound>,
    pid: u32,
    input: Option<InputStream>,
    output: Option<OutputStream>,
    errors: Option<OutputStream>,
}

enum ExitState {
    Awaited(oneshot::Receiver<Ended<Exit>>),
    Known(Result<Exit, LauncherError>),
}

/// The pipe a command reads from. Dropping it is the end of the command's input.
pub struct InputStream(pipe::Sender);

/// One pipe a command writes to.
pub struct OutputStream(pipe::Receiver);

/// A command's pipes: our ends, and its own in the order in which the launcher takes them.
pub(crate) struct Pipes {
    pub(crate) ours: OurEnds,
    pub(crate) theirs: Vec<OwnedFd>,
}

/// Our ends of a command's pipes.
pub(crate) struct OurEnds {
    input: Option<OwnedFd>,
    output: OwnedFd,
    errors: Option<OwnedFd>,
}

impl Child {
    pub(crate) fn new(
        killer: Killer,
        exited: oneshot::Receiver<Ended<Exit>>,
        ends: OurEnds,
    ) -> io::Result<Self> {
        let mut child = Self {
            killer: Some(killer),
            exit: ExitState::Awaited(exited),
            bound: None,
            pid: 0,
            input: None,
            output: None,
            errors: None,
        };
        child.input = ends.input.map(InputStream::new).transpose()?;
        child.output = Some(OutputStream::new(ends.output)?);
        child.errors = ends.errors.map(OutputStream::new).transpose()?;
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

    /// Its standard input. `None` when it has none, and the second time.
    pub fn take_input(&mut self) -> Option<InputStream> {
        self.input.take()
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
            let ended = receiver.await.map_err(|_| LauncherError::Gone);
            let exit = ended.map(|(exit, bound)| {
                self.bound = self.bound.take().or(bound);
                exit
            });
            self.exit = ExitState::Known(exit);
        }
        match &self.exit {
            ExitState::Known(exit) => exit.clone(),
            ExitState::Awaited(_) => Err(LauncherError::Gone),
        }
    }

    /// The bound of its box that the command reached, as far as its end or its kill has told.
    #[must_use]
    pub fn bound(&self) -> Option<&Bound> {
        self.bound.as_ref()
    }

    /// Kills the command and everything it started, and waits until none is left.
    ///
    /// # Errors
    /// [`LauncherError::Gone`] when the launcher died, which killed everything too.
    pub async fn kill_tree(&mut self) -> Result<Killed, LauncherError> {
        match self.killer.take() {
            Some(killer) => {
                let (killed, bound) = killer.kill().await.map_err(|_| LauncherError::Gone)?;
                self.bound = self.bound.take().or(bound);
                Ok(killed)
            }
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

impl InputStream {
    fn new(writer: OwnedFd) -> io::Result<Self> {
        Ok(Self(pipe::Sender::from_owned_fd(writer)?))
    }

    /// Sends bytes. What fits into one page arrives whole or not at all.
    ///
    /// # Errors
    /// When nobody can read them any more.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
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
    pub(crate) fn new(input: Input, streams: Streams) -> io::Result<Self> {
        let mut theirs: Vec<OwnedFd> = Vec::new();
        let mut read = || {
            let (reader, writer) = io::pipe()?;
            theirs.push(writer.into());
            Ok::<OwnedFd, io::Error>(reader.into())
        };
        let output = read()?;
        let errors = match streams {
            Streams::Merged => None,
            Streams::Separate => Some(read()?),
        };
        let input = match input {
            Input::Empty => None,
            Input::Pipe => {
                let (reader, writer) = io::pipe()?;
                theirs.push(reader.into());
                Some(writer.into())
            }
        };
        Ok(Self { ours: OurEnds { input, output, errors }, theirs })
    }
}
