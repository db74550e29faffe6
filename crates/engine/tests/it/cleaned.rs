//! What calls left whose process died: their tools clear it away before the session goes on.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{Event, Input, Mode, RawJson, Tool, ToolContext, ToolError, ToolOutput};
use heeler_engine::{Session, ToolRegistry, Toolset};
use heeler_tools::Batch;

use crate::common::{TestTool, Watcher, echo, paused, settled, tool, toolset, virtually};
use crate::crash::{Lives, id, is_started};

/// What tools were asked to clear away after, in order.
#[derive(Clone, Default)]
struct Cleaned(Arc<Mutex<Vec<String>>>);

impl Cleaned {
    fn note(&self, name: &str, context: &ToolContext, input: &RawJson) {
        let ToolContext { session, call, workspace, .. } = context;
        let line = format!("{name} {} in {session} {} {call}", input.get(), workspace.display());
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A tool that never ends, and notes what it clears away after.
fn leaves(name: &'static str, cleaned: &Cleaned) -> TestTool {
    let cleaned = cleaned.clone();
    tool(name, |_, _| std::future::pending()).cleans_up(move |context, input| {
        cleaned.note(name, &context, &input);
        std::future::ready(Ok(()))
    })
}

fn replies(calls: &[&str]) -> String {
    let calls: Vec<String> = calls.iter().map(|call| format!("{{ call = {call} }}")).collect();
    let calls = calls.join(", ");
    format!("[[reply]]\nblocks = [{calls}]\n[[reply]]\ntext = \"done\"\n")
}

/// Opens the session and closes it again.
fn open(lives: &Lives) {
    virtually(async {
        Session::open(lives.parts.clone(), id()).await.unwrap().close().await;
    });
}

/// A process dies after the event; what the next one clears away, and what the one after that.
fn check(lives: &Lives, cleaned: &Cleaned, when: impl Fn(&Event) -> bool, expected: Expect) {
    lives.born_and_killed(when);
    assert!(cleaned.take().is_empty());
    open(lives);
    expected.assert_eq(&cleaned.take().join("\n"));
    open(lives);
    assert!(cleaned.take().is_empty(), "once its end is told nobody asks any more");
}

#[test]
fn every_call_that_was_cut_off_is_cleared_away_after_and_no_other() {
    let cleaned = Cleaned::default();
    let script = replies(&[
        r#""work", input = { n = 1 }"#,
        r#""echo", input = { text = "whole" }"#,
        r#""again", input = {}"#,
        r#""asks", input = {}"#,
        r#""work", input = { n = 2 }"#,
    ]);
    let whole = cleaned.clone();
    let tools = [
        leaves("work", &cleaned),
        leaves("again", &cleaned).replay_safe(),
        leaves("asks", &cleaned).writes("/space/a"),
        echo().cleans_up(move |context, input| {
            whole.note("echo", &context, &input);
            std::future::ready(Ok(()))
        }),
    ];
    let mut lives = Lives::new(&script, tools);
    lives.parts.settings.policy.mode = Mode::Ask;
    lives.parts.settings.policy.interactive = true;
    check(
        &lives,
        &cleaned,
        |event| matches!(event, Event::CallFinished { .. }),
        expect![[r#"
        work {"n":1} in s /space 1.1.0
        again {} in s /space 1.1.2
        work {"n":2} in s /space 1.1.4"#]],
    );
}

#[test]
fn it_comes_before_the_record_that_gives_the_calls_their_results_and_again_after_a_death() {
    let cleaned = Cleaned::default();
    let mut lives = Lives::new(&replies(&[r#""work""#]), []);
    let (store, noted) = (Arc::clone(&lives.parts.store), cleaned.clone());
    let work = tool("work", |_, _| std::future::pending()).cleans_up(move |_, _| {
        let (store, noted) = (Arc::clone(&store), noted.clone());
        async move {
            let journal = store.read(id()).await.unwrap();
            let last = format!("{:?}", journal.entries.last().unwrap().record);
            noted.0.lock().unwrap().push(last);
            std::future::pending().await
        }
    });
    lives.parts.tools = toolset([work]);
    lives.born_and_killed(is_started);
    for _ in 0..2 {
        paused().block_on(async {
            let opening = tokio::spawn(Session::open(lives.parts.clone(), id()));
            while cleaned.0.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            assert!(!opening.is_finished());
        });
        let written = cleaned.take();
        assert!(matches!(&written[..], [last] if last.starts_with("CallStarted")), "{written:?}");
    }
    // Nobody waits for ever.
    open(&lives);
    assert_eq!(cleaned.take().len(), 1);
}

#[test]
fn a_session_opens_whatever_clearing_away_comes_to() {
    let cleaned = Cleaned::default();
    let script = replies(&[r#""panics""#, r#""fails""#, r#""early""#, r#""hangs""#, r#""works""#]);
    let never = |_, _| std::future::pending();
    let tools = [
        tool("panics", never).cleans_up(|_, _| async { panic!("no clean-up today") }),
        tool("fails", never).cleans_up(|_, _| async { Err(ToolError::for_model("no")) }),
        tool("early", never).cleans_up(|_, _| -> std::future::Ready<_> { panic!("not even") }),
        tool("hangs", never).cleans_up(|_, _| std::future::pending()),
        leaves("works", &cleaned),
    ];
    let lives = Lives::new(&script, tools);
    check(&lives, &cleaned, is_started, expect!["works {} in s /space 1.1.4"]);
}

#[test]
fn what_was_cancelled_in_the_middle_counts_until_the_next_process() {
    let cleaned = Cleaned::default();
    let lives = Lives::new(&replies(&[r#""work""#]), [leaves("work", &cleaned)]);
    paused().block_on(async {
        let session = Session::create_with_id(lives.parts.clone(), id(), "/space").await.unwrap();
        let mut watcher = Watcher::new(&session);
        let turn = session.turn(Input::text("hi"));
        watcher.until(is_started).await;
        session.cancel().await;
        turn.await;
        settled().await;
    });
    open(&lives);
    expect!["work {} in s /space 1.1.0"].assert_eq(&cleaned.take().join("\n"));
    open(&lives);
    assert!(cleaned.take().is_empty());
}

#[test]
fn calls_within_a_call_count_and_tools_that_the_model_is_not_told_of() {
    let cleaned = Cleaned::default();
    let calls = r#"[{ tool = "look", input = { n = 1 } }, { tool = "none", input = {} }]"#;
    let script = replies(&[&format!(r#""batch", input = {{ calls = {calls} }}"#), r#""hidden""#]);
    let mut lives = Lives::new(&script, []);
    let batch = Arc::new(Batch) as Arc<dyn Tool>;
    let look = Arc::new(leaves("look", &cleaned).read_only()) as Arc<dyn Tool>;
    let hidden = Arc::new(leaves("hidden", &cleaned)) as Arc<dyn Tool>;
    let tools = [&batch, &look, &hidden].map(Arc::clone);
    lives.parts.tools = Toolset::new(tools).unwrap();
    let both = |event: &Event| matches!(event, Event::CallStarted { index: 1, .. });
    lives.born_and_killed(both);
    let registry = ToolRegistry::new();
    for tool in [batch, look, hidden] {
        registry.register_hidden(tool);
    }
    lives.parts.tools = registry.toolset();
    lives.parts.tool_source = Some(registry);
    open(&lives);
    expect![[r#"
        look {"n":1} in s /space 1.1.0
        hidden {} in s /space 1.1.1"#]]
    .assert_eq(&cleaned.take().join("\n"));
}

#[test]
fn what_ended_is_not_asked_after() {
    let cleaned = Cleaned::default();
    let noted = cleaned.clone();
    let done = tool("done", |_, _| async { Ok(ToolOutput::text("done")) });
    let done = done.cleans_up(move |context, input| {
        noted.note("done", &context, &input);
        std::future::ready(Ok(()))
    });
    let lives = Lives::new(&replies(&[r#""done""#]), [done]);
    check(&lives, &cleaned, |event| matches!(event, Event::TurnFinished { .. }), expect![""]);
}
