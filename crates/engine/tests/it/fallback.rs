//! Models that answer when the chosen one cannot.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{Cost, ModelSettings, Prices, ProviderErrorKind, Record, TurnOutcome};
use heeler_engine::{Fallback, Parts, Session};
use heeler_providers::scripted::Scripted;
use heeler_script::{Script, UsageSpec};

use crate::common::{Stage, echo, stage_with, virtually};
use crate::compaction::keep_one;

const ANSWER: &str = "[script]\nloop = true\n[[reply]]\ntext = \"hello\"";
/// Failures of a passing kind, more than anybody waits for.
const BUSY: &str = r#"
    [[reply]]
    error = { status = 529, type = "overloaded_error", message = "busy" }
    repeat = 20
"#;

fn prices(output: u64) -> Prices {
    Prices { input: 0, output, cache_write: 0, cache_read: 0, long: None }
}

/// Adds a model that plays this script, at ten billionths a token of output.
fn or_else(parts: &mut Parts, name: &str, script: &str) -> Scripted {
    let mut script = Script::parse(script).unwrap();
    let usage = UsageSpec { input: 10, output: 5, cache_read: 0, cache_write: 0 };
    script.options.usage.get_or_insert(usage);
    let model = Scripted::from_script(script, Arc::clone(&parts.clock));
    let settings = ModelSettings {
        name: name.to_owned(),
        prices: Some(prices(10)),
        ..parts.settings.model.clone()
    };
    parts.fallback.push(Fallback { model: settings, provider: Arc::new(model.clone()) });
    model
}

/// A session whose model plays `script` and costs a tenth of what the others do.
async fn stage(script: &str, others: &[(&str, &str)]) -> Stage {
    stage_with(script, [echo()], |parts| {
        parts.settings.model.prices = Some(prices(1));
        for (name, script) in others {
            or_else(parts, name, script);
        }
    })
    .await
}

/// What is seen of a turn whose model has `script`, and whose others are these.
fn check(script: &str, others: &[(&str, &str)], expected: Expect) {
    virtually(async {
        let stage = stage(script, others).await;
        stage.say("hi").await;
        expected.assert_eq(&stage.close().await.join("\n"));
    });
}

#[test]
fn the_next_model_answers_after_three_attempts_at_its_own_price() {
    check(
        BUSY,
        &[("other/one", ANSWER)],
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        attempt 1 failed, next in 500 ms: Overloaded busy
        attempt 1.2
        attempt 2 failed, next in 1000 ms: Overloaded busy
        attempt 1.3
        attempt 3 failed, next in 0 ms: Overloaded busy
        notice other/one answers from here on, since script/test cannot: busy
        epoch 2 Model
        attempt 1.4
        text 0@0 "hello"
        usage 10 + 5 of 10 + 5, $0.0000 of $0.0000
        assistant message
        end of turn 1: Done "hello""#]],
    );
}

#[test]
fn one_model_may_be_there_twice_and_is_told_apart_by_its_place() {
    check(
        BUSY,
        &[("script/test", BUSY), ("script/test", ANSWER)],
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        attempt 1 failed, next in 500 ms: Overloaded busy
        attempt 1.2
        attempt 2 failed, next in 1000 ms: Overloaded busy
        attempt 1.3
        attempt 3 failed, next in 0 ms: Overloaded busy
        notice another provider of script/test answers from here on, since script/test cannot: busy
        attempt 1.4
        attempt 4 failed, next in 500 ms: Overloaded busy
        attempt 1.5
        attempt 5 failed, next in 1000 ms: Overloaded busy
        attempt 1.6
        attempt 6 failed, next in 0 ms: Overloaded busy
        notice another provider of script/test answers from here on, since script/test cannot: busy
        attempt 1.7
        text 0@0 "hello"
        usage 10 + 5 of 10 + 5, $0.0000 of $0.0000
        assistant message
        end of turn 1: Done "hello""#]],
    );
}

#[test]
fn what_a_cut_answer_showed_is_taken_back_first() {
    let cut = r#"
        [[reply]]
        text = "half of it"
        cut = { events = 4 }
        repeat = 3
    "#;
    check(
        cut,
        &[("other/one", ANSWER)],
        expect![[r#"
            turn 1
            user message
            epoch 1 First
            attempt 1.1
            text 0@0 "half of it"
            usage 10 + 2 of 10 + 2, $0.0000 of $0.0000
            attempt 1 failed, next in 500 ms: Format the answer ended without its end marker
            attempt 1.2
            text 0@0 "half of it"
            usage 10 + 2 of 20 + 4, $0.0000 of $0.0000
            attempt 2 failed, next in 1000 ms: Format the answer ended without its end marker
            attempt 1.3
            text 0@0 "half of it"
            usage 10 + 2 of 30 + 6, $0.0000 of $0.0000
            attempt 3 failed, next in 0 ms: Format the answer ended without its end marker
            notice other/one answers from here on, since script/test cannot: the answer ended without its end marker
            epoch 2 Model
            attempt 1.4
            text 0@0 "hello"
            usage 10 + 5 of 40 + 11, $0.0000 of $0.0000
            assistant message
            end of turn 1: Done "hello""#]],
    );
}

#[test]
fn what_will_not_pass_is_not_waited_for_and_one_after_the_other_is_asked() {
    let broke = r#"
        [[reply]]
        error = { status = 402, type = "billing_error", message = "no money" }
    "#;
    let gone = r#"
        [[reply]]
        error = { status = 404, type = "not_found_error", message = "no such model" }
    "#;
    check(
        broke,
        &[("other/one", gone), ("other/two", ANSWER)],
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        attempt 1 failed, next in 0 ms: Billing no money
        notice other/one answers from here on, since script/test cannot: no money
        epoch 2 Model
        attempt 1.2
        attempt 2 failed, next in 0 ms: UnknownModel no such model
        notice other/two answers from here on, since other/one cannot: no such model
        epoch 3 Model
        attempt 1.3
        text 0@0 "hello"
        usage 10 + 5 of 10 + 5, $0.0000 of $0.0000
        assistant message
        end of turn 1: Done "hello""#]],
    );
}

#[test]
fn a_long_wait_is_another_models_turn_and_a_short_one_is_waited_for() {
    let limited = r#"
        [[reply]]
        error = { status = 429, type = "rate_limit_error", message = "slow", retry_after = 30 }
        [[reply]]
        error = { status = 429, type = "rate_limit_error", message = "slower", retry_after = 31 }
    "#;
    check(
        limited,
        &[("other/one", ANSWER)],
        expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        attempt 1 failed, next in 30500 ms: RateLimit slow
        attempt 1.2
        attempt 2 failed, next in 0 ms: RateLimit slower
        notice other/one answers from here on, since script/test cannot: slower
        epoch 2 Model
        attempt 1.3
        text 0@0 "hello"
        usage 10 + 5 of 10 + 5, $0.0000 of $0.0000
        assistant message
        end of turn 1: Done "hello""#]],
    );
}

#[test]
fn a_wrong_request_or_key_is_nobody_elses() {
    for (status, kind) in [(400, "invalid_request_error"), (401, "authentication_error")] {
        virtually(async {
            let script = format!(
                "[[reply]]\nerror = {{ status = {status}, type = \"{kind}\", message = \"no\" }}"
            );
            let stage = stage(&script, &[("other/one", ANSWER)]).await;
            let outcome = stage.say("hi").await;
            assert!(matches!(outcome, TurnOutcome::ProviderFailed { .. }), "{outcome:?}");
            stage.close().await;
        });
    }
}

#[test]
fn when_all_have_failed_the_last_one_has_all_its_attempts() {
    virtually(async {
        let stage = stage(BUSY, &[("other/one", BUSY)]).await;
        let kind = ProviderErrorKind::Overloaded;
        let outcome = stage.say("hi").await;
        assert_eq!(outcome, TurnOutcome::ProviderFailed { kind, message: "busy".into() });
        let failed = stage.close().await;
        let attempts = failed.iter().filter(|line| line.contains("Overloaded")).count();
        // Three of the first, six of the second, and the end of the turn.
        assert_eq!(attempts, 3 + 6 + 1, "{failed:#?}");
    });
}

#[test]
fn the_chosen_model_is_left_out_for_five_minutes() {
    virtually(async {
        let script = BUSY.replace("repeat = 20", "repeat = 3") + "[[reply]]\ntext = \"mine\"";
        let stage = stage(&script, &[("other/one", ANSWER)]).await;
        let name = async |stage: &Stage| {
            let state = stage.session.state().await.unwrap();
            state.settings.model.name.clone()
        };
        stage.say("one").await;
        assert_eq!(name(&stage).await, "other/one");
        stage.say("two").await;
        assert_eq!(name(&stage).await, "other/one", "it failed a moment ago");
        stage.clock.advance(300_000);
        stage.say("three").await;
        assert_eq!(name(&stage).await, "script/test");
        let lines = stage.close().await;
        assert!(lines.iter().any(|line| line.contains("script/test answers again")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("\"mine\"")), "{lines:#?}");
    });
}

#[test]
fn settings_that_name_either_model_change_no_choice() {
    virtually(async {
        let script = BUSY.replace("repeat = 20", "repeat = 3")
            + "[[reply]]\ntext = \"mine\"\n[script]\nloop = true";
        let stage = stage(&script, &[("other/one", ANSWER)]).await;
        let settings = async |stage: &Stage| stage.session.state().await.unwrap().settings.clone();
        let chosen = settings(&stage).await;
        stage.say("one").await;
        for rounds in [7, 8] {
            // Who changes something else has the state's settings, or a copy from before.
            let mut changed = if rounds == 7 { settings(&stage).await } else { chosen.clone() };
            changed.limits.rounds = rounds;
            stage.session.set_settings(changed).await.unwrap();
            let now = settings(&stage).await;
            assert_eq!((now.model.name.as_str(), now.limits.rounds), ("other/one", rounds));
            stage.say("again").await;
            assert_eq!(settings(&stage).await.model.name, "other/one", "it failed a moment ago");
        }
        stage.clock.advance(300_000);
        stage.say("later").await;
        assert_eq!(settings(&stage).await.model, chosen.model);
        let lines = stage.close().await;
        assert!(lines.iter().any(|line| line.contains("script/test answers again")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("\"mine\"")), "{lines:#?}");
    });
}

#[test]
fn the_journal_says_who_answered_and_another_process_begins_with_the_chosen_one() {
    virtually(async {
        let Stage { session, parts, .. } = stage(BUSY, &[("other/one", ANSWER)]).await;
        session.turn(heeler_core::Input::text("hi")).await;
        let id = session.id().clone();
        session.close().await;
        let journal = parts.store.read(id.clone()).await.unwrap();
        let told: Vec<String> = journal
            .entries
            .iter()
            .filter_map(|entry| match &entry.record {
                Record::SettingsChanged(settings) => Some(settings.model.name.clone()),
                Record::EpochStarted(epoch) => Some(format!("epoch of {}", epoch.model)),
                Record::ModelFailed(failed) => Some(format!("failed {:?}", failed.cost)),
                Record::ModelReplied(replied) => Some(format!("replied {:?}", replied.cost)),
                _ => None,
            })
            .collect();
        let free = format!("failed {:?}", Some(Cost(0)));
        let paid = format!("replied {:?}", Some(Cost(50)));
        let expected = ["epoch of script/test", &free, &free, &free, "other/one"];
        assert_eq!(
            told[told.len() - 7..],
            [&expected[..], &["epoch of other/one", &paid]].concat()
        );
        let session = Session::open(parts, id).await.unwrap();
        assert_eq!(session.state().await.unwrap().settings.model.name, "script/test");
        session.close().await;
    });
}

/// What is told of a summary whose model fails so, and what the journal has of it; nobody chose
/// another model by that.
fn check_summary(failure: &str, expected: Expect) {
    virtually(async {
        let script = format!("[[reply]]\ntext = \"one\"\n[[reply]]\nfor = \"summary\"\n{failure}");
        let other = "[[reply]]\nfor = \"summary\"\ntext = \"The user said hi.\"";
        let mut stage = stage_with(&script, [echo()], |parts| {
            keep_one(parts);
            parts.settings.model.prices = Some(prices(1));
            or_else(parts, "other/one", other);
        })
        .await;
        stage.say("hi").await;
        stage.watcher.drain();
        let told = stage.watcher.lines.len();
        assert_eq!(stage.session.compact(None).await, Ok(true));
        stage.watcher.drain();
        let mut lines = stage.watcher.lines.split_off(told);
        let state = stage.session.state().await.unwrap();
        assert_eq!(state.settings.model.name, "other/one");
        assert_eq!(state.chosen.model(), "script/test");
        let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
        lines.extend(journal.entries.iter().filter_map(|entry| match &entry.record {
            Record::CompactionFailed(failed) => Some(format!("failed: {:?}", failed.cost)),
            Record::Compacted(compacted) => Some(format!("compacted: {:?}", compacted.cost)),
            _ => None,
        }));
        expected.assert_eq(&(lines.join("\n") + "\n"));
        stage.close().await;
    });
}

#[test]
fn another_model_makes_the_summary_that_the_chosen_one_cannot() {
    check_summary(
        r#"
            error = { status = 529, type = "overloaded_error", message = "busy" }
            repeat = 3
        "#,
        expect![[r#"
            compacting Manual from 11 tokens
            notice other/one answers from here on, since script/test cannot: busy
            usage 10 + 5 of 20 + 10, $0.0000 of $0.0000
            compacted 1 messages to 48 tokens
            failed: None
            compacted: Some(Cost(50))
        "#]],
    );
}

#[test]
fn what_was_told_of_a_summary_that_broke_off_is_paid_at_its_own_price() {
    check_summary(
        r#"
            text = "The user"
            usage = { input = 10, output = 2 }
            error = { type = "overloaded_error", message = "busy" }
            repeat = 3
        "#,
        expect![[r#"
            compacting Manual from 11 tokens
            usage 30 + 6 of 40 + 11, $0.0000 of $0.0000
            notice other/one answers from here on, since script/test cannot: busy
            usage 10 + 5 of 50 + 16, $0.0000 of $0.0000
            compacted 1 messages to 48 tokens
            failed: Some(Cost(6))
            compacted: Some(Cost(50))
        "#]],
    );
}

#[test]
fn an_answer_costs_what_the_model_takes_that_was_asked_for_it() {
    virtually(async {
        let script = "[[reply]]\ntext = \"hello\"\ndelay_ms = 100\nusage = { input = 10, \
                      output = 5, cache_read = 0, cache_write = 0 }";
        let stage = stage(script, &[]).await;
        let turn = stage.session.turn(heeler_core::Input::text("hi"));
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let mut settings = stage.session.state().await.unwrap().settings;
        settings.model.prices = Some(prices(1000));
        stage.session.set_settings(settings).await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(stage.session.state().await.unwrap().cost, Cost(5));
        stage.close().await;
    });
}
