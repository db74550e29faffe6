//! TOML with lines.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Broken, DEPTH_MAX, Entry, Lines, Node, Value};

/// Reads a document.
pub(super) fn read(text: &str, lines: &Lines) -> Result<Node, Broken> {
    let table = DeTable::parse(text).map_err(|error| Broken {
        line: lines.at(error.span().map_or(0, |span| span.start)),
        why: format!("this is no TOML: {}; mend it, or move the file away", error.message()),
    })?;
    Ok(Node { line: 1, value: entries(table.get_ref(), lines, 0)? })
}

fn entries(table: &DeTable<'_>, lines: &Lines, depth: usize) -> Result<Value, Broken> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let line = line_of(key.span(), lines);
        let node = node(value, lines, depth + 1)?;
        entries.push(Entry { line, key: key.get_ref().to_string(), node });
    }
    // The parser sorts by name; people read by line.
    entries.sort_by_key(|entry| entry.line);
    Ok(Value::Table(entries))
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines, depth: usize) -> Result<Node, Broken> {
    let line = line_of(value.span(), lines);
    if depth > DEPTH_MAX {
        return Err(Broken::too_deep(line));
    }
    let value = match value.get_ref() {
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("a number that is too large"), Value::Integer),
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Float(number) => {
            // TOML's own marks between digits are none of Rust's.
            let digits = number.as_str().replace('_', "");
            digits.parse().map_or(Value::Other("a fraction"), Value::Fraction)
        }
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => {
            let nodes = list.iter().map(|value| node(value, lines, depth + 1));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => entries(table, lines, depth)?,
    };
    Ok(Node { line, value })
}

fn line_of(span: Range<usize>, lines: &Lines) -> usize {
    lines.at(span.start)
}
