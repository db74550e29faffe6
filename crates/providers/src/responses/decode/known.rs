//! Which item of the whole answer is which that a stream told of. Servers number them in another way
//! there, and give them other ids or none: what runs or is read twice would be worse.

use std::collections::{BTreeMap, BTreeSet};

use heeler_core::Block;
use serde_json::value::RawValue;

use super::item::{self, Growing, Kind};
use super::{Answer, Slot, Unreadable};

impl Answer {
    /// The places of the whole answer's items, as far as the stream told of them: the same id says most,
    /// the same content more than the same index. Each place is that of one item.
    pub(super) fn known_places(&self, output: &[&RawValue]) -> Vec<Option<u32>> {
        let mut places = vec![None; output.len()];
        let mut open: BTreeSet<u32> = self.items.keys().copied().collect();
        for (index, (place, item)) in (0..).zip(places.iter_mut().zip(output)) {
            let Some(named) = item::id(item).and_then(|id| self.places.get(&id)) else { continue };
            let own = named.get(&index);
            *place = own.into_iter().chain(named).find(|at| open.remove(at)).copied();
        }
        if places.iter().all(Option::is_some) {
            return places;
        }
        let mut said: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for at in &open {
            if let Some(Slot::Finished(block)) = self.items.get(at) {
                said.entry(content(block)).or_default().insert(*at);
            }
        }
        for (place, item) in places.iter_mut().zip(output).filter(|(place, _)| place.is_none()) {
            let Ok(block) = item::block(item) else { continue };
            *place = said.get_mut(&content(&block)).and_then(BTreeSet::pop_first);
            *place = place.or_else(|| self.growing_as(&block, &open));
            place.iter().for_each(|at| {
                open.remove(at);
            });
        }
        for (index, place) in (0..).zip(&mut places).filter(|(_, place)| place.is_none()) {
            *place = open.take(&index);
        }
        places
    }

    /// The first of these places where an item grows that may become this.
    fn growing_as(&self, block: &Block, open: &BTreeSet<u32>) -> Option<u32> {
        let becomes = |at: &&u32| match self.items.get(at) {
            Some(Slot::Growing(growing)) => may_become(growing, block),
            Some(Slot::Finished(_)) | None => false,
        };
        open.iter().find(becomes).copied()
    }

    /// Remembers what the item at a place is called.
    pub(super) fn name(&mut self, item: &RawValue, place: u32) {
        if let Some(id) = item::id(item) {
            self.places.entry(id).or_default().insert(place);
        }
    }

    /// The place of a whole item that tells none.
    pub(super) fn place_of(&self, item: &RawValue) -> Result<u32, Unreadable> {
        let grows = |at: &&u32| matches!(self.items.get(at), Some(Slot::Growing(_)));
        let named = item::id(item).and_then(|id| self.places.get(&id));
        let named = named.and_then(|named| named.iter().find(grows)).copied();
        let block = item::block(item).map_err(|error| Unreadable(error.to_string()))?;
        let open = self.items.keys().copied().collect();
        let place = named.or_else(|| self.growing_as(&block, &open));
        Ok(place.unwrap_or_else(|| self.free_place(0)))
    }

    /// The first free place from one on.
    pub(super) fn free_place(&self, from: u32) -> u32 {
        (from..=u32::MAX).find(|at| !self.items.contains_key(at)).unwrap_or(from)
    }
}

/// What an item says, whatever it is called.
fn content(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("text {}", text.text),
        Block::Thinking(thinking) if !thinking.text.is_empty() => {
            format!("thinking {}", thinking.text)
        }
        Block::ToolUse(call) => {
            format!("call {:?} {:?} {}", call.name, call.invalid, call.input.value())
        }
        other => format!("{other:?}"),
    }
}

fn may_become(growing: &Growing, block: &Block) -> bool {
    match (growing.kind, block) {
        (Kind::Text, Block::Text(text)) => text.text.starts_with(&growing.text),
        (Kind::Thinking, Block::Thinking(thinking)) => thinking.text.starts_with(&growing.text),
        (Kind::Call, Block::ToolUse(call)) => {
            growing.called() == Some(&call.name) && call.input.get().starts_with(&growing.text)
        }
        _ => false,
    }
}
