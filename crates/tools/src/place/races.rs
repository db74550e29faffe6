//! Somebody swaps a folder, or a file, for a link as fast as the system can, while tools use it.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heeler_core::{PROTECTED, Reach};
use rustix::fs::{CWD, RenameFlags};

use super::*;
use crate::testing::Folder;

/// How often each call is tried. Without a check the first leak comes within some tens.
const TRIES: usize = 200;

/// Plays `calls` again and again while `work/it` is swapped with `work/other`, a link to somewhere
/// else. `N` in a call is the number of the try. Gives all that was said.
fn race(files: &[(&str, &str)], calls: &[&str], outside: &str) {
    let mut folder = Folder::new(files);
    folder.workspace = "work";
    folder.reach = Arc::new(Reach {
        protected: PROTECTED.map(PathBuf::from).into(),
        secrets: vec![folder.path("secret")],
        ..Reach::default()
    });
    let (it, other) = (folder.path("work/it"), folder.path("work/other"));
    let before = content(&folder.path(outside));
    let is_done = AtomicBool::new(false);
    let (mut n_done, mut n_refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &it, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for number in 0..TRIES {
            for call in calls {
                let (name, input) = call.split_once(' ').unwrap();
                let said = folder.play(name, &input.replace("N", &number.to_string()));
                let after = content(&folder.path(outside));
                // Both threads end before anything is claimed.
                if said.contains("leak") || after != before {
                    is_done.store(true, Ordering::Relaxed);
                    panic!("try {number}, {call}: {said}\n{before:?}\n{after:?}");
                }
                match said.starts_with("error: ") {
                    true => n_refused += 1,
                    false => n_done += 1,
                }
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(n_done > 0 && n_refused > 0, "{n_done} done, {n_refused} refused");
}

/// Names and contents in a folder.
fn content(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut found: Vec<_> = entries
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap_or_default()))
        .collect();
    heeler_core::sort(&mut found);
    found
}

#[test]
fn a_folder_that_becomes_a_link_is_not_read_through() {
    race(
        &[
            ("work/it/f", "inside\n"),
            ("work/other", "->../secret"),
            ("secret/f", "leak\n"),
            ("secret/leak", ""),
        ],
        &[
            r#"Read {"file_path":"it/f"}"#,
            r#"Read {"file_path":"it/leek"}"#,
            r#"Grep {"pattern":"leak","output_mode":"content"}"#,
            r#"Grep {"pattern":"e","path":"it/f","output_mode":"content"}"#,
            r#"Glob {"pattern":"**/le*"}"#,
            r#"LS {"path":"it"}"#,
        ],
        "secret",
    );
}

#[test]
fn a_folder_that_becomes_a_link_is_not_written_through() {
    for (other, outside) in [("->../secret", "secret"), ("->.git/hooks", "work/.git/hooks")] {
        race(
            &[
                ("work/it/f", "inside\n"),
                ("work/other", other),
                ("work/.git/hooks/f", "theirs\n"),
                ("secret/f", "theirs\n"),
            ],
            &[
                r#"Write {"file_path":"it/new-N","content":"x"}"#,
                r#"Write {"file_path":"it/deep-N/new","content":"x"}"#,
                r#"Edit {"file_path":"it/edit-N","old_string":"","new_string":"x"}"#,
                r#"Read {"file_path":"it/f"}"#,
                r#"Edit {"file_path":"it/f","old_string":"inside","new_string":"inside N,"}"#,
            ],
            outside,
        );
    }
}

#[test]
fn a_file_that_becomes_a_link_is_not_used() {
    race(
        &[("work/it", "inside\n"), ("work/other", "->../secret/f"), ("secret/f", "leak\n")],
        &[
            r#"Read {"file_path":"it"}"#,
            r#"Grep {"pattern":"leak","path":"it","output_mode":"content"}"#,
            r#"Grep {"pattern":"leak","output_mode":"content"}"#,
            r#"Edit {"file_path":"it","old_string":"inside","new_string":"inside N,"}"#,
        ],
        "secret",
    );
}
