//! Files that a program left: all it was given is looked through, however deep.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::disk::Disk;
use super::workload::{BOARD, EFFECTS};

/// Nothing that is expected lies deeper.
const DEPTH_MAX: usize = 16;
/// More than any session makes.
const ENTRIES_MAX: usize = 100_000;
/// So many are told of.
const SHOWN_MAX: usize = 20;

/// What may be left when a session has come to its end: paths below its folder, those of folders with
/// a slash at their ends; `*` stands for any part of a name.
pub(super) fn expected(session: &str, made: &[&str], is_disk: bool) -> Vec<String> {
    let folders = ["home/", "temp/", "work/", "home/sessions/"];
    // The program itself, and what it remembers of its sessions and of the machine.
    let files = [
        "heeler",
        "home/sessions.index",
        "home/sandbox-tried",
        "home/media.lock",
        "home/media.cleaned",
        // One whose maker died before the first line never was a session, and goes some day.
        "home/sessions/*.jsonl",
    ];
    // The last owner ended well, so nobody listens at the session's door any more.
    let of_session = [".checkpoint-0", ".checkpoint-1", ".spill/", ".spill/*.txt"];
    let of_session = of_session.map(|end| format!("home/sessions/{session}{end}"));
    let made = [BOARD, EFFECTS].into_iter().chain(made.iter().copied());
    let ballast = is_disk.then(|| format!("home/{}", Disk::BALLAST));
    let fixed = folders.into_iter().chain(files).map(str::to_owned);
    fixed.chain(of_session).chain(made.map(|name| format!("work/{name}"))).chain(ballast).collect()
}

/// Whatever is below `folder` and not expected; `prefix` is what its path begins with in `expected`.
pub(super) fn strange(folder: &Path, prefix: &str, expected: &[String]) -> Result<Vec<String>> {
    let mut strange = Vec::new();
    let mut n_entries = 0;
    let mut ahead = vec![(folder.to_owned(), prefix.to_owned(), 0)];
    while let Some((folder, prefix, depth)) = ahead.pop() {
        ensure!(depth <= DEPTH_MAX, "{} lies deeper than anything should", folder.display());
        let listed =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in listed {
            let entry = entry?;
            n_entries += 1;
            ensure!(n_entries <= ENTRIES_MAX, "{} holds more than it should", folder.display());
            let kind = entry.file_type()?;
            let end = match () {
                () if kind.is_dir() => "/",
                () if kind.is_file() => "",
                // A link, a socket or a pipe is never expected.
                () => " (no file)",
            };
            let path = format!("{prefix}{}{end}", entry.file_name().to_string_lossy());
            if !expected.iter().any(|pattern| fits(pattern, &path)) {
                strange.push(path.clone());
            }
            if kind.is_dir() {
                ahead.push((entry.path(), path, depth + 1));
            }
        }
    }
    strange.sort();
    Ok(strange)
}

/// The first ones, and how many more there are.
pub(super) fn shown(strange: &[String]) -> String {
    let shown = strange.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match strange.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Whether a path is what the pattern says, name for name.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if is_name(pattern, name) => {}
            _ => return false,
        }
    }
}

fn is_name(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() > start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is strange when these are there too, beside all that a session leaves.
    fn check(more: &[&str], found: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let usual = [
            "heeler",
            "temp/",
            "work/board.txt",
            "work/effects.txt",
            "work/made-0000.txt",
            "home/sessions.index",
            "home/sessions/s1.jsonl",
            "home/sessions/s2.jsonl",
            "home/sessions/s1.checkpoint-0",
            "home/sessions/s1.spill/1.2.3.txt",
        ];
        for path in usual.iter().chain(more) {
            let path = folder.path().join(path);
            let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
            fs::create_dir_all(if is_folder { &path } else { path.parent().unwrap() }).unwrap();
            if !is_folder {
                fs::write(&path, "x").unwrap();
            }
        }
        let expected = expected("s1", &["made-0000.txt"], false);
        assert_eq!(strange(folder.path(), "", &expected).unwrap(), found);
    }

    #[test]
    fn what_a_session_leaves_is_fine() {
        check(&[], &[]);
    }

    #[test]
    fn a_file_is_found_wherever_it_lies() {
        for left in [
            ".heeler-1",
            "temp/agent",
            "work/.made-0000.txt.tmp",
            "work/made-0001.txt",
            "home/ballast",
            "home/sessions/s1.jsonl.new",
            "home/sessions/s1.door",
            "home/sessions/s2.checkpoint-0",
            "home/sessions/s1.spill/1.2.3.txt.tmp",
        ] {
            check(&[left], &[left]);
        }
        check(
            &["temp/heeler-0/agent-1/x"],
            &["temp/heeler-0/", "temp/heeler-0/agent-1/", "temp/heeler-0/agent-1/x"],
        );
        check(
            &["home/sessions/s1.spill/a/b"],
            &["home/sessions/s1.spill/a/", "home/sessions/s1.spill/a/b"],
        );
        // A folder is no file of the same name.
        check(&["home/sessions/s3.jsonl/"], &["home/sessions/s3.jsonl/"]);
    }

    #[test]
    fn a_link_is_never_expected() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("heeler")).unwrap();
        let found = strange(folder.path(), "", &expected("s1", &[], false)).unwrap();
        assert_eq!(found, ["heeler (no file)"]);
    }

    #[test]
    fn many_are_counted() {
        let strange: Vec<String> = (0..SHOWN_MAX + 2).map(|n| n.to_string()).collect();
        assert!(shown(&strange).ends_with("18, 19 and 2 more"), "{}", shown(&strange));
    }
}
