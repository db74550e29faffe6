//! What has reached the disk, and in which order, before anybody is told that it is there.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use heeler_testkit::require;

use crate::children::in_shell;

/// What the other process does.
mod roles {
    use bytes::Bytes;
    use heeler_core::{CallId, MediaScope, MediaStore as _, NewMedia, Spill, Timestamp};
    use heeler_store::FileStore;
    use heeler_testkit::player::say;

    use crate::children::root_of_child;
    use crate::support::{StoreNow as _, entries, header, id, now};

    fn store() -> FileStore {
        FileStore::open(root_of_child().join("deep/home")).unwrap()
    }

    fn spill(store: &FileStore, index: u32) {
        let call = CallId { turn: 1, round: 1, index };
        Spill::write(store, &id("a"), call, "long").unwrap();
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn open() {
        store();
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn make() {
        store().make("a");
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn spill_twice() {
        let store = store();
        [0, 1].into_iter().for_each(|index| spill(&store, index));
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn put() {
        let (media_type, name) = ("text/plain".to_owned(), "n".to_owned());
        let media = NewMedia { media_type, name, bytes: Bytes::from("bytes"), at: Timestamp(1) };
        now(store().put(MediaScope::session(id("a")), media)).unwrap();
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn fork() {
        store().fork(&id("a"), &header("b"), &entries(1..=2)).unwrap();
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn trace() {
        say("traced");
    }
}

/// Plays a role; gives what it syncs and renames.
fn traced(role: &str, root: &Path) -> Option<String> {
    let trace = root.join("trace");
    let script = r#"exec strace -f -y -e signal=none -e trace=fsync,fdatasync,/^rename -o "$ROOT/trace" "$@""#;
    let mut command = in_shell(&[], script, &format!("power::roles::{role}"), root);
    command.output().ok().filter(|output| output.status.success())?;
    let shown = |line: &str| {
        let path =
            |from: char, to: char| line.rsplit_once(to)?.0.rsplit_once(from).map(|(_, path)| path);
        if line.contains("sync(") {
            Some(format!("sync {}\n", path('<', '>')?))
        } else {
            line.contains(" rename").then(|| path('"', '"').map(|path| format!("name {path}\n")))?
        }
    };
    let lines: String = fs::read_to_string(trace).ok()?.lines().filter_map(shown).collect();
    Some(lines.replace(root.to_str()?, "ROOT"))
}

/// What a role syncs and renames that is played after these.
fn check(before: &[&str], role: &str, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    if !require("strace", traced("trace", &root).is_some()) {
        return;
    }
    for role in before {
        traced(role, &root).unwrap();
    }
    expected.assert_eq(&traced(role, &root).unwrap());
}

#[test]
fn a_new_home_has_its_name_in_every_folder_above_and_an_old_one_waits_for_nothing() {
    check(
        &[],
        "open",
        expect![[r#"
        sync ROOT/deep/home
        sync ROOT/deep
        sync ROOT
    "#]],
    );
    check(&["open"], "open", expect![[""]]);
    check(&["open"], "make", expect![[""]]);
}

#[test]
fn a_long_output_is_on_the_disk_before_a_record_names_it() {
    check(
        &["make"],
        "spill_twice",
        expect![[r#"
        sync ROOT/deep/home/sessions
        sync ROOT/deep/home/sessions/a.spill/1.1.0.txt
        sync ROOT/deep/home/sessions/a.spill
        sync ROOT/deep/home/sessions/a.spill/1.1.1.txt
        sync ROOT/deep/home/sessions/a.spill
    "#]],
    );
}

#[test]
fn media_and_its_name_are_on_the_disk_before_a_record_names_it() {
    check(
        &["make"],
        "put",
        expect![[r#"
        sync ROOT/deep/home/sessions
        sync ROOT/deep/home/sessions/a.media/599bc04d63980013e0229c62880abd7b.new
        name ROOT/deep/home/sessions/a.media/599bc04d63980013e0229c62880abd7b
        sync ROOT/deep/home/sessions/a.media/599bc04d63980013e0229c62880abd7b.json.new
        name ROOT/deep/home/sessions/a.media/599bc04d63980013e0229c62880abd7b.json
        sync ROOT/deep/home/sessions/a.media
    "#]],
    );
}

#[test]
fn all_that_a_fork_has_is_on_the_disk_before_its_name() {
    check(
        &["make", "spill_twice", "put"],
        "fork",
        expect![[r#"
        sync ROOT/deep/home/sessions
        sync ROOT/deep/home/sessions/b.spill
        sync ROOT/deep/home/sessions
        sync ROOT/deep/home/sessions/b.media
        sync ROOT/deep/home/sessions/b.jsonl.new
        name ROOT/deep/home/sessions/b.jsonl
        sync ROOT/deep/home/sessions
        sync ROOT/deep/home
    "#]],
    );
}
