//! JSON with lines, as far as it can be read.
//!
//! Raw values are slices of the text they were read from, so where one begins tells its line; the
//! grammar stays serde_json's.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Broken, DEPTH_MAX, Entry, Lines, Node, Value};

/// Reads a document; what is wrong with it is added to what was known to be, and what stands
/// before that counts.
pub(super) fn salvage(text: &str, lines: &Lines, broken: &mut Vec<Broken>) -> Node {
    match read(text, lines) {
        Ok(node) => node,
        Err((wrong, offset)) => {
            broken.push(wrong);
            let before = cut(text, offset);
            read(&before, lines).unwrap_or(Node { line: 1, value: Value::Table(Vec::new()) })
        }
    }
}

/// A document, or what is wrong with it and where that begins.
fn read(text: &str, lines: &Lines) -> Result<Node, (Broken, usize)> {
    if text.trim().is_empty() {
        return Ok(Node { line: 1, value: Value::Table(Vec::new()) });
    }
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| {
        let offset = lines.offset(error.line(), error.column());
        (Broken::grammar(lines.place(text, offset), why(&error)), offset)
    })?;
    let reading = Reading { text, lines };
    reading.node(whole, 0).map_err(|wrong| match wrong {
        Wrong::Deep { line, offset } => (Broken::too_deep(line), offset),
        Wrong::Json { error, line } => {
            // The column is one of a part of the file, and none that a person could look up.
            let line = line + error.line().saturating_sub(1);
            let broken = Broken { line, column: None, why: why(&error), is_grammar: true };
            (broken, lines.offset(line, 1))
        }
    })
}

fn why(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let what = told.split_once(" at line ").map_or(&*told, |(what, _)| what);
    format!("this is no JSON: {what}")
}

/// What of a text is whole before a place, with every bracket closed that is open there.
fn cut(text: &str, offset: usize) -> String {
    let mut open = Vec::new();
    // How far what is whole reaches. No bracket opens or closes behind it.
    let mut whole = 0;
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate().take(offset) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => {
                open.push(if byte == b'{' { '}' } else { ']' });
                whole = at + 1;
            }
            b'}' | b']' => {
                open.pop();
                whole = at + 1;
            }
            b',' => whole = at,
            _ => {}
        }
    }
    text[..whole].chars().chain(open.into_iter().rev()).collect()
}

struct Reading<'a> {
    text: &'a str,
    lines: &'a Lines,
}

enum Wrong {
    Deep { line: usize, offset: usize },
    Json { error: serde_json::Error, line: usize },
}

impl<'a> Reading<'a> {
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Node, Wrong> {
        let json = raw.get();
        let offset = json.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let line = self.lines.at(offset);
        if depth > DEPTH_MAX {
            return Err(Wrong::Deep { line, offset });
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
