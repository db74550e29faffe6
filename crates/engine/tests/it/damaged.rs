//! A journal whose end was changed: what is lost there may have run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heeler_core::{
    Durability, Entry, Record, Rule, RuleEffect, SessionStore, Timestamp, TurnOutcome,
};
use heeler_engine::Session;
use heeler_store::FileStore;
use heeler_turn::State;

use crate::common::{Watcher, virtually};
use crate::crash::{Lives, WORK, hanging_first, id, is_started};

/// Changes a journal.
type Damage = fn(&Path);

/// A process died in a call with a side effect, and somebody changed the journal: what the next one
/// says, and how often the call has run after it.
struct Damaged {
    folder: tempfile::TempDir,
    lives: Lives,
    runs: Arc<AtomicUsize>,
}

impl Damaged {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runs = Arc::default();
        let mut lives = Lives::new(WORK, [hanging_first(&runs, 1)]);
        lives.parts.store = Arc::new(FileStore::open(folder.path()).unwrap());
        lives.born_and_killed(is_started);
        Self { folder, lives, runs }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("sessions/s.jsonl")
    }

    /// The next process goes on with the session.
    fn resumed(&self) -> (TurnOutcome, String, State) {
        virtually(async {
            let session = Session::open(self.lives.parts.clone(), id()).await.unwrap();
            let mut watcher = Watcher::new(&session);
            let outcome = session.resume().await;
            let state = session.state().await.unwrap();
            session.close().await;
            watcher.rest().await;
            (outcome, watcher.lines.concat(), state)
        })
    }
}

/// Changes a byte in the middle of each of the last lines.
fn change_last(journal: &Path, lines: usize) {
    let text = std::fs::read_to_string(journal).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let kept = all.len() - lines;
    let changed = all.iter().enumerate().map(|(at, line)| match at < kept {
        true => format!("{line}\n"),
        false => format!("{}#{}\n", &line[..20], &line[21..]),
    });
    std::fs::write(journal, changed.collect::<String>()).unwrap();
}

#[test]
fn a_call_whose_start_is_lost_does_not_run_twice() {
    let cases: [(&str, Damage); 4] = [
        ("its start", |journal| change_last(journal, 1)),
        ("its start and its plan", |journal| change_last(journal, 2)),
        ("its start, and a torn line", |journal| {
            change_last(journal, 1);
            let torn = [std::fs::read(journal).unwrap(), b"{\"seq\":".to_vec()].concat();
            std::fs::write(journal, torn).unwrap();
        }),
        ("its start, which has become another line", |journal| {
            let text = std::fs::read_to_string(journal).unwrap();
            let start = text.trim_end().rfind('\n').unwrap();
            std::fs::write(journal, format!("{}\nwhat?\n", &text[..start])).unwrap();
        }),
    ];
    for (lost, damage) in cases {
        let damaged = Damaged::new();
        damage(&damaged.journal());
        let (outcome, told, _) = damaged.resumed();
        assert!(matches!(outcome, TurnOutcome::Failed { .. }), "{lost}: {outcome:?}");
        assert!(told.contains("is damaged in"), "{lost}: {told}");
        assert_eq!(damaged.runs.load(Ordering::SeqCst), 1, "{lost}");
        // Whoever reads the journal comes to the same, and the session goes on.
        let whole = FileStore::open(damaged.folder.path()).unwrap();
        let journal = crate::common::paused().block_on(whole.read(id())).unwrap();
        assert!(!journal.damage.is_empty(), "{lost}");
        let mut state = State::new();
        journal.entries.iter().for_each(|entry| state.apply(entry));
        assert_eq!((state.turn.is_none(), state.misfits), (true, 1), "{lost}");
        let (outcome, ..) = damaged.resumed();
        assert!(matches!(outcome, TurnOutcome::Failed { .. }), "{lost}: {outcome:?}");
    }
}

#[test]
fn what_was_granted_in_a_damaged_journal_is_asked_again() {
    let damaged = Damaged::new();
    let store = FileStore::open(damaged.folder.path()).unwrap();
    let rule = Rule {
        effect: RuleEffect::Allow,
        tool: "work".to_owned(),
        argument: None,
        source: "you".to_owned(),
    };
    let granted = Record::RuleGranted(Box::new(rule));
    crate::common::paused().block_on(async {
        let seq = store.read(id()).await.unwrap().entries.len() as u64 + 1;
        let lease = Arc::new(store.lease(id()).await.unwrap());
        let entry = Entry { seq, at: Timestamp(0), record: granted };
        store.append(lease, Arc::new([entry]), Durability::Written).await.unwrap();
    });
    let sound = std::fs::read(damaged.journal()).unwrap();
    let (_, _, state) = damaged.resumed();
    assert_eq!(state.grants.len(), 1);
    std::fs::write(damaged.journal(), [&sound[..], b"one\n"].concat()).unwrap();
    let (_, told, state) = damaged.resumed();
    assert!(told.contains("permissions granted earlier are asked again"), "{told}");
    assert_eq!(state.grants, []);
}
