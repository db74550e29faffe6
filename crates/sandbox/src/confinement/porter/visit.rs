//! A process that enters a box for a moment, with what its owner may do there, and mounts again what
//! lost its mount. No command can stop it or look into it, as with the porter.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::process::{Pid, WaitOptions};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::super::space::{self, Hold};

/// Mounts these again in the box of a process. Only for a process with one thread.
pub(super) fn hold_again(stands_there: Pid, lost: &[(PathBuf, Hold)]) -> io::Result<()> {
    let space = |name: &str| File::open(format!("/proc/{}/ns/{name}", stands_there.as_raw_pid()));
    let (user, mounts) = (space("user")?, space("mnt")?);
    #[expect(unsafe_code, reason = "a process that runs no program")]
    // SAFETY: this process has one thread (an invariant of the launcher), so the child may do
    // whatever it may.
    let forked = unsafe { libc::fork() };
    if forked == 0 {
        let done = enter(&user, &mounts)
            .and_then(|()| lost.iter().try_for_each(|(path, hold)| space::hold_again(path, *hold)));
        #[expect(unsafe_code, reason = "exit would run what the launcher registered")]
        // SAFETY: ends the process at once; touches no memory.
        unsafe {
            libc::_exit(i32::from(done.is_err()))
        }
    }
    let visitor = Pid::from_raw(forked.max(0)).ok_or_else(io::Error::last_os_error)?;
    loop {
        match rustix::process::waitpid(Some(visitor), WaitOptions::empty()) {
            Ok(Some((_, status))) if status.exit_status() == Some(0) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Err(io::Error::other("it cannot be mounted there")),
            Err(error) => return Err(error.into()),
        }
    }
}

fn enter(user: &File, mounts: &File) -> io::Result<()> {
    move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
    Ok(move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?)
}
