//! Hidden tools: found by the model, unlocked for its session alone, hidden again in time.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{Event, Input};
use heeler_engine::{Session, TOOL_SEARCH, ToolRegistry, ToolSearch};
use heeler_providers::scripted::Scripted;

use crate::common::{Stage, Watcher, echo, stage_with, tool, virtually};

/// A registry with a tool to see and two that are hidden; what is found stays for two rounds.
fn registry() -> ToolRegistry {
    registry_for(2)
}

/// As [`registry`], for so many rounds.
fn registry_for(rounds: u64) -> ToolRegistry {
    let registry = ToolRegistry::new();
    registry.register(Arc::new(echo()));
    for name in ["web_fetch", "calculator"] {
        let works = tool(name, |_, _| async { Ok(heeler_core::ToolOutput::text("it worked")) });
        registry.register_hidden(Arc::new(works));
    }
    registry.register(Arc::new(ToolSearch::new(&registry).with_limits(rounds, 5)));
    registry
}

async fn stage(script: &str) -> Stage {
    stage_with(script, [], |parts| parts.tool_source = Some(registry())).await
}

/// The tools that each request had, and what each call gave.
fn lines(model: &Scripted) -> Vec<String> {
    let offered = |n: usize| {
        let requests = model.requests();
        let names = requests[n].tools.iter().map(|tool| tool.name.as_str());
        format!("request {n}: {}", names.collect::<Vec<_>>().join(" "))
    };
    let n_requests = model.requests().len();
    (0..n_requests).map(offered).collect()
}

fn check(script: &str, expected: Expect) {
    virtually(async {
        let stage = stage(script).await;
        stage.say("go").await;
        let mut seen = lines(&stage.model);
        let results = |line: &String| line.starts_with("finished") || line.starts_with("epoch");
        seen.extend(stage.close().await.into_iter().filter(results));
        expected.assert_eq(&seen.join("\n"));
    });
}

fn call(name: &str, input: &str) -> String {
    format!("[[reply]]\nblocks = [{{ call = \"{name}\", input = {input} }}]\n")
}

#[test]
fn what_is_found_can_be_called_until_it_was_not_used_for_long() {
    let script = [
        call(TOOL_SEARCH, r#"{ query = "fetch" }"#),
        call("echo", r#"{ text = "1" }"#),
        call("echo", r#"{ text = "2" }"#),
        call("web_fetch", "{}"),
        "[[reply]]\ntext = \"done\"\n".to_owned(),
    ];
    check(
        &script.concat(),
        expect![[r#"
        request 0: echo ToolSearch
        request 1: echo web_fetch ToolSearch
        request 2: echo web_fetch ToolSearch
        request 3: echo ToolSearch
        request 4: echo ToolSearch
        epoch 1 First
        finished 1.1.0 [0] ToolSearch 0 ms: You can call these from your next answer on:\n- web_fetch: The test tool web_fet…
        epoch 2 Tools
        finished 1.2.0 [0] echo 0 ms: 1
        finished 1.3.0 [0] echo 0 ms: 2
        epoch 3 Tools"#]],
    );
}

#[test]
fn a_use_never_hides_what_a_search_gave_for_longer() {
    virtually(async {
        let script = call(TOOL_SEARCH, r#"{ query = "fetch" }"#)
            + &call("web_fetch", "{}")
            + &call("echo", r#"{ text = "1" }"#).repeat(24)
            + &call("web_fetch", "{}")
            + "[[reply]]\ntext = \"done\"\n";
        let registry = registry_for(100);
        let stage = stage_with(&script, [], |parts| parts.tool_source = Some(registry)).await;
        stage.say("go").await;
        let offered = lines(&stage.model);
        let hidden = offered[1..].iter().find(|line| !line.contains("web_fetch"));
        assert_eq!(hidden, None);
        stage.close().await;
    });
}

#[test]
fn what_was_not_unlocked_is_no_tool() {
    let script = [
        call("calculator", "{}"),
        call(TOOL_SEARCH, r#"{ query = "^(web|calc)", regex = true }"#),
        call("calculator", "{}"),
        call(TOOL_SEARCH, r#"{ query = "blockchain" }"#),
        call(TOOL_SEARCH, r#"{ query = "(", regex = true }"#),
        "[[reply]]\ntext = \"done\"\n".to_owned(),
    ];
    check(
        &script.concat(),
        expect![[r#"
        request 0: echo ToolSearch
        request 1: echo ToolSearch
        request 2: echo web_fetch calculator ToolSearch
        request 3: echo web_fetch calculator ToolSearch
        request 4: echo calculator ToolSearch
        request 5: echo calculator ToolSearch
        epoch 1 First
        finished 1.2.0 [0] ToolSearch 0 ms: You can call these from your next answer on:\n- web_fetch: The test tool web_fet…
        epoch 2 Tools
        finished 1.3.0 [0] calculator 0 ms: it worked
        finished 1.4.0 [0] ToolSearch 0 ms: Nothing found. There are: web_fetch, calculator
        epoch 3 Tools"#]],
    );
}

#[test]
fn another_session_has_to_find_it_itself_and_the_same_one_keeps_it_when_resumed() {
    virtually(async {
        let end = "[[reply]]\ntext = \"done\"\n";
        let script = [&call(TOOL_SEARCH, r#"{ query = "calculator" }"#), end, end, end].concat();
        let Stage { session, parts, model, .. } = stage(&script).await;
        session.turn(Input::text("go")).await;
        session.close().await;

        let other = Session::create_with_id(parts.clone(), "t".parse().unwrap(), "/space");
        let other = other.await.unwrap();
        other.turn(Input::text("go")).await;
        other.close().await;

        let again = Session::open(parts.clone(), "s".parse().unwrap()).await.unwrap();
        let mut watcher = Watcher::new(&again);
        again.turn(Input::text("more")).await;
        again.close().await;
        watcher.rest().await;
        expect![[r#"
            request 0: echo ToolSearch
            request 1: echo calculator ToolSearch
            request 2: echo ToolSearch
            request 3: echo calculator ToolSearch"#]]
        .assert_eq(&lines(&model).join("\n"));
        let is_epoch =
            |seen: &&Arc<heeler_core::Envelope>| matches!(seen.event, Event::EpochStarted { .. });
        assert_eq!(watcher.seen.iter().filter(is_epoch).count(), 0, "the prefix is the same");
    });
}
