//! What commands of the window tell: context, cost, rules, tools, models, the machine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use heeler_assembly::Environment;
use heeler_core::{Block, RawJson, ToolContext, Usage};
use heeler_engine::{Session, SystemClock};
use heeler_tui::app::Topic;
use heeler_tui::host::Told;
use heeler_tui::transcript::TableRow;

use super::bug;
use super::host::Program;
use crate::{doctor, models, permissions};

/// What there is to tell about a topic.
pub(super) async fn tell(topic: Topic, program: &Program, session: &Session) -> Result<Told> {
    let text = match topic {
        Topic::Context(last) => context(session, last).await,
        Topic::Cost => cost(session).await,
        Topic::Permissions => {
            permissions::listed(&program.environment, &program.workspace, &program.permission)
        }
        Topic::Tools => return tools(session).await,
        Topic::Doctor => return Ok(Told::Table(doctor::table(&program.environment).await?)),
        Topic::Models => models::told(&program.environment, &program.workspace).await,
        Topic::Bug(words) => bug::report(&words, program, session).await,
        Topic::Difference => return Ok(Told::Difference(difference(program, session).await?)),
    };
    Ok(Told::Text(text?))
}

/// What there is to tell a guest, who knows the session and this machine and nothing of how the owner
/// was started; `None` for what only the owner can tell.
pub(super) async fn tell_guest(
    topic: Topic,
    (environment, workspace): (&Environment, &Path),
    session: &Session,
) -> Result<Option<Told>> {
    let text = match topic {
        Topic::Context(last) => context(session, last).await?,
        Topic::Cost => cost(session).await?,
        Topic::Tools => return tools(session).await.map(Some),
        Topic::Doctor => return Ok(Some(Told::Table(doctor::table(environment).await?))),
        Topic::Models => models::told(environment, workspace).await?,
        Topic::Permissions | Topic::Bug(_) | Topic::Difference => return Ok(None),
    };
    Ok(Some(Told::Text(text)))
}

/// What differs from the last commit, as the model's own tool shows it, with the text of new files:
/// nothing runs that the repository's settings name.
async fn difference(program: &Program, session: &Session) -> Result<String> {
    let tool = program.tool("git_diff").context("this session has no git_diff")?;
    let context = ToolContext::new(session.id().clone(), &program.workspace, Arc::new(SystemClock));
    let input = RawJson::from_value(&serde_json::json!({ "new_text": true }));
    let output = tool.call(context, input).await?;
    Ok(output.content.iter().filter_map(Block::as_text).collect())
}

/// What fills the context, by parts, and what of each the provider had kept for the last answer.
async fn context(session: &Session, last: Option<Usage>) -> Result<String> {
    let state = session.state().await?;
    let parts = state.breakdown();
    let (limit, total) = (state.context_limit(), state.estimate());
    let percent = |tokens: u64| tokens.saturating_mul(100) / limit.max(1);
    let row =
        |name: &str, tokens: u64| format!("{name:<22} {tokens:>9}  {:>3}%\n", percent(tokens));
    // A provider keeps a beginning: the tools, then the system prompt, then the conversation.
    let mut kept = last.map(|usage| usage.cache_read);
    let mut cached = |name: &str, tokens: u64| {
        let mut line = row(name, tokens);
        if let Some(kept) = &mut kept {
            let real = state.calibration.correct(tokens);
            let hit = real.min(*kept);
            *kept -= hit;
            let percent = hit.saturating_mul(100).checked_div(real).unwrap_or(0);
            line.insert_str(line.len() - 1, &format!("  {percent:>3}% from the cache"));
        }
        line
    };
    let mut text = String::new();
    text += &cached("tools", parts.tools);
    text += &cached("system prompt", parts.system);
    text += &cached("messages", parts.messages);
    text += &row("  last input", parts.last_user_text);
    text += &row("  last results", parts.last_user_results);
    text += &row("in all, corrected", total);
    text += &row("limit", limit);
    let usage = state.usage;
    text += &cache_hits(&usage);
    if state.reread.tokens > 0 {
        let cost = state.reread.cost.map(|cost| format!(", {cost} more")).unwrap_or_default();
        let tokens = state.reread.tokens;
        text += &format!("{tokens} tokens were read again after the beginning changed{cost}\n");
    }
    let real = state.calibration.correct(100);
    text += &format!("100 estimated tokens were {real} real ones so far");
    Ok(text)
}

/// How much of what was sent came from the cache. Where a part of it is an estimate nobody knows.
fn cache_hits(usage: &Usage) -> String {
    match usage.cache_hit_percent() {
        Some(cached) => format!("{cached}% of all input was read from the cache\n"),
        None if usage.input_total() > 0 => {
            "how much of the input was read from the cache is not known\n".to_owned()
        }
        None => "nothing was sent yet\n".to_owned(),
    }
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
    text += &format!("\n{}", view.bill());
    Ok(text)
}

async fn tools(session: &Session) -> Result<Told> {
    let state = session.state().await?;
    let Some(epoch) = &state.epoch else {
        return Ok(Told::Text("the tools are told to the model with its first request".to_owned()));
    };
    let row = |tool: &heeler_core::ToolDefinition| {
        let about = tool.description.split(['.', '\n']).next().unwrap_or_default();
        TableRow::new(&*tool.name, about)
    };
    Ok(Told::Table(epoch.tools.iter().map(row).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_tells_nothing_of_the_cache() {
        let usage = |input, is_estimated| Usage { input, is_estimated, ..Usage::default() };
        for (usage, told) in [
            (usage(0, false), "nothing was sent yet\n"),
            (usage(10, false), "0% of all input was read from the cache\n"),
            (usage(10, true), "how much of the input was read from the cache is not known\n"),
        ] {
            assert_eq!(cache_hits(&usage), told);
        }
    }
}
