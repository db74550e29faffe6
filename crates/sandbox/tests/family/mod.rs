//! Whose child a process is, and which of a launcher's children is its heir.

use std::fs;

/// The heir of a launcher that has run something, and the launcher's other children.
#[cfg(target_os = "linux")]
pub(crate) fn heir_and_others(launcher: u32) -> (u32, Vec<u32>) {
    let is_heir = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        name.trim_end_matches('\0') == "launcher-heir"
    };
    // It is named a moment after it was made.
    loop {
        let (heirs, others): (Vec<u32>, _) = children(launcher).into_iter().partition(is_heir);
        if let [heir] = heirs[..] {
            return (heir, others);
        }
        std::thread::yield_now();
    }
}

/// The children of a process.
#[cfg(target_os = "linux")]
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| parsed(&list)).collect()
}

#[cfg(target_os = "linux")]
fn parsed(list: &str) -> Vec<u32> {
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}
