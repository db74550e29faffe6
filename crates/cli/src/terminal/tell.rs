//! What commands of the window tell: context, cost, rules, tools, models, the machine.

use anyhow::Result;
use heeler_engine::Session;
use heeler_tui::app::Topic;

use super::host::Program;
use crate::{doctor, models, permissions};

/// What there is to tell about a topic.
pub(super) async fn tell(topic: Topic, program: &Program, session: &Session) -> Result<String> {
    match topic {
        Topic::Context => context(session).await,
        Topic::Cost => cost(session).await,
        Topic::Permissions => {
            permissions::listed(&program.environment, &program.workspace, &program.permission)
        }
        Topic::Tools => tools(session).await,
        Topic::Doctor => doctor::told(&program.environment).await,
        Topic::Models => models::told(&program.environment, &program.workspace).await,
    }
}

async fn context(session: &Session) -> Result<String> {
    let state = session.state().await?;
    let parts = state.breakdown();
    let (limit, total) = (state.context_limit(), state.estimate());
    let percent = |tokens: u64| tokens.saturating_mul(100) / limit.max(1);
    let row =
        |name: &str, tokens: u64| format!("{name:<22} {tokens:>9}  {:>3}%\n", percent(tokens));
    let mut text = String::new();
    text += &row("system prompt", parts.system);
    text += &row("tools", parts.tools);
    text += &row("messages", parts.messages);
    text += &row("  last input", parts.last_user_text);
    text += &row("  last results", parts.last_user_results);
    text += &row("in all, corrected", total);
    text += &row("limit", limit);
    let usage = state.usage;
    match usage.cache_hit_percent() {
        Some(cached) => text += &format!("{cached}% of all input was read from the cache\n"),
        None => text += "nothing was sent yet\n",
    }
    let real = state.calibration.correct(100);
    text += &format!("100 estimated tokens were {real} real ones so far");
    Ok(text)
}

async fn cost(session: &Session) -> Result<String> {
    let (view, _) = session.subscribe();
    let usage = view.usage;
    let mut text = format!(
        "{} tokens in ({} read from the cache, {} written to it), {} out",
        usage.input_total(),
        usage.cache_read,
        usage.cache_write,
        usage.output
    );
    if usage.reasoning > 0 {
        text += &format!(" ({} of them reasoning)", usage.reasoning);
    }
    text += &format!("\n{}", view.cost);
    Ok(text)
}

async fn tools(session: &Session) -> Result<String> {
    let state = session.state().await?;
    let Some(epoch) = &state.epoch else {
        return Ok("the tools are told to the model with its first request".to_owned());
    };
    let line = |tool: &heeler_core::ToolDefinition| {
        let about = tool.description.split(['.', '\n']).next().unwrap_or_default();
        format!("{:<14} {about}", tool.name)
    };
    let lines: Vec<String> = epoch.tools.iter().map(line).collect();
    Ok(lines.join("\n"))
}
