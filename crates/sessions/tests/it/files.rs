//! What lies in the folder, and what becomes of files that are not as they should be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use expect_test::{Expect, expect};
use heeler_core::Message;
use heeler_sessions::{FileSessions, Session, SessionStore, save};

#[tokio::test]
async fn files_are_their_owners_and_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("deep/chats");
    let store = FileSessions::open(&root).unwrap();
    let mut session = Session::new("a");
    session.version = store.create(&session).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&root), mode(&store.path("a"))), (0o700, 0o600));
    // A file that somebody made readable is not so after the next write.
    fs::set_permissions(store.path("a"), PermissionsExt::from_mode(0o644)).unwrap();
    session.version = store.update(&session).await.unwrap();
    assert_eq!(mode(&store.path("a")), 0o600);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[tokio::test]
async fn what_was_deleted_stays_so_though_somebody_still_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSessions::open(folder.path()).unwrap();
    let mut held = Session::new("a");
    save(&store, &mut held).await.unwrap();
    store.delete("a").await.unwrap();
    held.history.push(Message::user("Are you there?"));
    let before = held.clone();
    let error = save(&store, &mut held).await.unwrap_err();
    assert!(error.is_not_found() && held == before, "{error}");
    expect!["session `a` was deleted since it was read, and is not stored again; begin a new one, or bring it back with `create`"].assert_eq(&error.to_string());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    held.version = store.create(&held).await.unwrap();
    save(&store, &mut held).await.unwrap();
    assert_eq!(store.get("a").await.unwrap(), held);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_costs_only_its_own_session() {
    let check = async |content: &str, expected: Expect| {
        let folder = tempfile::tempdir().unwrap();
        let store = FileSessions::open(folder.path()).unwrap();
        let mut good = Session::new("good");
        good.history.push(Message::user("Hello"));
        good.version = store.create(&good).await.unwrap();
        fs::write(store.path("bad"), content).unwrap();

        let error = store.get("bad").await.unwrap_err();
        assert!(error.is_corrupt(), "{error}");
        let root = folder.path().display().to_string();
        expected.assert_eq(&error.to_string().replace(&root, "FOLDER"));
        assert!(store.update(&Session::new("bad")).await.unwrap_err().is_corrupt());
        assert!(store.create(&Session::new("bad")).await.unwrap_err().is_already_exists());
        assert_eq!(fs::read_to_string(store.path("bad")).unwrap(), content);

        assert_eq!(store.list("", 0).await.unwrap(), ["bad", "good"]);
        assert_eq!(store.get("good").await.unwrap(), good);
        good.version = store.update(&good).await.unwrap();
        store.delete("bad").await.unwrap();
        assert_eq!(store.list("", 0).await.unwrap(), ["good"]);
    };
    check("", expect!["cannot read `FOLDER/bad.json`: EOF while parsing a value at line 1 column 0; mend it, or delete the session"]).await;
    check(r#"{"id":"bad","version":7,"history":["#, expect!["cannot read `FOLDER/bad.json`: EOF while parsing a list at line 1 column 35; mend it, or delete the session"]).await;
    check(r#"{"id":"good","version":7}"#, expect!["cannot read `FOLDER/bad.json`: it holds session `good`; give it that session's name again"]).await;
    check("[package]", expect!["cannot read `FOLDER/bad.json`: invalid type: sequence, expected struct Session at line 1 column 0; mend it, or delete the session"]).await;
    check("package = 1", expect!["cannot read `FOLDER/bad.json`: expected value at line 1 column 1; mend it, or delete the session"]).await;
    check("\u{0}", expect!["cannot read `FOLDER/bad.json`: expected value at line 1 column 1; mend it, or delete the session"]).await;
}

#[tokio::test]
async fn what_is_no_session_is_no_concern() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSessions::open(folder.path()).unwrap();
    for name in ["notes.txt", ".hidden.json", "a b.json", ".json", "c.JSON"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::create_dir(folder.path().join("folder.json")).unwrap();
    let made = store.create(&Session::new("a")).await.unwrap();
    assert_eq!(store.list("", 0).await.unwrap(), ["a"]);
    let error = store.get("folder").await.unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("it is no file; move it away"));
    FileSessions::open(folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 7);
    assert_eq!(store.get("a").await.unwrap().version, made);
}

#[tokio::test]
async fn what_a_writer_has_locked_is_not_cleaned_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (live, dead) = (path(".heeler-session-live.tmp"), path(".heeler-session-dead.tmp"));
    fs::write(&dead, "half").unwrap();
    fs::write(&live, "half").unwrap();
    fs::write(path(".heeler-session-other"), "").unwrap();
    let writer = fs::File::open(&live).unwrap();
    writer.lock().unwrap();
    FileSessions::open(folder.path()).unwrap();
    assert_eq!((live.exists(), dead.exists()), (true, false));
    assert!(path(".heeler-session-other").exists());
    writer.unlock().unwrap();
    FileSessions::open(folder.path()).unwrap();
    assert!(!live.exists());
}

#[tokio::test]
async fn a_folder_that_cannot_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = FileSessions::open(&file).unwrap_err().to_string();
    let expected = format!("cannot open the folder `{}`: File exists", file.display());
    assert!(error.starts_with(&expected), "{error}");
    let store = FileSessions::open(folder.path().join("gone")).unwrap();
    fs::remove_dir(folder.path().join("gone")).unwrap();
    let error = store.create(&Session::new("a")).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot write `") && error.contains("gone/a.json"), "{error}");
    assert!(store.list("", 0).await.unwrap_err().to_string().starts_with("cannot read the folder"));
    assert!(store.get("a").await.unwrap_err().is_not_found());
}
