//! The launcher's heir: a process that kills what the launcher leaves, if that is killed in the moment in
//! which its parent is, which would do it otherwise.
//!
//! It is called otherwise than the program, since who ends a program by its name ends all that have it.
//! It starts nothing, hears nothing but the launcher's death, and ends after it.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Heir, end, keep_only, wait_for};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Heir;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CStr;
    use std::mem::MaybeUninit;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

    use super::super::{forked, tree};

    /// What it is called in lists of processes, by its short name and by its arguments.
    const NAME: &CStr = c"launcher-heir";

    /// A process that waits for this one's death; it ends when this is dropped.
    pub(crate) struct Heir(Pid);

    impl Heir {
        /// Only for a process with one thread. `None` where there can be no more processes.
        pub(crate) fn of_this(mark_base: u64) -> Option<Self> {
            let launcher = rustix::process::getpid();
            #[expect(unsafe_code, reason = "a process that runs no program")]
            // SAFETY: this process has one thread (an invariant of the launcher), so no lock is held by a
            // thread that the child lacks, and the child may do whatever the parent may. It never comes back.
            let forked = unsafe { libc::fork() };
            if forked == 0 {
                inherit(launcher, mark_base);
            }
            Pid::from_raw(forked.max(0)).map(Self)
        }

        pub(crate) fn pid(&self) -> Pid {
            self.0
        }

        /// Whether somebody killed it.
        pub(crate) fn is_gone(&self) -> bool {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(rustix::process::waitid(WaitId::Pid(self.0), options), Ok(None))
        }
    }

    impl Drop for Heir {
        fn drop(&mut self) {
            // Nothing is left to it, and it may be dead already.
            let _ = rustix::process::kill_process(self.0, Signal::KILL);
            let _ = rustix::process::waitpid(Some(self.0), WaitOptions::empty());
        }
    }

    /// What the heir does.
    fn inherit(launcher: Pid, mark_base: u64) -> ! {
        let death = keep_only(libc::SIGTERM);
        // Where it could not hear of the death it would wait for ever.
        if rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).is_ok() {
            // A name that is refused is only a name.
            let _ = rustix::thread::set_name(NAME);
            forked::forget_start(NAME.to_bytes());
            while rustix::process::getppid() == Some(launcher) {
                wait_for(&death);
            }
            tree::kill_marked(mark_base, &[]);
        }
        end()
    }

    /// Closes all files but the standard streams, and holds up all signals but those that nothing holds up,
    /// so that one of them can be waited for. Only for a copy of a process, of which nothing else goes on.
    pub(crate) fn keep_only(signal: libc::c_int) -> libc::sigset_t {
        #[expect(unsafe_code, reason = "no library has these calls")]
        // SAFETY: a set is valid once it was filled or emptied; what owns the descriptors that are closed is
        // not used any more.
        unsafe {
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
            let mut all = MaybeUninit::uninit();
            libc::sigfillset(all.as_mut_ptr());
            libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut());
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            let mut set = set.assume_init();
            libc::sigaddset(&raw mut set, signal);
            set
        }
    }

    /// Waits for a signal of a set that is held up.
    pub(crate) fn wait_for(set: &libc::sigset_t) {
        let mut signal = 0;
        #[expect(unsafe_code, reason = "no library has this call")]
        // SAFETY: both outlive the call.
        unsafe {
            libc::sigwait(set, &raw mut signal)
        };
    }

    /// Ends a copy of a process at once.
    pub(crate) fn end() -> ! {
        #[expect(unsafe_code, reason = "exit would run what the copied process registered")]
        // SAFETY: ends the process at once; touches no memory.
        unsafe {
            libc::_exit(0)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::process::Pid;

    /// There is none, where nobody hears of a parent's death.
    pub(crate) enum Heir {}

    impl Heir {
        pub(crate) fn of_this(_mark_base: u64) -> Option<Self> {
            None
        }

        pub(crate) fn pid(&self) -> Pid {
            match *self {}
        }

        pub(crate) fn is_gone(&self) -> bool {
            match *self {}
        }
    }
}
