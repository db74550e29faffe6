//! The few pieces of JSON that requests of every dialect are written with.

use serde_json::Value;

/// Writes a JSON string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    // Writing a string into memory has no way to fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok());
}

/// Merges `patch` over `target`: objects merge, `null` removes, anything else replaces.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    target.shift_remove(&key);
                } else {
                    merge(target.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch,
    }
}
