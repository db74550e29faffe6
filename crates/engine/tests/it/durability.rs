//! A record is written before its effect is visible; a failing journal stops everything at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use futures::FutureExt;
use heeler_core::{
    Approver, BoxFuture, Decision, Input, Mode, OpenPermission, Rule, RuleEffect, SessionId,
    SessionStore, TurnOutcome,
};
use heeler_engine::{Parts, Session};
use heeler_store::{FailingStore, MemoryStore};
use heeler_testkit::VirtualClock;

use crate::common::{
    CallOnce, Ledger, Watcher, counting, hanging, parts, settled, stage_with, toolset, virtually,
};

/// Counts how often it is asked, and allows.
#[derive(Clone, Default)]
struct CountingApprover(Arc<AtomicUsize>);

impl Approver for CountingApprover {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Some(Decision::Once) })
    }

    fn name(&self) -> &'static str {
        "counting"
    }
}

fn id() -> SessionId {
    "s".parse().unwrap()
}

/// What can be counted from outside.
#[derive(Clone, Default)]
struct Effects {
    model: CallOnce,
    approver: CountingApprover,
    calls: Arc<AtomicUsize>,
}

impl Effects {
    fn parts(&self, store: Arc<dyn SessionStore>) -> Parts {
        let clock = VirtualClock::auto(0, 60_000);
        let mut parts = parts(Arc::new(self.model.clone()), store, clock);
        parts.tools = toolset([counting(&self.calls).writes("/space/a")]);
        parts.approvers = vec![Arc::new(self.approver.clone())];
        parts.settings.policy.mode = Mode::Ask;
        parts.settings.policy.interactive = true;
        parts
    }

    /// Requests sent, questions asked, calls run.
    fn seen(&self) -> [usize; 3] {
        let counts = [&self.model.requests, &self.approver.0, &self.calls];
        counts.map(|count| count.load(Ordering::SeqCst))
    }
}

#[test]
fn nothing_happens_before_it_is_written() {
    virtually(async {
        let (ledger, effects) = (Ledger::new(), Effects::default());
        let parts = effects.parts(Arc::new(ledger.clone()));
        let session = Session::create_with_id(parts, id(), "/space").await.unwrap();
        let mut watcher = Watcher::new(&session);
        ledger.shut();
        let mut turn = session.turn(Input::text("hi"));
        let outcome = loop {
            settled().await;
            let kinds = ledger.kinds();
            let written = |kind| kinds.iter().filter(|k| **k == kind).count();
            // All that was written has happened, and nothing else.
            let announced = ["model_started", "permission_asked", "call_started"].map(written);
            assert_eq!(effects.seen(), announced, "after {kinds:?}");
            watcher.drain();
            let shown = watcher.seen.iter().filter_map(|envelope| envelope.seq).max();
            assert!(shown.unwrap_or(0) <= kinds.len() as u64, "shown {shown:?} after {kinds:?}");
            let outcome = (&mut turn).now_or_never();
            assert_eq!(outcome.is_some(), written("turn_finished") == 1, "after {kinds:?}");
            if let Some(outcome) = outcome {
                break outcome;
            }
            ledger.let_one_through();
        };
        assert_eq!(outcome, TurnOutcome::Done);
        assert_eq!(effects.seen(), [2, 1, 1]);
        ledger.let_one_through();
        session.close().await;
    });
}

#[test]
fn what_must_survive_a_loss_of_power_is_synced_and_steps_share_a_write() {
    virtually(async {
        let ledger = Ledger::new();
        let script = r#"
            [[reply]]
            blocks = [{ call = "count" }, { call = "count" }]
            [[reply]]
            blocks = [{ call = "safe" }]
            [[reply]]
            text = "done"
        "#;
        let safe =
            crate::common::tool("safe", |_, _| async { Ok(heeler_core::ToolOutput::text("safe")) });
        let tools = [counting(&Arc::default()).writes("/space/a"), safe.replay_safe()];
        let stage = stage_with(script, tools, |parts| {
            parts.store = Arc::new(ledger.clone());
            parts.settings.policy.mode = Mode::Ask;
            parts.settings.policy.interactive = true;
            let rule = Rule::parse("count", RuleEffect::Allow, "test").unwrap();
            let always = Decision::Always { rule };
            parts.approvers = vec![Arc::new(heeler_core::ScriptedApprover::new([always]))];
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.close().await;
        expect![[r#"
            [
                "Written opened + settings_changed",
                "Written input + epoch_started + model_started",
                "Written model_replied + call_planned + call_planned + permission_asked + permission_asked",
                "Synced permission_decided",
                "Synced call_started + call_started",
                "Written call_finished",
                "Written call_finished + model_started",
                "Written model_replied + call_planned + call_started",
                "Written call_finished + model_started",
                "Synced model_replied + turn_finished",
                "Synced ",
            ]
        "#]]
        .assert_debug_eq(&ledger.lines());
    });
}

#[test]
fn a_session_that_cannot_be_opened_says_why() {
    virtually(async {
        let store = FailingStore::new(Arc::new(MemoryStore::new()));
        store.fail_append(1);
        let parts = Effects::default().parts(Arc::new(store));
        let error = Session::create_with_id(parts.clone(), id(), "/space").await.err().unwrap();
        assert!(error.to_string().contains("cannot append to session s"), "{error}");
        assert!(!error.is_busy() && !error.is_not_found());
        // Nothing holds it: the next try works.
        Session::open(parts, id()).await.unwrap().close().await;
    });
}

/// Fails the `nth` append of a turn. Gives false when the turn ended before it.
async fn fail_at(nth: u64) -> bool {
    let (inner, effects) = (MemoryStore::new(), Effects::default());
    let store = FailingStore::new(Arc::new(inner.clone()));
    let parts = effects.parts(Arc::new(store.clone()));
    let session = Session::create_with_id(parts, id(), "/space").await.unwrap();
    let mut watcher = Watcher::new(&session);
    store.fail_append(nth);
    let outcome = session.turn(Input::text("hi")).await;
    if outcome == TurnOutcome::Done {
        session.close().await;
        return false;
    }
    let TurnOutcome::Failed { message } = &outcome else { panic!("{outcome:?}") };
    assert!(message.contains("cannot append to session s"), "{message}");
    watcher.rest().await;
    assert_eq!(watcher.endings(), [(1, outcome.clone())], "at append {nth}");
    let later = session.turn(Input::text("still there?")).await;
    assert!(matches!(later, TurnOutcome::Failed { .. }));
    session.close().await;

    let journal = inner.read(id()).await.unwrap();
    let written = journal.entries.len() as u64;
    let shown = watcher.seen.iter().filter_map(|envelope| envelope.seq).max();
    assert!(shown.unwrap_or(0) <= written, "at append {nth}: shown {shown:?} of {written}");

    // There is room again: the next process goes on, and what was done is not done twice.
    let session = Session::open(effects.parts(Arc::new(inner.clone())), id()).await.unwrap();
    let began = journal.entries.iter().any(|entry| entry.record.kind() == "input");
    let resumed = match began {
        true => session.resume().await,
        false => session.turn(Input::text("hi")).await,
    };
    assert_eq!(resumed, TurnOutcome::Done, "at append {nth}");
    assert_eq!(effects.calls.load(Ordering::SeqCst), 1, "at append {nth}");
    let state = session.state().await.unwrap();
    assert_eq!((state.misfits, state.final_answer().as_str()), (0, "done"));
    session.close().await;
    true
}

#[test]
fn a_journal_that_fails_anywhere_stops_the_turn_and_the_next_process_goes_on() {
    let mut nth = 1;
    while virtually(fail_at(nth)) {
        nth += 1;
    }
    assert_eq!(nth, 6, "a turn has 5 appends");
}

#[test]
fn a_journal_that_fails_between_turns_ends_the_session_which_says_why() {
    virtually(async {
        let store = FailingStore::new(Arc::new(MemoryStore::new()));
        let parts = Effects::default().parts(Arc::new(store.clone()));
        let session = Session::create_with_id(parts, id(), "/space").await.unwrap();
        assert_eq!(session.turn(Input::text("hi")).await, TurnOutcome::Done);
        assert_eq!(session.broke_off(), None);
        store.set_full(true);
        assert!(session.rename(Some("a".parse().unwrap())).await.is_err());
        session.closed().await;
        let why = session.broke_off().unwrap();
        let begin = "the session's journal could not be written, so the session ended here: ";
        assert!(why.starts_with(begin) && why.contains("cannot append to session s"), "{why}");
    });
}

#[test]
fn a_failing_journal_stops_calls_and_answers_whoever_waits() {
    virtually(async {
        let alive = Arc::new(AtomicUsize::new(0));
        let store = FailingStore::new(Arc::new(MemoryStore::new()));
        let script = "reply = [{ blocks = [{ call = \"hang\" }] }]";
        let tune = {
            let store = store.clone();
            |parts: &mut Parts| parts.store = Arc::new(store)
        };
        let mut stage = stage_with(script, [crate::common::hanging(&alive)], tune).await;
        let first = stage.session.turn(Input::text("hi"));
        let second = stage.session.turn(Input::text("and then"));
        stage.watcher.until(|event| matches!(event, heeler_core::Event::CallStarted { .. })).await;
        store.set_full(true);
        let steering = heeler_core::SteeringId("a".into());
        assert!(stage.session.steer(steering, Input::text("hello?")).await.is_err());
        let (first, second) = (first.await, second.await);
        assert!(matches!(&first, TurnOutcome::Failed { message } if message.contains("append")));
        assert_eq!(first, second);
        stage.watcher.rest().await;
        assert_eq!(stage.watcher.endings(), [(1, first)]);
        assert_eq!(alive.load(Ordering::SeqCst), 0, "the call still runs");
        stage.close().await;
    });
}

#[test]
fn nothing_works_on_while_the_end_of_a_closed_session_is_written() {
    virtually(async {
        let (ledger, alive) = (Ledger::new(), Arc::default());
        let script = r#"reply = [{ blocks = [{ call = "hang" }] }]"#;
        let stage = stage_with(script, [hanging(&alive)], |parts| {
            parts.store = Arc::new(ledger.clone());
        })
        .await;
        let _turn = stage.session.turn(Input::text("hi"));
        settled().await;
        assert_eq!(alive.load(Ordering::SeqCst), 1);
        ledger.shut();
        let closing = tokio::spawn(stage.session.clone().close());
        settled().await;
        // The interrupt is written; the end of the turn is not, however long it takes.
        ledger.let_one_through();
        settled().await;
        assert_eq!(ledger.kinds().last(), Some(&"interrupted"));
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        ledger.let_one_through();
        ledger.let_one_through();
        closing.await.unwrap();
    });
}
