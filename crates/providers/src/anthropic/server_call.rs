//! Calls of tools that the provider runs itself: it refuses one whose result does not follow.

use std::borrow::Cow;
use std::collections::BTreeSet;

use heeler_core::{Block, Message, Opaque, Role};
use serde::Deserialize;

use super::DIALECT;

/// The types of such calls, and what the types of their results end with.
const CALLS: [&str; 2] = ["server_tool_use", "mcp_tool_use"];
const RESULT_END: &str = "_tool_result";

/// What has to be known of a block that the provider wrote for itself.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    tool_use_id: Cow<'a, str>,
    /// The call of code that made this one.
    #[serde(borrow, default)]
    caller: Option<Caller<'a>>,
}

#[derive(Deserialize)]
struct Caller<'a> {
    #[serde(borrow, default)]
    tool_id: Cow<'a, str>,
}

impl<'a> Peek<'a> {
    /// `None` for what is none of the provider's blocks.
    fn at(block: &'a Block) -> Option<Self> {
        match block {
            Block::Opaque(opaque) => Self::of(opaque),
            _ => None,
        }
    }

    fn of(opaque: &'a Opaque) -> Option<Self> {
        let is_own = opaque.provider == DIALECT;
        is_own.then(|| serde_json::from_str(opaque.raw.get()).ok()).flatten()
    }

    fn is_call(&self) -> bool {
        CALLS.contains(&&*self.kind)
    }
}

/// Whether the block is such a call.
pub(super) fn is_one(opaque: &Opaque) -> bool {
    Peek::of(opaque).is_some_and(|peek| peek.is_call())
}

/// Whether no answer goes on with this message, as `next` stands behind it. The provider runs what
/// was called with the next request: at the end of the conversation, and in front of results.
///
/// A message that is joined with more begins as before, so what was found here stays.
pub(super) fn is_over(message: &Message, next: Option<&Message>) -> bool {
    let goes_on = |next: &Message| match next.role {
        Role::User => matches!(next.blocks.first(), Some(Block::ToolResult(_))),
        Role::Assistant => true,
    };
    message.role == Role::Assistant && next.is_some_and(|next| !goes_on(next))
}

/// The message without calls that have no result in it, nor what those calls brought with them.
pub(super) fn answered(message: &Message) -> Cow<'_, Message> {
    let peeks: Vec<Option<Peek<'_>>> = message.blocks.iter().map(Peek::at).collect();
    let all = || peeks.iter().flatten();
    // Each round comes here: a set that is sorted first is made with fewer instructions than one
    // that grows.
    let results: BTreeSet<&str> = all()
        .filter(|peek| peek.kind.ends_with(RESULT_END))
        .map(|peek| &*peek.tool_use_id)
        .collect();
    let mut left_out = BTreeSet::new();
    for call in all().filter(|peek| peek.is_call()) {
        // Code that has no result leaves none to what it called.
        let by_code = call.caller.as_ref().is_some_and(|by| left_out.contains(&*by.tool_id));
        if by_code || !results.contains(&*call.id) {
            left_out.insert(&*call.id);
        }
    }
    if left_out.is_empty() {
        return Cow::Borrowed(message);
    }
    let is_left_out = |peek: &Peek<'_>| {
        let id = if peek.is_call() { &peek.id } else { &peek.tool_use_id };
        left_out.contains(&**id)
    };
    let kept = message.blocks.iter().zip(&peeks);
    let kept = kept.filter(|(_, peek)| !peek.as_ref().is_some_and(is_left_out));
    let blocks = kept.map(|(block, _)| block.clone()).collect();
    Cow::Owned(Message { role: message.role, blocks })
}
