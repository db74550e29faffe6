//! The one door of the tests: a scripted model, a run, and all that is told of it as lines.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::Expect;
use futures::StreamExt;
use heeler_core::{Block, Message, Role, StopReason};
use heeler_providers::scripted::Scripted;
use heeler_script::{Conversations, EpochRule, ReplySpec, Script};
use heeler_testkit::{SeededEntropy, VirtualClock};
use heeler_toolkit::{
    Binding, Client, Object, Run, RunError, RunEvent, RunResult, Schema, Toolset, raw_tool, tool,
};

pub(crate) const MODEL: &str = "anthropic/claude-sonnet-5-5";

/// A model that plays these replies, and a client of it whose time stands still unless it sleeps.
pub(crate) fn client(replies: impl IntoIterator<Item = ReplySpec>) -> (Client, Scripted) {
    of_script(Script::of(replies))
}

/// As [`client`], for a model that takes part in several conversations, which may be cut.
pub(crate) fn clients(replies: impl IntoIterator<Item = ReplySpec>) -> (Client, Scripted) {
    let mut script = Script::of(replies);
    script.options.conversations = Conversations::Many;
    script.options.epoch = EpochRule::MayChange;
    of_script(script)
}

fn of_script(script: Script) -> (Client, Scripted) {
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    let model = Scripted::from_script(script, clock.clone());
    let client = Client::new(model.clone(), MODEL).unwrap();
    (client.with_time(clock, Arc::new(SeededEntropy::new(7))), model)
}

/// Plays a run to its end and compares what was told of it.
pub(crate) async fn check(
    replies: impl IntoIterator<Item = ReplySpec>,
    run: Run,
    expected: Expect,
) {
    let (client, model) = client(replies);
    let told = told(&client, run).await;
    assert_eq!(model.mismatches(), [], "{told}");
    expected.assert_eq(&told);
}

/// What is told of a run.
pub(crate) async fn told(client: &Client, run: Run) -> String {
    let mut text = String::new();
    let mut events = client.run_stream(run);
    while let Some(event) = events.next().await {
        writeln!(text, "{}", line(event)).unwrap();
    }
    text
}

fn line(event: RunEvent) -> String {
    match event {
        RunEvent::TextDelta { text, .. } => format!("text {text}"),
        RunEvent::ThinkingDelta { text, .. } => format!("thinking {text}"),
        RunEvent::ToolInputDelta { text, .. } => format!("input {text}"),
        RunEvent::Reset { attempt, message, wait } => {
            format!("reset {attempt}, again after {wait:?}: {message}")
        }
        RunEvent::Answer(message) => format!("answer {}", shown(&message)),
        RunEvent::CallStarted { call, summary, .. } => format!("call {call} {summary}"),
        RunEvent::CallProgress { call, text } => format!("progress {call} {text}"),
        RunEvent::CallFinished { call, is_error, .. } => {
            format!("call {call} {}", if is_error { "failed" } else { "ended" })
        }
        RunEvent::ToolText { call, text, .. } => format!("for the user {call} {text}"),
        RunEvent::ToolResults(results) => {
            let blocks = results.into_iter().map(Block::ToolResult).collect();
            format!("results {}", shown(&Message { role: Role::User, blocks }))
        }
        RunEvent::Finished(result) => ended(&result),
        other => format!("{other:?}"),
    }
}

/// How a run ended, and its history.
pub(crate) fn ended(result: &Result<RunResult, RunError>) -> String {
    let (said, result) = match result {
        Ok(result) => ("done".to_owned(), result),
        Err(error) => (format!("error: {error}"), &*error.result),
    };
    let mut text = format!("{said}\n");
    let stop = result.stop.as_ref().unwrap_or(&StopReason::EndTurn);
    let (rounds, usage) = (result.rounds, result.usage.total());
    writeln!(text, "  {rounds} rounds, {stop:?}, {} tokens", if usage > 0 { "some" } else { "no" })
        .unwrap();
    text += &history(&result.messages);
    text.trim_end().to_owned()
}

/// A history, one message a line.
fn history(messages: &[Message]) -> String {
    messages.iter().map(|message| format!("  {:?}: {}\n", message.role, shown(message))).collect()
}

fn shown(message: &Message) -> String {
    let block = |block: &Block| match block {
        Block::Text(text) => text.text.clone(),
        Block::ToolUse(call) => format!("{}({}) as {}", call.name, call.input.get(), call.id),
        Block::ToolResult(result) => {
            let text: String = result.content.iter().filter_map(Block::as_text).collect();
            let images = result.content.iter().filter(|b| matches!(b, Block::Image(_))).count();
            let images = if images > 0 { format!(" +{images} images") } else { String::new() };
            let failed = if result.is_error { " failed" } else { "" };
            format!("[{}{failed}: {text}{images}]", result.tool_use_id)
        }
        Block::Thinking(thinking) => format!("<{}>", thinking.text),
        Block::Image(_) => "image".to_owned(),
        other => format!("{other:?}"),
    };
    message.blocks.iter().map(block).collect::<Vec<_>>().join(" | ")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Echo {
    /// What to say.
    text: String,
}

/// Says what it is told.
pub(crate) fn echo() -> Binding {
    tool("echo", "Says a text", |_, echo: Echo| async move { echo.text }).unwrap()
}

/// Fails, with the reason it is given.
pub(crate) fn fail() -> Binding {
    let schema = Object::new().optional("why", Schema::string(""));
    raw_tool("fail", "Fails", schema, |_, input| async move {
        let why = input.value()["why"].as_str().unwrap_or("no reason").to_owned();
        Err::<String, String>(why)
    })
}

pub(crate) fn tools(bindings: impl IntoIterator<Item = Binding>) -> Toolset {
    Toolset::new(bindings).unwrap()
}
