//! What a provider cannot take: notes in the place of images and documents that it cannot process, and
//! reasoning that it cannot verify, which is gone.
//!
//! A request with one would be refused for ever. Part of the fold, so its words never change; the
//! tests hold them.

use std::sync::Arc;

use heeler_core::{Block, Message, Messages, Role, Text, ToolResult};

use crate::bugs::{Bug, is_on};
use crate::history::History;

/// Stands where an image was.
const IMAGE: &str = "[image left out: the provider could not process it]";
/// Stands where a document was.
const DOCUMENT: &str = "[document left out: the provider could not process it]";
/// Stands where there was nothing but reasoning.
const REASONING: &str = "[reasoning left out: the provider could not verify it]";
/// The member by which a provider's own block proves reasoning that nobody was shown.
const PROOF: &str = r#""thought_signature":"#;

/// Leaves out what was refused. Providers seldom say which of several it was; what they have
/// answered to before they could process, so it is what was said from the answer on, or, where there
/// is nothing in that, any of all: an address may stop to answer. Says how many, and from which
/// message on, if not any of all.
pub(crate) fn leave_out(history: &mut History) -> (u32, Option<usize>) {
    let from = last_answer(history.messages());
    match history.leave_out(from..usize::MAX, noted) {
        0 => (history.leave_out(0..usize::MAX, noted), None),
        items => (items, Some(from)),
    }
}

/// Leaves out what was refused among the first `cut` messages, which alone were sent. Says how many.
pub(crate) fn leave_out_of_head(history: &mut History, cut: usize) -> u32 {
    history.leave_out(0..cut, noted)
}

/// Where the last answer stands; the first message, where there is none.
pub(crate) fn last_answer(messages: &Messages) -> usize {
    let is_model = |message: &Arc<Message>| message.role == Role::Assistant;
    messages.iter().rposition(is_model).unwrap_or(0)
}

/// Leaves out all reasoning: providers name the first that they cannot verify, and the next would be refused
/// for the same reason. Says how many blocks.
pub(crate) fn leave_reasoning_out(history: &mut History) -> u32 {
    let last = last_answer(history.messages());
    let from = if is_on(Bug::LingeringReasoning) { last } else { 0 };
    history.leave_out(from..usize::MAX, unreasoned)
}

/// The message without its reasoning, whose blocks are counted.
pub(crate) fn unreasoned(message: &Arc<Message>, blocks: &mut u32) -> Arc<Message> {
    let others = message.blocks.iter().filter(|block| !is_reasoning(block));
    let mut others: Vec<Block> = others.cloned().collect();
    let n_left_out = message.blocks.len() - others.len();
    if n_left_out == 0 {
        return Arc::clone(message);
    }
    *blocks = blocks.saturating_add(u32::try_from(n_left_out).unwrap_or(u32::MAX));
    if others.is_empty() {
        others.push(Block::text(REASONING));
    }
    Arc::new(Message { role: message.role, blocks: others })
}

/// Whether it is reasoning, or proves it beside an answer or a call: that is refused, too.
fn is_reasoning(block: &Block) -> bool {
    match block {
        Block::Thinking(_) | Block::RedactedThinking(_) => true,
        Block::Opaque(own) => own.raw.get().contains(PROOF),
        _ => false,
    }
}

/// The message with notes in the place of its items, which are counted.
pub(crate) fn noted(message: &Arc<Message>, items: &mut u32) -> Arc<Message> {
    let before = *items;
    let blocks = message.blocks.iter().map(|block| note_for(block, items)).collect();
    if *items == before {
        return Arc::clone(message);
    }
    Arc::new(Message { role: message.role, blocks })
}

fn note_for(block: &Block, items: &mut u32) -> Block {
    let (words, cache) = match block {
        Block::Image(image) => (IMAGE, image.cache),
        Block::Document(_) => (DOCUMENT, None),
        Block::ToolResult(result) => {
            let content = result.content.iter().map(|part| note_for(part, items)).collect();
            return Block::from(ToolResult { content, ..ToolResult::clone(result) });
        }
        other => return other.clone(),
    };
    *items = items.saturating_add(1);
    Text { text: words.to_owned(), cache, raw: None }.into()
}

#[cfg(test)]
mod tests {
    use heeler_core::{Opaque, RawJson, Thinking, ToolUse};

    use super::*;

    #[test]
    fn what_proves_reasoning_goes_with_it() {
        let own = |raw: &str| {
            let raw = RawJson::parse(raw).unwrap();
            Block::Opaque(Arc::new(Opaque { provider: "somebody".into(), raw }))
        };
        let call = Block::ToolUse(Arc::new(ToolUse {
            id: "c1".into(),
            name: "look".into(),
            input: RawJson::parse(r#"{"thought_signature":"an input"}"#).unwrap(),
            invalid: None,
            cache: None,
        }));
        let other = own(r#"{"type":"search","query":"\"thought_signature\":"}"#);
        let said = Message {
            role: Role::Assistant,
            blocks: vec![
                Block::from(Thinking::default()),
                own(r#"{"extra_content":{"google":{"thought_signature":"s"}}}"#),
                call.clone(),
                own(r#"{"tool_call":{"extra_content":{"google":{"thought_signature": "s"}}}}"#),
                other.clone(),
            ],
        };
        let mut n_left_out = 0;
        let left = unreasoned(&Arc::new(said), &mut n_left_out);
        assert_eq!((&left.blocks[..], n_left_out), (&[call, other][..], 3));
    }
}
