//! The nouns of permission: modes, rules, decisions. `heeler-turn`'s `verdict` judges with them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RawJson;

/// A mask on top of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads in the workspace run; everything else asks. The terminal's default.
    #[default]
    Ask,
    /// As `Ask`, and edits inside the workspace run.
    AcceptEdits,
    /// Reads only; what would change something is denied with a word about planning, or somebody is
    /// asked to leave the mode.
    Plan,
    /// Never asks: reads in the workspace and what a rule allows run, the rest is denied.
    AllowListed,
    /// Everything runs that no rule denies.
    Bypass,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ask => "ask",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::AllowListed => "allow-listed",
            Self::Bypass => "bypass",
        })
    }
}

impl FromStr for Mode {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        match text {
            "ask" | "default" => Ok(Self::Ask),
            "accept-edits" | "acceptEdits" => Ok(Self::AcceptEdits),
            "plan" => Ok(Self::Plan),
            "allow-listed" => Ok(Self::AllowListed),
            "bypass" | "bypassPermissions" => Ok(Self::Bypass),
            _ => Err(RuleError {
                text: text.to_owned(),
                why: "is no permission mode; use ask, accept-edits, plan, allow-listed or bypass",
            }),
        }
    }
}

/// What a rule does with what it matches.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run, in any mode.
    Deny,
}

/// `Tool` or `Tool(argument)`: `Bash(git status:*)`, `Edit(src/**)`, `mcp__server__tool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// What happens to a match.
    pub effect: RuleEffect,
    /// The tool's name, compared without regard to case.
    pub tool: String,
    /// What the call's accesses must match; `None` matches every call of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// Where the rule comes from, for `explain` and `audit`: a flag, a file and line, a person.
    pub source: String,
}

/// A text that is not a rule or a mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {why}")]
pub struct RuleError {
    text: String,
    why: &'static str,
}

impl Rule {
    /// Reads `Tool` or `Tool(argument)`.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str, effect: RuleEffect, source: &str) -> Result<Self, RuleError> {
        let error = |why| RuleError { text: text.to_owned(), why };
        let trimmed = text.trim();
        let (tool, argument) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let inner =
                    rest.strip_suffix(')').ok_or_else(|| error("lacks its closing bracket"))?;
                (tool.trim(), Some(inner.trim()))
            }
        };
        let named = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*' | b'.');
        if tool.is_empty() || !tool.bytes().all(named) {
            return Err(error("does not begin with a tool's name; write Tool or Tool(argument)"));
        }
        // `Bash($X)` of a shell in which X is not set must not allow every command.
        if argument == Some("") && effect == RuleEffect::Allow {
            return Err(error("has nothing in its brackets; leave them out to allow all of it"));
        }
        // `Bash()`, `Bash(*)` and `Bash` mean the same in the settings files people have.
        let argument = argument.filter(|a| !matches!(*a, "" | "*" | "**" | ":*"));
        Ok(Self {
            effect,
            tool: tool.to_owned(),
            argument: argument.map(str::to_owned),
            source: source.to_owned(),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            None => f.write_str(&self.tool),
            Some(argument) => write!(f, "{}({argument})", self.tool),
        }
    }
}

/// What may run: a mode, rules, and whether somebody can be asked.
///
/// ```
/// use heeler_core::{Mode, Policy, Rule, RuleEffect};
///
/// let policy = Policy {
///     mode: Mode::AllowListed,
///     rules: vec![Rule::parse("Bash(git status:*)", RuleEffect::Allow, "this program")?],
///     workspace: "/space".into(),
///     ..Policy::default()
/// };
/// # assert_eq!(policy.rules.len(), 1);
/// # Ok::<(), heeler_core::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Policy {
    /// The mask on top of the rules.
    pub mode: Mode,
    /// All rules, from every source; order does not matter, deny wins.
    pub rules: Vec<Rule>,
    /// Whether anybody can answer a prompt. Without, ask means deny. With it a call waits for an
    /// approver, or for whoever decides through its session, watched or not.
    pub interactive: bool,
    /// The workspace's absolute path, to which relative rule arguments are anchored.
    pub workspace: String,
    /// Whether there is a box for commands: one that stays in it runs there without a prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_box: bool,
    /// Whether the workspace is a stage, in which nothing is for good: with a box every command runs
    /// in it without a prompt, whatever it destroys there, and none outside of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub staged: bool,
    /// Whether somebody who can be asked is asked to leave plan mode, once for all calls of an
    /// answer that it denies. Without, they are denied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_to_leave_plan: bool,
    /// Absolute paths that no tool reads or writes, whatever rule, mode or person allows it: those
    /// of [`Reach::secrets`](crate::Reach::secrets), so that nobody is asked about them in vain.
    /// Hundreds of them, which all copies of the policy share.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub secrets: Arc<[String]>,
    /// Paths within those that are read all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Absolute paths in the workspace that decide what later runs besides those of the usual names
    /// ([`is_protected`](crate::is_protected)): what git's settings, hooks and `PATH` name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// The user's home by its name below the workspace, where that is the home or holds it. What
    /// begins with a dot there decides what later runs, as shells and desktops start with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The policy of the agent that made this one: nothing runs here that would not run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Policy>>,
}

/// What the policy says of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow {
        /// The rule, mode or fact that allows it.
        by: String,
    },
    /// Somebody is asked first.
    Ask {
        /// What leaves the allowed ground.
        why: String,
    },
    /// It does not run.
    Deny {
        /// What forbids it, in words for the model.
        by: String,
    },
}

/// A verdict with what led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What is to happen.
    pub verdict: Verdict,
    /// The rule that decided, where one did; of several that allow, the first.
    pub rule: Option<Rule>,
    /// Whether what the call starts stays in the box, when it runs: at once, or after somebody let
    /// it.
    pub confined: bool,
}

/// Why a prompt is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionReason {
    /// The policy says ask.
    Policy(String),
    /// The same call failed several times in a row, and would have run without being asked about.
    Repeated(u32),
    /// Plan mode is all that denies calls of an answer. One request is about all of them; its call
    /// is the first.
    LeavePlan {
        /// What they do, in call order.
        calls: Vec<String>,
        /// How many more there are than are named.
        #[serde(default, skip_serializing_if = "crate::id::is_zero")]
        more: u32,
    },
}

/// An answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// This call runs.
    Once,
    /// This call runs, and a rule allows its like for the rest of the session.
    Session {
        /// The rule, such as [`OpenPermission::offer`](crate::OpenPermission::offer).
        rule: Rule,
    },
    /// As `Session`, and the rule is saved for later sessions by whoever owns the settings.
    Always {
        /// The rule.
        rule: Rule,
    },
    /// This call runs with another input, which is looked up and judged as the model's was: rules
    /// that deny, and hooks, hold against it.
    Edited {
        /// The whole input it runs with instead.
        #[schemars(with = "serde_json::Value")]
        input: RawJson,
    },
    /// Plan mode is left, for the rest of the session; the calls are judged anew. An answer to
    /// [`PermissionReason::LeavePlan`] and to nothing else.
    LeavePlan {
        /// The mode from here on: ask or accept-edits.
        mode: Mode,
    },
    /// The call does not run; the model is told why and goes on.
    Deny {
        /// Words for the model; without, it is told that the user denied the call.
        reason: Option<String>,
    },
    /// The call does not run and the turn ends.
    DenyAndStop {
        /// Words for the model, seen in the next turn.
        reason: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_what_they_print() {
        for (text, tool, argument) in [
            ("Bash", "Bash", None),
            ("Bash(*)", "Bash", None),
            ("Bash(git status:*)", "Bash", Some("git status:*")),
            ("Edit(src/**)", "Edit", Some("src/**")),
            ("mcp__a__b", "mcp__a__b", None),
        ] {
            let rule = Rule::parse(text, RuleEffect::Allow, "test").unwrap();
            assert_eq!((rule.tool.as_str(), rule.argument.as_deref()), (tool, argument));
            let again = Rule::parse(&rule.to_string(), RuleEffect::Allow, "test").unwrap();
            assert_eq!(again, rule);
        }
        for bad in ["", " ", "(x)", "Bash(git", "a b", "B\u{e4}sh"] {
            assert!(Rule::parse(bad, RuleEffect::Deny, "test").is_err(), "{bad}");
        }
        assert!(Rule::parse("Bash( )", RuleEffect::Allow, "test").is_err());
        let denied = Rule::parse("Bash( )", RuleEffect::Deny, "test").unwrap();
        assert_eq!(denied.argument, None);
    }

    #[test]
    fn modes_are_read_by_our_names_and_by_those_people_know() {
        for (texts, mode) in [
            (&["ask", "default"][..], Mode::Ask),
            (&["accept-edits", "acceptEdits"], Mode::AcceptEdits),
            (&["plan"], Mode::Plan),
            (&["allow-listed"], Mode::AllowListed),
            (&["bypass", "bypassPermissions"], Mode::Bypass),
        ] {
            for text in texts {
                assert_eq!(text.parse(), Ok(mode));
            }
            let written = serde_json::to_string(&mode).unwrap();
            assert_eq!(written.trim_matches('"').parse(), Ok(mode), "what is written can be read");
            assert_eq!(written.trim_matches('"'), mode.to_string());
        }
        let error = "yolo".parse::<Mode>().unwrap_err().to_string();
        assert!(error.starts_with("`yolo` is no permission mode; use ask,"), "{error}");
    }
}
