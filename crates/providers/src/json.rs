//! The few pieces of JSON that requests of every dialect are written with.

pub(crate) use heeler_json::string;
use serde_json::Value;

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
