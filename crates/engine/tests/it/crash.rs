//! Processes that die: what the next one finds, does again, and never does again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{Event, HookEvent, Input, Mode, SessionId, ToolOutput, TurnOutcome};
use heeler_engine::{Parts, Session};
use heeler_providers::scripted::Scripted;
use heeler_script::Script;
use heeler_store::MemoryStore;
use heeler_testkit::{VirtualClock, transcript};

use crate::common::{
    TestTool, Watcher, denies, echo, hook, nothing, parts, paused, settled, tool, toolset,
    virtually,
};

/// A session that outlives its processes, and the model that all of them ask.
pub(crate) struct Lives {
    pub(crate) parts: Parts,
    model: Scripted,
}

pub(crate) fn id() -> SessionId {
    "s".parse().unwrap()
}

impl Lives {
    pub(crate) fn new<const N: usize>(script: &str, tools: [TestTool; N]) -> Self {
        let clock = VirtualClock::auto(0, 60_000);
        let script = Script::parse(script).unwrap();
        let model = Scripted::from_script(script, Arc::new(clock.clone()));
        let store = Arc::new(MemoryStore::new());
        let mut parts = parts(Arc::new(model.clone()), store, clock);
        parts.tools = toolset(tools);
        Self { parts, model }
    }

    /// A process that says `hi` in a new session and dies after the event.
    pub(crate) fn born_and_killed(&self, when: impl Fn(&Event) -> bool) {
        paused().block_on(async {
            let parts = self.parts.clone();
            let session = Session::create_with_id(parts, id(), "/space").await.unwrap();
            let mut watcher = Watcher::new(&session);
            let _turn = session.turn(Input::text("hi"));
            watcher.until(when).await;
            settled().await;
        });
    }

    /// A process that goes on with what the one before left and dies after the event.
    pub(crate) fn resumed_and_killed(&self, when: impl Fn(&Event) -> bool) {
        paused().block_on(async {
            let session = Session::open(self.parts.clone(), id()).await.unwrap();
            let mut watcher = Watcher::new(&session);
            let _turn = session.resume();
            watcher.until(when).await;
            settled().await;
        });
    }

    /// A last process that goes on to the end; compares outcome, what is told, and the
    /// conversation.
    fn check_resume(&self, expected: Expect) {
        let text = virtually(async {
            let session = Session::open(self.parts.clone(), id()).await.unwrap();
            let mut watcher = Watcher::new(&session);
            let outcome = session.resume().await;
            watcher.drain();
            let state = session.state().await.unwrap();
            assert_eq!((watcher.view.clone(), state.misfits), (state.view(), 0));
            assert_eq!(watcher.endings(), [(1, outcome)]);
            assert_eq!(self.model.mismatches(), []);
            session.close().await;
            let conversation = transcript(state.history.messages().iter().map(Arc::as_ref));
            format!("{}\n---\n{conversation}", watcher.lines.join("\n"))
        });
        expected.assert_eq(&text);
    }
}

pub(crate) fn is_started(event: &Event) -> bool {
    matches!(event, Event::CallStarted { .. })
}

fn is_text(event: &Event) -> bool {
    matches!(event, Event::TextDelta { .. })
}

/// Counts its runs; the first `hangs` of them never end.
pub(crate) fn hanging_first(count: &Arc<AtomicUsize>, hangs: usize) -> TestTool {
    let count = Arc::clone(count);
    tool("work", move |_, _| {
        let n = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            if n <= hangs {
                std::future::pending::<()>().await;
            }
            Ok(ToolOutput::text(format!("worked {n}")))
        }
    })
}

pub(crate) const WORK: &str = r#"
    [[reply]]
    blocks = [{ call = "work" }]
    [[reply]]
    text = "done"
"#;

#[test]
fn a_call_with_a_side_effect_is_not_run_twice() {
    let count = Arc::default();
    let lives = Lives::new(WORK, [hanging_first(&count, 1)]);
    lives.born_and_killed(is_started);
    lives.check_resume(expect![[r#"
        attempt 2.1
        text 0@0 "done"
        usage 95 + 2 of 124 + 3
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call work {}
        result error: The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.
        assistant: done
    "#]]);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_call_that_may_be_repeated_runs_again() {
    let count = Arc::default();
    let lives = Lives::new(WORK, [hanging_first(&count, 1).replay_safe()]);
    lives.born_and_killed(is_started);
    lives.check_resume(expect![[r#"
        started 1.1.0 [0] work {}
        finished 1.1.0 [0] work 0 ms: worked 2
        user message
        attempt 2.1
        text 0@0 "done"
        usage 64 + 2 of 93 + 3
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call work {}
        result ok: worked 2
        assistant: done
    "#]]);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn finished_calls_keep_their_results_beside_one_that_died() {
    let count = Arc::default();
    let script = r#"
        [[reply]]
        blocks = [{ call = "echo", input = { text = "kept" } }, { call = "work" }]
        [[reply]]
        expect = { tool_result_contains = ["kept", "outcome is unknown"] }
        text = "done"
    "#;
    let lives = Lives::new(script, [echo(), hanging_first(&count, 1)]);
    lives.born_and_killed(|event| matches!(event, Event::CallFinished { .. }));
    lives.check_resume(expect![[r#"
        attempt 2.1
        text 0@0 "done"
        usage 156 + 2 of 207 + 6
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call echo {"text":"kept"}
        assistant: call work {}
        result ok: kept
        result error: The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.
        assistant: done
    "#]]);
}

#[test]
fn an_answer_that_was_cut_by_death_is_asked_for_again() {
    let script = r#"
        [[reply]]
        text = "half of the"
        stall = {}
        [[reply]]
        expect = { messages_count = 1 }
        text = "the whole answer"
    "#;
    let lives = Lives::new(script, []);
    lives.born_and_killed(is_text);
    lives.check_resume(expect![[r#"
        attempt 1.2
        text 0@0 "the whole answer"
        usage 6 + 5 of 6 + 5
        assistant message
        end of turn 1: Done "the whole answer"
        ---
        user: hi
        assistant: the whole answer
    "#]]);
}

#[test]
fn an_open_question_is_asked_again_under_its_id() {
    let count = Arc::default();
    let mut lives = Lives::new(WORK, [hanging_first(&count, 0).writes("/space/a")]);
    lives.parts.settings.policy.mode = Mode::Ask;
    lives.parts.settings.policy.interactive = true;
    lives.born_and_killed(|event| matches!(event, Event::PermissionRequested(_)));
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let (view, _) = session.subscribe();
        let asked: Vec<String> = view.permissions.iter().map(|o| o.id.to_string()).collect();
        assert_eq!(asked, ["1.1.0"]);
        // A decision is taken before anybody resumes; nothing runs until then.
        let decision = heeler_core::Decision::Once;
        session.decide(view.permissions[0].id, decision, "window").await.unwrap();
        settled().await;
        assert_eq!(count.load(Ordering::SeqCst), 0);
        assert_eq!(session.resume().await, TurnOutcome::Done);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        session.close().await;
    });
}

#[test]
fn an_approver_is_asked_again() {
    let count = Arc::default();
    let mut lives = Lives::new(WORK, [hanging_first(&count, 0).writes("/space/a")]);
    lives.parts.settings.policy.mode = Mode::Ask;
    lives.parts.settings.policy.interactive = true;
    lives.born_and_killed(|event| matches!(event, Event::PermissionRequested(_)));
    lives.parts.approvers = vec![Arc::new(heeler_core::AllowAll)];
    lives.check_resume(expect![[r#"
        decided 1.1.0 by allow-all: Once
        started 1.1.0 [0] work {}
        finished 1.1.0 [0] work 0 ms: worked 1
        user message
        attempt 2.1
        text 0@0 "done"
        usage 64 + 2 of 93 + 3
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call work {}
        result ok: worked 1
        assistant: done
    "#]]);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_wait_before_the_next_attempt_goes_on() {
    let script = r#"
        [[reply]]
        error = { status = 429, message = "slow down", retry_after = 300 }
        [[reply]]
        text = "done"
    "#;
    let mut lives = Lives::new(script, []);
    let clock = VirtualClock::new(0);
    lives.parts.clock = Arc::new(clock.clone());
    lives.born_and_killed(|event| matches!(event, Event::Retry { .. }));
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let turn = session.resume();
        clock.advance(299_000);
        settled().await;
        assert_eq!(lives.model.requests().len(), 1, "asked again too early");
        clock.advance(2_000);
        assert_eq!(turn.await, TurnOutcome::Done);
        session.close().await;
    });
}

#[test]
fn a_clock_that_was_set_back_makes_nobody_wait() {
    let script = r#"
        [[reply]]
        error = { status = 429, message = "slow down", retry_after = 300 }
        [[reply]]
        blocks = [{ call = "work" }]
    "#;
    let runs = Arc::default();
    let mut lives = Lives::new(script, [hanging_first(&runs, 1)]);
    lives.parts.settings.limits.wall_millis = 60_000;
    let clock = VirtualClock::new(1_000_000_000);
    lives.parts.clock = Arc::new(clock);
    lives.born_and_killed(|event| matches!(event, Event::Retry { .. }));
    let clock = VirtualClock::new(0);
    lives.parts.clock = Arc::new(clock.clone());
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let turn = session.resume();
        settled().await;
        assert_eq!(lives.model.requests().len(), 2, "it waits");
        clock.advance(59_000);
        settled().await;
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        // Its time is over when it says so, but for the moment that a call has to end by itself.
        clock.advance(2_000);
        settled().await;
        clock.advance(1_000);
        let outcome = turn.await;
        assert!(matches!(outcome, TurnOutcome::Limit { .. }), "{outcome:?}");
        session.close().await;
    });
}

#[test]
fn three_deaths_in_one_request_end_the_turn() {
    let script = r#"
        [[reply]]
        text = "deadly"
        stall = {}
        repeat = 3
    "#;
    let lives = Lives::new(script, []);
    lives.born_and_killed(is_text);
    lives.resumed_and_killed(is_text);
    lives.resumed_and_killed(is_text);
    lives.check_resume(expect![[r#"
        end of turn 1: Failed { message: "the program died 3 times while asking the model; not tried again. Look at what that step needs (memory, disk, a crashing command), then continue the session" } ""
        ---
        user: hi
    "#]]);
}

#[test]
fn three_deaths_in_one_call_end_the_turn() {
    let count = Arc::default();
    let lives = Lives::new(WORK, [hanging_first(&count, 3).replay_safe()]);
    lives.born_and_killed(is_started);
    lives.resumed_and_killed(is_started);
    lives.resumed_and_killed(is_started);
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let outcome = session.resume().await;
        let TurnOutcome::Failed { message } = &outcome else { panic!("{outcome:?}") };
        assert!(message.contains("died 3 times while running a tool call"), "{message}");
        assert_eq!(count.load(Ordering::SeqCst), 3);
        // The history is one the next turn can continue.
        assert_eq!(session.turn(Input::text("go on")).await, TurnOutcome::Done);
        assert_eq!(lives.model.mismatches(), []);
        session.close().await;
    });
}

#[test]
fn a_compaction_that_died_is_done_again() {
    let script = r#"
        [[reply]]
        text = "one"
        [[reply]]
        for = "summary"
        text = "never"
        stall = {}
        [[reply]]
        for = "summary"
        text = "The user said hi."
        [[reply]]
        text = "two"
    "#;
    let mut lives = Lives::new(script, []);
    lives.parts.settings.compaction.keep_tail = 1;
    paused().block_on(async {
        let session = Session::create_with_id(lives.parts.clone(), id(), "/space").await.unwrap();
        assert_eq!(session.turn(Input::text("hi")).await, TurnOutcome::Done);
        let mut watcher = Watcher::new(&session);
        let compacting = session.clone();
        tokio::spawn(async move { compacting.compact(None).await });
        watcher.until(|event| matches!(event, Event::CompactionStarted { .. })).await;
        settled().await;
    });
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        assert_eq!(session.turn(Input::text("go on")).await, TurnOutcome::Done);
        let state = session.state().await.unwrap();
        let text = transcript(state.history.messages().iter().map(Arc::as_ref));
        assert!(text.contains("The user said hi."), "{text}");
        assert_eq!(lives.model.mismatches(), []);
        session.close().await;
    });
}

#[test]
fn a_new_input_first_finishes_what_is_pending() {
    let count = Arc::default();
    let script = r#"
        [[reply]]
        blocks = [{ call = "work" }]
        [[reply]]
        expect = { tool_result_contains = "unknown" }
        text = "done"
        [[reply]]
        expect = { last_user_contains = "go on" }
        text = "more"
    "#;
    let lives = Lives::new(script, [hanging_first(&count, 1)]);
    lives.born_and_killed(is_started);
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let mut watcher = Watcher::new(&session);
        assert_eq!(session.turn(Input::text("go on")).await, TurnOutcome::Done);
        watcher.drain();
        assert_eq!(watcher.endings(), [(1, TurnOutcome::Done), (2, TurnOutcome::Done)]);
        session.close().await;
    });
}

#[test]
fn opening_and_closing_leaves_what_is_pending() {
    let count = Arc::default();
    let lives = Lives::new(WORK, [hanging_first(&count, 1)]);
    lives.born_and_killed(is_started);
    virtually(async {
        for _ in 0..5 {
            let session = Session::open(lives.parts.clone(), id()).await.unwrap();
            settled().await;
            assert_eq!(session.state().await.unwrap().turn.map(|turn| turn.number), Some(1));
            session.close().await;
        }
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        assert_eq!(session.resume().await, TurnOutcome::Done);
        session.close().await;
    });
}

#[test]
fn a_turn_that_nobody_resumed_in_time_asks_nothing_more() {
    let script = r#"
        [[reply]]
        text = "half of the"
        stall = {}
        [[reply]]
        text = "too late"
    "#;
    let mut lives = Lives::new(script, []);
    lives.parts.settings.limits.wall_millis = 100_000;
    lives.born_and_killed(is_text);
    virtually(async {
        let session = Session::open(lives.parts.clone(), id()).await.unwrap();
        let clock = Arc::clone(&lives.parts.clock);
        for _ in 0..3 {
            clock.sleep_until(clock.now().plus(50_000)).await;
        }
        let mut watcher = Watcher::new(&session);
        let turn = session.resume().await;
        assert_eq!(turn, TurnOutcome::Limit { limit: heeler_core::LimitKind::Wall });
        watcher.drain();
        assert_eq!(watcher.lines, [r#"end of turn 1: Limit { limit: Wall } """#]);
        session.close().await;
    });
}

/// A hook that denies calls of `guarded`, except that the first process dies while it is asked.
fn guarding(lives: &mut Lives, hangs: bool) {
    let asked = AtomicUsize::new(0);
    lives.parts.hooks = Some(hook(HookEvent::PreToolUse, move |moment| {
        let is_guarded = moment.subject() == "guarded";
        let hangs = hangs && asked.fetch_add(usize::from(is_guarded), Ordering::SeqCst) == 0;
        async move {
            if is_guarded && hangs {
                std::future::pending::<()>().await;
            }
            if is_guarded { denies() } else { nothing() }
        }
    }));
}

/// Counts its runs, of which there shall be none.
fn guarded_tool(count: &Arc<AtomicUsize>) -> TestTool {
    let count = Arc::clone(count);
    tool("guarded", move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::text("ran")) }
    })
}

const GUARDED: &str = r#"
    [[reply]]
    blocks = [{ call = "guarded" }, { call = "work" }]
    [[reply]]
    text = "done"
"#;

#[test]
fn what_a_hook_denied_stays_denied_when_the_hook_is_gone() {
    let (count, guarded) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut lives =
        Lives::new(GUARDED, [guarded_tool(&guarded), hanging_first(&count, 1).replay_safe()]);
    guarding(&mut lives, false);
    lives.born_and_killed(is_started);
    lives.parts.hooks = None;
    lives.check_resume(expect![[r#"
        started 1.1.1 [1] work {}
        finished 1.1.1 [1] work 0 ms: worked 2
        user message
        attempt 2.1
        text 0@0 "done"
        usage 139 + 2 of 192 + 3
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call guarded {}
        assistant: call work {}
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
        result ok: worked 2
        assistant: done
    "#]]);
    assert_eq!(guarded.load(Ordering::SeqCst), 0);
}

#[test]
fn a_hook_that_died_with_its_process_is_asked_again() {
    let (count, guarded) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut lives = Lives::new(GUARDED, [guarded_tool(&guarded), hanging_first(&count, 0)]);
    guarding(&mut lives, true);
    lives.born_and_killed(|event| matches!(event, Event::HookStarted { .. }));
    lives.check_resume(expect![[r#"
        hook PreToolUse `guard` of 1.1.0
        hook PreToolUse `guard` after 0 ms: Denied
        failed 1.1.0 [0] guarded 0 ms: Not allowed: the hook `guard` denies it: not on Fridays.
        started 1.1.1 [1] work {}
        finished 1.1.1 [1] work 0 ms: worked 1
        user message
        attempt 2.1
        text 0@0 "done"
        usage 139 + 2 of 192 + 3
        assistant message
        end of turn 1: Done "done"
        ---
        user: hi
        assistant: call guarded {}
        assistant: call work {}
        result error: Not allowed: the hook `guard` denies it: not on Fridays.
        result ok: worked 1
        assistant: done
    "#]]);
    assert_eq!(guarded.load(Ordering::SeqCst), 0);
}
