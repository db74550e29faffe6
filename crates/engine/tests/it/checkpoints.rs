//! Checkpoints: kept beside the loop, used by the next process, and nobody's loss when they fail.

use std::fs;
use std::sync::Arc;

use heeler_core::{
    CheckpointDraft, Durability, Entry, Event, Latest, Record, Seq, SessionHeader, SessionStore,
    Timestamp, TurnOutcome,
};
use heeler_engine::{Parts, Session};
use heeler_store::FileStore;
use heeler_turn::{State, checkpoint::FORMAT};

use crate::common::{Ledger, Stage, Watcher, settled, stage_with, virtually};

const SCRIPT: &str = r#"
    [[reply]]
    text = "one"
    [[reply]]
    for = "summary"
    text = "The user said hi."
    repeat = 100
    [[reply]]
    text = "more"
    repeat = 300
"#;

/// A session over files.
struct Bench {
    folder: tempfile::TempDir,
    store: FileStore,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        Self { folder, store }
    }

    async fn stage(&self) -> Stage {
        stage_over(Arc::new(self.store.clone())).await
    }

    async fn latest(&self) -> Latest {
        self.store.latest("s".parse().unwrap(), Some(FORMAT)).await.unwrap()
    }

    /// The state as all records give it.
    async fn whole(&self) -> State {
        let journal = self.store.read("s".parse().unwrap()).await.unwrap();
        let mut state = State::new();
        journal.entries.iter().for_each(|entry| state.apply(entry));
        state
    }

    /// Opens the session again: its state, and what it has to tell.
    async fn open(&self, parts: &Parts) -> (State, Vec<String>) {
        let session = Session::open(parts.clone(), "s".parse().unwrap()).await.unwrap();
        let mut watcher = Watcher::new(&session);
        session.resume().await;
        let state = session.state().await.unwrap();
        session.close().await;
        watcher.rest().await;
        (state, watcher.lines)
    }
}

async fn stage_over(store: Arc<dyn SessionStore>) -> Stage {
    stage_with(SCRIPT, [], |parts| {
        parts.settings.compaction.keep_tail = 1;
        parts.store = store;
    })
    .await
}

fn bytes(state: &State) -> String {
    String::from_utf8(state.to_checkpoint().unwrap()).unwrap()
}

#[test]
fn a_compacted_session_goes_on_from_its_checkpoint() {
    virtually(async {
        let bench = Bench::new();
        let stage = bench.stage().await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(bench.latest().await.checkpoint, None);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        let parts = stage.parts.clone();
        stage.close().await;

        let Latest { checkpoint, journal } = bench.latest().await;
        let checkpoint = checkpoint.unwrap();
        let all = bench.store.read("s".parse().unwrap()).await.unwrap().entries;
        let compacted = all.iter().find(|e| matches!(e.record, Record::Compacted(_))).unwrap();
        assert_eq!(checkpoint.seq, compacted.seq);
        let mut state = State::from_checkpoint(&checkpoint.state).unwrap();
        journal.entries.iter().for_each(|entry| state.apply(entry));
        assert_eq!(bytes(&state), bytes(&bench.whole().await));

        // Who goes on reads nothing before it: what is wrong there stays unseen.
        let path = bench.store.journal_path(&"s".parse().unwrap());
        let sound = fs::read_to_string(&path).unwrap();
        fs::write(&path, sound.replacen("\"hi\"", "\"ho\"", 1)).unwrap();
        let (resumed, lines) = bench.open(&parts).await;
        assert_eq!(lines, [""; 0]);
        for slot in 0..2 {
            let file = bench.folder.path().join(format!("sessions/s.checkpoint-{slot}"));
            assert_eq!(file.exists(), slot == 0);
            let _ = fs::remove_file(file);
        }
        // Without it the whole journal is folded, and the damage told.
        let (_, lines) = bench.open(&parts).await;
        assert!(lines[0].contains("is damaged in 1 place"), "{lines:?}");
        fs::write(&path, sound).unwrap();
        let (whole, lines) = bench.open(&parts).await;
        assert_eq!((lines, bytes(&whole)), (vec![], bytes(&resumed)));
    });
}

#[test]
fn a_long_session_keeps_one_every_thousand_records() {
    virtually(async {
        let bench = Bench::new();
        let id: heeler_core::SessionId = "s".parse().unwrap();
        let workspace = "/space".to_owned();
        let header = SessionHeader { id: id.clone(), created: Timestamp(0), workspace };
        bench.store.create(header).await.unwrap();
        let lease = Arc::new(bench.store.lease(id.clone()).await.unwrap());
        let passed = |seq: Seq| Entry { seq, at: Timestamp(0), record: Record::TimePassed };
        let entries = (1..=997).map(passed).collect();
        bench.store.append(lease, entries, Durability::Written).await.unwrap();
        // The stage's own session is another one.
        let stage = stage_with(SCRIPT, [], |_| ()).await;
        let mut parts = stage.parts.clone();
        parts.store = Arc::new(bench.store.clone());
        stage.close().await;
        let session = Session::open(parts.clone(), id.clone()).await.unwrap();
        assert_eq!((session.state().await.unwrap().seq, bench.files()), (999, 0));
        let outcome = session.turn(heeler_core::Input::text("hi")).await;
        assert_eq!(outcome, TurnOutcome::Done);
        session.close().await;
        // The thousandth was one of three in one append.
        assert_eq!(bench.latest().await.checkpoint.unwrap().seq, 1002);
        // The next process counts from there.
        let session = Session::open(parts, id).await.unwrap();
        session.close().await;
        assert_eq!(bench.files(), 1);
    });
}

impl Bench {
    fn files(&self) -> usize {
        let names = fs::read_dir(self.folder.path().join("sessions")).unwrap();
        names.filter(|f| f.as_ref().unwrap().path().to_string_lossy().contains("point")).count()
    }
}

#[test]
fn one_at_a_time_is_written_and_closing_waits_for_it() {
    let ledger = Ledger::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let stage = stage_over(Arc::new(ledger.clone())).await;
        for n in 0..3 {
            assert_eq!(stage.say("hi").await, TurnOutcome::Done);
            assert_eq!(stage.session.compact(None).await, Ok(true), "{n}");
        }
        let while_shut = ledger.checkpoints().len();
        ledger.let_checkpoints_through(1);
        // The latest state is kept once there is something to write after the first is done.
        let mut turns = 0;
        while ledger.checkpoints().len() < 2 && turns < 200 {
            assert_eq!(stage.say("go on").await, TurnOutcome::Done);
            turns += 1;
        }
        let (parts, id) = (stage.parts.clone(), stage.session.id().clone());
        let closing = tokio::spawn(stage.close());
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let waits = !closing.is_finished();
        // Nothing is asserted before: a failure would wait for what waits here.
        ledger.let_checkpoints_through(100);
        closing.await.unwrap();
        assert_eq!((while_shut, ledger.checkpoints().len(), waits), (1, 2, true));
        // A lease held by a checkpoint would make this one busy.
        Session::open(parts, id).await.unwrap().close().await;
    });
}

#[test]
fn what_cannot_be_kept_or_read_disturbs_nobody() {
    virtually(async {
        let bench = Bench::new();
        let mut stage = bench.stage().await;
        for slot in 0..2 {
            fs::create_dir(bench.folder.path().join(format!("sessions/s.checkpoint-{slot}")))
                .unwrap();
        }
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        settled().await;
        stage.watcher.drain();
        let told = |e: &Arc<heeler_core::Envelope>| matches!(e.event, Event::Notice { .. });
        assert!(!stage.watcher.seen.iter().any(told));
        let parts = stage.parts.clone();
        stage.close().await;
        assert_eq!(bench.latest().await.checkpoint, None);
        let (before, _) = bench.open(&parts).await;

        // One that is whole, of today's format, and nonsense.
        for slot in 0..2 {
            fs::remove_dir(bench.folder.path().join(format!("sessions/s.checkpoint-{slot}")))
                .unwrap();
        }
        let resumed = bench.store.resume("s".parse().unwrap(), Some(FORMAT)).await.unwrap();
        let seq = before.seq;
        let encode = Box::new(|out: &mut dyn std::io::Write| out.write_all(b"{}"));
        let draft = CheckpointDraft { seq, format: FORMAT, encode };
        bench.store.keep_checkpoint(Arc::new(resumed.lease), draft).await.unwrap();
        assert!(bench.latest().await.checkpoint.is_some());
        let (after, lines) = bench.open(&parts).await;
        assert_eq!((after.seq, lines), (seq + 1, vec![]));
        assert_eq!(after.view(), before.view());
    });
}
