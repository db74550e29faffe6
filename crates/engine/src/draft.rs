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
            ModelEvent::Accepted(_) | ModelEvent::Finished(_) => None,
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

#[cfg(test)]
mod tests {
    use heeler_core::RawJson;

    use super::*;

    /// Blocks in the order they come: `c0` a whole call, `i1` an input that goes on, `t2` a text.
    fn check(steps: &str, expected: &[&str]) {
        let mut draft = Draft::default();
        for step in steps.split_whitespace() {
            let (kind, block) = step.split_at(1);
            let block: u32 = block.parse().unwrap();
            let call = ToolUse {
                id: String::new(),
                name: step.into(),
                input: RawJson::empty_object(),
                invalid: None,
                cache: None,
            };
            let event = match kind {
                "c" => ModelEvent::BlockFinished { block, content: Block::ToolUse(call) },
                "i" => ModelEvent::ToolUseStarted { block, name: step.into() },
                _ => ModelEvent::TextDelta { block, text: "so".into() },
            };
            draft.take(event);
        }
        let names: Vec<&str> = draft.leading_calls().map(|call| call.name.as_str()).collect();
        assert_eq!(names, expected, "{steps}");
    }

    #[test]
    fn calls_lead_up_to_the_first_place_that_may_become_one() {
        check("c0 c1", &["c0", "c1"]);
        check("t0 c1 t2 c3", &["c1", "c3"]);
        check("c0 i1 c2", &["c0"]);
        check("c0 c2", &["c0"]);
        check("c1 c0", &["c0", "c1"]);
        check("i0", &[]);
    }
}
