//! What the policy says of a call: one function, deny wins.
//!
//! Order: deny rules, the mode's mask, ask rules, allow rules and grants, the mode's own
//! allowances, and otherwise ask. Rules match a call's accesses, not its text, so a rule on
//! editing holds for every tool that writes.

mod flaw;
mod path;
mod shell_line;
#[cfg(test)]
mod tests;

pub use flaw::{flaw, speaks_of};

use heeler_core::{Access, Facts, Mode, Policy, Rule, RuleEffect, Verdict};

use crate::bugs::{Bug, is_on};

/// Paths in a workspace that decide what later runs; writing them is never a plain edit.
const PROTECTED: [&str; 9] = [
    ".git",
    ".heeler",
    ".claude",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".gitmodules",
    ".cargo/config.toml",
];

/// Judges one call. `grants` are rules given by decisions in this session.
///
/// An agent made by another one is judged by both policies, and the stricter verdict holds: a
/// child can only be narrower than its parent.
#[must_use]
pub fn judge(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Verdict {
    let own = judge_alone(policy, grants, tool, facts);
    match &policy.within {
        None => own,
        Some(parent) => stricter(own, judge(parent, grants, tool, facts)),
    }
}

/// The stricter of two verdicts: deny before ask before allow.
fn stricter(own: Verdict, parents: Verdict) -> Verdict {
    match (&own, &parents) {
        (Verdict::Deny { .. }, _) | (_, Verdict::Allow { .. }) => own,
        (Verdict::Ask { .. }, Verdict::Ask { .. }) => own,
        _ => parents,
    }
}

fn judge_alone(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Verdict {
    let widens = is_on(Bug::WidenedPolicy) && whole_tool_rule(policy, grants, tool).is_some();
    if let Some(by) = denied(policy, grants, tool, facts).filter(|_| !widens) {
        return Verdict::Deny { by };
    }
    if policy.mode == Mode::Plan
        && let Some(access) = facts.accesses.iter().find(|access| changes(access))
    {
        let by = format!("plan mode is read-only, and this call {}", describe(access));
        return Verdict::Deny { by };
    }
    if policy.mode == Mode::Bypass {
        return Verdict::Allow { by: "mode bypass".into() };
    }
    if let Some(rule) = matching(grants, RuleEffect::Ask, policy, tool, facts) {
        return ask(policy, format!("the rule {rule} ({}) asks", rule.source));
    }
    let mut reasons = Vec::new();
    for access in &facts.accesses {
        match allowance(policy, grants, tool, access) {
            Some(by) => reasons.push(by),
            None => return not_allowed(policy, access),
        }
    }
    if reasons.is_empty() {
        match whole_tool_rule(policy, grants, tool) {
            Some(by) => reasons.push(by),
            None => reasons.push("touches nothing outside the agent".into()),
        }
    }
    reasons.dedup();
    Verdict::Allow { by: reasons.join("; ") }
}

/// The deny rule that matches, in words for the model.
fn denied(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Option<String> {
    if let Some(rule) = matching(grants, RuleEffect::Deny, policy, tool, facts) {
        return Some(format!("the rule {rule} ({}) denies it", rule.source));
    }
    // A command line that is not understood might hide what a deny rule names.
    let hidden =
        all_rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Deny).find(|rule| {
            facts.accesses.iter().any(|access| match (access, &rule.argument) {
                (Access::Command(line), Some(argument)) => {
                    names_tool(rule, tool, access) && shell_line::may_hide(line, argument)
                }
                _ => false,
            })
        })?;
    Some(format!(
        "the rule {hidden} ({}) denies something this command line may contain; run the parts as \
         separate simple commands",
        hidden.source
    ))
}

/// The policy's rules and those given in this session; a person can forbid there, too.
fn all_rules<'a>(policy: &'a Policy, grants: &'a [Rule]) -> impl Iterator<Item = &'a Rule> {
    policy.rules.iter().chain(grants)
}

fn matching<'a>(
    grants: &'a [Rule],
    effect: RuleEffect,
    policy: &'a Policy,
    tool: &str,
    facts: &Facts,
) -> Option<&'a Rule> {
    all_rules(policy, grants).filter(|rule| rule.effect == effect).find(|rule| {
        if rule.argument.is_none() && same_name(&rule.tool, tool) {
            return true;
        }
        facts.accesses.iter().any(|access| matches(rule, policy, tool, access))
    })
}

/// What lets one access through: a rule, a grant, or the mode.
fn allowance(policy: &Policy, grants: &[Rule], tool: &str, access: &Access) -> Option<String> {
    for rule in all_rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Allow) {
        if matches(rule, policy, tool, access) {
            return Some(format!("rule {rule} ({})", rule.source));
        }
    }
    match access {
        Access::Read(path) if path::is_inside(path, &policy.workspace) => {
            Some("reads in the workspace are allowed".into())
        }
        Access::Write(path)
            if policy.mode == Mode::AcceptEdits
                && path::is_inside(path, &policy.workspace)
                && !is_protected(path, &policy.workspace) =>
        {
            Some("mode accept-edits".into())
        }
        _ => None,
    }
}

fn whole_tool_rule(policy: &Policy, grants: &[Rule], tool: &str) -> Option<String> {
    let rule = all_rules(policy, grants).find(|rule| {
        rule.effect == RuleEffect::Allow && rule.argument.is_none() && same_name(&rule.tool, tool)
    })?;
    Some(format!("rule {rule} ({})", rule.source))
}

fn not_allowed(policy: &Policy, access: &Access) -> Verdict {
    let what = describe(access);
    match policy.mode {
        Mode::AllowListed => ask(policy, format!("it {what}, which no rule allows")),
        _ => ask(policy, format!("it {what}")),
    }
}

/// Asks, in the modes that ever do.
fn ask(policy: &Policy, why: String) -> Verdict {
    if policy.mode == Mode::AllowListed {
        return Verdict::Deny {
            by: format!("{why}, and nobody can be asked in the mode allow-listed"),
        };
    }
    Verdict::Ask { why }
}

fn matches(rule: &Rule, policy: &Policy, tool: &str, access: &Access) -> bool {
    if !names_tool(rule, tool, access) {
        return false;
    }
    let Some(argument) = &rule.argument else { return true };
    let flaw = match access {
        Access::Command(_) => flaw::of_command(argument),
        Access::Read(_) | Access::Write(_) => flaw::of_path(argument),
        // Another tool's rule may speak of the paths that the tool touches too.
        Access::Host(_) if same_name(&rule.tool, "WebFetch") => flaw::of_host(argument),
        Access::Host(_) | Access::Opaque(_) => None,
    };
    if flaw.is_some() {
        return rule.effect != RuleEffect::Allow;
    }
    match access {
        Access::Command(line) => shell_line::matches(line, argument),
        Access::Read(path) | Access::Write(path) => {
            path::matches(path, argument, &policy.workspace)
        }
        Access::Host(host) => argument.strip_prefix("domain:").is_some_and(|domain| {
            host.eq_ignore_ascii_case(domain)
                || host.to_ascii_lowercase().ends_with(&format!(".{}", domain.to_ascii_lowercase()))
        }),
        Access::Opaque(_) => false,
    }
}

/// Whether a rule speaks of this tool, by its name or by what the access does.
fn names_tool(rule: &Rule, tool: &str, access: &Access) -> bool {
    let family = match access {
        Access::Command(_) => "Bash",
        Access::Read(_) => "Read",
        Access::Write(_) => "Edit",
        Access::Host(_) => "WebFetch",
        Access::Opaque(_) => tool,
    };
    same_name(&rule.tool, tool) || same_name(&rule.tool, family)
}

fn same_name(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => {
            name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        }
        None => pattern.eq_ignore_ascii_case(name),
    }
}

fn is_protected(path: &str, workspace: &str) -> bool {
    let Some(relative) = path::relative(path, workspace) else { return true };
    let relative = relative.to_ascii_lowercase();
    PROTECTED.iter().any(|place| {
        relative.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }) || relative.split('/').any(|part| part == ".git")
}

fn changes(access: &Access) -> bool {
    !matches!(access, Access::Read(_) | Access::Host(_))
}

fn describe(access: &Access) -> String {
    match access {
        Access::Command(line) => {
            format!("runs the command `{}`", heeler_core::truncate_chars(line, 80))
        }
        Access::Read(path) => format!("reads {path}"),
        Access::Write(path) => format!("writes {path}"),
        Access::Host(host) => format!("talks to {host}"),
        Access::Opaque(what) => format!("does something that is not described ({what})"),
    }
}
