//! A running command, as its owner sees it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::launcher::{Ended, Killer};
use crate::pipes::OurEnds;
use crate::{Bound, Exit, Killed, LauncherError, TerminalSize};

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
    terminal: Option<Terminal>,
}

enum ExitState {
    Awaited(oneshot::Receiver<Ended<Exit>>),
    Known(Result<Exit, LauncherError>),
}

/// What a command reads from. Dropping a pipe is the end of the command's input; a terminal has no
/// end, but keys that say so.
pub struct InputStream(Writer);

enum Writer {
    Pipe(pipe::Sender),
    Terminal(Terminal),
}

/// One way in which a command's output comes.
pub struct OutputStream(Reader);

enum Reader {
    Pipe(pipe::Receiver),
    Terminal(Terminal),
}

/// Our side of a command's terminal. Clones are the same one; when the last is dropped, whoever
/// has it as terminal is told that it is gone.
#[derive(Clone)]
pub struct Terminal(Arc<AsyncFd<OwnedFd>>);

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
            terminal: None,
        };
        match ends {
            OurEnds::Pipes { input, output, errors } => {
                child.input = input.map(InputStream::new).transpose()?;
                child.output = Some(OutputStream::new(output)?);
                child.errors = errors.map(OutputStream::new).transpose()?;
            }
            OurEnds::Terminal(ours) => {
                let terminal = Terminal::new(ours)?;
                child.input = Some(InputStream(Writer::Terminal(terminal.clone())));
                child.output = Some(OutputStream(Reader::Terminal(terminal.clone())));
                child.terminal = Some(terminal);
            }
        }
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

    /// Its terminal, if it has one.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.terminal.clone()
    }

    /// Asks whether a command which [waited](crate::Launcher::run_waiting) may be told what to do; if so,
    /// it is watched from here on as any other. It may not when its box is no longer what one made
    /// now would be: files were replaced, or came to be, since it began to wait.
    pub async fn begin(&self) -> bool {
        match &self.killer {
            Some(killer) => killer.begin().await.unwrap_or(false),
            None => false,
        }
    }

    /// Asks the command's process group to end: with SIGTERM, and SIGHUP where it has a terminal,
    /// since shells on one heed only that. Whether it does is its own business.
    pub fn ask_to_end(&self) {
        if let Some(killer) = &self.killer {
            killer.ask_to_end();
        }
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
        Ok(Self(Writer::Pipe(pipe::Sender::from_owned_fd(writer)?)))
    }

    /// Sends bytes. What fits into one page arrives whole or not at all, through a pipe.
    ///
    /// # Errors
    /// When nobody can read them any more.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            let n_sent = self.send_some(left).await?;
            left = left.get(n_sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// Sends as many of these bytes as there is room for, at least one, and says how many. Dropping
    /// the future sends nothing.
    ///
    /// # Errors
    /// When nobody can read them any more.
    pub async fn send_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Writer::Pipe(pipe) => pipe.write(bytes).await,
            Writer::Terminal(terminal) => terminal.write(bytes).await,
        }
    }
}

impl OutputStream {
    fn new(reader: OwnedFd) -> io::Result<Self> {
        Ok(Self(Reader::Pipe(pipe::Receiver::from_owned_fd(reader)?)))
    }

    /// The next bytes, at most 64 KiB; `None` once every process that could write has closed its
    /// end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the pipe cannot be read.
    pub async fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::with_capacity(CHUNK_BYTES_MAX);
        match &mut self.0 {
            Reader::Pipe(pipe) => pipe.read_buf(&mut bytes).await.map(drop)?,
            Reader::Terminal(terminal) => terminal.read(&mut bytes).await?,
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

impl Terminal {
    fn new(ours: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&ours, true)?;
        #[expect(unsafe_code, reason = "the library cannot know that it stays open")]
        // SAFETY: the descriptor is owned, and nothing takes it out again before this is dropped.
        let registered = unsafe { AsyncFd::register(ours) };
        Ok(Self(Arc::new(registered?)))
    }

    /// How large it is.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn size(&self) -> io::Result<TerminalSize> {
        crate::pipes::size(self.0.get_ref().as_fd())
    }

    /// Changes how large it is; what runs in front is told by SIGWINCH.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        crate::pipes::resize(self.0.get_ref().as_fd(), size)
    }

    /// Reads what there is; nothing at its end.
    async fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let mut ready = self.0.readable().await?;
            let read = ready.try_io(|terminal| {
                Ok(rustix::io::read(terminal.get_ref(), rustix::buffer::spare_capacity(bytes))?)
            });
            match read {
                // So says Linux when nobody has the other side open any more.
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                    return Ok(());
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => return read.map(drop),
                Err(_not_yet) => {}
            }
        }
    }

    async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.0.writable().await?;
            let write = |terminal: &AsyncFd<OwnedFd>| Ok(rustix::io::write(terminal, bytes)?);
            match ready.try_io(write) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) => return written,
                Err(_not_yet) => {}
            }
        }
    }
}
