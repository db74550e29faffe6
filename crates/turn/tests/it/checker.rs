//! What every provider demands of a conversation, and what the estimate must be: written here a
//! second time, so that nothing is checked by itself.

use std::collections::HashSet;

use heeler_core::{Block, Message, Role};
use heeler_turn::{History, State};

/// Everything that is wrong with a request. With `open_end` the last message may hold calls whose
/// results have not come yet.
pub(crate) fn faults(messages: &[&Message], open_end: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let mut ids = HashSet::new();
    if messages.first().is_some_and(|first| first.role != Role::User) {
        faults.push("does not begin with the user".to_owned());
    }
    for (at, message) in messages.iter().enumerate() {
        let next = messages.get(at + 1).copied();
        if next.is_some_and(|next| next.role == message.role) {
            faults.push(format!("messages {at} and {} have one role", at + 1));
        }
        if message.blocks.is_empty() || message.blocks.iter().any(says_nothing) {
            faults.push(format!("message {at} is empty or holds an empty block"));
        }
        let before = at.checked_sub(1).map(|before| messages[before]);
        let expected = before.map(call_ids).unwrap_or_default();
        let results = result_ids(message);
        if results != expected && !(expected.is_empty() && results.is_empty()) {
            faults.push(format!("message {at} answers {results:?}, asked was {expected:?}"));
        }
        if !message.blocks.iter().take(results.len()).all(|b| matches!(b, Block::ToolResult(_))) {
            faults.push(format!("message {at} has a result after something else"));
        }
        for id in call_ids(message) {
            if message.role != Role::Assistant {
                faults.push(format!("message {at} of the user calls {id}"));
            }
            if id.is_empty() || !ids.insert(id.clone()) {
                faults.push(format!("message {at} repeats the id `{id}`"));
            }
        }
    }
    if !open_end && messages.last().is_some_and(|last| !call_ids(last).is_empty()) {
        faults.push("ends with calls nobody answered".to_owned());
    }
    faults
}

/// Everything that is wrong with a history: its request, and how the request came about.
pub(crate) fn history_faults(history: &History, open_end: bool) -> Vec<String> {
    let request: Vec<&Message> = history.request().iter().map(|m| &*m.message).collect();
    let mut faults = faults(&request, open_end);
    let joined = joined(history);
    if joined.iter().ne(request.iter().copied()) {
        faults.push("the request is not the history with neighbours joined".to_owned());
    }
    faults
}

/// The history with neighbours of one role joined.
fn joined(history: &History) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::new();
    for message in history.messages() {
        match joined.last_mut() {
            Some(last) if last.role == message.role => last.blocks.extend(message.blocks.clone()),
            _ => joined.push((**message).clone()),
        }
    }
    joined
}

/// What an image weighs.
const IMAGE_TOKENS: u64 = 1600;

/// The estimated tokens of the next request, counted anew.
pub(crate) fn recount(state: &State) -> u64 {
    let of_messages: u64 = state
        .history
        .messages()
        .iter()
        .flat_map(|message| &message.blocks)
        .map(characters_of_block)
        .sum();
    let of_prefix = state.epoch.as_ref().map_or(0, |epoch| {
        let tools = epoch.tools.iter().map(|tool| {
            characters(&tool.name)
                + characters(&tool.description)
                + characters(tool.input_schema.get())
        });
        characters(&epoch.system) + tools.sum::<u64>()
    });
    let divisor = match state.settings.estimate.chars_per_token {
        n @ 1..=32 => u64::from(n),
        _ => 4,
    };
    let blocks = state.history.messages().iter().flat_map(|message| &message.blocks);
    let images = blocks.filter(|block| matches!(block, Block::Image(_))).count() as u64;
    (of_prefix + of_messages) / divisor + images * IMAGE_TOKENS
}

fn characters_of_block(block: &Block) -> u64 {
    match block {
        Block::Text(text) => characters(&text.text),
        Block::Thinking(thinking) => characters(&thinking.text),
        Block::ToolUse(call) => characters(&call.name) + characters(call.input.get()),
        Block::ToolResult(result) => result.content.iter().map(characters_of_block).sum(),
        Block::Image(_) => 0,
        other => panic!("the tests make no {other:?}"),
    }
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

fn says_nothing(block: &Block) -> bool {
    match block {
        Block::Text(text) => text.text.is_empty(),
        Block::Thinking(thinking) => thinking.signature.is_empty(),
        _ => false,
    }
}

fn call_ids(message: &Message) -> Vec<String> {
    message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect()
}

fn result_ids(message: &Message) -> Vec<String> {
    message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.tool_use_id.clone()),
            _ => None,
        })
        .collect()
}
