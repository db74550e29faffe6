//! Calls of one response side by side: what overlaps, what waits, and whose result comes first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{Event, Input, ToolContext, ToolError, ToolOutput, TurnOutcome};
use tokio::sync::{Barrier, Notify};

use crate::common::{
    Case, Stage, TestTool, check, echo, failing, field, hanging, settled, shown, stage, stage_with,
    tool, virtually,
};

/// A reply of `count` calls of `name`, each told its number, and a last word.
fn calls(name: &str, count: usize) -> String {
    let blocks: Vec<String> =
        (0..count).map(|n| format!(r#"{{ call = "{name}", input = {{ n = {n} }} }}"#)).collect();
    format!("[[reply]]\nblocks = [{}]\n[[reply]]\ntext = \"done\"\n", blocks.join(", "))
}

/// Ends once `count` calls run at the same time.
fn meeting(count: usize) -> TestTool {
    let barrier = Arc::new(Barrier::new(count));
    tool("meet", move |_, input| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(ToolOutput::text(format!("met {}", field(&input, "n"))))
        }
    })
}

/// Each call waits until it is let go by its number, and leaves a word when it begins and ends.
struct Gates {
    gates: Vec<Arc<Notify>>,
    words: Arc<Mutex<Vec<String>>>,
}

impl Gates {
    fn new(count: usize) -> Self {
        let gates = std::iter::repeat_with(|| Arc::new(Notify::new())).take(count).collect();
        Self { gates, words: Arc::default() }
    }

    fn tool(&self) -> TestTool {
        let (gates, words) = (self.gates.clone(), Arc::clone(&self.words));
        tool("gate", move |_, input| {
            let n: usize = field(&input, "n").parse().unwrap();
            let (gate, words) = (Arc::clone(&gates[n]), Arc::clone(&words));
            async move {
                words.lock().unwrap().push(format!("+{n}"));
                gate.notified().await;
                words.lock().unwrap().push(format!("-{n}"));
                Ok(ToolOutput::text(format!("out {n}")))
            }
        })
    }

    /// Lets a call go and waits until everything that follows from it has happened.
    async fn open(&self, n: usize) {
        self.gates[n].notify_one();
        settled().await;
    }

    fn words(&self) -> String {
        self.words.lock().unwrap().join(" ")
    }
}

async fn begin(stage: &Stage) -> heeler_engine::Turn {
    let turn = stage.session.turn(Input::text("hi"));
    settled().await;
    turn
}

#[test]
fn calls_of_one_response_overlap() {
    virtually(async {
        let stage = stage(&calls("meet", 3), [meeting(3)]).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done, "they waited for each other");
        assert_eq!(results(&stage).await, "result ok: met 0\nresult ok: met 1\nresult ok: met 2\n");
        stage.close().await;
    });
}

/// The results of the first batch, as the model is told of them.
async fn results(stage: &Stage) -> String {
    let state = stage.session.state().await.unwrap();
    heeler_testkit::transcript(state.history.messages().get(2).map(Arc::as_ref))
}

#[test]
fn results_are_in_call_order_whatever_the_order_of_ending() {
    virtually(async {
        let gates = Gates::new(3);
        let stage = stage(&calls("gate", 3), [gates.tool()]).await;
        let turn = begin(&stage).await;
        for n in [2, 0, 1] {
            gates.open(n).await;
        }
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(gates.words(), "+0 +1 +2 -2 -0 -1");
        assert_eq!(results(&stage).await, "result ok: out 0\nresult ok: out 1\nresult ok: out 2\n");
        stage.close().await;
    });
}

#[test]
fn calls_that_share_a_resource_run_in_call_order() {
    virtually(async {
        let gates = Gates::new(3);
        let stage = stage(&calls("gate", 3), [gates.tool().locks("file:a")]).await;
        let turn = begin(&stage).await;
        // Everybody may go, but only the first one has begun.
        for n in [2, 1, 0] {
            gates.open(n).await;
        }
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(gates.words(), "+0 -0 +1 -1 +2 -2");
        stage.close().await;
    });
}

#[test]
fn a_call_past_the_limit_waits_for_a_free_place() {
    virtually(async {
        let gates = Gates::new(33);
        let stage = stage(&calls("gate", 33), [gates.tool()]).await;
        let turn = begin(&stage).await;
        assert_eq!(gates.words().split(' ').count(), 32);
        assert!(!gates.words().contains("+32"));
        gates.open(7).await;
        assert!(gates.words().ends_with("-7 +32"), "{}", gates.words());
        for n in (0..33).filter(|n| *n != 7) {
            gates.open(n).await;
        }
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.close().await;
    });
}

#[test]
fn a_failing_call_stops_no_other() {
    let crash = tool("crash", |_, _| async { panic!("gone") });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "crash" }, { call = "fail", input = { text = "no" } },
                      { call = "echo", input = { text = "yes" } }]
            [[reply]]
            expect = { tool_result_is_error = [true, true, false] }
            text = "done"
            "#,
        )
        .calls_only()
        .tools([crash, failing(), echo()]),
        expect![[r#"
            started 1.1.0 [0] crash {}
            started 1.1.1 [1] fail {"text":"no"}
            started 1.1.2 [2] echo {"text":"yes"}
            failed 1.1.0 [0] crash 0 ms: the tool crash crashed: gone
            failed 1.1.1 [1] fail 0 ms: no
            finished 1.1.2 [2] echo 0 ms: yes
            end of turn 1: Done "done"
            result error: the tool crash crashed: gone
            result error: no
            result ok: yes
        "#]],
    );
}

#[test]
fn a_call_that_hangs_is_cancelled_and_then_abandoned_by_the_clock_it_was_given() {
    let alive = Arc::new(AtomicUsize::new(0));
    check(
        Case::new(&calls("hang", 1)).calls_only().tools([hanging(&alive).timeout_millis(2_000)]),
        expect![[r#"
            started 1.1.0 [0] hang {"n":0}
            failed 1.1.0 [0] hang 2250 ms: Stopped after 2s without finishing. The tool ignored being cancelled and was ab…
            end of turn 1: Done "done"
            result error: Stopped after 2s without finishing. The tool ignored being cancelled and was abandoned; it may still change things.
        "#]],
    );
    assert_eq!(alive.load(Ordering::SeqCst), 0, "the abandoned call still runs");
}

#[test]
fn a_call_that_listens_gives_what_it_has_when_its_time_is_over() {
    let listening = tool("listen", |context: ToolContext, _| async move {
        context.cancel.cancelled().await;
        Ok(ToolOutput::text("the first half"))
    });
    check(
        Case::new(&calls("listen", 1)).calls_only().tools([listening.timeout_millis(1_500)]),
        expect![[r#"
            started 1.1.0 [0] listen {"n":0}
            failed 1.1.0 [0] listen 1500 ms: the first half\nStopped after 1.5s without finishing.
            end of turn 1: Done "done"
            result error: the first half \nStopped after 1.5s without finishing.
        "#]],
    );
    let ending = tool("end", |context: ToolContext, _| async move {
        context.cancel.cancelled().await;
        Err(ToolError::for_model("interrupted"))
    });
    check(
        Case::new(&calls("end", 1))
            .calls_only()
            .tools([ending])
            .with(|parts| parts.call_timeout_millis = 3_000),
        expect![[r#"
            started 1.1.0 [0] end {"n":0}
            failed 1.1.0 [0] end 3000 ms: interrupted\nStopped after 3s without finishing.
            end of turn 1: Done "done"
            result error: interrupted \nStopped after 3s without finishing.
        "#]],
    );
}

#[test]
fn a_call_without_a_limit_may_take_for_ever() {
    virtually(async {
        let gates = Gates::new(1);
        let tune = |parts: &mut heeler_engine::Parts| parts.call_timeout_millis = 0;
        let mut stage = stage_with(&calls("gate", 1), [gates.tool()], tune).await;
        let turn = begin(&stage).await;
        stage.clock.advance(1_000_000_000);
        settled().await;
        stage.watcher.drain();
        let is_over = |line: &String| line.starts_with("finished") || line.starts_with("failed");
        assert!(!stage.watcher.lines.iter().any(is_over), "{:?}", stage.watcher.lines);
        gates.open(0).await;
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.watcher.until(|event| matches!(event, Event::TurnFinished { .. })).await;
        stage.close().await;
    });
}

/// Edits of one reply are all made of what was read before it; `$F` stands for the file.
#[test]
fn edits_of_one_file_in_one_response_land_in_order_and_the_loser_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("a");
    let name = file.display().to_string();
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let edit = |old: &str, new: &str| {
        format!(
            r#"{{ call = "Edit", input = {{ file_path = "{name}", old_string = "{old}", new_string = "{new}" }} }}"#
        )
    };
    let script = format!(
        r#"
        [[reply]]
        blocks = [{{ call = "Read", input = {{ file_path = "{name}" }} }}]
        [[reply]]
        blocks = [{}, {}, {}]
        [[reply]]
        text = "done"
        "#,
        edit("one", "1"),
        edit("two", "2"),
        edit("one", "I"),
    );
    let case = Case::new(&script).calls_only().with(|parts| {
        parts.tools = heeler_engine::Toolset::new(heeler_tools::standard()).unwrap();
    });
    let shown = shown(case).replace(&name, "$F");
    expect![[r#"
        started 1.1.0 [0] Read: $F
        finished 1.1.0 [0] Read 0 ms:      1	one\n     2	two\n
        started 1.2.0 [0] Edit: $F
        finished 1.2.0 [0] Edit 0 ms: Edited $F:\n     1 -one\n     1 +1\n     2  two\n
        started 1.2.1 [1] Edit: $F
        finished 1.2.1 [1] Edit 0 ms: Edited $F:\n     1  1\n     2 -two\n     2 +2\n
        started 1.2.2 [2] Edit: $F
        failed 1.2.2 [2] Edit 0 ms: old_string was not found in $F; nothing in the file is much like…
        end of turn 1: Done "done"
        result ok:      1	one\n     2	two\n
        result ok: Edited $F:\n     1 -one\n     1 +1\n     2  two\n
        result ok: Edited $F:\n     1  1\n     2 -two\n     2 +2\n
        result error: old_string was not found in $F; nothing in the file is much like it, so Read the file again
    "#]].assert_eq(&shown);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n2\n");
}
