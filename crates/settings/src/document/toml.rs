//! TOML with lines, as far as it can be read.

use std::collections::BTreeSet;
use std::ops::Range;

use heeler_core::truncate_chars;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::{Broken, DEPTH_MAX, Entry, Lines, Node, Value};
use crate::layer::MISTAKES_MAX;

/// The most characters of a key's name in a message.
const KEY_CHARS_MAX: usize = 200;

/// Reads a document; what is wrong with it is added to what was known to be.
///
/// The parser goes on behind a mistake, with whatever it makes of the line. So a value that
/// touches a broken line is none.
pub(super) fn salvage(text: &str, lines: &Lines, broken: &mut Vec<Broken>) -> Node {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    let place = |error: &Error| error.span().map_or(0, |span| span.start);
    let strays: BTreeSet<usize> =
        heeler_core::gathered(errors.iter().map(|error| lines.at(place(error))));
    let without = without_strays(text, &strays);
    let table = match &without {
        // Behind a line without a key the parser passes over the next one, too.
        Some(without) => {
            let (table, more) = DeTable::parse_recoverable(without);
            errors.extend(more);
            table
        }
        None => table,
    };
    let mut lost: BTreeSet<usize> =
        heeler_core::gathered(errors.iter().map(|error| lines.at(place(error))));
    lost.extend(broken.iter().map(|broken| broken.line));
    for error in errors.iter().take(MISTAKES_MAX) {
        let offset = place(error);
        let key = key_at(table.get_ref(), lines, offset, 0);
        let key = key.map(|key| truncate_chars(&key, KEY_CHARS_MAX).into_owned());
        let within = key.map_or_else(String::new, |key| format!(", in `{key}`"));
        let why = format!("this is no TOML: {}{within}", error.message());
        broken.push(Broken::grammar(lines.place(text, offset), why));
    }
    let mut reading = Reading { lines, lost, broken };
    Node { line: 1, value: reading.entries(table.get_ref(), 0) }
}

/// The text with spaces in place of those of the lines that hold neither a key nor a table, if there
/// are any; every other byte stays where it is.
fn without_strays(text: &str, lines: &BTreeSet<usize>) -> Option<String> {
    let is_stray = |(line, number): (&str, usize)| {
        lines.contains(&number) && !line.trim().is_empty() && !line.contains(['=', '[', ']'])
    };
    let numbered = || text.split_inclusive('\n').zip(1..);
    numbered().any(is_stray).then(|| {
        let kept = numbered().map(|(line, number)| match is_stray((line, number)) {
            true => " ".repeat(line.trim_end_matches('\n').len()) + "\n",
            false => line.to_owned(),
        });
        kept.collect()
    })
}

struct Reading<'a> {
    lines: &'a Lines,
    /// The broken lines.
    lost: BTreeSet<usize>,
    broken: &'a mut Vec<Broken>,
}

impl Reading<'_> {
    fn entries(&mut self, table: &DeTable<'_>, depth: usize) -> Value {
        let mut entries = Vec::new();
        for (key, value) in table {
            let line = self.lines.at(key.span().start);
            let is_lost = self.lost.contains(&line) && !is_table(value.get_ref());
            if let Some(node) = self.node(value, depth + 1).filter(|_| !is_lost) {
                entries.push(Entry { line, key: key.get_ref().to_string(), node });
            }
        }
        // The parser sorts by name; people read by line.
        heeler_core::sort_by_key(&mut entries, |entry| entry.line);
        Value::Table(entries)
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Option<Node> {
        let line = self.lines.at(value.span().start);
        if depth > DEPTH_MAX {
            self.broken.push(Broken::too_deep(line));
            return None;
        }
        let value = match value.get_ref() {
            DeValue::Array(list) => {
                Value::List(list.iter().filter_map(|value| self.node(value, depth + 1)).collect())
            }
            DeValue::Table(table) => self.entries(table, depth),
            _ if self.is_lost(value.span()) => return None,
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
        };
        Some(Node { line, value })
    }

    /// Whether any line of a value is broken.
    fn is_lost(&self, span: Range<usize>) -> bool {
        let lines = self.lines.at(span.start)..=self.lines.at(span.end);
        self.lost.range(lines).next().is_some()
    }
}

fn is_table(value: &DeValue<'_>) -> bool {
    matches!(value, DeValue::Table(_))
}

/// The whole name of the key in whose line or value a place is, or of the table around it.
fn key_at(table: &DeTable<'_>, lines: &Lines, offset: usize, depth: usize) -> Option<String> {
    let before = table.iter().filter(|(key, _)| key.span().start <= offset);
    let (key, value) = before.max_by_key(|(key, _)| key.span().start)?;
    let name = key.get_ref();
    let within = |table: &DeTable<'_>| match depth < DEPTH_MAX {
        true => key_at(table, lines, offset, depth + 1),
        false => None,
    };
    let inner = match value.get_ref() {
        DeValue::Table(inner) => within(inner),
        DeValue::Array(list) => {
            let mut tables = list.iter().rev().filter_map(|value| value.get_ref().as_table());
            tables.find_map(within)
        }
        _ => None,
    };
    let begins_here = lines.at(key.span().start) == lines.at(offset);
    let is_around = is_table(value.get_ref()) || begins_here || offset <= value.span().end;
    match inner {
        Some(inner) => Some(format!("{name}.{inner}")),
        None => is_around.then(|| name.to_string()),
    }
}
