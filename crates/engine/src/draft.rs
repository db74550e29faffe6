//! The answer that is being streamed: what a cancel keeps of it.
//!
//! Its text is not kept here a second time: watchers' view holds all that was shown of the attempt, and
//! here stands which part of that belongs to which block.

use std::collections::BTreeMap;
use std::ops::Range;

use heeler_core::{Block, Event, ModelEvent, Reply, StopReason, ToolUse, Usage};

/// The blocks of a streamed answer so far, by index.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    blocks: BTreeMap<u32, Part>,
    /// Bytes of text shown so far, of all blocks.
    shown_bytes: usize,
    usage: Usage,
}

#[derive(Debug)]
enum Part {
    Whole(Block),
    Text(Shown),
    Thinking(u64),
    Input(u64),
}

/// Where a block's text stands in all that was shown; more than one place when blocks took turns.
#[derive(Debug, Default)]
struct Shown {
    places: Vec<Range<usize>>,
    bytes: usize,
}

impl Shown {
    fn push(&mut self, place: Range<usize>) {
        self.bytes += place.len();
        match self.places.last_mut() {
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.places.push(place),
        }
    }

    fn text(&self, shown: &str) -> String {
        self.places.iter().filter_map(|place| shown.get(place.clone())).collect()
    }
}

impl Draft {
    /// Takes one step of the answer in; gives the event watchers see of it.
    pub(crate) fn take(&mut self, event: ModelEvent) -> Option<Event> {
        match event {
            ModelEvent::TextDelta { block, text } => {
                let part = self.blocks.entry(block).or_insert_with(|| Part::Text(Shown::default()));
                let Part::Text(so_far) = part else { return None };
                let (offset, start) = (so_far.bytes as u64, self.shown_bytes);
                self.shown_bytes += text.len();
                so_far.push(start..self.shown_bytes);
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

    /// What a cancel keeps: whole blocks and the text so far, of which `shown` is all that watchers
    /// saw of this attempt. Unfinished inputs and unsigned thinking are dropped. `None` when nothing
    /// is left to keep and nothing was paid.
    pub(crate) fn interrupted(self, shown: &str) -> Option<Reply> {
        let (usage, has_begun) = (self.usage, !self.blocks.is_empty());
        let blocks: Vec<Block> = self
            .blocks
            .into_values()
            .filter_map(|part| match part {
                Part::Whole(block) => Some(block),
                Part::Text(text) => Some(Block::text(text.text(shown))),
                Part::Thinking(_) | Part::Input(_) => None,
            })
            // Unsigned thinking counts as empty.
            .filter(|block| !block.is_empty())
            .collect();
        // What has begun was paid for, too, whoever tells.
        let worth_keeping = has_begun || usage != Usage::default();
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
                "c" => ModelEvent::BlockFinished { block, content: Block::from(call) },
                "i" => ModelEvent::ToolUseStarted { block, name: step.into() },
                _ => ModelEvent::TextDelta { block, text: "so".into() },
            };
            draft.take(event);
        }
        let names: Vec<&str> = draft.leading_calls().map(|call| call.name.as_str()).collect();
        assert_eq!(names, expected, "{steps}");
    }

    /// Texts in the order they come, `0:so` for more of block 0; what a cancel keeps of them.
    fn check_text(steps: &str, expected: &[&str]) {
        let (mut draft, mut shown) = (Draft::default(), String::new());
        for step in steps.split_whitespace() {
            let (block, text) = step.split_once(':').unwrap();
            let block = block.parse().unwrap();
            if let Some(Event::TextDelta { offset, text, .. }) =
                draft.take(ModelEvent::TextDelta { block, text: text.into() })
            {
                let earlier = steps.split_whitespace().filter(|it| it.starts_with(&step[..2]));
                let so_far: String = earlier.map(|it| &it[2..]).collect();
                assert_eq!(
                    so_far.get(offset as usize..).map(|it| it.starts_with(&text)),
                    Some(true)
                );
                shown.push_str(&text);
            }
        }
        let blocks = draft.interrupted(&shown).map(|reply| reply.blocks).unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.as_text()).collect();
        assert_eq!(texts, expected, "{steps}");
    }

    #[test]
    fn a_cancel_keeps_the_text_of_each_block() {
        check_text("0:one", &["one"]);
        check_text("0:one 0:-two 1:three", &["one-two", "three"]);
        check_text("1:a 0:b 1:c 0:d", &["bd", "ac"]);
        check_text("", &[]);
    }

    #[test]
    fn what_has_begun_is_kept_for_what_it_took_and_nothing_else() {
        assert_eq!(Draft::default().interrupted(""), None);
        let mut draft = Draft::default();
        draft.take(ModelEvent::ToolUseStarted { block: 0, name: "Write".into() });
        assert_eq!(draft.interrupted("").map(|reply| reply.blocks), Some(Vec::new()));
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
