//! What the system refuses: full disks, folders that cannot be written.

use std::path::Path;
use std::process::Stdio;

use heeler_core::{StoreError, StoreErrorKind};
use heeler_store::FileStore;

use crate::children::in_shell;

/// What is done where the system refuses.
mod roles {
    use std::fs;

    use heeler_core::{SessionStore, StoreErrorKind};
    use heeler_store::FileStore;

    use super::says;
    use heeler_testkit::player::say;

    use crate::children::{root_of_child, store_of_child};
    use crate::support::{StoreNow, entries, entry, header, now};

    /// Appends until the system refuses, with room to be had by removing `ballast`.
    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn fill() {
        let (root, store) = (root_of_child(), store_of_child());
        let ballast = root.join("ballast");
        let has_ballast = ballast.exists();
        store.make("a");
        let lease = store.take("a").unwrap();
        let mut seq = 1;
        let error = loop {
            match store.add(&lease, vec![entry(seq), entry(seq + 1)]) {
                Ok(_) => seq += 2,
                Err(error) => break error,
            }
        };
        assert!(seq > 1, "nothing could be written: {error}");
        let step = if has_ballast { "free some space" } else { "`ulimit -f`" };
        says(&error, StoreErrorKind::Io, &["sessions/a.jsonl", "HEELER_HOME", step]);
        let path = store.journal_path(&crate::support::id("a"));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(store.load("a").unwrap().entries, entries(1..seq));
        assert_eq!(bytes.last(), Some(&b'\n'), "nothing of the refused append is left");

        assert!(store.add(&lease, vec![entry(seq), entry(seq + 1)]).is_err());
        assert_eq!(fs::read(&path).unwrap(), bytes);
        if has_ballast {
            // A session that cannot be made is not there at all.
            now(store.create(header("b"))).unwrap_err();
            assert!(store.load("b").unwrap_err().is_not_found());
            fs::remove_file(ballast).unwrap();
            store.add(&lease, vec![entry(seq), entry(seq + 1)]).unwrap();
            assert_eq!(store.load("a").unwrap().entries, entries(1..seq + 2));
            store.make("b");
        }
        say("done");
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn begin() {
        let store = store_of_child();
        store.make("a");
        let lease = store.take("a").unwrap();
        store.add(&lease, entries(1..=1000)).unwrap_err();
        // Once there is room it goes on as if nothing had been.
        store.add(&lease, entries(1..=1)).unwrap();
        drop(lease);
        store.make("b");
        let lease = store.take("b").unwrap();
        store.add(&lease, entries(1..=1000)).unwrap_err();
        assert_eq!(now(store.list(String::new(), 0)).unwrap().len(), 2);
        drop(lease);
        say("done");
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn read_only_home() {
        let (root, store) = (root_of_child(), store_of_child());
        let words = ["set HEELER_HOME to a folder you can write"];
        assert_eq!(store.seqs("a"), [1, 2]);
        assert_eq!(now(store.list(String::new(), 0)).unwrap().len(), 1);
        says(&store.take("a").err().unwrap(), StoreErrorKind::Io, &words);
        says(&now(store.create(header("b"))).unwrap_err(), StoreErrorKind::Io, &words);
        let error = FileStore::open(root.join("other")).unwrap_err();
        says(&error, StoreErrorKind::Io, &words);
        says(&error, StoreErrorKind::Io, &[root.join("other/sessions").to_str().unwrap()]);
        say("done");
    }
}

/// Checks an error's kind and that it says all of this.
fn says(error: &StoreError, kind: StoreErrorKind, words: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

/// Runs a role in a mount namespace of its own, prepared by `script`; false when the system has
/// no such thing for us.
fn runs_in_namespace(script: &str, role: &str, root: &Path) -> bool {
    let script = format!("set -e; {script}; echo prepared; exec \"$@\"");
    ["-m", "-rm"].into_iter().any(|flags| {
        let mut command = in_shell(&["unshare", flags], &script, role, root);
        let Ok(output) = command.stderr(Stdio::piped()).output() else { return false };
        let text = String::from_utf8_lossy(&output.stdout);
        let is_prepared = text.contains("prepared");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!is_prepared || text.contains("says done"), "{text}{errors}");
        is_prepared
    })
}

#[test]
fn a_full_disk_leaves_the_journal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=128k heeler \"$ROOT\"; \
                  dd if=/dev/zero of=\"$ROOT/ballast\" bs=4096 count=12";
    if runs_in_namespace(script, "refusals::roles::fill", folder.path()) {
        println!("path used: a tmpfs of 128 KiB in a mount namespace");
    } else {
        println!("skipped: needs a mount namespace; the limit on file sizes is tested instead");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn a_limit_on_file_sizes_leaves_the_journal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // The limit is in blocks of 512 bytes; one that ends amid a record makes a short write.
    let script = "trap '' XFSZ; ulimit -f 9; exec \"$@\"";
    let output = in_shell(&[], script, "refusals::roles::fill", folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("says done"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let length = std::fs::metadata(folder.path().join("sessions/a.jsonl")).unwrap().len();
    assert!((2000..=9 * 1024).contains(&length), "{length}");
}

#[test]
fn a_read_only_home_can_be_read_and_says_what_to_set() {
    use crate::support::{StoreNow, entries};
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("home");
    let store = FileStore::open(&root).unwrap();
    store.make("a");
    store.add(&store.take("a").unwrap(), entries(1..=2)).unwrap();
    let script = "mount --bind \"$ROOT\" \"$ROOT\"; mount -o remount,ro,bind \"$ROOT\"";
    if runs_in_namespace(script, "refusals::roles::read_only_home", &root) {
        println!("path used: a read-only bind mount in a mount namespace");
    } else {
        println!("skipped: needs a mount namespace; a home below a file is tested instead");
    }
    // Nobody, not even root, can make a folder below a file.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = FileStore::open(file.join("home")).unwrap_err();
    let place = file.join("home/sessions");
    let words = [place.to_str().unwrap(), "set HEELER_HOME to a folder you can write"];
    says(&error, StoreErrorKind::Io, &words);
}

#[test]
fn a_session_whose_first_records_are_refused_is_none() {
    use crate::support::StoreNow;
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 9; exec \"$@\"";
    let output = in_shell(&[], script, "refusals::roles::begin", folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("says done"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("sessions/b.jsonl").exists());
    assert_eq!(FileStore::open(folder.path()).unwrap().seqs("a"), [1]);
}
