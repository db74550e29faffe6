//! What every provider demands of a request, and what makes a cache hold.

use std::collections::HashSet;
use std::sync::Arc;

use heeler_core::{Block, Message, ModelRequest, Role, Seq, ToolDefinition};

use super::{Checked, Invariant, ensure};

/// A request that went out.
pub(super) struct Sent {
    /// The journal's length then.
    pub(super) seq: Seq,
    /// How often the head had been replaced.
    pub(super) compactions: u32,
    pub(super) request: ModelRequest,
}

/// Every call has exactly one result, in order, adjacent; nothing is empty; roles alternate.
pub(super) fn valid(request: &ModelRequest, may_end_with_model: bool) -> Checked {
    let failed = |at: usize, what: &'static str| move || format!("message {at} {what}");
    let mut ids: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut role = Role::Assistant;
    for (at, message) in request.messages.iter().enumerate() {
        let message = &message.message;
        let check = |holds, what| ensure(holds, Invariant::RequestIsValid, failed(at, what));
        check(message.role != role, "has the role of the one before")?;
        role = message.role;
        check(!message.blocks.is_empty(), "is empty")?;
        check(!message.blocks.iter().any(says_nothing), "has an empty block")?;
        let results: Vec<&str> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(result.tool_use_id.as_str()),
                _ => None,
            })
            .collect();
        check(results == open, "does not answer the calls before it, each once, in order")?;
        let first = message.blocks.iter().take(results.len());
        let adjacent = first.filter(|b| matches!(b, Block::ToolResult(_))).count() == results.len();
        check(adjacent, "says something before its results")?;
        open = message.tool_uses().map(|call| call.id.as_str()).collect();
        check(open.is_empty() || role == Role::Assistant, "is the user's and calls a tool")?;
        check(open.iter().all(|id| !id.is_empty() && ids.insert(id)), "repeats an id")?;
        let lost = message.blocks.iter().any(|block| match block {
            Block::ToolResult(r) => {
                r.content.iter().any(|b| b.as_text().is_some_and(|t| t.ends_with("was lost.")))
            }
            _ => false,
        });
        check(!lost, "says that a result was lost, and none was")?;
    }
    let ends_well = role == Role::User || (may_end_with_model && open.is_empty());
    ensure(ends_well, Invariant::RequestIsValid, || "it ends with the model's own words".into())
}

fn says_nothing(block: &Block) -> bool {
    match block {
        Block::Text(text) => text.text.trim().is_empty(),
        Block::Thinking(thinking) => thinking.signature.is_empty() && thinking.raw.is_none(),
        _ => false,
    }
}

/// The request is the conversation, whole and in order, with neighbours joined.
pub(super) fn is_history(request: &ModelRequest, log: &[Arc<Message>]) -> Checked {
    let sent = flat(request, usize::MAX);
    let said = log.iter().flat_map(|m| m.blocks.iter().map(move |block| (m.role, block)));
    ensure(sent.eq(said), Invariant::RequestIsHistory, || "the request is not what was said".into())
}

/// Within an epoch a request begins with the one before.
pub(super) fn prefix_is_stable(before: &Sent, now: &Sent) -> Checked {
    let (old, new) = (&before.request, &now.request);
    if old.epoch != new.epoch {
        return Ok(());
    }
    let head = old.system == new.system
        && old.model == new.model
        && old.tools == new.tools
        && old.parameters == new.parameters;
    ensure(head, Invariant::PrefixIsStable, || {
        format!("the head changed within epoch {}", new.epoch)
    })?;
    let n = old.messages.iter().map(|m| m.message.blocks.len()).sum();
    let begins = flat(old, n).eq(flat(new, n));
    ensure(begins, Invariant::PrefixIsStable, || {
        format!("messages changed within epoch {}", new.epoch)
    })
}

/// The summary's request begins with the conversation as it was last sent, as far as both go.
/// Once the head was replaced an epoch is due, and there is nothing to agree with.
pub(super) fn head_agrees(before: &Sent, summary: &ModelRequest, compactions: u32) -> Checked {
    if before.request.epoch != summary.epoch || before.compactions != compactions {
        return Ok(());
    }
    let blocks =
        |r: &ModelRequest| r.messages.iter().map(|m| m.message.blocks.len()).sum::<usize>();
    let n = blocks(&before.request).min(blocks(summary).saturating_sub(1));
    ensure(flat(&before.request, n).eq(flat(summary, n)), Invariant::PrefixIsStable, || {
        "the summary is asked after another conversation".into()
    })
}

fn flat(request: &ModelRequest, n: usize) -> impl Iterator<Item = (Role, &Block)> {
    request
        .messages
        .iter()
        .flat_map(|m| m.message.blocks.iter().map(|block| (m.message.role, block)))
        .take(n)
}

/// Characters over the divisor: what the documentation says an estimate is.
pub(super) fn estimate(request: &ModelRequest, chars_per_token: u32) -> u64 {
    let said = request.messages.iter().map(|m| weigh_message(&m.message)).sum::<u64>();
    (weigh_head(&request.system, &request.tools) + said) / u64::from(chars_per_token.max(1))
}

/// Characters of the system prompt and the tools.
pub(super) fn weigh_head(system: &str, tools: &[ToolDefinition]) -> u64 {
    let tools = tools
        .iter()
        .flat_map(|tool| [tool.name.as_str(), tool.description.as_str(), tool.input_schema.get()]);
    chars(system) + tools.map(chars).sum::<u64>()
}

/// Characters of a message.
pub(super) fn weigh_message(message: &Message) -> u64 {
    message.blocks.iter().map(weigh).sum()
}

fn weigh(block: &Block) -> u64 {
    match block {
        Block::Text(text) => chars(&text.text),
        Block::Thinking(thinking) => chars(&thinking.text),
        Block::RedactedThinking(thinking) => chars(&thinking.data),
        Block::ToolUse(call) => chars(&call.name) + chars(call.input.get()),
        Block::ToolResult(result) => result.content.iter().map(weigh).sum(),
        _ => 0,
    }
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}
