//! What keywords demand of the items of a list.

use serde_json::Value;

use super::found::{Path, Seen};
use super::{Check, Found, Spot, words};
use crate::equal;
use crate::keyword::{Bound, Contains, Keyword};

impl<'s> Check<'s> {
    /// Holds a list to a keyword.
    pub(super) fn items<'v>(
        &mut self,
        keyword: &'s Keyword,
        items: &'v [Value],
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        match keyword {
            Keyword::PrefixItems(nodes) => {
                for (index, (node, item)) in nodes.iter().zip(items).enumerate() {
                    self.item(*node, index, item, spot, found);
                    self.see_item(index, seen);
                }
            }
            Keyword::Items { after, node } => {
                for (index, item) in items.iter().enumerate().skip(*after) {
                    if found.is_full() || self.is_spent {
                        break;
                    }
                    self.item(*node, index, item, spot, found);
                    self.see_item(index, seen);
                }
            }
            Keyword::Contains(contains) => self.contains(contains, items, spot, found, seen),
            Keyword::UniqueItems => {
                if self.take(equal::size(spot.value))
                    && let Some(index) = equal::repeated(items)
                    && self.fails(found)
                {
                    self.tell(found, spot, words::repeated(index));
                }
            }
            Keyword::UnevaluatedItems(node) => self.other_items(*node, items, spot, found, seen),
            _ => self.value(keyword, spot, found),
        }
    }

    fn contains<'v>(
        &mut self,
        contains: &Contains,
        items: &'v [Value],
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        let mut count = 0;
        for (index, item) in items.iter().enumerate() {
            let mut inner = Found::keeping(0);
            self.item(contains.node, index, item, spot, &mut inner);
            if inner.is_valid {
                count += 1;
                self.see_item(index, seen);
            }
        }
        let is_over = contains.max.is_some_and(|max| count > max);
        if (count < contains.min || is_over) && self.fails(found) {
            let (bound, than) = match contains.max {
                Some(max) if is_over => (Bound::Max, max),
                _ => (Bound::Min, contains.min),
            };
            self.tell(found, spot, words::contained(count, bound, than));
        }
    }

    /// The items that nothing has looked at.
    fn other_items<'v>(
        &mut self,
        node: usize,
        items: &'v [Value],
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        let others: Vec<usize> = (0..items.len()).filter(|it| !seen.items.contains(it)).collect();
        if self.forbids(node) {
            if !others.is_empty() && self.fails(found) {
                let names = others.iter().map(|index| words::told(&items[*index]));
                self.tell(found, spot, words::unexpected("Unevaluated items", names));
            }
        } else {
            for index in &others {
                self.item(node, *index, &items[*index], spot, found);
            }
        }
        seen.items.extend(others);
    }

    /// Whether a node is `false`, of which there is more to say than that it is.
    pub(super) fn forbids(&self, node: usize) -> bool {
        matches!(self.schema.nodes[node].keywords[..], [Keyword::Never])
    }

    fn item<'v>(
        &mut self,
        node: usize,
        index: usize,
        item: &'v Value,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
    ) {
        let path = Path::Item(spot.path, index);
        self.node(node, Spot { value: item, path: &path, ..spot }, found);
    }

    fn see_item(&mut self, index: usize, seen: &mut Seen<'_>) {
        if self.schema.remembers {
            seen.items.insert(index);
        }
    }
}
