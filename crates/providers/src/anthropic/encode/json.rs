//! The few pieces of JSON that requests are written with.

use heeler_core::CacheMarker;
use serde_json::Value;

/// Writes a JSON string.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    // Writing a string into memory has no way to fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok());
}

/// What marks a block, with the comma before it.
pub(super) fn marker_text(marker: CacheMarker) -> &'static [u8] {
    match marker {
        CacheMarker::FiveMinutes => br#","cache_control":{"type":"ephemeral"}"#,
        CacheMarker::OneHour => br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    }
}

/// The marker that a `cache_control` in the provider's own form is, if it is one.
pub(super) fn raw_marker(value: &Value) -> Option<CacheMarker> {
    match value {
        Value::Null => None,
        value if value["ttl"] == "1h" => Some(CacheMarker::OneHour),
        _ => Some(CacheMarker::FiveMinutes),
    }
}

/// Merges `patch` over `target`: objects merge, `null` removes, anything else replaces.
pub(super) fn merge(target: &mut Value, patch: Value) {
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
