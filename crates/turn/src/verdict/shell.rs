//! Command lines that were read with the shell's grammar: every simple command counts.
//!
//! What no rule allows still runs when there is a box and nothing speaks against it: the box holds
//! it. What a rule allows runs outside of the box, since that is what somebody allowed it for; but
//! not where only the box knows what a line reaches, such as a path that is computed.

use heeler_core::{
    Access, Concern, ConcernKind, Mode, Policy, READING_TOOLS, Rule, RuleEffect, ShellCommand,
    ShellLine, WRITING_TOOLS, truncate_chars,
};

use super::likeness::likeness;
use super::named::Named;
use super::{Allowance, all_rules, flaw, is_free, matches, same_name, shell_line};

/// The most characters of a command line that a reason names.
const EXCERPT_CHARS_MAX: usize = 80;

/// What lets a line run, or why somebody is asked.
pub(super) fn allowance<'a>(
    policy: &'a Policy,
    grants: &'a [Rule],
    tool: &str,
    line: &ShellLine,
) -> Result<Allowance<'a>, String> {
    let asks = || match policy.mode {
        Mode::AllowListed => format!("it {}, which no rule allows", describe(line)),
        _ => format!("it {}", describe(line)),
    };
    let held = || Allowance { confined: true, ..Allowance::of_fact("it stays in the box") };
    // Whatever a line would need outside, it finds only the box.
    if policy.staged && policy.has_box {
        return Ok(held());
    }
    if line.has(ConcernKind::Irreversible) {
        return Err(asks());
    }
    if let Some(rule) = allowed_by(policy, grants, tool, line) {
        return let_by(policy, grants, rule, line)
            .map_err(|why| format!("it {}, {why}", describe(line)));
    }
    if policy.has_box && line.concerns.is_empty() {
        return Ok(held());
    }
    Err(asks())
}

/// How a rule lets a line run: in the box, where there is one and the line can do without what is
/// outside, if letters do not tell what it reaches. A link may lead out of the workspace, a path may
/// be computed, and a pattern may stand for what another rule denies. In plan mode the box is what
/// keeps the promise that nothing is changed, whatever a program does that was taken for a reader.
fn let_by<'a>(
    policy: &Policy,
    grants: &[Rule],
    rule: &'a Rule,
    line: &ShellLine,
) -> Result<Allowance<'a>, &'static str> {
    let is_for_all = rule.argument.is_none();
    let denies_paths = all_rules(policy, grants).any(denies_paths);
    let is_unknown = line.is_open_ended && !is_for_all;
    let writes = !line.writes.is_empty()
        && line.writes.iter().all(|path| is_free(path, policy))
        && !is_for_all;
    let confined = is_unknown || writes || denies_paths || policy.mode == Mode::Plan;
    if !confined {
        return Ok(Allowance::of_rule(rule));
    }
    if policy.has_box && !needs_to_leave(line) {
        // Where somebody can be asked, they may let it out as it wishes.
        if line.asks_to_leave && policy.mode != Mode::AllowListed {
            return Err("where only the sandbox tells what it may reach");
        }
        return Ok(Allowance { confined: true, ..Allowance::of_rule(rule) });
    }
    if is_unknown {
        return Err("and nobody can tell beforehand what it writes or runs");
    }
    if !policy.has_box && denies_paths && !is_for_all {
        return Err("and without the sandbox it may open what a rule denies");
    }
    Ok(Allowance::of_rule(rule))
}

/// Whether something in the line leaves the box, and not only its writer's wish.
fn needs_to_leave(line: &ShellLine) -> bool {
    let leaves = |concern: &&Concern| concern.kind == ConcernKind::Leaves;
    line.concerns.iter().filter(leaves).count() > usize::from(line.asks_to_leave)
}

/// Whether a rule closes paths.
fn denies_paths(rule: &Rule) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|name| same_name(&rule.tool, name));
    rule.effect == RuleEffect::Deny
        && rule.argument.is_some()
        && (is_one_of(&READING_TOOLS) || is_one_of(&WRITING_TOOLS))
}

/// The rule that allows a line: one for the whole tool, or one for each of its commands (then the
/// first of these).
fn allowed_by<'a>(
    policy: &'a Policy,
    grants: &'a [Rule],
    tool: &str,
    line: &ShellLine,
) -> Option<&'a Rule> {
    let rules: Vec<&Rule> = all_rules(policy, grants)
        .filter(|rule| rule.effect == RuleEffect::Allow)
        .filter(|rule| same_name(&rule.tool, tool) || same_name(&rule.tool, "Bash"))
        .collect();
    if let Some(whole) = rules.iter().find(|rule| rule.argument.is_none()) {
        return Some(whole);
    }
    // A rule names what it allows; these may be something else than they look.
    if line.has(ConcernKind::NotUnderstood) || line.has(ConcernKind::Environment) {
        return None;
    }
    let allowing = |command: &ShellCommand| {
        rules.iter().copied().find(|rule| {
            let argument = rule.argument.as_deref().unwrap_or_default();
            flaw::of_command(argument).is_none() && surely_matches(command, argument)
        })
    };
    let named = line.commands.iter().filter(|command| !command.is_wrapper);
    let found: Vec<Option<&Rule>> = named.map(allowing).collect();
    let writes_may = line.writes.iter().all(|path| {
        let access = Access::Write(path.clone());
        is_free(path, policy)
            || all_rules(policy, grants)
                .filter(|rule| rule.effect == RuleEffect::Allow)
                .any(|rule| matches(rule, policy, tool, &access))
    });
    let first = found.first().copied().flatten();
    first.filter(|_| writes_may && found.iter().all(Option::is_some))
}

/// Whether a rule that asks or denies speaks of a line: `Some("")` where it surely does, else a word
/// that may stand for what it names. Allow rules on paths say nothing of commands.
pub(super) fn spoken_of<'a>(rule: &Rule, tool: &str, named: &Named<'a>) -> Option<&'a str> {
    let line = named.line;
    if rule.effect == RuleEffect::Allow {
        return None;
    }
    if let Some(word) = named.touches(rule) {
        return Some(word);
    }
    if !(same_name(&rule.tool, tool) || same_name(&rule.tool, "Bash")) {
        return None;
    }
    let Some(argument) = &rule.argument else { return Some("") };
    let is_flawed = flaw::of_command(argument).is_some();
    let is_wide = is_flawed || shell_line::is_more_than_words(argument);
    if is_wide && line.has(ConcernKind::NotUnderstood)
        || !is_flawed && shell_line::matches(&line.line, argument)
    {
        return Some("");
    }
    let (wanted, is_prefix) = words_of(argument);
    let words = line.commands.iter().filter_map(|command| {
        let exact = if is_flawed { None } else { likeness(command, &wanted, is_prefix) };
        let forms = [&command.words, &command.plain].into_iter().filter(|it| !it.is_empty());
        let mut wide =
            forms.filter_map(|words| shell_line::may_mean(words, &command.made, argument));
        exact.or_else(|| wide.next().filter(|_| is_wide))
    });
    words.min_by_key(|word| !word.is_empty())
}

/// Which word leaves it open whether a rule speaks of these, behind what the rule does.
pub(super) fn doubt(rule: &Rule, tool: &str, lines: &[Named<'_>]) -> String {
    match lines.iter().find_map(|line| spoken_of(rule, tool, line)) {
        None | Some("") => String::new(),
        Some(word) => {
            let word = excerpt(word);
            format!(": what `{word}` stands for is not known until it is written out")
        }
    }
}

/// Whether a line of which not all is understood may contain what a deny rule's argument names.
pub(super) fn may_hide(access: &Access, argument: &str) -> bool {
    match access {
        Access::Command(line) => shell_line::may_hide(line, argument),
        Access::Shell(line) => {
            // A name that is computed, or given by another program, may be any.
            let is_path = |words: &[String]| words.first().is_some_and(|name| name.contains('/'));
            let is_any = || {
                line.commands.iter().any(|command| command.is_doubtful && !is_path(&command.words))
            };
            line.has(ConcernKind::NotUnderstood)
                && (is_any() || shell_line::may_contain(&line.line, argument))
        }
        _ => false,
    }
}

/// Whether a line that somebody lets run has no need to leave the box.
pub(super) fn stays_when_let(access: &Access) -> bool {
    matches!(access, Access::Shell(line) if !line.has(ConcernKind::Leaves))
}

/// What a line does, after "it".
pub(super) fn describe(line: &ShellLine) -> String {
    format!("runs the command `{}`{}", excerpt(&line.line), concerns([line]))
}

/// What speaks against these lines, in brackets behind whatever else is said of them.
pub(super) fn concerns<'a>(lines: impl IntoIterator<Item = &'a ShellLine>) -> String {
    let concerns = lines.into_iter().flat_map(|line| &line.concerns);
    let whys: Vec<String> = concerns.map(|Concern { why, .. }| one_line(why)).collect();
    if whys.is_empty() { String::new() } else { format!(" ({})", whys.join("; ")) }
}

/// The beginning of a command line, where a reason names it.
pub(super) fn excerpt(line: &str) -> String {
    truncate_chars(&one_line(line), EXCERPT_CHARS_MAX).into_owned()
}

/// A text without the breaks and blanks by which its end could be pushed out of sight.
pub(super) fn one_line(text: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> =
        text.split(['\n', '\r']).map(words).filter(|line| !line.is_empty()).collect();
    lines.join(" \u{23ce} ")
}

/// Whether a command's words are surely those of `words:*` with any behind them, or exactly `words`.
fn surely_matches(command: &ShellCommand, argument: &str) -> bool {
    let (wanted, is_prefix) = words_of(argument);
    let plain = (!command.is_doubtful).then_some(&command.plain);
    let forms = [Some(&command.words), plain].into_iter().flatten();
    forms.filter(|words| !words.is_empty()).any(|words| {
        let begins = words.len() >= wanted.len() && words.iter().zip(&wanted).all(|(a, b)| a == b);
        begins && (is_prefix || words.len() == wanted.len())
    })
}

/// The words that an argument names, and whether there may be any behind them.
fn words_of(argument: &str) -> (Vec<&str>, bool) {
    let prefix = argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *"));
    (prefix.unwrap_or(argument).split_whitespace().collect(), prefix.is_some())
}
