//! A block of a kind this version does not know, while it grows: kept as the provider's own bytes.
//!
//! Invariant: of what the provider wrote nothing is written anew but the texts that deltas add to.

use std::collections::BTreeMap;

use heeler_core::{Opaque, RawJson, RawJsonError};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::DIALECT;
use super::wire::{Delta, Fields, Str};
use crate::input::parse_input;

/// An unknown block's own bytes, and what deltas brought since.
#[derive(Debug)]
pub(super) struct GrowingOpaque {
    raw: String,
    /// An input arrives as the text of a JSON document, in pieces.
    input: String,
    /// What other fields grew by.
    grown: BTreeMap<String, Growth>,
}

#[derive(Debug)]
enum Growth {
    Text(String),
    /// Raw JSON, each.
    Items(Vec<String>),
    /// Raw JSON that stands for all there was.
    Other(String),
}

impl GrowingOpaque {
    /// A block that starts with these bytes, an object.
    pub(super) fn new(raw: &str) -> Self {
        Self { raw: raw.to_owned(), input: String::new(), grown: BTreeMap::new() }
    }

    /// Applies a delta of a known kind.
    pub(super) fn apply(&mut self, delta: &Delta<'_>) {
        if let Some(more) = &delta.partial_json {
            self.input.push_str(&more.0);
            return;
        }
        let texts =
            [("text", &delta.text), ("thinking", &delta.thinking), ("signature", &delta.signature)];
        for (name, more) in texts {
            if let Some(more) = more {
                self.grow(name, Growth::Text(more.0.as_ref().to_owned()));
            }
        }
        if let Some(citation) = delta.citation {
            self.grow("citations", Growth::Items(vec![citation.get().to_owned()]));
        }
    }

    /// Applies a delta of an unknown kind: its fields are the block's.
    pub(super) fn apply_unknown(&mut self, delta: Fields<'_>) {
        for (name, more) in delta.into_iter().filter(|(name, _)| name.0 != "type") {
            self.grow(&name.0, Growth::of(more.get()));
        }
    }

    /// The block.
    pub(super) fn finish(self) -> Result<Opaque, RawJsonError> {
        let Self { raw, input, mut grown } = self;
        // An input that broke off would be refused for ever; the one the block began with is none.
        if let Ok(input) = parse_input(&input) {
            grown.insert("input".to_owned(), Growth::Other(input.get().to_owned()));
        }
        let raw = if grown.is_empty() { raw } else { spliced(raw, grown)? };
        Ok(Opaque { provider: DIALECT.into(), raw: RawJson::parse(&raw)? })
    }

    /// Texts and lists grow; anything else is replaced.
    fn grow(&mut self, name: &str, more: Growth) {
        let Some(grown) = self.grown.get_mut(name) else {
            self.grown.insert(name.to_owned(), more);
            return;
        };
        match (grown, more) {
            (Growth::Text(text), Growth::Text(more)) => text.push_str(&more),
            (Growth::Items(items), Growth::Items(more)) => items.extend(more),
            (grown, more) => *grown = more,
        }
    }
}

impl Growth {
    fn of(raw: &str) -> Self {
        if let Ok(text) = serde_json::from_str::<String>(raw) {
            return Self::Text(text);
        }
        match serde_json::from_str::<Vec<&RawValue>>(raw) {
            Ok(items) => Self::Items(items.iter().map(|item| item.get().to_owned()).collect()),
            Err(_) => Self::Other(raw.to_owned()),
        }
    }

    /// The field's bytes, when it started with these.
    fn onto(self, start: Option<&str>) -> String {
        match (self, start.map(Self::of)) {
            (Self::Text(more), Some(Self::Text(start))) => Value::from(start + &more).to_string(),
            (Self::Items(more), Some(Self::Items(start))) => {
                format!("[{}]", [start, more].concat().join(","))
            }
            (Self::Text(text), _) => Value::from(text).to_string(),
            (Self::Items(items), _) => format!("[{}]", items.join(",")),
            (Self::Other(raw), _) => raw,
        }
    }
}

/// The object with these fields as they are now; every other byte of it is as it was.
fn spliced(object: String, grown: BTreeMap<String, Growth>) -> Result<String, RawJsonError> {
    let syntax = |error: serde_json::Error| RawJsonError::Syntax(error.to_string());
    let fields: Fields<'_> = serde_json::from_str(&object).map_err(syntax)?;
    let (mut old, mut new) = (Vec::new(), String::new());
    for (name, growth) in grown {
        if let Some(value) = fields.get(&Str(name.as_str().into())) {
            // A value is a part of the object's text, so its place is a matter of addresses.
            let at = value.get().as_ptr().addr().saturating_sub(object.as_ptr().addr());
            old.push((at..at + value.get().len(), growth.onto(Some(value.get()))));
        } else {
            let separator = if fields.is_empty() && new.is_empty() { "" } else { "," };
            new.push_str(&format!("{separator}{}:{}", Value::from(name), growth.onto(None)));
        }
    }
    heeler_core::sort_by_key(&mut old, |(place, _)| place.start);
    let end = object.rfind('}').unwrap_or(object.len());
    let (mut out, mut from) = (String::with_capacity(object.len()), 0);
    for (place, value) in old {
        out.push_str(&object[from..place.start]);
        out.push_str(&value);
        from = place.end;
    }
    out.push_str(&object[from..end]);
    out.push_str(&new);
    out.push_str(&object[end..]);
    Ok(out)
}
