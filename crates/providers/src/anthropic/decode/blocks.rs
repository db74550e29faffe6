//! The blocks of an answer, by their places.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use heeler_core::{Block, ModelEvent};
use serde_json::value::RawValue;

use super::super::{call_fields, server_call};
use super::block::{Content, End, Growing};
use super::{BLOCKS_MAX, Unreadable};

/// The blocks that have begun.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    slots: BTreeMap<u32, Slot>,
    /// Growing blocks with text that was not handed on.
    unpublished: Vec<u32>,
    /// Fields of calls that have no place in them, by their blocks.
    call_fields: BTreeMap<u32, call_fields::Fields>,
}

#[derive(Debug)]
enum Slot {
    Growing(Growing),
    Finished(Block),
}

impl Blocks {
    /// The place behind all blocks.
    pub(super) fn next(&self) -> u32 {
        self.slots.last_key_value().map_or(0, |(last, _)| last.saturating_add(1))
    }

    /// The place of the last block that still grows.
    pub(super) fn last_growing(&self) -> u32 {
        let mut blocks = self.slots.iter().rev();
        let growing = blocks.find(|(_, slot)| matches!(slot, Slot::Growing(_)));
        growing.map_or(0, |(index, _)| *index)
    }

    /// Starts a block from the provider's own form of it.
    pub(super) fn start(
        &mut self,
        index: u32,
        block: &RawValue,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        if self.slots.contains_key(&index) {
            return Err(Unreadable(format!("block {index} began twice")));
        }
        if self.slots.len() == BLOCKS_MAX {
            return Err(Unreadable(format!("more than {BLOCKS_MAX} blocks")));
        }
        self.publish(out);
        let block = Growing::start(block)?;
        if let Content::Call(call) = &block.content {
            let name = call.name.clone();
            out.push_back(ModelEvent::ToolUseStarted { block: index, name });
            if !call.fields.is_empty() {
                self.call_fields.insert(index, call.fields.clone());
            }
        }
        if block.published().is_some_and(|text| !text.is_empty()) {
            self.unpublished.push(index);
        }
        self.slots.insert(index, Slot::Growing(block));
        Ok(())
    }

    /// The growing block at an index, which is about to grow; the last one where none is told.
    pub(super) fn growing(&mut self, index: Option<u32>) -> Result<&mut Growing, Unreadable> {
        let index = index.unwrap_or_else(|| self.last_growing());
        match self.slots.get_mut(&index) {
            Some(Slot::Growing(block)) => {
                if !self.unpublished.contains(&index) {
                    self.unpublished.push(index);
                }
                Ok(block)
            }
            Some(Slot::Finished(_)) => Err(Unreadable(format!("block {index} grew after its end"))),
            None => Err(Unreadable(format!("block {index} grew before its start"))),
        }
    }

    /// Hands on what grew, one event a block.
    pub(super) fn publish(&mut self, out: &mut VecDeque<ModelEvent>) {
        // Nearly always it is one.
        if self.unpublished.len() > 1 {
            heeler_core::sort(&mut self.unpublished);
        }
        for index in self.unpublished.drain(..) {
            let Some(Slot::Growing(growing)) = self.slots.get_mut(&index) else { continue };
            let Some(text) = growing.published() else { continue };
            let (text, length) = (text[growing.published_bytes..].to_owned(), text.len());
            growing.published_bytes = length;
            if text.is_empty() {
                continue;
            }
            out.push_back(match growing.content {
                Content::Thinking(_) => ModelEvent::ThinkingDelta { block: index, text },
                Content::Call(_) => ModelEvent::ToolInputDelta { block: index, text },
                _ => ModelEvent::TextDelta { block: index, text },
            });
        }
    }

    /// Ends a block, unless it has ended.
    pub(super) fn finish(
        &mut self,
        index: u32,
        end: End,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        match self.slots.remove(&index) {
            Some(Slot::Growing(block)) => {
                let content = block.finish(end).map_err(|error| Unreadable(error.to_string()))?;
                if let Some(content) = content {
                    self.slots.insert(index, Slot::Finished(content.clone()));
                    out.push_back(ModelEvent::BlockFinished { block: index, content });
                }
            }
            Some(finished) => {
                self.slots.insert(index, finished);
            }
            // A stop without a start changes nothing.
            None => {}
        }
        Ok(())
    }

    /// Ends those that have not ended.
    pub(super) fn finish_all(
        &mut self,
        end: End,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Unreadable> {
        let indexes: Vec<u32> = self.slots.keys().copied().collect();
        for index in indexes {
            self.finish(index, end, out)?;
        }
        Ok(())
    }

    /// A reply that was cut right after a call began ends that block in good order, with the input
    /// `{}`. The model never wrote that input, so the call must not run; one of the provider's own
    /// tools, which would be run with the next request, is left out.
    pub(super) fn doubt_last_call(&mut self) {
        let Some(mut last) = self.slots.last_entry() else { return };
        match last.get_mut() {
            Slot::Finished(Block::ToolUse(call))
                if call.input.get() == "{}" && call.invalid.is_none() =>
            {
                Arc::make_mut(call).invalid = Some(crate::input::CUT.to_owned());
            }
            Slot::Finished(Block::Opaque(opaque)) if server_call::is_one(opaque) => {
                last.remove();
            }
            Slot::Finished(_) | Slot::Growing(_) => {}
        }
    }

    /// Tells a text behind all blocks, and says where it stands.
    pub(super) fn append(&mut self, content: Block, out: &mut VecDeque<ModelEvent>) -> u32 {
        let block = self.next();
        let text = content.as_text().unwrap_or_default().to_owned();
        out.push_back(ModelEvent::TextDelta { block, text });
        out.push_back(ModelEvent::BlockFinished { block, content: content.clone() });
        self.slots.insert(block, Slot::Finished(content));
        block
    }

    /// Takes out what a reply is made of; `stray` is the place of words that have lost theirs.
    pub(super) fn take(
        &mut self,
        stray: Option<u32>,
        container: Option<&str>,
    ) -> Result<Vec<Block>, Unreadable> {
        let mut blocks = Vec::new();
        for (index, slot) in std::mem::take(&mut self.slots) {
            let Slot::Finished(block) = slot else { continue };
            if !says_nothing(&block) {
                // Words that have lost their place stand where a model has them: before its calls.
                let calls = blocks.iter().position(|block: &Block| block.as_tool_use().is_some());
                let at = calls.filter(|_| stray == Some(index)).unwrap_or(blocks.len());
                blocks.insert(at, block);
            }
            if let Some(fields) = self.call_fields.remove(&index) {
                let behind = call_fields::block(&fields, container);
                blocks.push(behind.map_err(|error| Unreadable(error.to_string()))?);
            }
        }
        // Kept as long as the session, so without room for more.
        blocks.shrink_to_fit();
        Ok(blocks)
    }
}

/// Whether a block brings neither anything to show nor anything to send back.
fn says_nothing(block: &Block) -> bool {
    match block {
        Block::Thinking(thinking) => thinking.text.is_empty() && thinking.signature.is_empty(),
        block => block.is_empty(),
    }
}
