//! Sessions that are played again: from their records, and by another model.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Journal, JournalDamage, ModelSettings, PermissionReason, Record, SteeringId, ToolOutput,
    TurnOutcome,
};
use heeler_engine::{ReplayModel, Replayed, replay};
use heeler_providers::scripted::Scripted;
use heeler_script::Script;
use heeler_testkit::{SeededEntropy, VirtualClock};

use crate::common::{stage, tool, virtually};

const WORK: &str = r#"
    [[reply]]
    blocks = [{ text = "I look." }, { call = "look", input = { at = "a" } }, { call = "look", input = { at = "b" } }]
    [[reply]]
    error = { status = 529, type = "overloaded_error", message = "busy" }
    [[reply]]
    blocks = [{ call = "look", input = { at = "c" } }]
    [[reply]]
    text = "It is a."
    [[reply]]
    text = "Bye."
"#;

/// The journal of two turns.
async fn work() -> Journal {
    let stage = stage(WORK, [tool("look", |_, _| async { Ok(ToolOutput::text("seen")) })]).await;
    assert_eq!(stage.say("hi").await, TurnOutcome::Done);
    assert_eq!(stage.say("bye").await, TurnOutcome::Done);
    let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
    stage.close().await;
    journal
}

fn model(script: &str) -> (ReplayModel, Scripted) {
    let clock = Arc::new(VirtualClock::auto(1_000_000, u64::MAX));
    let script = format!("[script]\nconversations = \"many\"\n{script}");
    let scripted = Scripted::from_script(Script::parse(&script).unwrap(), clock.clone());
    let settings = ModelSettings { name: "script/other".into(), ..ModelSettings::default() };
    let model = ReplayModel::new(Arc::new(scripted.clone()), settings);
    (model.with_time(clock, Arc::new(SeededEntropy::new(1))), scripted)
}

/// What came of it, in a line, after a look at what was asked.
fn told(journal: &Journal, played: &Replayed) -> String {
    let Replayed { records, answers, reworded, .. } = played;
    let of = journal.entries.len();
    let parted = match &played.divergence {
        Some(divergence) => divergence.to_string(),
        None => "all the same".to_owned(),
    };
    format!("{records} of {of} records, {answers} answers, {reworded} in other words: {parted}")
}

#[test]
fn recorded_answers_come_out_as_they_are_from_anywhere() {
    virtually(async {
        let journal = work().await;
        let n = journal.entries.len() as u64;
        for from in 1..=n {
            let played = replay(&journal, from, None).await.unwrap();
            assert_eq!((played.records, played.divergence), (n - from + 1, None), "from {from}");
        }
    });
}

/// Asks a model that plays this script.
fn check(script: &str, expected: Expect) {
    virtually(async {
        let journal = work().await;
        let (model, scripted) = model(script);
        let played = replay(&journal, 1, Some(&model)).await.unwrap();
        assert_eq!(scripted.mismatches(), []);
        expected.assert_eq(&told(&journal, &played));
    });
}

#[test]
fn another_model_may_say_it_otherwise_and_must_do_the_same() {
    check(
        r#"
        [[reply]]
        blocks = [{ call = "look", input = { at = "a" } }, { call = "look", input = { at = "b" } }]
        [[reply]]
        blocks = [{ text = "Once more." }, { call = "look", input = { at = "c" } }]
        [[reply]]
        error = { status = 500, type = "api_error", message = "it passes" }
        [[reply]]
        text = "It is a, and nothing else."
        [[reply]]
        text = "Bye."
        "#,
        expect!["27 of 27 records, 4 answers, 3 in other words: all the same"],
    );
    check(
        r#"
        [[reply]]
        blocks = [{ call = "look", input = { at = "a" } }, { call = "look", input = { at = "d" } }]
        "#,
        expect![[
            r#"5 of 27 records, 1 answers, 0 in other words: record 6 (model_replied) at calls[1].input.at: expected "b", found "d""#
        ]],
    );
    check(
        r#"
        [[reply]]
        blocks = [{ call = "look", input = { at = "a" } }]
        "#,
        expect![[
            r#"5 of 27 records, 1 answers, 0 in other words: record 6 (model_replied) at calls[1]: expected {"name":"look","input":{"at":"b"}}, found nothing"#
        ]],
    );
    check(
        "[[reply]]\ntext = \"I would rather not.\"",
        expect![[
            r#"5 of 27 records, 1 answers, 0 in other words: record 6 (model_replied) at calls[0]: expected {"name":"look","input":{"at":"a"}}, found nothing"#
        ]],
    );
}

#[test]
fn what_was_said_and_decided_on_the_way_is_the_journals() {
    virtually(async {
        let go = Arc::new(tokio::sync::Notify::new());
        let waits = Arc::clone(&go);
        let wait = tool("wait", move |_, _| {
            let go = Arc::clone(&waits);
            async move {
                go.notified().await;
                Ok(ToolOutput::text("waited"))
            }
        });
        let script = "[[reply]]\nblocks = [{ call = \"wait\" }]\n[[reply]]\ntext = \"done\"";
        let mut stage = stage(script, [wait]).await;
        let turn = stage.session.turn(heeler_core::Input::text("hi"));
        stage.watcher.until(|event| matches!(event, heeler_core::Event::CallStarted { .. })).await;
        let said = heeler_core::Input::text("be quick");
        stage.session.steer(SteeringId("a".into()), said).await.unwrap();
        go.notify_one();
        assert_eq!(turn.await, TurnOutcome::Done);
        let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
        stage.close().await;
        let (model, scripted) = model(script);
        let played = replay(&journal, 1, Some(&model)).await.unwrap();
        assert_eq!(played.divergence, None);
        let last = scripted.requests().pop().unwrap();
        assert!(format!("{last:?}").contains("be quick"), "{last:?}");
    });
}

#[test]
fn a_journal_that_says_else_parts_where_it_does() {
    let check = |change: &dyn Fn(&mut Record) -> bool, expected: Expect| {
        virtually(async {
            let mut journal = work().await;
            let changed = journal.entries.iter_mut().any(|entry| change(&mut entry.record));
            assert!(changed);
            let played = replay(&journal, 1, None).await.unwrap();
            expected.assert_eq(&told(&journal, &played));
        });
    };
    check(
        &|record| match record {
            Record::TurnFinished { outcome, .. } => {
                *outcome = TurnOutcome::Cancelled;
                true
            }
            _ => false,
        },
        expect![[
            r#"22 of 27 records, 3 answers, 0 in other words: record 23 (turn_finished) at outcome: expected "cancelled", found "done""#
        ]],
    );
    check(
        &|record| match record {
            Record::CallStarted { call } => {
                call.index = 7;
                true
            }
            _ => false,
        },
        expect![
            "8 of 27 records, 1 answers, 0 in other words: record 9 (call_started) expected run of call 1.1.7, found run of call 1.1.0, run of call 1.1.1"
        ],
    );
    check(
        &|record| match record {
            Record::ModelStarted(started) => {
                started.reserve.output += 1;
                true
            }
            _ => false,
        },
        expect![
            "4 of 27 records, 0 answers, 0 in other words: record 5 (model_started) at reserve.output: expected 8193, found 8192"
        ],
    );
    check(
        &|record| match record {
            Record::CallFinished { call, .. } => {
                let id = heeler_core::PermissionId { call: *call, answered_before: 0 };
                let reason = PermissionReason::Policy("why".into());
                let asked = heeler_core::PermissionAsked { id, reason };
                *record = Record::PermissionAsked(Box::new(asked));
                true
            }
            _ => false,
        },
        expect![[
            r#"10 of 27 records, 1 answers, 0 in other words: record 11 (permission_asked) expected {"id":{"call":"1.1.0"},"reason":{"policy":"why"}}, found run of call 1.1.0, run of call 1.1.1"#
        ]],
    );
}

#[test]
fn what_cannot_be_played_says_why() {
    virtually(async {
        let mut journal = work().await;
        let told =
            |result: Result<Replayed, heeler_engine::ReplayError>| result.unwrap_err().to_string();
        expect!["session s has no record 0; it has 27, from 1 to 27"]
            .assert_eq(&told(replay(&journal, 0, None).await));
        expect!["session s has no record 999; it has 27, from 1 to 27"]
            .assert_eq(&told(replay(&journal, 999, None).await));
        let refuses = r#"
            [[reply]]
            error = { status = 401, type = "authentication_error", message = "who?" }
        "#;
        let (model, _) = model(refuses);
        expect!["the model could not be asked for the answer in record 6: who?"]
            .assert_eq(&told(replay(&journal, 1, Some(&model)).await));
        let what = "the line's checksum is wrong".into();
        journal.damage.push(JournalDamage { line: 3, seq: 2, what });
        expect!["the journal of session s is damaged in line 3: the line's checksum is wrong; only a whole one can be played again"].assert_eq(&told(replay(&journal, 1, None).await));
    });
}
