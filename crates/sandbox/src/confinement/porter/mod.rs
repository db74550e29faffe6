//! The porter of a box: a process that stands in it and starts each command there.
//!
//! To step into a box takes longer than many commands run: namespaces, privileges, a filter that
//! the kernel compiles whenever it is loaded. So one process does it once and stays. Commands are
//! its siblings: the launcher's own children, as all that run outside of a box.
//!
//! It is in no Landlock domain and each command is in one of its own, so no command can look into
//! it, stop it, or reach another. If it is lost all the same, the box is made anew.
//!
//! On kernels whose Landlock does not keep signals in, commands are in a namespace of processes,
//! which has the porter outside. Its first process, the **reaper**, adopts what they leave.

mod inside;
mod message;
mod visit;

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::calls::Filters;
use super::space::{Hold, Plan};
use message::{ANSWER_BYTES, Answer, DESCRIPTORS};
pub(super) use message::{Errand, Step};

/// How long it may take to start a command; the launcher does nothing else meanwhile.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// Why a box could not be made, at most.
const REASON_BYTES_MAX: u64 = 4096;
/// What a porter says when it stands in its box; the number of its reaper follows, or 0.
const STANDS: &[u8; 4] = b"done";

/// A running porter; it ends when this is dropped.
pub(super) struct Porter {
    pid: Pid,
    reaper: Option<Pid>,
    socket: UnixStream,
    is_lost: AtomicBool,
}

/// A porter that is making its box.
pub(super) struct Arriving(Porter);

/// What the commands of a box have in common.
pub(super) struct House<'a> {
    pub(super) plan: &'a Plan,
    pub(super) filters: &'a Filters,
    pub(super) written_bytes_max: u64,
    /// The mark of what is the launcher's own.
    pub(super) mark: u64,
}

/// Why a command did not start.
pub(super) enum NotStarted {
    /// The kernel refused one of its steps.
    Refused(Step, io::Error),
    /// Nobody could be told, or answered.
    Lost(io::Error),
}

/// Whether this machine lets us make namespaces and mounts: those of a box in which nothing may be
/// written.
pub(super) fn try_to_stand(has_own_processes: bool) -> io::Result<()> {
    let plan = Plan { temp: "/proc".into(), has_own_processes, ..Plan::default() };
    let filters = Filters::new(super::Network::None)?;
    let house = House { plan: &plan, filters: &filters, written_bytes_max: u64::MAX, mark: 0 };
    Porter::send(&house)?.wait().map(drop)
}

impl Porter {
    /// Sends somebody to make a box and stand in it. Only for a process with one thread.
    pub(super) fn send(house: &House<'_>) -> io::Result<Arriving> {
        let (ours, theirs) = UnixStream::pair()?;
        #[expect(unsafe_code, reason = "the only way to make namespaces that are not our own")]
        // SAFETY: this process has one thread (an invariant of the launcher), so no lock is held
        // by a thread that the child lacks, and the child may do whatever the parent may.
        let forked = unsafe { libc::fork() };
        if forked == 0 {
            inside::stand(house, theirs);
        }
        let pid = Pid::from_raw(forked.max(0)).ok_or_else(io::Error::last_os_error)?;
        drop(theirs);
        let is_lost = AtomicBool::new(false);
        Ok(Arriving(Self { pid, reaper: None, socket: ours, is_lost }))
    }

    /// Starts a command: the first descriptor is the ruleset that binds it, the others are its
    /// input, output and errors.
    pub(super) fn start(
        &self,
        errand: &Errand<'_>,
        descriptors: [BorrowedFd<'_>; DESCRIPTORS],
    ) -> Result<Pid, NotStarted> {
        let refused = |error| NotStarted::Refused(Step::Preparing, error);
        let bytes = errand.to_bytes().map_err(refused)?;
        let answer = self.ask(&bytes, descriptors).map_err(|error| {
            self.is_lost.store(true, Ordering::Relaxed);
            // It may only be late, and must not start it when nobody knows of it.
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
            NotStarted::Lost(error)
        })?;
        let of_number = io::Error::from_raw_os_error;
        answer.map_err(|(step, number)| NotStarted::Refused(step, of_number(number)))
    }

    /// Mounts these again in the box, where each lost its mount. It gave up what that takes.
    pub(super) fn hold_again(&self, lost: &[(PathBuf, Hold)]) -> io::Result<()> {
        visit::hold_again(self.pid, lost)
    }

    /// Whether it is gone.
    pub(super) fn is_lost(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let waited = || rustix::process::waitid(WaitId::Pid(self.pid), options);
        self.is_lost.load(Ordering::Relaxed) || !matches!(waited(), Ok(None))
    }

    /// Its process.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// The process that adopts what its commands leave, unless the launcher does.
    pub(super) fn reaper(&self) -> Option<Pid> {
        self.reaper
    }

    fn ask(&self, bytes: &[u8], descriptors: [BorrowedFd<'_>; DESCRIPTORS]) -> io::Result<Answer> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let (parts, flags) = (&[IoSlice::new(bytes)], SendFlags::NOSIGNAL);
        let n_sent = rustix::net::sendmsg(self.socket.as_fd(), parts, &mut ancillary, flags)?;
        let mut socket = &self.socket;
        socket.write_all(bytes.get(n_sent..).unwrap_or_default())?;
        let mut answer = [0; ANSWER_BYTES];
        socket.read_exact(&mut answer)?;
        message::answer_of(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Arriving {
    /// Waits until it stands.
    pub(super) fn wait(self) -> io::Result<Porter> {
        let Self(mut porter) = self;
        let mut socket = &porter.socket;
        let mut said = [0; STANDS.len()];
        socket.read_exact(&mut said)?;
        if said != *STANDS {
            let mut reason = said.to_vec();
            socket.take(REASON_BYTES_MAX).read_to_end(&mut reason)?;
            return Err(io::Error::other(String::from_utf8_lossy(&reason)));
        }
        let mut reaper = [0; size_of::<i32>()];
        socket.read_exact(&mut reaper)?;
        porter.socket.set_read_timeout(Some(ANSWER_WAIT))?;
        porter.socket.set_write_timeout(Some(ANSWER_WAIT))?;
        porter.reaper = Pid::from_raw(i32::from_ne_bytes(reaper));
        Ok(porter)
    }
}

impl Drop for Porter {
    fn drop(&mut self) {
        // It has nothing left to do, and may be dead already.
        let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
    }
}
