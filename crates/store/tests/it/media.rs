//! One suite for both media stores, and what is particular to files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    InputOrigin, MediaItem, MediaLimits, MediaReference, MediaScope, MediaStore, NewMedia,
    SessionStore, StoreError, StoreErrorKind, Timestamp,
};
use heeler_store::{FileStore, MEDIA_CLEANED_EVERY_MILLIS, MEDIA_CLEANED_MAX, MemoryMedia};

use crate::support::{StoreNow, id, now};

/// Few and small, so that each is reached.
const LIMITS: MediaLimits = MediaLimits {
    item_bytes: 8,
    session_items: 3,
    session_bytes: 16,
    items: 5,
    bytes: 20,
    kept_millis: 1_000,
};

/// Runs a test with each store, which has the sessions `a` to `c`.
fn on_each_store(test: impl Fn(Arc<dyn MediaStore>)) {
    test(Arc::new(MemoryMedia::new(LIMITS)));
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(files(folder.path())));
}

fn files(root: &Path) -> FileStore {
    let store = FileStore::open(root).unwrap().with_media_limits(LIMITS);
    for id in ["a", "b", "c"] {
        store.make(id);
    }
    store
}

fn scope(session: &str) -> MediaScope {
    MediaScope::session(id(session))
}

fn room(session: &str, chat: &str) -> MediaScope {
    MediaScope::of(id(session), &InputOrigin::chat("matrix", chat))
}

fn text(bytes: &str, at: u64) -> NewMedia {
    let bytes = bytes.to_owned().into();
    NewMedia { media_type: "Text/Plain".into(), name: "a.txt".into(), bytes, at: Timestamp(at) }
}

fn put(store: &dyn MediaStore, scope: MediaScope, bytes: &str, at: u64) -> MediaReference {
    now(store.put(scope, text(bytes, at))).unwrap().reference
}

fn refused<T>(result: Result<T, StoreError>) -> (StoreErrorKind, String) {
    let error = result.err().expect("it must fail");
    (error.kind(), error.to_string())
}

fn read(store: &dyn MediaStore, scope: MediaScope, reference: &MediaReference) -> Option<String> {
    match now(store.get(scope.clone(), reference.clone())) {
        Ok((item, bytes)) => {
            assert_eq!(now(store.find(scope, reference.clone())).unwrap(), item);
            assert_eq!(item.bytes, bytes.len() as u64);
            Some(String::from_utf8(bytes.to_vec()).unwrap())
        }
        Err(error) => {
            assert_eq!(error.kind(), StoreErrorKind::NotFound);
            assert!(now(store.find(scope, reference.clone())).is_err());
            None
        }
    }
}

#[test]
fn what_is_put_is_read_back_and_the_same_is_one_item() {
    on_each_store(|store| {
        let first = now(store.put(scope("a"), text("one", 5))).unwrap();
        assert_eq!((first.media_type.as_str(), first.name.as_str()), ("text/plain", "a.txt"));
        assert_eq!((first.bytes, first.created), (3, Timestamp(5)));
        assert_eq!(now(store.put(scope("a"), text("one", 9))).unwrap(), first);
        let other = put(&*store, scope("a"), "two", 4);
        assert_eq!(read(&*store, scope("a"), &first.reference).as_deref(), Some("one"));
        let listed = now(store.items(scope("a"))).unwrap();
        let references: Vec<_> = listed.into_iter().map(|item| item.reference).collect();
        assert_eq!(references, [other, first.reference]);
    });
}

#[test]
fn what_is_said_of_bytes_is_cleaned_and_is_part_of_the_reference() {
    on_each_store(|store| {
        let said = |media_type: &str, name: &str| NewMedia {
            media_type: media_type.into(),
            name: name.into(),
            ..text("x", 0)
        };
        let item = now(store.put(scope("a"), said("no type", "a\nb"))).unwrap();
        assert_eq!(
            (item.media_type.as_str(), item.name.as_str()),
            ("application/octet-stream", "")
        );
        let long = "n".repeat(255);
        let item = now(store.put(scope("a"), said("image/svg+xml; charset=utf-8", &long))).unwrap();
        assert_eq!((item.media_type.as_str(), item.name), ("image/svg+xml; charset=utf-8", long));
        let item = now(store.put(scope("a"), said("text/é", &"n".repeat(256)))).unwrap();
        assert_eq!(
            (item.media_type.as_str(), item.name.as_str()),
            ("application/octet-stream", "")
        );
        assert_eq!(now(store.items(scope("a"))).unwrap().len(), 2);
    });
}

#[test]
fn what_belongs_to_another_scope_is_not_there() {
    on_each_store(|store| {
        let one = put(&*store, room("a", "1"), "x", 0);
        let two = put(&*store, room("a", "2"), "x", 0);
        assert_ne!(one, two);
        for (scope, sees_one, sees_two) in [
            (scope("a"), true, true),
            (room("a", "1"), true, false),
            (room("a", "2"), false, true),
            (room("a", "3"), false, false),
            (scope("b"), false, false),
        ] {
            assert_eq!(read(&*store, scope.clone(), &one).is_some(), sees_one, "{scope:?}");
            assert_eq!(read(&*store, scope.clone(), &two).is_some(), sees_two, "{scope:?}");
            let listed = now(store.items(scope)).unwrap().len();
            assert_eq!(listed, usize::from(sees_one) + usize::from(sees_two));
        }
        assert_eq!(now(store.remove(room("a", "1"))).unwrap(), 1);
        assert_eq!(read(&*store, scope("a"), &one), None);
        assert_eq!(now(store.remove(scope("a"))).unwrap(), 1);
        assert_eq!(now(store.items(scope("a"))).unwrap(), []);
    });
}

#[test]
fn whoever_owns_the_store_in_memory_sees_all_of_it() {
    let store = MemoryMedia::default();
    let reference = put(&store, room("a", "1"), "one", 5);
    assert_eq!(store.open(&reference).unwrap().1, "one");
    assert!(store.open(&"media://b".parse().unwrap()).is_none());
}

#[test]
fn every_limit_is_kept_and_names_itself() {
    on_each_store(|store| {
        let refuses = |scope, bytes: &str, at| {
            let (kind, message) = refused(now(store.put(scope, text(bytes, at))));
            assert_eq!(kind, StoreErrorKind::Full);
            message
        };
        assert_eq!(
            refuses(scope("a"), "123456789", 0),
            "9 bytes are too many for one item; the most are 8"
        );
        put(&*store, scope("a"), "12345678", 0);
        put(&*store, scope("a"), "1234567", 0);
        let message = refuses(scope("a"), "12", 0);
        assert!(message.starts_with("session a holds 2 items of 15 bytes"), "{message}");
        put(&*store, scope("a"), "1", 0);
        let message = refuses(scope("a"), "", 0);
        assert!(message.contains("may hold 3 of 16"), "{message}");
        // What is there already takes no room.
        put(&*store, scope("a"), "1", 0);
        let message = refuses(scope("b"), "12345", 0);
        assert!(message.starts_with("all sessions hold 3 items of 16 bytes"), "{message}");
        put(&*store, scope("b"), "", 0);
        put(&*store, scope("b"), "1", 0);
        let message = refuses(scope("c"), "", 0);
        assert!(message.contains("may hold 5 of 20; remove sessions"), "{message}");
        assert_eq!(store.limits(), LIMITS);
    });
}

#[test]
fn what_is_old_goes_when_asked_and_when_there_is_no_room() {
    on_each_store(|store| {
        let old = put(&*store, scope("a"), "12345678", 10);
        let young = put(&*store, scope("b"), "1234567", 20);
        assert_eq!(now(store.remove_older(Timestamp(10))).unwrap(), 0);
        assert_eq!(now(store.remove_older(Timestamp(11))).unwrap(), 1);
        assert_eq!(read(&*store, scope("a"), &old), None);
        let old = put(&*store, scope("a"), "12345678", 30);
        // At 1030 only what came before 30 has had its time.
        put(&*store, scope("c"), "123456", 1_030);
        assert_eq!(read(&*store, scope("b"), &young), None);
        assert!(read(&*store, scope("a"), &old).is_some());
    });
}

#[test]
fn files_survive_a_restart_are_for_their_owner_and_go_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    let MediaItem { reference, path, .. } = now(store.put(room("a", "1"), text("one", 5))).unwrap();
    let path = path.unwrap();
    assert_eq!(path, folder.path().join("sessions/a.media").join(reference.id()));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 2);
    for name in names {
        assert_eq!(mode(&name.unwrap().path()), 0o600);
    }
    assert_eq!(
        (mode(path.parent().unwrap()), mode(&folder.path().join("media.lock"))),
        (0o700, 0o600)
    );

    let again = FileStore::open(folder.path()).unwrap();
    assert_eq!(read(&again, room("a", "1"), &reference).as_deref(), Some("one"));
    now(again.delete(id("a"))).unwrap();
    assert!(!path.parent().unwrap().exists());
    let (kind, message) = refused(now(again.put(scope("a"), text("late", 6))));
    assert_eq!(kind, StoreErrorKind::NotFound);
    assert!(message.contains("there is no session a"), "{message}");
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn what_was_changed_is_told_and_what_was_not_finished_is_cleaned_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    let item = now(store.put(scope("a"), text("one", 5))).unwrap();
    let (reference, path) = (item.reference.clone(), item.path.clone().unwrap());
    let known = path.with_extension("json");
    let get = || now(store.get(scope("a"), reference.clone()));
    for bytes in ["two", "longer", ""] {
        fs::write(&path, bytes).unwrap();
        let (kind, message) = refused(get());
        assert_eq!(kind, StoreErrorKind::Damaged);
        assert!(message.contains(path.to_str().unwrap()), "{message}");
    }
    // The same again makes it whole.
    assert_eq!(now(store.put(scope("a"), text("one", 7))).unwrap().reference, reference);
    assert!(get().is_ok());
    let said = fs::read_to_string(&known).unwrap();
    fs::write(&known, said.replace("plain", "other")).unwrap();
    assert_eq!(refused(get()).0, StoreErrorKind::Damaged);
    fs::write(&known, "{").unwrap();
    assert_eq!(refused(get()).0, StoreErrorKind::Damaged);
    // One that cannot be read hides no other.
    let other = put(&store, scope("a"), "three", 8);
    assert_eq!(now(store.items(scope("a"))).unwrap().len(), 1);
    fs::remove_file(&path).unwrap();
    fs::write(&known, said).unwrap();
    assert!(refused(get()).1.contains("is gone"));

    let parent = path.parent().unwrap();
    fs::write(parent.join("beef.new"), "half").unwrap();
    fs::write(parent.join("beef"), "of nothing").unwrap();
    fs::remove_file(&known).unwrap();
    put(&store, scope("a"), "four", 9);
    let mut names: Vec<_> =
        fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!((names.len(), read(&store, scope("a"), &other).as_deref()), (4, Some("three")));

    // A session whose journal somebody removed by hand has no use for them, unless it is on its way back.
    fs::remove_file(store.journal_path(&id("a"))).unwrap();
    assert_eq!(now(store.remove_older(Timestamp(0))).unwrap(), 0);
    assert_eq!(now(store.remove_older(Timestamp(u64::MAX))).unwrap(), 2);
    assert!(!parent.exists());
}

#[test]
fn two_that_put_at_once_stay_within_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let kept: Vec<bool> = std::thread::scope(|threads| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let root = folder.path();
                threads.spawn(move || {
                    // Each as a process of its own would be.
                    let store = FileStore::open(root).unwrap().with_media_limits(LIMITS);
                    now(store.put(scope("a"), text(&n.to_string(), n))).is_ok()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(kept.into_iter().filter(|kept| *kept).count(), 3);
    let store = FileStore::open(folder.path()).unwrap();
    assert_eq!(now(store.items(scope("a"))).unwrap().len(), 3);
}

#[test]
fn files_are_cleaned_up_once_a_day_and_a_part_at_a_time() {
    let day = MEDIA_CLEANED_EVERY_MILLIS;
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    let old = put(&store, scope("a"), "old", 10);
    let young = put(&store, scope("b"), "young", day);
    let clean = |at: u64| store.clean_media(Timestamp(at)).unwrap();
    assert_eq!(clean(day), Some(1));
    assert_eq!(read(&store, scope("a"), &old), None);
    assert!(read(&store, scope("b"), &young).is_some());
    // Old by now, and yet not due.
    let old = put(&store, scope("a"), "old", 10);
    assert_eq!(clean(2 * day - 1), None);
    assert!(read(&store, scope("a"), &old).is_some());
    assert_eq!(clean(2 * day), Some(2));
    // A clock that was wrong, and a file that says nothing.
    assert_eq!(clean(day), Some(0));
    fs::write(folder.path().join("media.cleaned"), "soon").unwrap();
    assert_eq!(clean(day), Some(0));
    assert_eq!(clean(day), None);
}

/// What the first clean-up says and leaves where this made something in place of its stamp.
fn check_stamp(make: impl FnOnce(&Path), expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    let stamp = folder.path().join("media.cleaned");
    make(&stamp);
    let cleaned = store.clean_media(Timestamp(MEDIA_CLEANED_EVERY_MILLIS));
    let cleaned = cleaned.map_err(|error| error.to_string());
    let metadata = fs::symlink_metadata(&stamp).unwrap();
    let kind = metadata.file_type();
    let mode = kind.is_file().then(|| format!("{:o}", metadata.permissions().mode() & 0o777));
    let other = fs::read_to_string(folder.path().join("other")).ok();
    let root = folder.path().to_str().unwrap();
    expected.assert_eq(&format!("{cleaned:?} {mode:?} {other:?}").replace(root, "ROOT"));
}

#[test]
fn the_stamp_is_its_owner_s_alone_and_goes_through_nobody_s_link() {
    check_stamp(|_| {}, expect![[r#"Ok(Some(0)) Some("600") None"#]]);
    let link = |stamp: &Path| {
        let other = stamp.with_file_name("other");
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(other, stamp).unwrap();
    };
    check_stamp(
        link,
        expect![[
            r#"Err("cannot write `ROOT/media.cleaned` (check the path, or set HEELER_HOME to another folder): Too many levels of symbolic links (os error 40)") None Some("kept")"#
        ]],
    );
    let fifo = |stamp: &Path| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, stamp, mode).unwrap();
    };
    check_stamp(
        fifo,
        expect![[
            r#"Err("cannot write `ROOT/media.cleaned` (check the path, or set HEELER_HOME to another folder): No such device or address (os error 6)") None None"#
        ]],
    );
}

#[test]
fn one_clean_up_leaves_to_the_next_what_is_too_much_for_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let day = MEDIA_CLEANED_EVERY_MILLIS;
    let at = 100 * day;
    for session in ["a", "b", "c"] {
        store.make(session);
        (0..MEDIA_CLEANED_MAX / 2).for_each(|n| {
            put(&store, scope(session), &n.to_string(), 10);
        });
    }
    assert_eq!(store.clean_media(Timestamp(at)).unwrap(), Some(MEDIA_CLEANED_MAX));
    assert_eq!(store.clean_media(Timestamp(at + day)).unwrap(), Some(MEDIA_CLEANED_MAX / 2));
}
