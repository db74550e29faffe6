//! Processes that die while a file has its passing name, and what the next one makes of that.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use heeler_core::RawJson;
use rustix::process::{Signal, getpid, kill_process};

use super::*;
use crate::place::Place;
use crate::testing::{Folder, context_in, named};

/// Says to a process of this test where it is to die, and with which files on their way.
const DIES: &str = "HEELER_TEST_DIES_WITH";

/// A process of its own replaces these files, and is killed when each has its passing name and none
/// its place.
#[expect(clippy::disallowed_methods, reason = "it stands for another heeler")]
fn die_with(folder: &Folder, paths: &[&str]) {
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", "temporary::killed::what_is_left_is_cleared_away", "--nocapture"]);
    let files: Vec<String> = paths.iter().map(|path| format!("\n{path}")).collect();
    process.env(DIES, format!("{}{}", folder.path("").display(), files.concat()));
    let ended = process.output().unwrap();
    assert_eq!(ended.status.signal(), Some(Signal::KILL.as_raw()), "{ended:?}");
}

/// What that process does.
fn be_killed(workspace: PathBuf, paths: &[&str]) {
    let context = context_in(workspace);
    let find = |path: &&str| Place::to_write(&context, "Write", path).unwrap();
    let places: Vec<Place> = paths.iter().map(find).collect();
    for place in &places {
        let names = PassingNames::of(&context, place.name());
        let mut file = Temporary::new_in(place.folder().unwrap(), names, super::NEW).unwrap();
        file.passing_name().unwrap();
        std::mem::forget(file);
    }
    kill_process(getpid(), Signal::KILL).unwrap();
}

/// A process dies with files on their way to these paths. What its call's tool removes of them.
fn check(tool: &str, input: &str, paths: &[&str], expected: Expect) {
    let folder = Folder::new(&[
        ("a.txt", "old"),
        ("in/b.txt", "old"),
        ("to", "->in"),
        (".heeler-0123456789abcdef-0", "theirs"),
    ]);
    let before = names_below(&folder.path(""));
    die_with(&folder, paths);
    let left = |names: &[String]| names.len() - before.len();
    let n_left = left(&names_below(&folder.path("")));
    assert_eq!(n_left, paths.len(), "a file each");
    let input = RawJson::parse(input).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let clean = |session: &str| {
        let mut context = folder.context();
        context.session = session.parse().unwrap();
        runtime.block_on(named(tool).clean_up(context, input.clone()))
    };
    // Nobody touches what is another session's.
    clean("other").unwrap();
    assert_eq!(left(&names_below(&folder.path(""))), n_left);
    let cleaned = clean("test");
    // Once more is harmless.
    assert_eq!(clean("test").is_ok(), cleaned.is_ok());
    let after = names_below(&folder.path(""));
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    let said = cleaned.err().map(|error| format!("; {error}")).unwrap_or_default();
    let said = said.replace(folder.path("").to_str().unwrap().trim_end_matches('/'), "$W");
    expected.assert_eq(&format!("left {n_left}, then {}{said}", left(&after)));
}

fn names_below(folder: &Path) -> Vec<String> {
    let below = |entry: fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => names_below(&entry.path()),
        false => vec![entry.path().display().to_string()],
    };
    fs::read_dir(folder).unwrap().flat_map(|entry| below(entry.unwrap())).collect()
}

#[test]
fn what_is_left_is_cleared_away() {
    if let Ok(dies) = std::env::var(DIES) {
        let mut lines = dies.lines();
        let workspace = lines.next().unwrap().into();
        return be_killed(workspace, &lines.collect::<Vec<_>>());
    }
    let gone = || expect!["left 1, then 0"];
    check("Write", r#"{"file_path":"a.txt","content":"new"}"#, &["a.txt"], gone());
    let edit = r#"{"file_path":"in/b.txt","old_string":"old","new_string":"new"}"#;
    check("Edit", edit, &["in/b.txt"], gone());
    // The same file by another name.
    check("Edit", edit, &["to/b.txt"], gone());
    let edits = r#"{"file_path":"a.txt","edits":[{"old_string":"old","new_string":"new"}]}"#;
    check("MultiEdit", edits, &["a.txt"], gone());
    let insert = r#"{"command":"insert","path":"a.txt","insert_line":0,"insert_text":"new"}"#;
    check("str_replace_based_edit_tool", insert, &["a.txt"], gone());
    let patch = concat!(
        r#"{"input":"*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n"#,
        r#"*** Update File: in/b.txt\n*** Move to: in/c.txt\n@@\n-old\n+new\n*** End Patch"}"#
    );
    check("apply_patch", patch, &["a.txt", "in/c.txt", "in/b.txt"], expect!["left 3, then 0"]);
    // Whatever the call was not about stays.
    check(
        "Write",
        r#"{"file_path":"in/b.txt","content":""}"#,
        &["a.txt"],
        expect!["left 1, then 1"],
    );
    let view = r#"{"command":"view","path":"a.txt"}"#;
    check("str_replace_based_edit_tool", view, &["a.txt"], expect!["left 1, then 1"]);
    check(
        "Write",
        r#"{"file_path":"gone/a.txt","content":""}"#,
        &["a.txt"],
        expect!["left 1, then 1"],
    );
}

#[test]
fn what_cannot_be_removed_keeps_nothing_else() {
    let folder = Folder::new(&[("a.txt", "old")]);
    let names = PassingNames::of(&folder.context(), OsStr::new("a.txt"));
    let paths: Vec<PathBuf> =
        names.all().map(|name| folder.path(name.to_str().unwrap())).take(2).collect();
    fs::create_dir(&paths[0]).unwrap();
    fs::write(&paths[1], "").unwrap();
    let opened: OwnedFd = File::open(folder.path("")).unwrap().into();
    assert!(names.remove_from(&opened).is_err());
    assert_eq!(paths.iter().map(|path| path.exists()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn nothing_is_removed_where_the_call_could_not_write() {
    let folder = Folder::new(&[("in/a.txt", "old"), ("out", "->/")]);
    let outside = Folder::new(&[("a.txt", "old")]);
    let name = PassingNames::of(&folder.context(), OsStr::new("a.txt")).all().next().unwrap();
    fs::write(outside.path(name.to_str().unwrap()), "").unwrap();
    let path = format!("out{}", outside.path("a.txt").display());
    let input = RawJson::parse(&format!(r#"{{"file_path":"{path}","content":""}}"#)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let clean =
        |tool: &str| runtime.block_on(named(tool).clean_up(folder.context(), input.clone()));
    let refused = clean("Write").unwrap_err().to_string();
    assert!(refused.contains("leads out of the workspace"), "{refused}");
    assert_eq!(outside.listing().len(), 2);
}
