//! A call that began early is the one the machine starts: once, with all that holds for any call.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{CallId, Event, Input, SessionId, Spill, SteeringId, TurnOutcome};
use heeler_engine::{Parts, Toolset};

use super::looks::{Notes, elapsed, looks, script, slowly, unfinished};
use crate::common::{Case, TestTool, settled, shown, stage_with, virtually};

/// What looks did, and when the turn was over.
fn played(script: &str, tool: impl FnOnce(TestTool) -> TestTool) -> String {
    let notes = Notes::default();
    let look = tool(notes.look());
    virtually(async {
        let stage = stage_with(script, [look], slowly).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let text = format!("{} end@{}", notes.text(), elapsed(&stage.clock));
        stage.close().await;
        text
    })
}

#[test]
fn the_time_of_the_rest_of_the_answer_is_won_and_each_call_runs_once() {
    let script = script(&looks(&[250, 50, 150]));
    let early = played(&script, |look| look);
    assert_eq!(early, "+0@0 +1@100 -1@150 +2@200 -0@250 -2@350 end@450");
    // The same tool, when it does not say that it only looks.
    let late = played(&script, TestTool::undeclared);
    assert_eq!(late, "+0@300 +1@300 +2@300 -1@350 -2@450 -0@550 end@650");
}

/// What watchers and the model are told of calls is the same, whether or not they began early.
fn check_same(blocks: &str, tune: fn(&mut Parts), expected: Expect) {
    let [early, late] = [TestTool::read_only, TestTool::undeclared].map(|declare| {
        let look = declare(Notes::default().look());
        shown(Case::new(&script(blocks)).tools([look]).calls_only().with(tune).with(slowly))
    });
    assert_eq!(early, late);
    expected.assert_eq(&early);
}

#[test]
fn people_see_a_call_begin_when_it_is_planned_and_how_long_it_ran() {
    check_same(
        &looks(&[250]),
        |_| (),
        expect![[r#"
            started 1.1.0 [0] look {"n":0,"millis":250}
            progress 1.1.0 half of 0
            finished 1.1.0 [0] look 250 ms: out 0
            end of turn 1: Done "done"
            result ok: out 0
        "#]],
    );
}

#[test]
fn failing_crashing_and_hanging_are_answered_as_ever() {
    let how = |how: &str, expected: Expect| {
        check_same(
            &format!(r#"{{ call = "look", input = {{ how = "{how}", millis = 10 }} }}"#),
            |parts| parts.call_timeout_millis = 2_000,
            expected,
        );
    };
    how(
        "fail",
        expect![[r#"
            started 1.1.0 [0] look {"how":"fail","millis":10}
            progress 1.1.0 half of
            failed 1.1.0 [0] look 10 ms: nothing there
            end of turn 1: Done "done"
            result error: nothing there
        "#]],
    );
    how(
        "crash",
        expect![[r#"
            started 1.1.0 [0] look {"how":"crash","millis":10}
            progress 1.1.0 half of
            failed 1.1.0 [0] look 10 ms: the tool look crashed: broken glasses
            end of turn 1: Done "done"
            result error: the tool look crashed: broken glasses
        "#]],
    );
    how(
        "hang",
        expect![[r#"
            started 1.1.0 [0] look {"how":"hang","millis":10}
            progress 1.1.0 half of
            failed 1.1.0 [0] look 2250 ms: Stopped after 2s without finishing. The tool ignored being cancelled and was ab…
            end of turn 1: Done "done"
            result error: Stopped after 2s without finishing. The tool ignored being cancelled and was abandoned; it may still change things.
        "#]],
    );
}

#[test]
fn what_a_call_touches_is_asked_once() {
    for declare in [TestTool::read_only, TestTool::undeclared] {
        let asked = Arc::new(AtomicUsize::new(0));
        played(&script(&looks(&[0, 0])), |look| declare(look).counts_facts(&asked));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn steering_disturbs_nothing() {
    let notes = Notes::default();
    virtually(async {
        let script = script(&looks(&[150, 0]));
        let mut stage = stage_with(&script, [notes.look()], slowly).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::ToolInputDelta { block: 1, .. })).await;
        assert_eq!(notes.text(), "+0@0");
        stage.session.steer(SteeringId("s".into()), Input::text("and")).await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.close().await;
    });
    assert_eq!(notes.text(), "+0@0 +1@100 -1@100 -0@150");
}

#[test]
fn tools_that_are_replaced_leave_the_answer_its_own() {
    let notes = Notes::default();
    virtually(async {
        let mut stage = stage_with(&script(&looks(&[150, 0])), [notes.look()], slowly).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::ToolInputDelta { block: 1, .. })).await;
        stage.session.set_tools(Toolset::default()).await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.close().await;
    });
    assert_eq!(notes.text(), "+0@0 +1@100 -1@100 -0@150");
}

/// Counts what is spilled.
struct Spilled(Arc<AtomicUsize>);

impl Spill for Spilled {
    fn write(&self, _: &SessionId, _: CallId, _: &str) -> std::io::Result<PathBuf> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok("/spill/1".into())
    }

    fn folder(&self, _: &SessionId) -> PathBuf {
        "/spill".into()
    }
}

/// After the whole answer, or one that falls silent: how often something was spilled, and what
/// was told of progress.
fn told(script: &str) -> (usize, Vec<String>) {
    let spilled = Arc::new(AtomicUsize::new(0));
    let notes = Notes::default();
    let spill = Arc::new(Spilled(Arc::clone(&spilled)));
    let tune = |parts: &mut Parts| {
        slowly(parts);
        parts.result_chars_max = 10;
        parts.spill = Some(spill);
    };
    let lines = virtually(async {
        let stage = stage_with(script, [notes.look()], tune).await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        drop(turn);
        stage.close().await
    });
    assert_eq!(notes.begun(0), 1);
    let of_calls = ["started", "progress", "finished"];
    let is_of_calls = |line: &String| of_calls.iter().any(|word| line.starts_with(word));
    let first_words = |line: String| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    (
        spilled.load(Ordering::SeqCst),
        lines.into_iter().filter(is_of_calls).map(first_words).collect(),
    )
}

#[test]
fn nothing_is_spilled_or_told_before_the_call_is_started() {
    let long = r#"{ call = "look", input = { n = 0, how = "long" } }"#;
    assert_eq!(told(&unfinished(long)), (0, vec![]));
    let lines = ["started 1.1.0", "progress 1.1.0", "finished 1.1.0"].map(str::to_owned);
    assert_eq!(told(&script(long)), (1, lines.into()));
}
