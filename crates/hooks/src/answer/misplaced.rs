//! Finding a decision in an answer that stands where it would count for nothing.

use heeler_core::HookEvent;
use serde_json::{Map, Value};

/// The fields that decide, in small letters.
const DECIDING: [&str; 5] =
    ["hookspecificoutput", "permissiondecision", "decision", "behavior", "continue"];
/// Fields that hold something else than an answer, which may have any names: inputs, what a hook was
/// told, and rules, whose `behavior` decides of later calls.
const HOLDERS: [&str; 5] =
    ["updatedInput", "updatedPermissions", "tool_input", "tool_response", "toolInput"];

/// The name of a field that decides and stands at the wrong level, is of another event, or is written
/// in another way than it has to be.
pub(super) fn misplaced(event: HookEvent, answer: &Value) -> Option<String> {
    let Value::Object(fields) = answer else { return None };
    within(event, Level::Top, fields)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    /// `hookSpecificOutput`.
    Specific,
    /// Its `decision`.
    Decision,
    /// Anywhere else.
    Other,
}

impl Level {
    /// The level in a field, where it decides there.
    fn below(self, event: HookEvent, name: &str) -> Option<Self> {
        let is_request = event == HookEvent::PermissionRequest;
        match (self, name) {
            (Self::Top, "hookSpecificOutput") => Some(Self::Specific),
            (Self::Top, "decision" | "continue") | (Self::Decision, "behavior") => {
                Some(Self::Other)
            }
            (Self::Specific, "permissionDecision") if !is_request => Some(Self::Other),
            (Self::Specific, "decision") if is_request => Some(Self::Decision),
            _ => None,
        }
    }
}

fn within(event: HookEvent, level: Level, fields: &Map<String, Value>) -> Option<String> {
    fields.iter().filter(|(name, value)| !value.is_null() && !HOLDERS.contains(&&***name)).find_map(
        |(name, value)| {
            let below = level.below(event, name);
            if below.is_none() && decides(name) {
                return Some(name.clone());
            }
            in_value(event, below.unwrap_or(Level::Other), value)
        },
    )
}

fn in_value(event: HookEvent, level: Level, value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => within(event, level, fields),
        Value::Array(values) => {
            values.iter().find_map(|value| in_value(event, Level::Other, value))
        }
        _ => None,
    }
}

/// Whether a name is one that decides, however it is written.
fn decides(name: &str) -> bool {
    let plain = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let plain: String = plain.flat_map(char::to_lowercase).collect();
    DECIDING.contains(&&*plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: HookEvent, answer: &str, expected: Option<&str>) {
        let found = misplaced(event, &serde_json::from_str(answer).unwrap());
        assert_eq!(found.as_deref(), expected, "{event} {answer}");
    }

    #[test]
    fn a_decision_in_the_wrong_place_is_found() {
        use HookEvent::{PermissionRequest as Request, PreToolUse as Before};
        for (event, answer, name) in [
            (Before, r#"{"permissionDecision":"deny"}"#, "permissionDecision"),
            (
                Before,
                r#"{"hookSpecificOutput":{"permissiondecision":"deny"}}"#,
                "permissiondecision",
            ),
            (Before, r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#, "decision"),
            (Before, r#"{"hook_specific_output":{}}"#, "hook_specific_output"),
            (Before, r#"{"Decision":"block"}"#, "Decision"),
            (Before, r#"{"behavior":"deny"}"#, "behavior"),
            (Before, r#"{"hookSpecificOutput":{"continue":false}}"#, "continue"),
            (Before, r#"{"result":[{"decision":"block"}]}"#, "decision"),
            (
                Request,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
                "permissionDecision",
            ),
            (Request, r#"{"hookSpecificOutput":{"behavior":"deny"}}"#, "behavior"),
            (Request, r#"{"hookSpecificOutput":{"decision":{"Behavior":"deny"}}}"#, "Behavior"),
        ] {
            check(event, answer, Some(name));
        }
        for (event, answer) in [
            (Before, r#"{"continue":true,"decision":"approve","suppressOutput":true}"#),
            (
                Before,
                r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"decision":1}}}"#,
            ),
            (
                Before,
                r#"{"permissionDecision":null,"tool_input":{"continue":1},"note":"decision"}"#,
            ),
            (
                Request,
                r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedPermissions":[{"behavior":"allow"}]}}}"#,
            ),
        ] {
            check(event, answer, None);
        }
    }
}
