//! The prompt's prefix: what changes it, when that takes effect, and that it never changes else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{Decision, Event, Input, Mode, ToolOutput, TurnOutcome};

use crate::common::{Stage, echo, stage_with, tool, toolset, virtually};

const TWO_ROUNDS: &str = r#"
    [[reply]]
    blocks = [{ call = "echo", input = { text = "x" } }]
    delay_ms = 10
    [[reply]]
    text = "done"
    [[reply]]
    text = "again"
"#;

/// A turn whose first request is on its way.
async fn asking() -> (Stage, heeler_engine::Turn) {
    let mut stage =
        stage_with(TWO_ROUNDS, [echo()], |parts| parts.system = "Be brief.".into()).await;
    let turn = stage.session.turn(Input::text("hi"));
    stage.watcher.until(|event| matches!(event, Event::AttemptStarted { .. })).await;
    (stage, turn)
}

/// For each request: its epoch, its system prompt and the names of its tools.
fn prefixes(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let prefix = |request: &heeler_script::RequestView| {
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("{} {:?} [{}]", request.epoch.unwrap(), request.system, tools.join(" "))
    };
    requests.iter().map(prefix).collect()
}

#[test]
fn a_new_system_prompt_holds_from_the_next_request_on() {
    virtually(async {
        let (stage, turn) = asking().await;
        stage.session.set_system("Be long.").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        expect![[r#"
            [
                "1 \"Be brief.\" [echo]",
                "2 \"Be long.\" [echo]",
                "2 \"Be long.\" [echo]",
            ]
        "#]]
        .assert_debug_eq(&prefixes(&stage));
        let lines = stage.close().await;
        assert!(lines.contains(&"epoch 2 SystemPrompt".to_owned()), "{lines:#?}");
    });
}

#[test]
fn the_same_system_prompt_begins_no_epoch() {
    virtually(async {
        let (stage, turn) = asking().await;
        stage.session.set_system("Be long.").await.unwrap();
        stage.session.set_system("Be brief.").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        let lines = stage.close().await;
        assert_eq!(lines.iter().filter(|line| line.starts_with("epoch")).count(), 1);
    });
}

#[test]
fn new_tools_hold_from_the_next_request_on() {
    virtually(async {
        let (stage, turn) = asking().await;
        let other = tool("other", |_, _| async { Ok(ToolOutput::text("other")) });
        stage.session.set_tools(toolset([other])).await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        expect![[r#"
            [
                "1 \"Be brief.\" [echo]",
                "2 \"Be brief.\" [other]",
            ]
        "#]]
        .assert_debug_eq(&prefixes(&stage));
        let state = stage.session.state().await.unwrap();
        let result = heeler_testkit::transcript(state.history.messages().get(2).map(Arc::as_ref));
        assert_eq!(result, "result ok: x\n", "the model had been offered the old tool");
        stage.close().await;
    });
}

#[test]
fn a_call_runs_with_the_tool_it_was_judged_for() {
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "edit" }]
            [[reply]]
            text = "done"
        "#;
        let [harmless, harmful] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let edit = |count: &Arc<AtomicUsize>| {
            let count = Arc::clone(count);
            tool("edit", move |_, _| {
                count.fetch_add(1, Ordering::SeqCst);
                async { Ok(ToolOutput::text("edited")) }
            })
        };
        let mut stage = stage_with(script, [edit(&harmless).writes("/space/a")], |parts| {
            parts.settings.policy.mode = Mode::Ask;
            parts.settings.policy.interactive = true;
        })
        .await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::PermissionRequested(_))).await;
        // Allowed is what was asked for, whatever goes by the same name since.
        stage.session.set_tools(toolset([edit(&harmful).writes("/etc/passwd")])).await.unwrap();
        let id = stage.watcher.view.permissions[0].id;
        stage.session.decide(id, Decision::Once, "window").await.unwrap();
        assert_eq!(turn.await, TurnOutcome::Done);
        let ran = [&harmless, &harmful].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(ran, [1, 0]);
        stage.close().await;
    });
}

#[test]
fn another_model_begins_an_epoch() {
    virtually(async {
        let (stage, turn) = asking().await;
        assert_eq!(turn.await, TurnOutcome::Done);
        let mut settings = stage.parts.settings.clone();
        settings.model.name = "script/other".into();
        stage.session.set_settings(settings).await.unwrap();
        assert_eq!(stage.say("go on").await, TurnOutcome::Done);
        assert_eq!(stage.model.requests().last().unwrap().model, "other");
        let lines = stage.close().await;
        assert!(lines.contains(&"epoch 2 Model".to_owned()), "{lines:#?}");
    });
}

#[test]
fn a_new_prompt_counts_before_a_request_is_sent_with_it() {
    virtually(async {
        let limited = |parts: &mut heeler_engine::Parts| parts.settings.limits.tokens = 2_000;
        let stage = stage_with(TWO_ROUNDS, [echo()], limited).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let sent = stage.model.requests().len();
        stage.session.set_system("x".repeat(4 * 2_000)).await.unwrap();
        let limit = heeler_core::LimitKind::Tokens;
        assert_eq!(stage.say("go on").await, TurnOutcome::Limit { limit });
        assert_eq!(stage.model.requests().len(), sent, "more was sent than the budget allows");
        stage.close().await;
    });
}
