//! JSON with lines.
//!
//! Raw values are slices of the text they were read from, so where one begins tells its line; the
//! grammar stays serde_json's.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Broken, DEPTH_MAX, Entry, Lines, Node, Value};

/// Reads a document.
pub(super) fn read(text: &str, lines: &Lines) -> Result<Node, Broken> {
    let broken = |error: &serde_json::Error, before: usize| {
        let told = error.to_string();
        // A place within a part of the file is none that a person could look up.
        let what = told.split_once(" at line ").map_or(&*told, |(what, _)| what);
        let why = format!("this is no JSON: {what}; mend it, or move the file away");
        Broken { line: (before + error.line()).max(1), why }
    };
    if text.trim().is_empty() {
        return Ok(Node { line: 1, value: Value::Table(Vec::new()) });
    }
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| broken(&error, 0))?;
    let reading = Reading { text, lines };
    reading.node(whole, 0).map_err(|wrong| match wrong {
        Wrong::Deep { line } => Broken::too_deep(line),
        Wrong::Json { error, line } => broken(&error, line - 1),
    })
}

struct Reading<'a> {
    text: &'a str,
    lines: &'a Lines,
}

enum Wrong {
    Deep { line: usize },
    Json { error: serde_json::Error, line: usize },
}

impl<'a> Reading<'a> {
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Node, Wrong> {
        let json = raw.get();
        let line = self.lines.at(json.as_ptr().addr().saturating_sub(self.text.as_ptr().addr()));
        if depth > DEPTH_MAX {
            return Err(Wrong::Deep { line });
        }
        let wrong = |error| Wrong::Json { error, line };
        let value = match json.as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(json).map_err(wrong)?;
                let entries = entries.into_iter().map(|(key, raw)| {
                    let node = self.node(raw, depth + 1)?;
                    Ok(Entry { line: node.line, key, node })
                });
                Value::Table(entries.collect::<Result<_, _>>()?)
            }
            Some(b'[') => {
                let list: Vec<&'a RawValue> = serde_json::from_str(json).map_err(wrong)?;
                let nodes = list.into_iter().map(|raw| self.node(raw, depth + 1));
                Value::List(nodes.collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::Text(serde_json::from_str(json).map_err(wrong)?),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'n') => Value::Other("null"),
            _ => match (json.parse(), json.parse()) {
                (Ok(number), _) => Value::Integer(number),
                (_, Ok(number)) => Value::Fraction(number),
                _ => Value::Other("a number"),
            },
        };
        Ok(Node { line, value })
    }
}

/// The entries of an object as they stand there, twice given ones too.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
