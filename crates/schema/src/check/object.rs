//! What keywords demand of the properties of an object.

use serde_json::{Map, Value};

use super::found::{Path, Seen};
use super::{Check, Found, NAME_STEPS, Spot, words};
use crate::keyword::{Demand, Fields, Keyword};
use crate::problem::shortened;

/// The most characters of a property's name that a problem of it has.
const NAME_CHARS_TOLD_MAX: usize = 400;

impl<'s> Check<'s> {
    /// Holds an object to a keyword.
    pub(super) fn fields<'v>(
        &mut self,
        keyword: &'s Keyword,
        fields: &'v Map<String, Value>,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        match keyword {
            Keyword::Required(names) => {
                for name in names {
                    if !fields.contains_key(name) && self.fails(found) {
                        self.tell(found, spot, words::required(name));
                    }
                }
            }
            Keyword::Fields(known) => self.known(known, fields, spot, found, seen),
            Keyword::PropertyNames(node) => {
                for name in fields.keys() {
                    self.name(*node, name, spot, found);
                }
            }
            Keyword::Dependent(all) => {
                for (with, demand) in all.iter().filter(|(with, _)| fields.contains_key(with)) {
                    self.demand(with, demand, fields, spot, found, seen);
                }
            }
            Keyword::UnevaluatedProperties(node) => {
                let is_other =
                    |(name, _): &(&'v String, &'v Value)| !seen.fields.contains(name.as_str());
                let others: Vec<_> = fields.iter().filter(is_other).collect();
                self.others(*node, "Unevaluated properties", &others, spot, found);
                seen.fields.extend(others.into_iter().map(|(name, _)| name.as_str()));
            }
            _ => self.value(keyword, spot, found),
        }
    }

    /// What is demanded with a property.
    fn demand<'v>(
        &mut self,
        with: &str,
        demand: &Demand,
        fields: &Map<String, Value>,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        match demand {
            Demand::Names(names) => {
                for name in names {
                    if !fields.contains_key(name) && self.fails(found) {
                        self.tell(found, spot, words::required_with(name, with));
                    }
                }
            }
            Demand::Schema(node) => seen.join(self.node(*node, spot, found)),
        }
    }

    /// Properties by name, by pattern, and all others.
    fn known<'v>(
        &mut self,
        known: &'s Fields,
        fields: &'v Map<String, Value>,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        if !self.take(fields.len() * NAME_STEPS) {
            return;
        }
        let mut others = Vec::new();
        for (name, field) in fields {
            let mut is_known = false;
            if let Some(node) = known.named.get(name) {
                is_known = true;
                self.field(*node, name, field, spot, found);
            }
            for (pattern, node) in &known.patterns {
                if self.matches(*pattern, name) {
                    is_known = true;
                    self.field(*node, name, field, spot, found);
                }
            }
            if !is_known && known.others.is_some() {
                others.push((name, field));
                is_known = true;
            }
            if is_known && self.schema.remembers {
                seen.fields.insert(name);
            }
        }
        if let Some(node) = known.others {
            self.others(node, "Additional properties", &others, spot, found);
        }
    }

    /// Properties that nothing else says anything about.
    fn others<'v>(
        &mut self,
        node: usize,
        what: &str,
        others: &[(&'v String, &'v Value)],
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
    ) {
        if !self.forbids(node) {
            for (name, field) in others {
                self.field(node, name, field, spot, found);
            }
        } else if !others.is_empty() && self.fails(found) {
            let names = others.iter().map(|(name, _)| words::named(name));
            self.tell(found, spot, words::unexpected(what, names));
        }
    }

    fn field<'v>(
        &mut self,
        node: usize,
        name: &str,
        field: &'v Value,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
    ) {
        let path = Path::Field(spot.path, name);
        self.node(node, Spot { value: field, path: &path, ..spot }, found);
    }

    /// Holds a property's name to a node; the problem is one of the object.
    fn name<'v>(&mut self, node: usize, name: &str, spot: Spot<'_, '_>, found: &mut Found<'v>) {
        let value = Value::from(name);
        let mut inner = Found::keeping(found.max - found.problems.len());
        self.node(node, Spot { value: &value, ..spot }, &mut inner);
        found.is_valid &= inner.is_valid;
        let told = Value::from(shortened(name, NAME_CHARS_TOLD_MAX));
        found.problems.extend(inner.problems.into_iter().map(|it| it.about(&told)));
    }
}
