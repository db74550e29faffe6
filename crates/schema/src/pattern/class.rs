//! What stands within brackets.

use std::collections::BTreeSet;

use super::escape::{coded, set};
use super::translation::{PROPERTY_WEIGHT, Translation, WIDE_WEIGHT};

/// So many characters and ranges weigh as much as one out of brackets.
const ITEMS_BY_WEIGHT: usize = 4;
/// The most characters and ranges, and the most sets: each set is joined with all that is there.
const ITEMS_MAX: usize = 4096;
const SETS_MAX: usize = 32;

enum Item {
    Char(char),
    /// Of several characters, with its weight.
    Set(usize),
}

impl Translation<'_> {
    /// What follows a bracket, up to the one that closes it. Brackets, `&&`, `--` and `~~` within
    /// mean nothing here, and something in Rust.
    pub(super) fn class(&mut self) -> Result<(), String> {
        let is_negated = self.eat("^");
        if self.eat("]") {
            self.put(if is_negated { r"[\s\S]" } else { r"[^\s\S]" }, WIDE_WEIGHT);
            return Ok(());
        }
        self.out += if is_negated { "[^" } else { "[" };
        let (mut items, mut weight) = (0, if is_negated { WIDE_WEIGHT } else { 1 });
        let mut sets = BTreeSet::new();
        while !self.eat("]") {
            items += 1;
            let start = self.out.len();
            match self.class_range()? {
                Item::Char(char) if char.is_ascii() => {}
                Item::Char(_) => weight = weight.max(WIDE_WEIGHT),
                Item::Set(more) => {
                    let is_new = sets.insert(self.out[start..].to_owned());
                    if is_new {
                        weight += more;
                    } else {
                        self.out.truncate(start);
                    }
                }
            }
            if items > ITEMS_MAX || sets.len() > SETS_MAX {
                return Err("has too much in brackets".to_owned());
            }
        }
        self.put("]", weight + items / ITEMS_BY_WEIGHT);
        Ok(())
    }

    /// A range, or an item of no range, as those around a dash are of which one is a set.
    fn class_range(&mut self) -> Result<Item, String> {
        let first = self.class_item()?;
        if matches!(first, Item::Set(_))
            || !self.rest.starts_with('-')
            || self.rest.starts_with("-]")
        {
            return Ok(first);
        }
        self.eat("-");
        let dash = self.out.len();
        self.out.push('-');
        let last = self.class_item()?;
        if matches!(last, Item::Set(_)) {
            self.out.insert(dash, '\\');
        }
        Ok(last)
    }

    fn class_item(&mut self) -> Result<Item, String> {
        let char = self.next().ok_or_else(|| "has a bracket that nothing closes".to_owned())?;
        if char != '\\' {
            return Ok(self.class_char(char));
        }
        let letter = self.escaped()?;
        if let Some((set, weight)) = set(letter) {
            self.out += &set;
            return Ok(Item::Set(weight));
        }
        match letter {
            'p' | 'P' => {
                self.property(letter)?;
                Ok(Item::Set(PROPERTY_WEIGHT))
            }
            'b' => Ok(self.class_char('\u{8}')),
            other => {
                let char = self.escaped_char(other)?;
                Ok(self.class_char(char))
            }
        }
    }

    fn class_char(&mut self, char: char) -> Item {
        match char.is_alphanumeric() {
            true => self.out.push(char),
            false => self.out += &coded(char),
        }
        Item::Char(char)
    }
}
