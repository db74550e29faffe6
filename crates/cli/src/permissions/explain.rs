//! `heeler permissions explain`.

use anyhow::Result;
use heeler_assembly::{AskedHook, Explained};
use heeler_core::{HookEvent, Verdict, truncate_chars};
use serde::Serialize;

use super::{Here, mode_name, warn};
use crate::say::harmless;

/// The most characters that are shown of a hook's command.
const COMMAND_CHARS_MAX: usize = 120;

/// Everything that is said of a call.
#[derive(Serialize)]
struct Explanation {
    verdict: &'static str,
    /// The rule that decided, where one did.
    rule: Option<String>,
    /// Where that rule stands.
    source: Option<String>,
    reason: String,
    /// Whether what it starts stays in the box, when it runs.
    confined: bool,
    mode: String,
    /// Those that are asked about it, and may decide otherwise.
    hooks: Vec<Asked>,
}

/// A hook that is asked.
#[derive(Serialize)]
struct Asked {
    event: &'static str,
    command: String,
    source: String,
    /// Why it does not run, so that the call does not either.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

/// What would become of the call, for a person or as JSON.
pub(super) fn text(here: &Here, call: &str) -> Result<String> {
    let permission = here.permission.clone();
    let explained = permission.explain(&here.environment, &here.workspace, call)?;
    let Explained { judgement, mode, hooks, loaded } = explained;
    warn(&loaded);
    let (verdict, reason) = match judgement.verdict {
        Verdict::Allow { by } => ("allow", by),
        Verdict::Ask { why } => ("ask", why),
        Verdict::Deny { by } => ("deny", by),
    };
    let explanation = Explanation {
        verdict,
        rule: judgement.rule.as_ref().map(ToString::to_string),
        source: judgement.rule.map(|rule| rule.source),
        reason,
        confined: judgement.confined,
        mode: mode_name(mode)?,
        hooks: hooks.into_iter().map(Asked::of).collect(),
    };
    if here.json {
        return Ok(format!("{}\n", serde_json::to_string(&explanation)?));
    }
    Ok(harmless(&explanation.for_people()))
}

impl Explanation {
    fn for_people(&self) -> String {
        let Self { verdict, reason, mode, .. } = self;
        let mut text = format!("{verdict}: {reason}\n");
        if let (Some(rule), Some(source)) = (&self.rule, &self.source) {
            text += &format!("rule: {rule} ({source})\n");
        }
        text += &format!("mode: {mode}\n");
        let confined = if self.confined { "yes" } else { "no" };
        text += &format!("confined: {confined}\n");
        let of = |event: HookEvent| {
            let asked = self.hooks.iter().filter(|asked| asked.event == event.name());
            asked
                .filter(|asked| asked.broken.is_none())
                .map(Asked::for_people)
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (event, when) in [
            (HookEvent::PreToolUse, "before that these hooks are asked"),
            (HookEvent::PermissionRequest, "before somebody is asked these hooks are"),
        ] {
            let asked = of(event);
            if !asked.is_empty() {
                text += &format!("{when}: {asked}\n");
            }
        }
        text
    }
}

impl Asked {
    fn of(AskedHook { command: hook, .. }: AskedHook) -> Self {
        let event = hook.event.name();
        Self { event, command: hook.command, source: hook.source, broken: hook.broken }
    }

    /// In one line, whatever its command is.
    fn for_people(&self) -> String {
        let command = self.command.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("`{}` ({})", truncate_chars(&command, COMMAND_CHARS_MAX), self.source)
    }
}
