//! The kinds of records, their versions, and what brings an older one to today's shape.
//!
//! A record is written in its kind's newest version and read in any. Changing what a kind's body
//! looks like takes one function here, at the end of the kind's list, and one golden file in
//! `crates/store/tests/it/golden`. A field that may be absent, with a default that says what its
//! absence always meant, needs neither.
//!
//! Invariant: an upgrade is a pure function of one body; it knows no other record.

use serde_json::Value;

/// Brings a body from one version to the next; says what is wrong with one that never was written.
/// A kind without a body has `null`.
pub type Upgrade = fn(Value) -> Result<Value, String>;

/// A kind of [`Record`](crate::Record).
#[derive(Debug, Clone, Copy)]
pub struct RecordKind {
    /// As written in the journal.
    pub name: &'static str,
    /// From version 1 to 2, from 2 to 3, and so on.
    pub upgrades: &'static [Upgrade],
}

/// Every kind, in the order of [`Record`](crate::Record).
pub const RECORD_KINDS: &[RecordKind] = &[
    first("opened"),
    first("settings_changed"),
    first("limits_changed"),
    first("epoch_started"),
    first("history_given"),
    first("input"),
    first("model_started"),
    first("model_accepted"),
    first("model_replied"),
    first("model_failed"),
    first("call_planned"),
    first("facts_changed"),
    first("call_started"),
    RecordKind { name: "call_finished", upgrades: &[for_llm] },
    RecordKind { name: "permission_asked", upgrades: &[unchanged] },
    RecordKind { name: "permission_decided", upgrades: &[unchanged] },
    first("rule_granted"),
    first("hook_answered"),
    first("steering_queued"),
    first("steering_taken_back"),
    first("interrupted"),
    first("compaction_started"),
    first("compacted"),
    first("compaction_failed"),
    first("trimmed"),
    first("pruned"),
    first("restored"),
    first("turn_finished"),
    first("time_passed"),
    first("named"),
    first("forked"),
];

/// What was written before is written so still; something was added that nobody could read before.
#[expect(clippy::unnecessary_wraps, reason = "an upgrade may fail")]
fn unchanged(body: Value) -> Result<Value, String> {
    Ok(body)
}

/// What a call has for the model was called `content`.
fn for_llm(mut body: Value) -> Result<Value, String> {
    let output = body.get_mut("output").and_then(Value::as_object_mut).ok_or("it has no output")?;
    if let Some(content) = output.remove("content") {
        output.insert("for_llm".to_owned(), content);
    }
    Ok(body)
}

/// A kind that never changed.
const fn first(name: &'static str) -> RecordKind {
    RecordKind { name, upgrades: &[] }
}

impl RecordKind {
    /// The kind of this name.
    #[must_use]
    pub fn named<'a>(kinds: &'a [Self], name: &str) -> Option<&'a Self> {
        kinds.iter().find(|kind| kind.name == name)
    }

    /// The version it is written in.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.upgrades.len() as u64 + 1
    }

    /// The body of an older version as today's.
    ///
    /// # Errors
    /// What is wrong with the body or its version.
    pub fn upgrade(&self, version: u64, body: Value) -> Result<Value, String> {
        let steps = usize::try_from(version).ok().and_then(|version| {
            // Version 1 takes all steps, the newest none.
            self.upgrades.get(version.checked_sub(1)?..)
        });
        let steps = steps.ok_or_else(|| format!("there is no version {version}"))?;
        steps.iter().try_fold(body, |body, step| step(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: RecordKind = RecordKind {
        name: "sum",
        upgrades: &[
            |body| body.as_u64().map(|n| (n + 1).into()).ok_or_else(|| "no number".to_owned()),
            |body| Ok(serde_json::json!({ "sum": body })),
        ],
    };

    #[test]
    fn steps_are_taken_from_the_records_version_on() {
        let check = |version, expected: Result<&str, &str>| {
            let upgraded = KIND.upgrade(version, 5.into()).map(|body| body.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(upgraded, expected, "{version}");
        };
        assert_eq!((KIND.version(), first("x").version()), (3, 1));
        check(1, Ok(r#"{"sum":6}"#));
        check(2, Ok(r#"{"sum":5}"#));
        check(3, Ok("5"));
        check(0, Err("there is no version 0"));
        check(4, Err("there is no version 4"));
        assert_eq!(KIND.upgrade(1, Value::Null), Err("no number".to_owned()));
    }

    #[test]
    fn what_a_call_once_had_for_the_model_it_has_still() {
        let kind = RecordKind::named(RECORD_KINDS, "call_finished").unwrap();
        let body = |output| serde_json::json!({ "call": "1.1.0", "millis": 7, "output": output });
        let old = serde_json::json!({ "content": [{ "text": { "text": "a" } }], "silent": true });
        let new = serde_json::json!({ "silent": true, "for_llm": [{ "text": { "text": "a" } }] });
        assert_eq!(kind.upgrade(1, body(old)), Ok(body(new)));
        assert_eq!(kind.upgrade(1, body(serde_json::json!({}))), Ok(body(serde_json::json!({}))));
        assert_eq!(kind.upgrade(1, Value::Null), Err("it has no output".to_owned()));
    }

    #[test]
    fn the_list_is_every_kind_of_record() {
        let error = serde_json::from_str::<crate::Record>(r#"{"kind":"?"}"#).unwrap_err();
        let quoted: Vec<String> =
            RECORD_KINDS.iter().map(|kind| format!("`{}`", kind.name)).collect();
        let all = format!("unknown variant `?`, expected one of {} at", quoted.join(", "));
        assert!(error.to_string().starts_with(&all), "{error}");
    }

    #[test]
    fn a_body_that_only_gained_something_is_read_as_it_stands() {
        let body = serde_json::json!({ "id": { "call": "1.1.0" }, "by": "me" });
        for name in ["permission_asked", "permission_decided"] {
            let kind = RecordKind::named(RECORD_KINDS, name).unwrap();
            assert_eq!(kind.upgrade(1, body.clone()), Ok(body.clone()), "{name}");
        }
    }
}
