//! The kinds of records this version reads, and their versions.

/// The version every kind is written in.
pub(crate) const RECORD_VERSION: u64 = 1;

/// Every kind of [`heeler_core::Record`].
const KINDS: &[&str] = &[
    "opened",
    "settings_changed",
    "limits_changed",
    "epoch_started",
    "input",
    "model_started",
    "model_replied",
    "model_failed",
    "call_planned",
    "call_started",
    "call_finished",
    "permission_asked",
    "permission_decided",
    "rule_granted",
    "steering_queued",
    "steering_taken_back",
    "interrupted",
    "compaction_started",
    "compacted",
    "compaction_failed",
    "turn_finished",
    "time_passed",
];

/// Whether only a newer heeler can read a record of this kind and version.
pub(crate) fn is_newer(kind: &str, version: u64) -> bool {
    version > RECORD_VERSION || !KINDS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_every_kind_of_record() {
        let error = serde_json::from_str::<heeler_core::Record>(r#"{"kind":"?"}"#).unwrap_err();
        let quoted = KINDS.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
        let all = format!("unknown variant `?`, expected one of {quoted} at");
        assert!(error.to_string().starts_with(&all), "{error}");
        assert!(!is_newer("input", 1) && is_newer("input", 2) && is_newer("dreamed", 1));
    }
}
