//! The launcher as a copy of this process instead of its program executed again.
//!
//! A program of tens of megabytes takes milliseconds to be loaded, linked and read in once more, a
//! copy a tenth of that. Only a process that has done nothing yet may be copied and go on as another
//! program would: a thread that is not there in the copy may have held any lock, and what was opened
//! is used by more than its owner (a runtime's way to hear of signals). What this process was started
//! with and was given is not for the launcher and is taken from the copy.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::Pid;

use super::serve;

/// What the copy is called in lists of processes.
const NAME: &[u8] = b"heeler-launcher";
/// How the copy ends when it panicked.
const PANICKED: i32 = 101;
/// Descriptors from here on are no standard streams.
const FIRST_OTHER: RawFd = 3;
/// In `/proc/self/stat`, behind the name: where the arguments begin and end, then the environment.
/// Fields 48 to 51 of proc(5), of which the name is the second.
const PLACES: std::ops::Range<usize> = 45..49;

/// Forks the launcher, which serves `theirs` and never returns. `None` where this process cannot be
/// copied: it has more than one thread, or has opened something else than this pair.
pub(super) fn fork(ours: &UnixStream, theirs: &UnixStream) -> Option<io::Result<Pid>> {
    let has_one_thread = std::fs::read_dir("/proc/self/task").ok()?.take(2).count() == 1;
    let own = [ours.as_raw_fd(), theirs.as_raw_fd()];
    if !has_one_thread || open_files()?.into_iter().any(|file| !own.contains(&file) && is_own(file))
    {
        return None;
    }
    #[expect(unsafe_code, reason = "a copy of a process is nothing that safe code can vouch for")]
    // SAFETY: this process has one thread, so the copy has all that there is of it, and no lock or
    // allocation is in the middle of anything. The copy never comes back from here.
    let forked = unsafe { libc::fork() };
    match forked {
        0 => serve_and_exit(theirs),
        error if error < 0 => Some(Err(io::Error::last_os_error())),
        pid => Pid::from_raw(pid).map(Ok),
    }
}

fn open_files() -> Option<Vec<RawFd>> {
    let listed = std::fs::read_dir("/proc/self/fd").ok()?;
    Some(listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// Whether this process opened a file itself: what it was started with does not close on exec, and all
/// that Rust opens does. The listing's own descriptor is closed by now.
fn is_own(file: RawFd) -> bool {
    #[expect(unsafe_code, reason = "a number from a listing has no safe owner")]
    // SAFETY: borrowed for one call, in a process with one thread: nothing closes or reuses the number
    // meanwhile. A number that is no longer open gives EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(file) };
    rustix::io::fcntl_getfd(borrowed).is_ok_and(|flags| flags.contains(FdFlags::CLOEXEC))
}

/// What the copy does. Nothing of it unwinds into what this process was about to do.
fn serve_and_exit(socket: &UnixStream) -> ! {
    let served = catch_unwind(AssertUnwindSafe(|| {
        let alone = keep_only(socket.as_raw_fd()).and_then(|()| socket.try_clone());
        forget_start(NAME);
        alone.map_or(1, serve::run)
    }));
    #[expect(unsafe_code, reason = "what is to be done at the end of a process is not the copy's")]
    // SAFETY: it ends the process and touches nothing of it.
    unsafe {
        libc::_exit(served.unwrap_or(PANICKED))
    }
}

/// Leaves the folder and all open files but one: a lock on a file lasts as long as any copy of it.
fn keep_only(socket: RawFd) -> io::Result<()> {
    rustix::process::chdir("/")?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    close_range(FIRST_OTHER, socket - 1)?;
    close_range(socket + 1, RawFd::MAX)
}

fn close_range(first: RawFd, last: RawFd) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    #[expect(unsafe_code, reason = "numbers that nobody owns any more")]
    // SAFETY: what owned these numbers belongs to code that the copy never runs again.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Overwrites the arguments, where prompts stand, and the environment, where keys do: anybody of this
/// user can read what a process was started with. Only for a copy of a process, which has one thread.
pub(super) fn forget_start(name: &[u8]) {
    let Some([arguments, arguments_end, environment, environment_end]) = places() else { return };
    let area = |start: usize, end: usize| -> &'static mut [u8] {
        if start == 0 || end <= start {
            return &mut [];
        }
        let start_of_area = std::ptr::with_exposed_provenance_mut(start);
        #[expect(unsafe_code, reason = "the strings that the system put there have no owner")]
        // SAFETY: the kernel says that these strings of the process's start lie here, on its stack,
        // where it may write. The copy has one thread and looks at neither again.
        unsafe {
            std::slice::from_raw_parts_mut(start_of_area, end - start)
        }
    };
    area(environment, environment_end).fill(0);
    let arguments = area(arguments, arguments_end);
    arguments.fill(0);
    // The last byte stays empty: it ends the name.
    let end = name.len().min(arguments.len().saturating_sub(1));
    arguments[..end].copy_from_slice(&name[..end]);
}

fn places() -> Option<[usize; 4]> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    let fields: Vec<usize> =
        behind_name.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    fields.get(PLACES)?.try_into().ok()
}
