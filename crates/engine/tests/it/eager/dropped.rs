//! What becomes of calls that began early and that the machine does not start: they end, and
//! nothing was written or shown of them.

use std::sync::Arc;

use heeler_core::{
    Block, Event, EventStream, Input, ModelEvent, ModelRequest, Provider, RawJson, Rule,
    RuleEffect, Settings, TurnOutcome,
};
use heeler_engine::Parts;
use heeler_store::FailingStore;

use super::looks::{Notes, looks, script, slowly, unfinished};
use crate::common::{Stage, settled, stage_with, virtually};

/// A turn whose answer falls silent after two looks of which the first hangs and the second is
/// over; then `end` happens. Neither was ever shown, and nothing of them is left.
fn check(end: impl AsyncFnOnce(&Stage, &Notes), expected: &str) {
    let notes = Notes::default();
    let hang = r#"{ call = "look", input = { n = 0, how = "hang" } }"#;
    let over = r#"{ call = "look", input = { n = 1 } }"#;
    let lines = virtually(async {
        let script = unfinished(&format!("{hang}, {over}"));
        let stage = stage_with(&script, [notes.look()], slowly).await;
        let turn = stage.session.turn(Input::text("hi"));
        settled().await;
        assert_eq!(notes.text(), "+0@0 +1@100 -1@100");
        end(&stage, &notes).await;
        drop(turn);
        settled().await;
        stage.close().await
    });
    assert_eq!(notes.text(), expected);
    let of_calls = |line: &&String| {
        ["started", "finished", "failed", "progress"].iter().any(|word| line.starts_with(word))
    };
    let shown: Vec<&String> = lines.iter().filter(of_calls).collect();
    // The interrupted reply keeps its whole calls, answered as cancelled without having started.
    assert!(shown.iter().all(|line| line.starts_with("failed") && line.contains(" 0 ms")));
}

const STOPPED: &str = "+0@0 +1@100 -1@100 x0@200";

#[test]
fn a_turn_that_is_stopped_stops_them() {
    check(async |stage, _| stage.session.cancel().await, STOPPED);
    // The turn is dropped, and the session closed after it.
    check(async |_, _| (), STOPPED);
    check(async |stage, _| stage.session.clone().close().await, STOPPED);
}

#[test]
fn a_policy_that_changes_stops_them_at_once() {
    check(
        async |stage, notes| {
            deny_looks(stage, |_| ()).await;
            assert_eq!(notes.text(), STOPPED, "while the answer still streams");
            let state = stage.session.state().await.unwrap();
            assert!(state.turn.is_some(), "the answer goes on streaming");
        },
        STOPPED,
    );
}

/// From here on no look is allowed, and what else `change` says.
async fn deny_looks(stage: &Stage, change: impl FnOnce(&mut Settings)) {
    let mut settings: Settings = stage.parts.settings.clone();
    let rule = Rule::parse("look", RuleEffect::Deny, "test").unwrap();
    settings.policy.rules.push(rule);
    change(&mut settings);
    stage.session.set_settings(settings).await.unwrap();
    settled().await;
}

#[test]
fn a_call_that_waits_for_its_place_and_is_denied_after_all_is_stopped() {
    let notes = Notes::default();
    let hang = r#"{ call = "look", input = { n = N, how = "hang" } }"#;
    let hangs = ["0", "1"].map(|n| hang.replace('N', n)).join(", ");
    virtually(async {
        let script = script(&format!("{hangs}, {{ text = \"I look\" }}"));
        let mut stage = stage_with(&script, [notes.look()], slowly).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::TextDelta { .. })).await;
        let mut settings = stage.parts.settings.clone();
        settings.limits.calls_at_once = 1;
        stage.session.set_settings(settings).await.unwrap();
        settled().await;
        assert_eq!(notes.text(), "+0@0 +1@100");
        deny_looks(&stage, |settings| settings.limits.calls_at_once = 1).await;
        // The one that was started goes on, as any would.
        assert_eq!(notes.text(), "+0@0 +1@100 x1@300");
        drop(turn);
        stage.close().await;
    });
}

#[test]
fn a_failed_attempt_takes_what_it_began_with_it() {
    let notes = Notes::default();
    let looks = looks(&[0, 30_000]);
    let script = format!("[[reply]]\nblocks = [{looks}]\ncut = {{}}\n") + &script(&looks);
    virtually(async {
        let stage = stage_with(&script, [notes.look()], slowly).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.close().await;
    });
    // The one that was over is not kept for the next attempt either.
    assert_eq!(notes.text(), "+0@0 -0@0 +1@100 x1@200 +0@700 -0@700 +1@800 -1@30800");
}

#[test]
fn a_journal_that_cannot_be_written_stops_them() {
    let notes = Notes::default();
    virtually(async {
        let tune = |parts: &mut Parts| {
            slowly(parts);
            let store = Arc::new(FailingStore::new(Arc::clone(&parts.store)));
            // Opened; the input, the epoch and the model's start: what fails is its answer.
            store.fail_append(3);
            parts.store = store;
        };
        let stage = stage_with(&script(&looks(&[0, 30_000])), [notes.look()], tune).await;
        let outcome = stage.say("hi").await;
        assert!(matches!(outcome, TurnOutcome::Failed { .. }), "{outcome:?}");
        stage.close().await;
    });
    assert_eq!(notes.text(), "+0@0 -0@0 +1@100 x1@200");
}

#[test]
fn a_refusal_takes_its_calls_back() {
    let notes = Notes::default();
    let script = format!("[[reply]]\nblocks = [{}]\nstop = \"refusal\"\n", looks(&[30_000]));
    virtually(async {
        let stage = stage_with(&script, [notes.look()], slowly).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Refused);
        stage.close().await;
    });
    assert_eq!(notes.text(), "+0@0 x0@100");
}

/// The whole reply says other than its stream did: the second of its calls has the number 7.
struct Fickle(Arc<dyn Provider>);

impl Provider for Fickle {
    fn stream(&self, request: ModelRequest) -> EventStream {
        Box::pin(futures::StreamExt::map(self.0.stream(request), |step| match step {
            Ok(ModelEvent::Finished(mut reply)) => {
                if let Some(Block::ToolUse(call)) = reply.blocks.get_mut(1) {
                    Arc::make_mut(call).input = RawJson::parse(r#"{"n":7}"#).unwrap();
                }
                Ok(ModelEvent::Finished(reply))
            }
            step => step,
        }))
    }
}

#[test]
fn a_call_that_changed_and_all_after_it_run_anew() {
    let notes = Notes::default();
    let tune = |parts: &mut Parts| {
        slowly(parts);
        parts.provider = Arc::new(Fickle(Arc::clone(&parts.provider)));
    };
    virtually(async {
        let stage = stage_with(&script(&looks(&[0, 0, 0])), [notes.look()], tune).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.parts.clock.now().0, 1_000_400);
        stage.close().await;
    });
    let expected = "+0@0 -0@0 +1@100 -1@100 +2@200 -2@200 +7@300 -7@300 +2@300 -2@300";
    assert_eq!(notes.text(), expected);
}
