//! The answer that is being streamed: what a cancel keeps of it.

use std::collections::BTreeMap;

use heeler_core::{Block, Event, ModelEvent, Reply, StopReason, ToolUse, Usage};

/// The blocks of a streamed answer so far, by index.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    blocks: BTreeMap<u32, Part>,
    usage: Usage,
}

#[derive(Debug)]
enum Part {
    Whole(Block),
    Text(String),
    Thinking(u64),
    Input(u64),
}

impl Draft {
    /// Takes one step of the answer in; gives the event watchers see of it.
    pub(crate) fn take(&mut self, event: ModelEvent) -> Option<Event> {
        match event {
            ModelEvent::TextDelta { block, text } => {
                let part = self.blocks.entry(block).or_insert_with(|| Part::Text(String::new()));
                let Part::Text(so_far) = part else { return None };
                let offset = so_far.len() as u64;
                so_far.push_str(&text);
                Some(Event::TextDelta { block, offset, text })
            }
            ModelEvent::ThinkingDelta { block, text } => {
                let part = self.blocks.entry(block).or_insert(Part::Thinking(0));
                let Part::Thinking(bytes) = part else { return None };
                let offset = *bytes;
                *bytes += text.len() as u64;
                Some(Event::ThinkingDelta { block, offset, text })
            }
            ModelEvent::ToolUseStarted { block, .. } => {
                self.blocks.insert(block, Part::Input(0));
                None
            }
            ModelEvent::ToolInputDelta { block, text } => {
                let part = self.blocks.entry(block).or_insert(Part::Input(0));
                let Part::Input(bytes) = part else { return None };
                let offset = *bytes;
                *bytes += text.len() as u64;
                Some(Event::ToolInputDelta { block, offset, text })
            }
            ModelEvent::BlockFinished { block, content } => {
                self.blocks.insert(block, Part::Whole(content));
                None
            }
            ModelEvent::Usage(usage) => {
                self.usage = usage;
                None
            }
            ModelEvent::Finished(_) => None,
        }
    }

    /// Tokens known to be used so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// The calls that are whole, up to the first place where something is missing that may be a
    /// call: each stands where it will stand in the reply.
    pub(crate) fn leading_calls(&self) -> impl Iterator<Item = &ToolUse> {
        let leading = (0..).zip(&self.blocks);
        leading
            .take_while(|(at, (block, part))| at == *block && !matches!(part, Part::Input(_)))
            .filter_map(|(_, (_, part))| match part {
                Part::Whole(block) => block.as_tool_use(),
                Part::Text(_) | Part::Thinking(_) | Part::Input(_) => None,
            })
    }

    /// What a cancel keeps: whole blocks and the text so far. Unfinished inputs and unsigned
    /// thinking are dropped. `None` when nothing is left to keep and nothing was paid.
    pub(crate) fn interrupted(self) -> Option<Reply> {
        let usage = self.usage;
        let blocks: Vec<Block> = self
            .blocks
            .into_values()
            .filter_map(|part| match part {
                Part::Whole(block) => Some(block),
                Part::Text(text) => Some(Block::text(text)),
                Part::Thinking(_) | Part::Input(_) => None,
            })
            // Unsigned thinking counts as empty.
            .filter(|block| !block.is_empty())
            .collect();
        let worth_keeping = !blocks.is_empty() || usage != Usage::default();
        worth_keeping.then_some(Reply {
            blocks,
            stop: StopReason::Interrupted,
            usage,
            provider_id: None,
        })
    }
}
