//! What the policy says of a call: one function, deny wins.
//!
//! Order: deny rules, secrets, the mode's mask, ask rules, allow rules and grants, the mode's own
//! allowances, the box, and otherwise ask. Rules match a call's accesses, not its text, so a rule
//! on editing holds for every tool that writes.

mod flaw;
mod hook;
mod likeness;
mod named;
mod offer;
mod path;
mod shell;
mod shell_line;
#[cfg(test)]
mod shell_tests;
#[cfg(test)]
mod tests;

pub use flaw::{flaw, speaks_of};
pub use hook::judge_heeding;
pub use offer::{OFFER_SOURCE, offer};

use heeler_core::{
    Access, Facts, Judgement, Mode, Policy, Rule, RuleEffect, Verdict, is_protected,
};

use crate::bugs::{Bug, is_on};
use named::Named;

/// Judges one call. `grants` are rules given by decisions in this session.
///
/// An agent made by another one is judged by both policies, and the stricter verdict holds: a
/// child can only be narrower than its parent. Where the parent asks nobody, whom its child asks
/// decides nothing for it.
#[must_use]
pub fn judge(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Judgement {
    let own = judge_alone(policy, grants, tool, facts);
    let judgement = match &policy.within {
        None => own,
        Some(parent) => stricter(own, judge_as_parent(parent, grants, tool, facts)),
    };
    let runs = !matches!(judgement.verdict, Verdict::Deny { .. });
    Judgement { confined: judgement.confined && runs, ..judgement }
}

/// What the policy of the agent that made this one says.
fn judge_as_parent(parent: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Judgement {
    if parent.interactive {
        return judge(parent, grants, tool, facts);
    }
    let judgement = judge(parent, &[], tool, facts);
    match judgement.verdict {
        Verdict::Ask { why } => {
            let verdict = Verdict::Deny { by: crate::words::nobody_to_ask(&why) };
            Judgement { verdict, ..judgement }
        }
        _ => judgement,
    }
}

/// The stricter of two verdicts: deny before ask before allow. What either confines is confined.
fn stricter(own: Judgement, parents: Judgement) -> Judgement {
    let confined = own.confined || parents.confined;
    let judgement = match (&own.verdict, &parents.verdict) {
        (Verdict::Deny { .. }, _) | (_, Verdict::Allow { .. }) => own,
        (Verdict::Ask { .. }, Verdict::Ask { .. }) => own,
        _ => parents,
    };
    Judgement { confined, ..judgement }
}

fn judge_alone(policy: &Policy, grants: &[Rule], tool: &str, facts: &Facts) -> Judgement {
    let widens = is_on(Bug::WidenedPolicy) && whole_tool_rule(policy, grants, tool).is_some();
    let lines: Vec<Named<'_>> = facts
        .accesses
        .iter()
        .filter_map(|access| match access {
            Access::Shell(line) => Some(Named::new(line, policy)),
            _ => None,
        })
        .collect();
    if let Some(denial) = denied(policy, grants, tool, facts, &lines).filter(|_| !widens) {
        return denial;
    }
    if let Some((path, secret)) = secret(policy, facts) {
        let by = format!(
            "{} is closed: nothing reads or writes in {secret}, where keys, passwords or what was \
             said to others is kept, whoever allows it; leave it to the user",
            shell::one_line(path)
        );
        return judgement(Verdict::Deny { by }, None);
    }
    if policy.mode == Mode::Plan
        && let Some(access) = facts.accesses.iter().find(|access| changes(access))
    {
        let by = format!("plan mode is read-only, and this call {}", describe(access));
        return judgement(Verdict::Deny { by }, None);
    }
    if policy.mode == Mode::Bypass {
        return judgement(Verdict::Allow { by: "mode bypass".into() }, None);
    }
    let confined = policy.has_box && facts.accesses.iter().any(shell::stays_when_let);
    if let Some(rule) = matching(grants, RuleEffect::Ask, policy, tool, facts, &lines) {
        // Who asks for more caution hears no less of a line than who has no rule.
        let doubt = shell::doubt(rule, tool, &lines);
        let concerns = shell::concerns(lines.iter().map(|named| named.line));
        let why = format!("the rule {rule} ({}) asks{doubt}{concerns}", rule.source);
        let verdict = ask(policy, why);
        return Judgement { confined, ..judgement(verdict, Some(rule)) };
    }
    let mut allowances = Vec::new();
    for access in &facts.accesses {
        match allowance(policy, grants, tool, access) {
            Ok(allowance) => allowances.push(allowance),
            Err(why) => return Judgement { confined, ..judgement(ask(policy, why), None) },
        }
    }
    if allowances.is_empty() {
        let rule = whole_tool_rule(policy, grants, tool);
        allowances.push(rule.map_or_else(
            || Allowance::of_fact("touches nothing outside the agent"),
            Allowance::of_rule,
        ));
    }
    let confined = allowances.iter().any(|allowance| allowance.confined);
    let rule = allowances.iter().find_map(|allowance| allowance.rule);
    let mut reasons: Vec<String> = allowances.into_iter().map(|allowance| allowance.by).collect();
    reasons.dedup();
    let verdict = Verdict::Allow { by: reasons.join("; ") };
    Judgement { confined, ..judgement(verdict, rule) }
}

fn judgement(verdict: Verdict, rule: Option<&Rule>) -> Judgement {
    Judgement { verdict, rule: rule.cloned(), confined: false }
}

/// What lets one access through.
struct Allowance<'a> {
    by: String,
    rule: Option<&'a Rule>,
    confined: bool,
}

impl<'a> Allowance<'a> {
    fn of_rule(rule: &'a Rule) -> Self {
        let by = format!("rule {rule} ({})", rule.source);
        Self { by, rule: Some(rule), confined: false }
    }

    fn of_fact(by: &str) -> Self {
        Self { by: by.to_owned(), rule: None, confined: false }
    }
}

/// The denial by a rule, in words for the model.
fn denied(
    policy: &Policy,
    grants: &[Rule],
    tool: &str,
    facts: &Facts,
    lines: &[Named<'_>],
) -> Option<Judgement> {
    if let Some(rule) = matching(grants, RuleEffect::Deny, policy, tool, facts, lines) {
        let doubt = shell::doubt(rule, tool, lines);
        let by = format!("the rule {rule} ({}) denies it{doubt}", rule.source);
        return Some(judgement(Verdict::Deny { by }, Some(rule)));
    }
    // A command line that is not understood might hide what a deny rule names.
    let hidden =
        all_rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Deny).find(|rule| {
            facts.accesses.iter().any(|access| {
                let Some(argument) = &rule.argument else { return false };
                names_tool(rule, tool, access) && shell::may_hide(access, argument)
            })
        })?;
    let by = format!(
        "the rule {hidden} ({}) denies something this command line may contain; run the parts as \
         separate simple commands, and write out what aliases, variables and patterns stand for",
        hidden.source
    );
    Some(judgement(Verdict::Deny { by }, Some(hidden)))
}

/// The path a tool would open, and the secret that it lies in by its letters. Where they lead is
/// for the tool to find out, which refuses as well; commands are kept out by the box.
fn secret<'a>(policy: &'a Policy, facts: &'a Facts) -> Option<(&'a str, &'a str)> {
    facts.accesses.iter().find_map(|access| {
        let (Access::Read(path) | Access::Write(path)) = access else { return None };
        let lies_in = |places: &'a [String]| {
            places.iter().find(|place| path::is_in_any_case(path, place)).map(String::as_str)
        };
        let secret = lies_in(&policy.secrets)?;
        lies_in(&policy.readable).is_none().then_some((path.as_str(), secret))
    })
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
    lines: &[Named<'_>],
) -> Option<&'a Rule> {
    all_rules(policy, grants).filter(|rule| rule.effect == effect).find(|rule| {
        if rule.argument.is_none() && same_name(&rule.tool, tool) {
            return true;
        }
        facts.accesses.iter().any(|access| matches(rule, policy, tool, access))
            || lines.iter().any(|line| shell::spoken_of(rule, tool, line).is_some())
    })
}

/// What lets one access through: a rule, a grant, the mode, or the box; else why somebody is asked.
fn allowance<'a>(
    policy: &'a Policy,
    grants: &'a [Rule],
    tool: &str,
    access: &Access,
) -> Result<Allowance<'a>, String> {
    if let Access::Shell(line) = access {
        return shell::allowance(policy, grants, tool, line);
    }
    let mut allows = all_rules(policy, grants).filter(|rule| rule.effect == RuleEffect::Allow);
    if let Some(rule) = allows.find(|rule| matches(rule, policy, tool, access)) {
        return Ok(Allowance::of_rule(rule));
    }
    match access {
        Access::Read(path) if path::is_inside(path, &policy.workspace) => {
            Ok(Allowance::of_fact("reads in the workspace are allowed"))
        }
        Access::Write(path) if policy.mode == Mode::AcceptEdits && is_free(path, policy) => {
            Ok(Allowance::of_fact("mode accept-edits"))
        }
        _ => Err(not_allowed(policy, access)),
    }
}

/// Whether a plain edit of this path decides nothing but its content.
fn is_free(path: &str, policy: &Policy) -> bool {
    let is_setting = |home: &String| {
        path::relative_in_any_case(path, home).is_some_and(|rest| rest.starts_with('.'))
    };
    path::is_inside(path, &policy.workspace)
        && path::relative(path, &policy.workspace).is_some_and(|rest| !is_protected(rest))
        && !policy.protected.iter().any(|place| path::is_in_any_case(path, place))
        && !policy.home.as_ref().is_some_and(is_setting)
}

fn whole_tool_rule<'a>(policy: &'a Policy, grants: &'a [Rule], tool: &str) -> Option<&'a Rule> {
    all_rules(policy, grants).find(|rule| {
        rule.effect == RuleEffect::Allow && rule.argument.is_none() && same_name(&rule.tool, tool)
    })
}

fn not_allowed(policy: &Policy, access: &Access) -> String {
    let what = describe(access);
    match policy.mode {
        Mode::AllowListed => format!("it {what}, which no rule allows"),
        _ => format!("it {what}"),
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

/// Whether a rule speaks of an access. Of lines that were read, [`shell::spoken_of`] tells.
fn matches(rule: &Rule, policy: &Policy, tool: &str, access: &Access) -> bool {
    if matches!(access, Access::Shell(_)) || !names_tool(rule, tool, access) {
        return false;
    }
    let Some(argument) = &rule.argument else { return true };
    let flaw = match access {
        Access::Command(_) => flaw::of_command(argument),
        Access::Read(_) | Access::Write(_) => flaw::of_path(argument),
        // Another tool's rule may speak of the paths that the tool touches too.
        Access::Host(_) if same_name(&rule.tool, "WebFetch") => flaw::of_host(argument),
        Access::Host(_) | Access::Opaque(_) | Access::Shell(_) => None,
    };
    if flaw.is_some() {
        return rule.effect != RuleEffect::Allow;
    }
    match access {
        Access::Command(line) => shell_line::matches(line, argument),
        Access::Read(path) | Access::Write(path) => {
            path::matches(path, argument, &policy.workspace)
        }
        Access::Host(host) => {
            argument.strip_prefix("domain:").is_some_and(|domain| is_host_of(host, domain))
        }
        Access::Opaque(_) | Access::Shell(_) => false,
    }
}

/// Whether a rule speaks of this tool, by its name or by what the access does.
fn names_tool(rule: &Rule, tool: &str, access: &Access) -> bool {
    let family = match access {
        Access::Command(_) | Access::Shell(_) => "Bash",
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

/// Whether a host is this domain or lies in it. A dot at the end names the same host.
fn is_host_of(host: &str, domain: &str) -> bool {
    let [host, domain] = [host, domain].map(|it| it.trim_end_matches('.').to_ascii_lowercase());
    host.strip_suffix(&domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn changes(access: &Access) -> bool {
    match access {
        Access::Read(_) | Access::Host(_) => false,
        Access::Shell(line) => !line.is_read_only || !line.concerns.is_empty(),
        Access::Command(_) | Access::Write(_) | Access::Opaque(_) => true,
    }
}

fn describe(access: &Access) -> String {
    match access {
        Access::Command(line) => format!("runs the command `{}`", shell::excerpt(line)),
        Access::Shell(line) => shell::describe(line),
        Access::Read(path) => format!("reads {}", shell::one_line(path)),
        Access::Write(path) => format!("writes {}", shell::one_line(path)),
        Access::Host(host) => format!("talks to {}", shell::one_line(host)),
        Access::Opaque(what) => {
            format!("does something that is not described ({})", shell::one_line(what))
        }
    }
}
