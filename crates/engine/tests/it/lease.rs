//! Owning a session: one at a time, given back when it is closed, dropped or dead.

use std::sync::Arc;

use heeler_core::{Input, SessionStore, TurnOutcome};
use heeler_engine::{Parts, Session};
use heeler_store::{FileStore, MemoryStore};
use heeler_testkit::VirtualClock;

use crate::common::{CallOnce, Ledger, Watcher, counting, parts, settled, toolset, virtually};

fn parts_over(store: Arc<dyn SessionStore>) -> Parts {
    let clock = VirtualClock::auto(0, 60_000);
    let mut parts = parts(Arc::new(CallOnce::default()), store, clock);
    parts.tools = toolset([counting(&Arc::default())]);
    parts
}

/// Both kinds of store; the folder lives as long as the second is used.
fn stores() -> ([Arc<dyn SessionStore>; 2], tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = FileStore::open(folder.path()).unwrap();
    ([Arc::new(MemoryStore::new()), Arc::new(file)], folder)
}

#[test]
fn a_session_has_one_owner_at_a_time() {
    let (stores, _folder) = stores();
    for store in stores {
        virtually(async {
            let parts = parts_over(store);
            let session = Session::create(parts.clone(), "/space").await.unwrap();
            let id = session.id().clone();
            let error = Session::open(parts.clone(), id.clone()).await.err().unwrap();
            assert!(error.is_busy(), "{error}");
            session.close().await;
            Session::open(parts, id).await.unwrap().close().await;
        });
    }
}

#[test]
fn an_unknown_session_and_a_taken_id_are_told_apart() {
    virtually(async {
        let parts = parts_over(Arc::new(MemoryStore::new()));
        let id: heeler_core::SessionId = "mine".parse().unwrap();
        let error = Session::open(parts.clone(), id.clone()).await.err().unwrap();
        assert!(error.is_not_found() && !error.is_busy(), "{error}");
        let session = Session::create_with_id(parts.clone(), id.clone(), "/space").await.unwrap();
        let error = Session::create_with_id(parts, id, "/space").await.err().unwrap();
        assert!(!error.is_not_found() && !error.is_busy(), "{error}");
        session.close().await;
    });
}

#[test]
fn a_closed_session_can_be_opened_at_once_by_another_thread() {
    let (stores, _folder) = stores();
    for store in stores {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
        runtime.unwrap().block_on(async {
            let parts = parts_over(store);
            let mut session = Session::create(parts.clone(), "/space").await.unwrap();
            for round in 0..50 {
                let id = session.id().clone();
                session.close().await;
                session = Session::open(parts.clone(), id)
                    .await
                    .unwrap_or_else(|error| panic!("round {round}: {error}"));
            }
            session.close().await;
        });
    }
}

#[test]
fn a_dropped_session_is_free_once_its_watchers_saw_the_end() {
    virtually(async {
        let parts = parts_over(Arc::new(MemoryStore::new()));
        let session = Session::create(parts.clone(), "/space").await.unwrap();
        let (id, mut watcher) = (session.id().clone(), Watcher::new(&session));
        drop(session);
        watcher.rest().await;
        Session::open(parts, id).await.unwrap().close().await;
    });
}

#[test]
fn a_session_works_in_an_absolute_folder() {
    virtually(async {
        for folder in ["", "space", "./space"] {
            let parts = parts_over(Arc::new(MemoryStore::new()));
            let error = Session::create(parts, folder).await.err().unwrap();
            let text = format!("a session works in an absolute folder, and `{folder}` is none");
            assert_eq!(error.to_string(), text);
        }
    });
}

#[test]
fn closing_twice_is_closing() {
    virtually(async {
        let parts = parts_over(Arc::new(MemoryStore::new()));
        let session = Session::create(parts, "/space").await.unwrap();
        let other = session.clone();
        tokio::join!(session.close(), other.close());
    });
}

#[test]
fn closing_syncs_what_was_written() {
    virtually(async {
        let ledger = Ledger::new();
        let parts = parts_over(Arc::new(ledger.clone()));
        let session = Session::create(parts, "/space").await.unwrap();
        session.close().await;
        assert_eq!(ledger.lines(), ["Written opened + settings_changed", "Synced "]);
    });
}

#[test]
fn a_conversation_goes_on_where_the_file_ends() {
    let (stores, _folder) = stores();
    for store in stores {
        virtually(async {
            let parts = parts_over(store);
            let session = Session::create(parts.clone(), "/space").await.unwrap();
            assert_eq!(session.turn(Input::text("one")).await, TurnOutcome::Done);
            let (id, view) = (session.id().clone(), session.state().await.unwrap().view());
            session.close().await;
            let session = Session::open(parts, id).await.unwrap();
            assert_eq!(session.subscribe().0, view);
            assert_eq!(session.resume().await, TurnOutcome::Done, "the outcome of the last turn");
            assert_eq!(session.turn(Input::text("two")).await, TurnOutcome::Done);
            let state = session.state().await.unwrap();
            assert_eq!((state.incarnation, state.turns, state.misfits), (2, 2, 0));
            assert_eq!(state.history.len(), 8);
            session.close().await;
            settled().await;
        });
    }
}
