//! Cache markers in the provider's form.

use heeler_core::CacheMarker;
use serde_json::Value;

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
