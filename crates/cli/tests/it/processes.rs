//! Which processes of a world run, from the outside.

use crate::support::World;

#[cfg(target_os = "linux")]
pub(crate) use linux::wait_until_gone;

/// Elsewhere nobody shows the variables of a process to others.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wait_until_gone(_: &World) {
    let _ = heeler_testkit::require("the variables of processes in /proc", false);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::World;
    use crate::fifo::is_ready;

    /// Waits for the end of whatever the world's processes started; fails when something stays.
    #[track_caller]
    pub(crate) fn wait_until_gone(world: &World) {
        while let Some((pid, what)) = running(world).pop() {
            // What ended since it was listed cannot be opened.
            if let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) {
                assert!(is_ready(&process), "still running: {what}");
            }
        }
    }

    /// The living processes that carry the world's mark, with their arguments.
    fn running(world: &World) -> Vec<(Pid, String)> {
        let mark = world.mark();
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let pid = Pid::from_raw(name.to_str()?.parse().ok()?)?;
            let folder = format!("/proc/{}", pid.as_raw_nonzero());
            // A process that ended has no variables any more.
            let variables = fs::read(format!("{folder}/environ")).ok()?;
            let is_marked = variables.split(|byte| *byte == 0).any(|v| v == mark.as_bytes());
            // One that is about to has none either, and still holds its files.
            let is_marked = is_marked || (variables.is_empty() && is_ending(&folder));
            let arguments = fs::read(format!("{folder}/cmdline")).unwrap_or_default();
            is_marked.then(|| (pid, String::from_utf8_lossy(&arguments).replace('\0', " ")))
        });
        processes.collect()
    }

    /// Whether a process is on its way out: proc_pid_stat(5) has the kernel's flags.
    fn is_ending(folder: &str) -> bool {
        const PF_EXITING: u32 = 0x4;
        let Ok(stat) = fs::read_to_string(format!("{folder}/stat")) else { return false };
        // Behind the name, which may hold anything: the state, five numbers, the flags.
        let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
        let fields: Vec<&str> = behind.split_whitespace().take(7).collect();
        let [state, .., flags] = fields[..] else { return false };
        state != "Z" && flags.parse::<u32>().is_ok_and(|flags| flags & PF_EXITING != 0)
    }
}
