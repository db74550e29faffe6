//! The conversation without reasoning, as it goes on once a provider could not verify some of it.

use std::sync::Arc;

use heeler_core::{Block, Message};

/// Stands where a message said nothing else; said here a second time.
const NOTE: &str = "[reasoning left out: the provider could not verify it]";

/// How many blocks of reasoning there are.
pub(super) fn blocks(log: &[Arc<Message>]) -> usize {
    log.iter().flat_map(|message| &message.blocks).filter(|block| is_reasoning(block)).count()
}

/// All that was said but for the reasoning.
pub(super) fn without(log: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut left = Vec::new();
    for message in log {
        let mut said = Message { role: message.role, blocks: Vec::new() };
        for block in &message.blocks {
            if !is_reasoning(block) {
                said.blocks.push(block.clone());
            }
        }
        if said.blocks.is_empty() {
            said.blocks.push(Block::text(NOTE));
        }
        left.push(Arc::new(said));
    }
    left
}

fn is_reasoning(block: &Block) -> bool {
    matches!(block, Block::Thinking(_) | Block::RedactedThinking(_))
}
