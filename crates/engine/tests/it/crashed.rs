//! What is handed in panics, or the runtime is gone: nobody waits for ever, and whoever waits hears why.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Event, EventStream, Input, Journal, Lease, ModelEvent,
    ModelRequest, Provider, SessionHeader, SessionId, SessionStore, SessionSummary, StoreError,
    TurnOutcome,
};
use heeler_engine::{Parts, Session, SystemClock, Turn};
use heeler_store::MemoryStore;

use crate::common::{
    Watcher, check, counting, hanging, one_call, paused, settled, stage, stage_with, virtually,
};

/// Its append of this number, from 0, panics.
struct Panicking(MemoryStore, AtomicUsize);

impl SessionStore for Panicking {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        self.0.create(header)
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        self.0.lease(id)
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        self.0.read(id)
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let left = self.1.fetch_sub(1, Ordering::SeqCst);
        assert!(left != 0, "the disk is on fire");
        self.0.append(lease, entries, durability)
    }

    fn list(
        &self,
        workspace: String,
        most: usize,
    ) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        self.0.list(workspace, most)
    }

    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>> {
        self.0.delete(id)
    }
}

const CALLS: &str = r#"
    [[reply]]
    blocks = [{ call = "hang" }]
    [[reply]]
    text = "done"
"#;

/// How a turn of a session ended that broke off, and the end of what its watcher saw.
async fn ended(session: &Session, mut watcher: Watcher, turn: Turn) -> String {
    let outcome = turn.await;
    watcher.rest().await;
    let last = watcher.lines.last().unwrap();
    session.closed().await;
    let again = session.turn(Input::text("again")).await;
    format!("{outcome:?}\n{last}\n{:?}\n{again:?}\n", session.broke_off())
}

#[test]
fn a_store_that_panics_ends_the_session_which_says_why() {
    virtually(async {
        let store = Arc::new(Panicking(MemoryStore::new(), AtomicUsize::new(2)));
        let alive = Arc::default();
        let tune = |parts: &mut Parts| parts.store = Arc::clone(&store) as Arc<dyn SessionStore>;
        let stage = stage_with(CALLS, [hanging(&alive)], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        let told = ended(&stage.session, stage.watcher, turn).await;
        expect![[r#"
            Failed { message: "the session crashed, so the turn stopped here: the disk is on fire. Nothing that was written is lost; fix the cause and continue the session" }
            end of turn 1: Failed { message: "the session crashed, so the turn stopped here: the disk is on fire. Nothing that was written is lost; fix the cause and continue the session" } ""
            Some("the session crashed, so the turn stopped here: the disk is on fire. Nothing that was written is lost; fix the cause and continue the session")
            Failed { message: "the session was closed before the turn ended" }
        "#]].assert_eq(&told);
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        // The journal is whole, and nobody owns it any more.
        let parts = Parts { store: Arc::new(store.0.clone()), ..stage.parts };
        let session = Session::open(parts, stage.session.id().clone()).await.unwrap();
        session.close().await;
    });
}

#[test]
fn a_runtime_without_time_is_named_as_what_is_missing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let tune = |parts: &mut Parts| {
            parts.clock = Arc::new(SystemClock);
            parts.heartbeat_millis = 30_000;
        };
        let stage = stage_with(CALLS, [hanging(&Arc::default())], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        let told = ended(&stage.session, stage.watcher, turn).await;
        assert!(told.contains("Call `enable_time` on the runtime builder"), "{told}");
    });
}

#[test]
fn whoever_watches_a_session_from_elsewhere_sees_its_runtime_go() {
    let dying = paused();
    let (session, watcher, turn) = dying.block_on(async {
        let mut stage = stage(CALLS, [hanging(&Arc::default())]).await;
        let turn = stage.session.turn(Input::text("hi"));
        let is_call = |event: &Event| matches!(event, Event::CallStarted { .. });
        stage.watcher.until(is_call).await;
        (stage.session, stage.watcher, turn)
    });
    let watching =
        std::thread::spawn(move || virtually(async move { ended(&session, watcher, turn).await }));
    drop(dying);
    expect![[r#"
        Failed { message: "the session was closed before the turn ended" }
        end of turn 1: Failed { message: "the session was closed before the turn ended" } ""
        Some("the session's task ended before the session was closed: its runtime was shut down, or it crashed")
        Failed { message: "the session was closed before the turn ended" }
    "#]].assert_eq(&watching.join().unwrap());
}

#[test]
fn a_session_whose_task_never_began_ends_too() {
    let dying = paused();
    let (session, mut cursor) = dying.block_on(async {
        let stage = stage(CALLS, []).await;
        let id: SessionId = "other".parse().unwrap();
        let session = Session::create_with_id(stage.parts, id, "/space").await.unwrap();
        let (_, cursor) = session.subscribe();
        (session, cursor)
    });
    drop(dying);
    virtually(async {
        assert_eq!(cursor.next().await, None);
        assert!(session.broke_off().is_some());
    });
}

/// A call of a tool whose metadata panics, begun early or not.
fn check_metadata(read_only: bool, expected: Expect) {
    let count = Arc::default();
    let tool = counting(&count).panics_in_metadata();
    let tool = if read_only { tool.read_only() } else { tool };
    check(one_call("count", "{}").tools([tool]), expected);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_tool_that_panics_when_asked_about_its_calls_fails_them_and_no_session() {
    check_metadata(
        false,
        expect![[r#"
        failed 1.1.0 [0] count 0 ms: the tool count crashed: no metadata today
        end of turn 1: Done "done"
        result error: the tool count crashed: no metadata today
    "#]],
    );
    check_metadata(
        true,
        expect![[r#"
        failed 1.1.0 [0] count 0 ms: the tool count crashed: no metadata today
        end of turn 1: Done "done"
        result error: the tool count crashed: no metadata today
    "#]],
    );
}

/// Says more and more, and never waits.
struct Babbling;

impl Provider for Babbling {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let word = || Ok(ModelEvent::TextDelta { block: 0, text: "word ".into() });
        // Long, not endless: a test that fails ends, too.
        Box::pin(futures::stream::iter(std::iter::repeat_with(word).take(200_000)))
    }
}

#[test]
fn an_answer_that_never_waits_leaves_others_their_turn() {
    virtually(async {
        let tune = |parts: &mut Parts| parts.provider = Arc::new(Babbling);
        let mut stage = stage_with(CALLS, [], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        let is_text = |event: &Event| matches!(event, Event::TextDelta { .. });
        stage.watcher.until(is_text).await;
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        settled().await;
        let (view, cursor) = stage.session.subscribe();
        drop(cursor);
        let said = view.messages.last().unwrap().text().len();
        assert!(said < 200_000, "{said} bytes were said before the cancel was heard");
        stage.close().await;
    });
}
