//! Which calls a hook is about beyond its matcher: those that a rule speaks of.
//!
//! A rule is read as one that denies to find out whether the hook runs, so that nothing is hidden from
//! it, and as one that allows to find out whether its allowance counts, so that it allows no more.

use heeler_core::{Access, Facts, HookRule, HookedCall, Mode, Policy, Rule, Verdict};
use heeler_turn::verdict::judge;

use crate::matcher::stands_for;

/// Whether a hook with this rule may be about a call.
pub(crate) fn may_mean(rule: &HookRule, call: &HookedCall, workspace: &str) -> bool {
    let tools = || [call.tool.as_str()].into_iter().chain(stands_for(&call.tool).iter().copied());
    // Of what such calls do, a rule can say nothing.
    let is_opaque = call.accesses.iter().all(|access| matches!(access, Access::Opaque(_)));
    let is_said = |tool: &str, rules: &[Rule]| {
        let verdict = judged(rules, tool, call, Mode::Bypass, workspace);
        matches!(verdict, Verdict::Deny { .. })
    };
    let named = || -> Vec<Rule> {
        let whole = |rule: &Rule| Rule { argument: None, ..rule.clone() };
        rule.denying.iter().map(whole).collect()
    };
    rule.denying.is_empty()
        || tools().any(|tool| is_said(tool, &rule.denying))
        || is_opaque && tools().any(|tool| is_said(tool, &named()))
}

/// Whether it is about all that a call does, so that it may allow it.
pub(crate) fn covers(rule: &HookRule, call: &HookedCall, workspace: &str) -> bool {
    let verdict = judged(&rule.allowing, &call.tool, call, Mode::Ask, workspace);
    !rule.allowing.is_empty()
        && !call.accesses.is_empty()
        && matches!(verdict, Verdict::Allow { .. })
}

/// What these rules alone make of a call.
fn judged(rules: &[Rule], tool: &str, call: &HookedCall, mode: Mode, workspace: &str) -> Verdict {
    let policy = Policy {
        mode,
        rules: rules.to_vec(),
        interactive: true,
        workspace: workspace.to_owned(),
        ..Policy::default()
    };
    let facts = Facts { accesses: call.accesses.clone(), ..Facts::default() };
    judge(&policy, &[], tool, &facts).verdict
}

#[cfg(test)]
mod tests {
    use heeler_core::{CallId, RawJson, RuleEffect};

    use super::*;

    /// What becomes of a hook with this rule at a call: whether it runs, and whether it may allow.
    fn check(rule: &str, tool: &str, accesses: &[Access], expected: (bool, bool)) {
        let read = |effect| vec![Rule::parse(rule, effect, "test").unwrap()];
        let condition =
            HookRule { denying: read(RuleEffect::Deny), allowing: read(RuleEffect::Allow) };
        let call = HookedCall {
            id: CallId { turn: 1, round: 1, index: 0 },
            tool: tool.into(),
            input: RawJson::parse("{}").unwrap(),
            accesses: accesses.to_vec(),
        };
        let found = (may_mean(&condition, &call, "/space"), covers(&condition, &call, "/space"));
        assert_eq!(found, expected, "{rule} {tool} {accesses:?}");
    }

    #[test]
    fn a_hook_runs_at_all_that_its_rule_may_mean_and_allows_what_it_means() {
        let line = |line: &str| vec![Access::Command(line.into())];
        let writes = |path: &str| vec![Access::Write(path.into())];
        check("Bash(git status *)", "Bash", &line("git status -s"), (true, true));
        check("Bash(git status *)", "Bash", &line("rm -rf x"), (false, false));
        check("Bash(git status *)", "exec", &line("git status -s"), (true, true));
        // What is hidden in a line is not allowed, and not missed either.
        check("Bash(git status *)", "Bash", &line("git status; rm x"), (true, false));
        check("Bash(git push *)", "Bash", &line("$X push"), (true, false));
        check("Bash(git push*)", "Bash", &line("ls"), (true, false));
        check("Bash", "Bash", &line("ls"), (true, true));
        check("Edit(src/**)", "Edit", &writes("/space/src/a"), (true, true));
        check("Edit(src/**)", "Write", &writes("/space/src/a"), (true, true));
        check("Edit(src/**)", "Edit", &writes("/space/b"), (false, false));
        check("Write(src/**)", "apply_patch", &writes("/space/src/a"), (true, false));
        let both = [writes("/space/src/a"), writes("/space/b")].concat();
        check("Edit(src/**)", "apply_patch", &both, (true, false));
        let opaque = vec![Access::Opaque("x".into())];
        check("Agent(Explore)", "Agent", &opaque, (true, false));
        check("Agent(Explore)", "Agent", &[], (true, false));
        check("Agent(Explore)", "Other", &opaque, (false, false));
        check("mcp__a__b", "mcp__a__b", &opaque, (true, true));
    }

    #[test]
    fn a_rule_that_cannot_be_read_hides_nothing_and_allows_nothing() {
        let condition = HookRule { denying: Vec::new(), allowing: Vec::new() };
        let call = HookedCall {
            id: CallId { turn: 1, round: 1, index: 0 },
            tool: "Bash".into(),
            input: RawJson::parse("{}").unwrap(),
            accesses: Vec::new(),
        };
        assert!(may_mean(&condition, &call, "/space"));
        assert!(!covers(&condition, &call, "/space"));
    }
}
