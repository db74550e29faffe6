//! Which values are the same: `1` and `1.0` are, and the order of properties does not matter.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::number;

/// Whether two values are the same.
pub(crate) fn are_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::compare(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| are_equal(a, b)))
        }
        _ => a == b,
    }
}

/// The first item that is the same as one before it, and which that is.
pub(crate) fn repeated(items: &[Value]) -> Option<usize> {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().position(|item| {
        let mut key = String::new();
        write_key(item, &mut key);
        !seen.insert(key)
    })
}

/// How many values there are in a value, with something for what is long.
pub(crate) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len() / 64 + size(field)).sum()
        }
        Value::String(text) => text.len() / 64,
        _ => 0,
    }
}

/// The same text for the same values, and another one for others.
fn write_key(value: &Value, key: &mut String) {
    match value {
        Value::Number(number) => {
            // Writing to a text cannot fail, here and below.
            let _ = match number::whole(number) {
                Some(whole) => write!(key, "{whole}"),
                None => write!(key, "{number}"),
            };
        }
        Value::Array(items) => {
            key.push('[');
            for item in items {
                write_key(item, key);
                key.push(',');
            }
            key.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            key.push('{');
            for (name, field) in fields {
                let _ = write!(key, "{name:?}:");
                write_key(field, key);
                key.push(',');
            }
            key.push('}');
        }
        other => {
            let _ = write!(key, "{other}");
        }
    }
}
