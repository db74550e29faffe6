//! What hooks have to say in a verdict: as much as a rule about this one call, and no more.

use heeler_core::{Facts, HookVerdict, Judgement, Policy, Rule, RuleEffect, Verdict};

use super::{judge, judgement};
use crate::words;

/// As [`judge`], heeding what hooks said of the call before it.
///
/// A denial holds in every mode, and so does a broken hook, since nobody knows what it would have
/// said. To allow or to ask is to add a rule about this one call: rules that deny or ask, and what
/// always asks, hold against a hook as they hold against an allow rule of the user. What stays in
/// the box without the hook stays there with it.
#[must_use]
pub fn judge_heeding(
    policy: &Policy,
    grants: &[Rule],
    tool: &str,
    facts: &Facts,
    hook: Option<&HookVerdict>,
) -> Judgement {
    let alone = judge(policy, grants, tool, facts);
    let (effect, by, reason) = match hook {
        None | Some(HookVerdict::Continue) => return alone,
        Some(HookVerdict::Broken { by, why }) => {
            return judgement(Verdict::Deny { by: words::broken_hook(by, why) }, None);
        }
        Some(HookVerdict::Deny { by, reason } | HookVerdict::Stop { by, reason }) => {
            return judgement(Verdict::Deny { by: words::denied_by_hook(by, reason) }, None);
        }
        // Nothing lets anything out of a stage.
        Some(HookVerdict::Allow { .. })
            if policy.staged || matches!(alone.verdict, Verdict::Allow { .. }) =>
        {
            return alone;
        }
        Some(HookVerdict::Allow { by, reason }) => (RuleEffect::Allow, by, reason),
        Some(HookVerdict::Ask { by, reason }) => (RuleEffect::Ask, by, reason),
    };
    let source = match reason {
        Some(reason) => format!("the hook `{by}`: {reason}"),
        None => format!("the hook `{by}`"),
    };
    let rule = Rule { effect, tool: tool.to_owned(), argument: None, source };
    let grants: Vec<Rule> = grants.iter().cloned().chain([rule]).collect();
    let heeding = judge(policy, &grants, tool, facts);
    let runs = !matches!(heeding.verdict, Verdict::Deny { .. });
    Judgement { confined: runs && (heeding.confined || alone.confined), ..heeding }
}
