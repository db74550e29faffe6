//! What a program says to a running `exec --stream-input`, one JSON object a line.

use heeler_core::{
    Decision, Mode, OpenPermission, PermissionId, RawJson, Rule, RuleEffect, from_json,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Who answers, for the journal.
pub(super) const BY: &str = "stream-input";

/// One line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::exec) enum Message {
    /// Something to do: a turn of its own, after those that run or wait.
    Input {
        /// What to do.
        text: String,
    },
    /// A word to the running turn: the model reads it with its next call. Without a running turn it
    /// begins one.
    Steer {
        /// What to say.
        text: String,
        /// Names it, for `take_back`; the same name twice counts once. Without, it is `line-` and the
        /// number of this line.
        #[serde(default)]
        id: Option<String>,
    },
    /// Takes a word back that the model has not read yet.
    TakeBack {
        /// Which one.
        id: String,
    },
    /// Answers a `permission_requested`; the first answer counts.
    Decide {
        /// The `id` of the request.
        id: PermissionId,
        /// The answer.
        decision: Answer,
    },
    /// Stops the running turn. What waits behind it begins.
    Cancel {},
}

/// An answer to a request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::exec) enum Answer {
    /// This call runs.
    Once,
    /// This call runs, and its like for the rest of the session.
    Session {
        /// What is its like, such as `Bash(git status:*)`; without, what the request offers.
        #[serde(default)]
        rule: Option<String>,
    },
    /// As `session`, and in later sessions of this folder.
    Always {
        /// What is its like; without, what the request offers.
        #[serde(default)]
        rule: Option<String>,
    },
    /// This call runs with another input.
    Edited {
        /// The whole input.
        input: Value,
    },
    /// Plan mode is left. An answer to a request to leave it, and to nothing else.
    LeavePlan {
        /// The mode from here on: ask or accept-edits.
        mode: Mode,
    },
    /// The call does not run; the model is told why and goes on.
    Deny {
        /// Words for the model.
        #[serde(default)]
        reason: Option<String>,
    },
    /// The call does not run and the turn ends.
    DenyAndStop {
        /// Words for the model, which it reads in the next turn.
        #[serde(default)]
        reason: Option<String>,
    },
}

impl Message {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is no such message, in words for whoever wrote it.
    pub(super) fn read(line: &str) -> Result<Self, String> {
        // The depth first, since what is read below is built by recursion.
        RawJson::parse(line).map_err(|error| error.to_string())?;
        let message: Self = from_json(line).map_err(|error| {
            format!(
                "{error}; a line is {{\"type\":\"input\",\"text\":...}}, or a steer, take_back, decide \
                 or cancel: see `heeler schema input`"
            )
        })?;
        match &message {
            Self::Input { text } | Self::Steer { text, .. } if text.trim().is_empty() => {
                Err("its text is empty; say something".to_owned())
            }
            _ => Ok(message),
        }
    }
}

impl Answer {
    /// As the session takes it.
    ///
    /// # Errors
    /// When a rule is no rule, or none is offered.
    pub(super) fn decision(self, open: Option<&OpenPermission>) -> Result<Decision, String> {
        let like = |rule: Option<String>| match (rule, open.and_then(|open| open.offer.clone())) {
            (Some(text), _) => {
                Rule::parse(&text, RuleEffect::Allow, BY).map_err(|error| error.to_string())
            }
            (None, Some(offer)) => Ok(offer),
            (None, None) => Err("the request offers no rule; name one, or answer once".to_owned()),
        };
        Ok(match self {
            Self::Once => Decision::Once,
            Self::Session { rule } => Decision::Session { rule: like(rule)? },
            Self::Always { rule } => Decision::Always { rule: like(rule)? },
            Self::Edited { input } => Decision::Edited { input: RawJson::from_value(&input) },
            Self::LeavePlan { mode } => Decision::LeavePlan { mode },
            Self::Deny { reason } => Decision::Deny { reason },
            Self::DenyAndStop { reason } => Decision::DenyAndStop { reason },
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{CallId, OpenPermission, PermissionId, PermissionReason, RawJson, Rule};

    use super::{Answer, Message, RuleEffect};

    /// What lines are read as, one a line.
    fn check(lines: &[&str], expected: Expect) {
        let read = |line: &&str| match Message::read(line) {
            Ok(message) => format!("{message:?}\n"),
            Err(error) => format!("! {error}\n"),
        };
        expected.assert_eq(&lines.iter().map(read).collect::<String>());
    }

    #[test]
    fn a_line_is_one_message() {
        check(
            &[
                r#"{"type":"input","text":"a"}"#,
                r#"{"type":"steer","text":"b"}"#,
                r#"{"type":"take_back","id":"x"}"#,
                r#"{"type":"decide","id":{"call":"1.1.0"},"decision":"once"}"#,
                r#"{"type":"decide","id":{"call":"1.1.0"},"decision":{"deny":{"reason":"no"}}}"#,
                r#"{"type":"decide","id":{"call":"1.1.0"},"decision":{"always":{}}}"#,
                r#"{"type":"decide","id":{"call":"1.1.0"},"decision":{"edited":{"input":{"a":1}}}}"#,
                r#"{"type":"cancel"}"#,
            ],
            expect![[r#"
                Input { text: "a" }
                Steer { text: "b", id: None }
                TakeBack { id: "x" }
                Decide { id: PermissionId { call: CallId { turn: 1, round: 1, index: 0 }, answered_before: 0 }, decision: Once }
                Decide { id: PermissionId { call: CallId { turn: 1, round: 1, index: 0 }, answered_before: 0 }, decision: Deny { reason: Some("no") } }
                Decide { id: PermissionId { call: CallId { turn: 1, round: 1, index: 0 }, answered_before: 0 }, decision: Always { rule: None } }
                Decide { id: PermissionId { call: CallId { turn: 1, round: 1, index: 0 }, answered_before: 0 }, decision: Edited { input: Object {"a": Number(1)} } }
                Cancel
            "#]],
        );
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        let deep = "[".repeat(200);
        check(
            &[
                "x",
                r#"{"type":"input""#,
                r#"{"type":"shout","text":"a"}"#,
                r#"{"type":"input","text":"  "}"#,
                r#"{"type":"input","text":"a","also":1}"#,
                r#"{"type":"cancel","id":"a"}"#,
                r#"{"type":"decide","id":"1.1.0","decision":"once"}"#,
                r#"{"type":"decide","id":{"call":"1.1.0"},"decision":"yes"}"#,
                r#"[{"type":"cancel"}]"#,
                &deep,
            ],
            expect![[r#"
                ! not valid JSON: expected value at line 1 column 1
                ! not valid JSON: EOF while parsing an object at line 1 column 15
                ! unknown variant `shout`, expected one of `input`, `steer`, `take_back`, `decide`, `cancel` at line 1 column 15; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! its text is empty; say something
                ! unknown field `also`, expected `text`; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! unknown field `id`, there are no fields; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! invalid type: string "1.1.0", expected struct PermissionId; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! unknown variant `yes`, expected one of `once`, `session`, `always`, `edited`, `leave_plan`, `deny`, `deny_and_stop`; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! invalid type: map, expected variant identifier at line 1 column 1; a line is {"type":"input","text":...}, or a steer, take_back, decide or cancel: see `heeler schema input`
                ! JSON nested deeper than 96 levels
            "#]],
        );
    }

    #[test]
    fn a_rule_is_the_one_that_is_named_else_the_one_that_is_offered() {
        let call = CallId { turn: 1, round: 1, index: 0 };
        let open = |offer: Option<&str>| OpenPermission {
            id: PermissionId::first(call),
            tool: "Bash".into(),
            input: RawJson::empty_object(),
            summary: "Bash".into(),
            reason: PermissionReason::Repeated(5),
            offer: offer.map(|rule| Rule::parse(rule, RuleEffect::Allow, "offered").unwrap()),
            objection: None,
        };
        let said = |rule: Option<&str>, offer| {
            let answer = Answer::Session { rule: rule.map(str::to_owned) };
            match answer.decision(Some(&open(offer))) {
                Ok(heeler_core::Decision::Session { rule }) => format!("{rule} by {}", rule.source),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(said(Some("Bash(ls:*)"), Some("Bash(cat:*)")), "Bash(ls:*) by stream-input");
        assert_eq!(said(None, Some("Bash(cat:*)")), "Bash(cat:*) by offered");
        let none = "the request offers no rule; name one, or answer once";
        assert_eq!(said(None, None), format!("Err({none:?})"));
        assert!(said(Some("Bash(ls"), None).starts_with("Err("));
    }
}
