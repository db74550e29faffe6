//! Looks at processes from outside.

use std::fs;

/// Whether a process runs.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X'])
}

/// Checks that all these processes live, or that none does.
pub(crate) fn assert_alive(pids: &[u32], expected: bool) {
    let alive: Vec<bool> = pids.iter().map(|pid| is_alive(*pid)).collect();
    assert_eq!(alive, vec![expected; pids.len()], "{pids:?}");
}

/// Kills one process.
pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Waits until the processes are dead; fails when one lives on for five seconds.
#[cfg(target_os = "linux")]
pub(crate) fn wait_dead(pids: &[u32]) {
    use rustix::event::{PollFd, PollFlags, Timespec};
    for pid in pids {
        let raw = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        let Ok(pidfd) = rustix::process::pidfd_open(raw, rustix::process::PidfdFlags::empty())
        else {
            continue;
        };
        let limit = Timespec { tv_sec: 5, tv_nsec: 0 };
        let n_dead =
            rustix::event::poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(n_dead, 1, "{pid} lives on");
    }
}

/// Without process descriptors there is nothing to wait on; the output's end has shown it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wait_dead(_pids: &[u32]) {}
