//! Watches what a confined command takes of the machine, by looking at its processes.
//!
//! Limits of the kernel count a user's processes or a process's addresses, not a tree's memory, so
//! the tree is looked at every few milliseconds. What is taken between two looks comes on top of
//! a limit.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use rustix::process::Pid;

use super::{Bound, Confines, Limits, Prepared};

/// One command that is watched.
pub(crate) struct Watch {
    prepared: Arc<Prepared>,
    limits: Limits,
    /// Room in the file systems it may write to, when it began.
    rooms: Vec<Room>,
    shared_bytes: u64,
    /// What processes wrote that are gone and whose parents did not live to count it.
    written_bytes_gone: u64,
    /// The same of those that a reaper waited for, of this command or another of its box, before it
    /// began.
    written_bytes_reaped: u64,
}

struct Room {
    path: std::path::PathBuf,
    free_bytes: u64,
}

/// What some processes take.
#[derive(Debug, Default)]
struct Taken {
    anonymous_bytes: u64,
    written_bytes: u64,
}

impl Watch {
    /// To be made before the command starts.
    pub(crate) fn new(confines: &Confines, prepared: Arc<Prepared>) -> Self {
        let mut rooms = BTreeMap::new();
        for path in confines.writable_folders() {
            if let (Ok(metadata), Some(free_bytes)) = (path.metadata(), free_bytes(path)) {
                rooms.insert(metadata.dev(), Room { path: path.clone(), free_bytes });
            }
        }
        let written_bytes_reaped = prepared.reaper().map_or(0, written_bytes);
        Self {
            prepared,
            written_bytes_reaped,
            limits: confines.limits,
            rooms: rooms.into_values().collect(),
            shared_bytes: shared_bytes(),
            written_bytes_gone: 0,
        }
    }

    /// Whether a box that is made now would be the same.
    pub(crate) fn is_up_to_date(&self) -> bool {
        !self.prepared.is_stale()
    }

    /// Counts from here on, for a command that waited and did nothing. What others took of the
    /// machine meanwhile is not its own.
    pub(crate) fn begin(&mut self) {
        for room in &mut self.rooms {
            room.free_bytes = free_bytes(&room.path).unwrap_or(room.free_bytes);
        }
        self.shared_bytes = shared_bytes();
        self.written_bytes_reaped = self.prepared.reaper().map_or(0, written_bytes);
    }

    /// Counts what a process wrote that `reap` waits for, which nobody else will count. The kernel
    /// adds it to what this process wrote; of the dead themselves it tells not everybody.
    pub(crate) fn bury(&mut self, reap: impl FnOnce()) {
        let own = rustix::process::getpid();
        let before = written_bytes(own);
        reap();
        self.written_bytes_gone += written_bytes(own).saturating_sub(before);
    }

    /// The first bound that these processes have reached.
    pub(crate) fn look(&self, pids: &[Pid]) -> Option<Bound> {
        let Limits { resident_bytes_max, processes_max, written_bytes_max } = self.limits;
        if pids.len() > processes_max as usize {
            return Some(Bound::Processes { count_max: processes_max });
        }
        let taken = Taken::by(pids);
        let shared_bytes = shared_bytes().saturating_sub(self.shared_bytes);
        // What processes share since a fork is counted for each at first, which is cheap.
        if taken.anonymous_bytes + shared_bytes > resident_bytes_max
            && exact_anonymous_bytes(pids) + shared_bytes > resident_bytes_max
        {
            return Some(Bound::Memory { bytes_max: resident_bytes_max });
        }
        let reaped = self.prepared.reaper().map_or(0, written_bytes);
        let gone = self.written_bytes_gone + reaped.saturating_sub(self.written_bytes_reaped);
        if taken.written_bytes + gone > written_bytes_max {
            return Some(Bound::Written { bytes_max: written_bytes_max });
        }
        let is_lost = |room: &Room| {
            free_bytes(&room.path)
                .is_some_and(|free| room.free_bytes.saturating_sub(free) > written_bytes_max)
        };
        if self.rooms.iter().any(is_lost) {
            return Some(Bound::Disk { bytes_max: written_bytes_max });
        }
        self.prepared.hold_again().or_else(|| self.restore())
    }

    /// Puts back what is protected and was changed.
    pub(crate) fn restore(&self) -> Option<Bound> {
        self.prepared.restore()
    }
}

impl Taken {
    fn by(pids: &[Pid]) -> Self {
        let mut taken = Self::default();
        for pid in pids {
            taken.anonymous_bytes += anonymous_bytes(*pid);
            taken.written_bytes += written_bytes(*pid);
        }
        taken
    }
}

/// Memory of a process that belongs to no file; 0 when it is gone.
fn anonymous_bytes(pid: Pid) -> u64 {
    let statm = read(&format!("/proc/{}/statm", pid.as_raw_pid()));
    let mut pages = statm.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(of_files) * rustix::param::page_size() as u64
}

/// The same with each page divided among those who share it.
fn exact_anonymous_bytes(pids: &[Pid]) -> u64 {
    let path = |pid: &Pid| format!("/proc/{}/smaps_rollup", pid.as_raw_pid());
    pids.iter().map(|pid| field(&read(&path(pid)), "Pss_Anon:") * 1024).sum()
}

/// What a process wrote, and those of its children that it waited for.
fn written_bytes(pid: Pid) -> u64 {
    let path = format!("/proc/{}/io", pid.as_raw_pid());
    let text = read(&path);
    let field = |name| field(&text, name);
    // Through a mapping no call writes, and the second counts only what went to disks.
    field("wchar:").max(field("write_bytes:"))
}

/// Memory of files that lie on no disk, all of the machine's: of whom it is cannot be told.
fn shared_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    system.sharedram * u64::from(system.mem_unit)
}

/// A number in lines that begin with names; 0 when it is not there.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// A short file of the kernel's, in one call: asking for its length would tell nothing.
fn read(path: &str) -> String {
    let mut text = [0; 2048];
    let n_read = fs::File::open(path).and_then(|mut file| file.read(&mut text)).unwrap_or(0);
    String::from_utf8_lossy(&text[..n_read]).into_owned()
}

fn free_bytes(path: &std::path::Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bfree * found.f_frsize)
}
