//! Who may still write into the pipe on stdin: a program of the same pipeline, or one that left it open.
//!
//! Both look the same from the pipe. What tells them apart is where they stand: a shell starts the
//! programs of a pipeline side by side and lets go of what lies between them, while a supervisor, `sshd`
//! or a runner of jobs stands above us, or where we cannot look at all.

use std::collections::BTreeMap;
use std::fs::{DirEntry, read_dir, read_link, read_to_string};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Who holds the end of the pipe that is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// A program beside us, so something is meant to come.
    Beside,
    /// Nobody, but those above us or out of sight.
    Elsewhere,
    /// The system does not tell.
    Unknown,
}

/// Looks who could write into stdin.
pub(super) fn of_stdin() -> Writer {
    let (Ok(pipe), Ok(listed)) = (read_link("/proc/self/fd/0"), read_dir("/proc")) else {
        return Writer::Unknown;
    };
    let processes: BTreeMap<u32, Process> =
        heeler_core::gathered(listed.filter_map(|entry| Process::of(&entry.ok()?)));
    let own = std::process::id();
    let above = above(own, &processes);
    let Some(Process { group, .. }) = processes.get(&own) else { return Writer::Unknown };
    let is_beside = |id: &u32, process: &Process| {
        *id != own
            && !above.contains(id)
            && may_write(*id, &pipe).unwrap_or(process.group == *group)
    };
    match processes.iter().any(|(id, process)| is_beside(id, process)) {
        true => Writer::Beside,
        false => Writer::Elsewhere,
    }
}

/// What is known of a process.
struct Process {
    parent: u32,
    group: u32,
}

impl Process {
    /// The process of a folder in `/proc`, and its id.
    fn of(folder: &DirEntry) -> Option<(u32, Self)> {
        let id = folder.file_name().to_str()?.parse().ok()?;
        Some((id, Self::read(&read_to_string(folder.path().join("stat")).ok()?)?))
    }

    /// Behind the name, which may hold anything, stand the state, the parent and the group.
    fn read(stat: &str) -> Option<Self> {
        let mut words = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
        Some(Self { parent: words.next()?.parse().ok()?, group: words.next()?.parse().ok()? })
    }
}

/// Those that started a process, from the nearest on.
fn above(id: u32, processes: &BTreeMap<u32, Process>) -> Vec<u32> {
    let parent = |id: &u32| processes.get(id).map(|process| process.parent);
    // A parent that ends meanwhile is another one a moment later, so this is bounded.
    std::iter::successors(parent(&id), parent).take(processes.len()).collect()
}

/// Whether a process can write into this pipe; `None` when it belongs to somebody else, as `sudo` does.
fn may_write(id: u32, pipe: &Path) -> Option<bool> {
    let files = match read_dir(format!("/proc/{id}/fd")) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
        // It has ended.
        Err(_) => return Some(false),
    };
    let writes = |file: DirEntry| {
        // The link's own mode says how the file is open.
        let is_open_for_writing = file.metadata().is_ok_and(|link| link.mode() & 0o200 != 0);
        is_open_for_writing && read_link(file.path()).is_ok_and(|target| target == pipe)
    };
    Some(files.flatten().any(writes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let process = Process::read("12 (a) S 1 (b) R) S 7 9 9 0 -1").unwrap();
        assert_eq!((process.parent, process.group), (7, 9));
        assert!(Process::read("12 (a) S").is_none());
    }

    #[test]
    fn those_above_are_found_though_they_stand_in_a_ring() {
        let process = |parent| Process { parent, group: 1 };
        let processes = BTreeMap::from([(1, process(0)), (2, process(1)), (3, process(2))]);
        assert_eq!(above(3, &processes), [2, 1, 0]);
        let ring = BTreeMap::from([(1, process(2)), (2, process(1))]);
        assert_eq!(above(1, &ring).len(), 2);
    }
}
