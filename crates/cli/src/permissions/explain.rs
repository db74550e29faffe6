//! `heeler permissions explain`.

use anyhow::Result;
use heeler_assembly::Explained;
use heeler_core::Verdict;
use serde::Serialize;

use super::{Here, mode_name, warn};
use crate::say::harmless;

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
}

/// What would become of the call, for a person or as JSON.
pub(super) fn text(here: &Here, call: &str) -> Result<String> {
    let permission = here.permission.clone();
    let explained = permission.explain(&here.environment, &here.workspace, call)?;
    let Explained { judgement, mode, loaded } = explained;
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
        text + &format!("confined: {confined}\n")
    }
}
