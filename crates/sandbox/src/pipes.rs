//! The pipes or the terminal between a command and its owner.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::{Input, Streams, TerminalSize};

/// A command's pipes: our ends, and its own in the order in which the launcher takes them.
pub(crate) struct Pipes {
    pub(crate) ours: OurEnds,
    pub(crate) theirs: Vec<OwnedFd>,
}

/// Our ends of what a command reads and writes.
pub(crate) enum OurEnds {
    Pipes { input: Option<OwnedFd>, output: OwnedFd, errors: Option<OwnedFd> },
    Terminal(OwnedFd),
}

impl Pipes {
    pub(crate) fn new(input: Input, streams: Streams) -> io::Result<Self> {
        if let Streams::Terminal(size) = streams {
            let (ours, theirs) = terminal(size)?;
            return Ok(Self { ours: OurEnds::Terminal(ours), theirs: vec![theirs] });
        }
        let mut theirs: Vec<OwnedFd> = Vec::new();
        let mut read = || {
            let (reader, writer) = io::pipe()?;
            theirs.push(writer.into());
            Ok::<OwnedFd, io::Error>(reader.into())
        };
        let output = read()?;
        let errors = match streams {
            Streams::Separate => Some(read()?),
            Streams::Merged | Streams::Terminal(_) => None,
        };
        let input = match input {
            Input::Empty => None,
            Input::Pipe => {
                let (reader, writer) = io::pipe()?;
                theirs.push(reader.into());
                Some(writer.into())
            }
        };
        Ok(Self { ours: OurEnds::Pipes { input, output, errors }, theirs })
    }
}

/// Changes how large a terminal is.
pub(crate) fn resize(ours: BorrowedFd<'_>, size: TerminalSize) -> io::Result<()> {
    let TerminalSize { rows, columns } = size;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(ours, size)?)
}

/// How large a terminal is.
pub(crate) fn size(ours: BorrowedFd<'_>) -> io::Result<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(ours)?;
    Ok(TerminalSize { rows: size.ws_row, columns: size.ws_col })
}

/// Both sides of a new terminal; it is not ours, whose session has its own or none.
fn terminal(size: TerminalSize) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    resize(std::os::fd::AsFd::as_fd(&ours), size)?;
    let theirs = other_side(&ours)?;
    Ok((ours, theirs))
}

#[cfg(target_os = "linux")]
fn other_side(ours: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(ours, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn other_side(ours: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(name, flags, Mode::empty())?)
}
