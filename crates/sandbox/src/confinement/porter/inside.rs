//! What a porter does: it makes its box, steps in, and starts what it is told to.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::super::space;
use super::message::{self, Answer, DESCRIPTORS, HEAD_BYTES, Head, Step};
use super::{House, STANDS};
use crate::launcher::heir::{self, end};

/// What a command's process needs until it is its program: a few calls deep.
const STACK_BYTES: usize = 64 * 1024;

/// The process of a porter: says that it stands, or why not, and serves until the launcher is gone.
pub(super) fn stand(house: &House<'_>, mut socket: UnixStream) -> ! {
    match step_in(house, &socket) {
        Ok(reaper) => {
            let reaper = reaper.map_or(0, Pid::as_raw_pid).to_ne_bytes();
            if socket.write_all(&[*STANDS, reaper].concat()).is_ok() {
                serve(&socket);
            }
        }
        Err(error) => {
            // There is nobody else to tell.
            let _ = socket.write_all(error.to_string().as_bytes());
        }
    }
    end()
}

/// Steps into the box, and returns who adopts what commands leave, if that is not the launcher.
fn step_in(house: &House<'_>, socket: &UnixStream) -> io::Result<Option<Pid>> {
    forget_the_launcher(socket)?;
    space::make(house.plan)?;
    limit_files(house.written_bytes_max)?;
    let before = rustix::process::getrlimit(Resource::Rttime);
    let marked = Rlimit { current: Some(house.mark), maximum: before.maximum };
    // A system that refuses the mark leaves the tree to go by.
    let _ = rustix::process::setrlimit(Resource::Rttime, marked);
    drop_privileges()?;
    // Only now, since a change of privileges takes it back.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Last, since it refuses what the steps before it do.
    house.filters.restrict_self()?;
    if house.plan.has_own_processes { start_reaper().map(Some) } else { Ok(None) }
}

/// Closes the launcher's files and gives up its ways with signals, which commands would inherit.
#[expect(unsafe_code, reason = "no library has these calls")]
fn forget_the_launcher(socket: &UnixStream) -> io::Result<()> {
    let own = socket.as_raw_fd().cast_unsigned();
    // The first three lead nowhere.
    for (first, last) in [(3, own.saturating_sub(1)), (own + 1, u32::MAX)] {
        // SAFETY: nothing that owns one of these is used any more, nor dropped: this process ends
        // by `_exit`.
        if first <= last && unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    for signal in [libc::SIGCHLD, libc::SIGPIPE] {
        // SAFETY: what handled it before is not used any more.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an empty set is a valid one, made by the call for it.
    unsafe {
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
    Ok(())
}

fn limit_files(written_bytes_max: u64) -> io::Result<()> {
    let before = rustix::process::getrlimit(Resource::Fsize);
    let bytes_max = before.maximum.map_or(written_bytes_max, |max| max.min(written_bytes_max));
    let limit = Rlimit { current: Some(bytes_max), maximum: Some(bytes_max) };
    rustix::process::setrlimit(Resource::Fsize, limit)?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    Ok(rustix::process::setrlimit(Resource::Core, none)?)
}

/// Gives up what the owner of a user namespace may do in it, so that no program gets it back.
fn drop_privileges() -> io::Result<()> {
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    rustix::thread::set_capabilities_secure_bits(locked)?;
    for capability in CapabilitySet::all().iter() {
        // A kernel that does not know it does not give it either.
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Starts the first process of the namespace. When it ends, so does all that is in it.
fn start_reaper() -> io::Result<Pid> {
    #[expect(unsafe_code, reason = "a process that runs no program")]
    // SAFETY: this process has one thread, so the child may do whatever it may.
    let forked = unsafe { libc::fork() };
    if forked == 0 {
        reap();
    }
    Pid::from_raw(forked.max(0)).ok_or_else(io::Error::last_os_error)
}

/// Waits for whatever ends, as long as the porter lives.
fn reap() -> ! {
    let children_ended = heir::keep_only(libc::SIGCHLD);
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        end();
    }
    loop {
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        heir::wait_for(&children_ended);
    }
}

/// Starts commands until nobody asks for one.
fn serve(socket: &UnixStream) {
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    while let Ok((head, descriptors)) = head_of(socket) {
        let mut texts = vec![0; head.texts_bytes];
        let mut reader = socket;
        if reader.read_exact(&mut texts).is_err() {
            return;
        }
        let answer = match Start::new(&head, &texts, &descriptors) {
            Some(start) => start.run(&mut stack),
            None => Err((Step::Preparing, Errno::BADMSG.raw_os_error())),
        };
        let mut writer = socket;
        let is_heard = writer.write_all(&message::answer_to_bytes(answer)).is_ok();
        // So says a namespace of processes whose first one is gone.
        if !is_heard || answer == Err((Step::Preparing, libc::ENOMEM)) {
            return;
        }
    }
}

/// The head of the next errand, and the descriptors beside it.
fn head_of(socket: &UnixStream) -> io::Result<(Head, Vec<OwnedFd>)> {
    let mut bytes = [0; HEAD_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let parts = &mut [IoSliceMut::new(&mut bytes)];
    let received = rustix::net::recvmsg(socket.as_fd(), parts, &mut ancillary, flags)?;
    if received.bytes != HEAD_BYTES {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors = descriptors.flatten().collect();
    Ok((Head::of(&bytes).ok_or(io::ErrorKind::InvalidData)?, descriptors))
}

/// A command as the kernel is told of it: texts that end with a zero byte, lists with a null.
struct Start<'a> {
    folder: *const c_char,
    programs: Vec<*const c_char>,
    args: Vec<*const c_char>,
    env: Vec<*const c_char>,
    mark: u64,
    has_terminal: bool,
    descriptors: &'a [OwnedFd; DESCRIPTORS],
    refused: Cell<Option<(Step, i32)>>,
}

impl<'a> Start<'a> {
    /// `None` when the message is not what it says it is.
    fn new(head: &Head, texts: &'a [u8], descriptors: &'a [OwnedFd]) -> Option<Self> {
        let mut texts = texts.split_inclusive(|byte| *byte == 0);
        let mut next = || {
            let text = texts.next().filter(|text| text.ends_with(&[0]))?;
            Some(text.as_ptr().cast::<c_char>())
        };
        let folder = next()?;
        let programs: Option<Vec<_>> = (0..head.n_programs).map(|_| next()).collect();
        let args: Option<Vec<_>> = (0..head.n_args).map(|_| next()).collect();
        let mut args = args?;
        let null = std::ptr::null();
        args.push(null);
        let env = std::iter::from_fn(next).chain([null]).collect();
        Some(Self {
            folder,
            programs: programs?,
            args,
            env,
            mark: head.mark,
            has_terminal: head.has_terminal,
            descriptors: descriptors.try_into().ok()?,
            refused: Cell::new(None),
        })
    }

    /// Starts it as a child of the launcher. It runs in this process's memory until it is its
    /// program; this process waits meanwhile.
    fn run(&self, stack: &mut [u128]) -> Answer {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT | libc::SIGCHLD;
        let own = std::ptr::from_ref(self).cast_mut().cast();
        let top = stack.as_mut_ptr_range().end.cast();
        #[expect(unsafe_code, reason = "no library starts a child of its parent")]
        // SAFETY: the stack is aligned, nobody else's, and large enough for `become_command`; what
        // it points to outlives the call, which returns when the child uses this memory no more.
        let cloned = unsafe { libc::clone(become_command, top, flags, own) };
        match (Pid::from_raw(cloned.max(0)), self.refused.get()) {
            (None, _) => Err((Step::Preparing, last_error())),
            (Some(_), Some(refused)) => Err(refused),
            (Some(pid), None) => Ok(pid),
        }
    }

    /// Takes the steps between the start of a process and its program; returns what was refused.
    fn take_steps(&self) -> (Step, i32) {
        let failed = |step: Step| move |error: Errno| (step, error.raw_os_error());
        let prepared = || {
            let [_, input, output, errors] = self.descriptors;
            rustix::stdio::dup2_stdin(input)?;
            rustix::stdio::dup2_stdout(output)?;
            rustix::stdio::dup2_stderr(errors)?;
            if self.has_terminal {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
            } else {
                rustix::process::setpgid(None, None)?;
            }
            let before = rustix::process::getrlimit(Resource::Rttime);
            let marked = Rlimit { current: Some(self.mark), maximum: before.maximum };
            let _ = rustix::process::setrlimit(Resource::Rttime, marked);
            // The launcher's: it would be killed then anyway, and so it is whoever else died.
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(())
        };
        if let Err(refused) = prepared().map_err(failed(Step::Preparing)) {
            return refused;
        }
        #[expect(unsafe_code, reason = "texts as they lie in the message")]
        // SAFETY: the folder is a text that ends with a zero byte; the ruleset's number is open.
        unsafe {
            if libc::chdir(self.folder) != 0 {
                return (Step::Folder, last_error());
            }
            let ruleset = self.descriptors[0].as_raw_fd();
            if libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) != 0 {
                return (Step::Rules, last_error());
            }
        }
        (Step::Program, self.become_program())
    }

    /// Becomes the first of the programs that can be; returns why none could.
    fn become_program(&self) -> i32 {
        let mut reason = libc::ENOENT;
        for program in &self.programs {
            #[expect(unsafe_code, reason = "texts as they lie in the message")]
            // SAFETY: a text that ends with a zero byte, and lists of such that end with a null.
            let error = unsafe {
                libc::execve(*program, self.args.as_ptr(), self.env.as_ptr());
                last_error()
            };
            match error {
                libc::ENOENT | libc::ENOTDIR => {}
                // Another may be allowed; if not, this is why.
                libc::EACCES => reason = error,
                _ => return error,
            }
        }
        reason
    }
}

/// A new process, in the memory of its porter.
extern "C" fn become_command(start: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "the argument of clone")]
    // SAFETY: what `run` handed over; it waits until this process is done with it.
    let start = unsafe { &*start.cast::<Start<'_>>() };
    start.refused.set(Some(start.take_steps()));
    1
}

fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
