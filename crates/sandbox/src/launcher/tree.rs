//! Finds and kills all processes of a command, also those that left its group and session.
//!
//! On Linux the launcher is a subreaper, so whatever detaches itself becomes the launcher's own
//! child and nothing leaves its tree. Which command such an adopted process belongs to is told by
//! a **mark** that fork, exec and setsid keep and nobody else uses: the soft limit on the run time
//! of real-time threads, set to a number far beyond any real limit. Elsewhere a command's
//! processes are its process group.

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    adopt_orphans, allow_huge_pages, children, descendants, kill_and_wait, kill_marked, mark_of,
    with_mark,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{
    adopt_orphans, allow_huge_pages, children, descendants, kill_and_wait, kill_marked, mark_of,
    with_mark,
};

/// Bits of a mark that count the commands of one launcher; the bits above name the launcher.
const COMMAND_BITS: u32 = 24;

/// The marks of one launcher start here. About 70,000 years of real-time computing.
pub(crate) fn mark_base(random: u64) -> u64 {
    (1 << 61) | ((random >> 27) << COMMAND_BITS)
}

/// The mark of a command.
pub(crate) fn mark(mark_base: u64, id: u64) -> u64 {
    mark_base | (id & ((1 << COMMAND_BITS) - 1))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec};
    use rustix::io::Errno;
    use rustix::process::{self, Pid, PidfdFlags, Resource, Rlimit, Signal};

    /// How many processes are waited for at once; each takes a descriptor.
    const BATCH_MAX: usize = 256;
    /// How long a dead launcher's processes may take to die.
    const SWEEP_WAIT: Duration = Duration::from_secs(2);

    /// Makes this process the parent of whatever below it loses its own.
    pub(crate) fn adopt_orphans() -> std::io::Result<()> {
        Ok(process::set_child_subreaper(Some(process::getpid()))?)
    }

    /// An allocator that keeps itself small forbids huge pages for its process, and whatever that
    /// starts inherits it; commands are not to be slower for it.
    pub(crate) fn allow_huge_pages() {
        // A system that knows no such switch forbids nothing.
        let _ = rustix::thread::disable_transparent_huge_pages(false);
    }

    /// Runs `spawn` so that the process it starts carries the mark. A system that refuses the
    /// mark leaves the group and the tree to go by.
    pub(crate) fn with_mark<T>(mark: u64, spawn: impl FnOnce() -> T) -> T {
        let before = process::getrlimit(Resource::Rttime);
        let marked = Rlimit { current: Some(mark), maximum: before.maximum };
        let is_marked = process::setrlimit(Resource::Rttime, marked).is_ok();
        let result = spawn();
        if is_marked {
            // Lowering and raising below the hard limit is always allowed.
            let _ = process::setrlimit(Resource::Rttime, before);
        }
        result
    }

    /// The mark a process carries.
    pub(crate) fn mark_of(pid: Pid) -> Option<u64> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_pid())).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// The direct children of a process, dead ones included.
    pub(crate) fn children(parent: Pid) -> Vec<Pid> {
        static HAS_LISTS: OnceLock<bool> = OnceLock::new();
        if !*HAS_LISTS.get_or_init(|| fs::exists("/proc/thread-self/children").unwrap_or(false)) {
            return processes().filter(|pid| parent_of(*pid) == Some(parent)).collect();
        }
        if parent == process::getpid() {
            // The launcher has one thread.
            let list = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
            return list.split_whitespace().filter_map(parse_pid).collect();
        }
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", parent.as_raw_pid())) else {
            return Vec::new();
        };
        let lists =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        lists
            .flat_map(|list| list.split_whitespace().filter_map(parse_pid).collect::<Vec<_>>())
            .collect()
    }

    /// These processes and everything below them.
    pub(crate) fn descendants(roots: Vec<Pid>) -> Vec<Pid> {
        let mut found = roots;
        let mut n_seen = 0;
        while let Some(pid) = found.get(n_seen).copied() {
            n_seen += 1;
            for child in children(pid) {
                // A process that is reparented while we look may show up twice.
                if !found.contains(&child) {
                    found.push(child);
                }
            }
        }
        found
    }

    /// Kills these processes and waits until they are dead, at most until `deadline`. Returns
    /// those that may not be killed.
    pub(crate) fn kill_and_wait(pids: &[Pid], deadline: Instant) -> Vec<Pid> {
        let mut untouchable = Vec::new();
        for batch in pids.chunks(BATCH_MAX) {
            let mut dying = Vec::new();
            for pid in batch {
                let killed = match process::pidfd_open(*pid, PidfdFlags::empty()) {
                    Ok(pidfd) => {
                        let killed = process::pidfd_send_signal(&pidfd, Signal::KILL);
                        dying.extend(killed.is_ok().then_some(pidfd));
                        killed
                    }
                    Err(Errno::SRCH) => Ok(()),
                    // An old kernel, or no descriptor left.
                    Err(_) => process::kill_process(*pid, Signal::KILL),
                };
                if killed == Err(Errno::PERM) {
                    untouchable.push(*pid);
                }
            }
            for pidfd in &dying {
                let left = deadline.saturating_duration_since(Instant::now());
                let Ok(left) = Timespec::try_from(left) else { break };
                // Readable means dead; any error is found by looking again.
                let _ = rustix::event::poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&left));
            }
        }
        untouchable
    }

    /// Kills all that carries a mark of a launcher that died.
    pub(crate) fn kill_marked(mark_base: u64, _groups: &[i32]) {
        let launcher_of = |mark: u64| mark >> super::COMMAND_BITS;
        let deadline = Instant::now() + SWEEP_WAIT;
        let mut untouchable = Vec::new();
        while Instant::now() < deadline {
            let is_ours = |pid: &Pid| {
                mark_of(*pid).is_some_and(|mark| launcher_of(mark) == launcher_of(mark_base))
            };
            let roots = processes().filter(is_ours).collect();
            let mut left = descendants(roots);
            left.retain(|pid| !untouchable.contains(pid) && !is_dead(*pid));
            if left.is_empty() {
                return;
            }
            untouchable.extend(kill_and_wait(&left, deadline));
        }
    }

    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        entries.filter_map(|entry| parse_pid(entry.ok()?.file_name().to_str()?))
    }

    fn parse_pid(text: &str) -> Option<Pid> {
        Pid::from_raw(text.parse().ok()?)
    }

    fn parent_of(pid: Pid) -> Option<Pid> {
        parse_pid(stat(pid)?.split_whitespace().nth(1)?)
    }

    /// Whether a process has ended, waited for or not.
    fn is_dead(pid: Pid) -> bool {
        stat(pid).is_none_or(|stat| stat.starts_with(['Z', 'X']))
    }

    /// The fields after the name, which may itself hold spaces and parentheses.
    fn stat(pid: Pid) -> Option<String> {
        let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        Some(stat.rsplit_once(") ")?.1.to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::time::Instant;

    use rustix::process::{Pid, Signal, kill_process_group};

    pub(crate) fn adopt_orphans() -> std::io::Result<()> {
        Ok(())
    }

    pub(crate) fn allow_huge_pages() {}

    pub(crate) fn with_mark<T>(_mark: u64, spawn: impl FnOnce() -> T) -> T {
        spawn()
    }

    pub(crate) fn mark_of(_pid: Pid) -> Option<u64> {
        None
    }

    pub(crate) fn children(_parent: Pid) -> Vec<Pid> {
        Vec::new()
    }

    pub(crate) fn descendants(_roots: Vec<Pid>) -> Vec<Pid> {
        Vec::new()
    }

    pub(crate) fn kill_and_wait(_pids: &[Pid], _deadline: Instant) -> Vec<Pid> {
        Vec::new()
    }

    /// Kills the groups of a launcher that died.
    pub(crate) fn kill_marked(_mark_base: u64, groups: &[i32]) {
        for group in groups.iter().filter_map(|group| Pid::from_raw(*group)) {
            // An error means that nobody is left in it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
