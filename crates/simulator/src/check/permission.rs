//! What may run, judged a second time for the rules and tools a simulation knows.

use heeler_core::{Access, Facts, Mode, Policy, Rule, RuleEffect};

/// Whether a rule or the mode forbids a call, whatever anybody says.
pub(super) fn forbids(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> bool {
    let denied = rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Deny).any(|rule| {
        whole(rule, tool) || facts.accesses.iter().any(|access| touches(rule, tool, access))
    });
    let closed = |access: &Access| match access {
        Access::Read(path) | Access::Write(path) => {
            policy.secrets.iter().any(|secret| path.starts_with(&format!("{secret}/")))
        }
        _ => false,
    };
    let closed = facts.accesses.iter().any(closed);
    let changes = |access: &Access| !matches!(access, Access::Read(_) | Access::Host(_));
    denied || closed || (policy.mode == Mode::Plan && facts.accesses.iter().any(changes))
}

/// Whether a call may run without anybody being asked.
pub(super) fn allows(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> bool {
    if forbids(policy, grants, tool, facts) {
        return false;
    }
    if policy.mode == Mode::Bypass {
        return true;
    }
    let asks = rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Ask).any(|rule| {
        whole(rule, tool) || facts.accesses.iter().any(|access| covers(rule, tool, access))
    });
    !asks
        && facts.accesses.iter().all(|access| {
            by_mode(policy.mode, access)
                || rules(policy, grants)
                    .filter(|rule| rule.effect == RuleEffect::Allow)
                    .any(|rule| covers(rule, tool, access))
        })
}

fn rules<'a>(policy: &'a Policy, grants: &'a [Rule]) -> impl Iterator<Item = &'a Rule> {
    policy.rules.iter().chain(grants)
}

fn by_mode(mode: Mode, access: &Access) -> bool {
    match access {
        Access::Read(path) => path.starts_with("/w/"),
        Access::Write(path) => {
            mode == Mode::AcceptEdits && path.starts_with("/w/") && !path.contains("/.git/")
        }
        _ => false,
    }
}

fn whole(rule: &Rule, tool: &str) -> bool {
    rule.argument.is_none() && rule.tool.eq_ignore_ascii_case(tool)
}

/// Whether a rule that allows or asks speaks of all that an access does.
fn covers(rule: &Rule, tool: &str, access: &Access) -> bool {
    matches(rule, tool, access, |line, argument| !line.contains(';') && runs(line, argument))
}

/// Whether a rule that denies speaks of any of it.
fn touches(rule: &Rule, tool: &str, access: &Access) -> bool {
    matches(rule, tool, access, |line, argument| {
        line.split(';').any(|part| runs(part.trim(), argument))
    })
}

fn matches(rule: &Rule, tool: &str, access: &Access, line: impl Fn(&str, &str) -> bool) -> bool {
    let family = match access {
        Access::Command(_) | Access::Shell(_) => "Bash",
        Access::Read(_) => "Read",
        Access::Write(_) => "Edit",
        Access::Host(_) => "WebFetch",
        Access::Opaque(_) => tool,
    };
    if !rule.tool.eq_ignore_ascii_case(tool) && !rule.tool.eq_ignore_ascii_case(family) {
        return false;
    }
    let Some(argument) = rule.argument.as_deref() else { return true };
    match access {
        Access::Command(command) => line(command, argument),
        Access::Shell(shell) => line(&shell.line, argument),
        Access::Read(path) | Access::Write(path) => argument
            .strip_suffix("/**")
            .is_some_and(|folder| path.starts_with(&format!("/w/{folder}/"))),
        Access::Host(host) => argument
            .strip_prefix("domain:")
            .is_some_and(|name| host == name || host.ends_with(&format!(".{name}"))),
        Access::Opaque(_) => false,
    }
}

fn runs(line: &str, argument: &str) -> bool {
    match argument.strip_suffix(":*") {
        Some(prefix) => line == prefix || line.starts_with(&format!("{prefix} ")),
        None => line == argument,
    }
}
