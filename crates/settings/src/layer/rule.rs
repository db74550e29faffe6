//! One rule of a file: read, and turned so that it means the same wherever it is judged.
//!
//! Patterns of paths are written as Claude Code's users know them: `//x` is absolute, `~/x` lies in
//! the home folder, `x` and `./x` in the workspace. A single `/` begins where the file belongs: in
//! the workspace, or, for `~/.claude/settings.json`, in `~/.claude`. People who write `/etc/x` mostly
//! mean the absolute path, so a rule that denies or asks holds for every one of these readings; one
//! that allows holds for the first alone.

use heeler_core::{Rule, RuleEffect, takes_paths};
use heeler_turn::verdict::{flaw, speaks_of};

use crate::source::{Context, Place};

/// What a rule says, once for each of its readings; at least one.
pub(super) fn readings(rule: Rule, place: Place, context: &Context) -> Result<Vec<Rule>, String> {
    let rule = plain(rule);
    let argument = rule.argument.as_deref().unwrap_or_default();
    if !takes_paths(&rule.tool) || argument.starts_with("//") {
        return Ok(vec![rule]);
    }
    let with = |argument: String| Rule { argument: Some(argument), ..rule.clone() };
    if let Some(below) = argument.strip_prefix('~') {
        if !(below.is_empty() || below.starts_with('/')) {
            return Err(format!("`{rule}` names another user's home; write `//` and the path"));
        }
        let at = |home: String| with(format!("{home}{below}"));
        return Ok(homes(&rule, context)?.into_iter().map(at).collect());
    }
    if argument == "." || argument == "./" {
        return Ok(vec![with("/**".to_owned())]);
    }
    if !argument.starts_with('/') {
        return Ok(vec![rule]);
    }
    let own = match place {
        Place::UserClaude => {
            homes(&rule, context)?.iter().map(|home| format!("{home}/.claude{argument}")).collect()
        }
        _ => Vec::new(),
    };
    let readings = match (rule.effect, own.is_empty()) {
        (RuleEffect::Allow, true) => vec![argument.to_owned()],
        (RuleEffect::Allow, false) => own,
        _ => [own, vec![argument.to_owned(), format!("/{argument}")]].concat(),
    };
    Ok(readings.into_iter().map(with).collect())
}

/// The rule without what names have not that it is held against: no path holds `.` or an empty name,
/// no host begins with a dot.
fn plain(rule: Rule) -> Rule {
    let Some(argument) = &rule.argument else { return rule };
    if rule.effect != RuleEffect::Allow && argument.ends_with(":*:*") {
        let words = argument.trim_end_matches(":*");
        return Rule { argument: Some(format!("{words}:*")), ..rule };
    }
    if let Some(domain) = argument.strip_prefix("domain:.")
        && rule.tool.eq_ignore_ascii_case("WebFetch")
    {
        return Rule { argument: Some(format!("domain:{domain}")), ..rule };
    }
    if !takes_paths(&rule.tool) {
        return rule;
    }
    let begin = ["//", "/", "./"].into_iter().find(|begin| argument.starts_with(begin));
    let begin = begin.unwrap_or_default();
    let names = argument[begin.len()..].trim_end_matches('/');
    let kept: Vec<&str> = names.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let kept = kept.join("/");
    if kept == names || (kept.is_empty() && begin.is_empty()) {
        return rule;
    }
    let argument = match rule.effect {
        // A mere name matches in every folder, which this did not say.
        RuleEffect::Allow if !kept.contains('/') && !begin.starts_with('/') => format!("{kept}/**"),
        _ => format!("{begin}{kept}"),
    };
    Rule { argument: Some(argument), ..rule }
}

/// Why a rule can never match what it seems to speak of, in words that follow its text.
pub(crate) fn idle(rule: &Rule, context: &Context) -> Option<String> {
    let tools = &context.tools;
    match flaw(rule) {
        Some(flaw) => Some(flaw.to_owned()),
        None if speaks_of(rule, tools.iter().map(String::as_str)) => None,
        None => Some(format!("names no tool; the tools are {}", tools.join(", "))),
    }
}

/// A rule on an absolute path and all that is below it, whatever characters it has.
#[must_use]
pub fn rule_on_folder(effect: RuleEffect, tool: &str, path: &str, source: &str) -> Rule {
    Rule {
        effect,
        tool: tool.to_owned(),
        argument: Some(pattern_of(path)),
        source: source.to_owned(),
    }
}

/// An absolute path as a pattern that matches it alone.
fn pattern_of(path: &str) -> String {
    let mut pattern = String::from("/");
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// The names of the home folder as beginnings of patterns; at least one.
fn homes(rule: &Rule, context: &Context) -> Result<Vec<String>, String> {
    let homes: Vec<String> = context
        .homes
        .iter()
        .map(|home| home.trim_end_matches('/'))
        .filter(|home| home.starts_with('/') && !climbs(home))
        .map(pattern_of)
        .collect();
    if let Some(home) = context.homes.iter().find(|home| climbs(home)).filter(|_| homes.is_empty())
    {
        return Err(format!(
            "`{rule}` needs a home folder, and `{home}` climbs with `..`; set HOME to the plain path"
        ));
    }
    if homes.is_empty() {
        return Err(format!("`{rule}` needs a home folder; set HOME, or write `//` and the path"));
    }
    Ok(homes)
}

/// Whether a path goes up by its letters, which no path does that a rule is held against.
fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// What a rule of this file becomes when it allows, and when it denies.
    fn check(place: Place, rules: &[&str], expected: Expect) {
        let context = Context {
            homes: vec!["/home/me [x]/".into(), "/data/me".into()],
            ..Context::default()
        };
        let mut lines = String::new();
        for text in rules {
            lines += text;
            for effect in [RuleEffect::Allow, RuleEffect::Deny] {
                let rule = Rule::parse(text, effect, "test").unwrap();
                let read = match readings(rule, place, &context) {
                    Ok(rules) => rules.iter().map(|r| format!(" {r}")).collect(),
                    Err(why) => format!(" {why}"),
                };
                lines += &format!(" | {effect:?}{read}");
            }
            lines.push('\n');
        }
        expected.assert_eq(&lines);
    }

    const RULES: [&str; 18] = [
        "Read",
        "Read(~/.zshrc)",
        "Read(~)",
        "Read(~root/x)",
        "Read(//abs/**)",
        "Edit(/docs/**)",
        "edit(src/**)",
        "Read(./.env)",
        "Bash(/bin/ls:*)",
        "Bash(ls *)",
        "Task(/x)",
        "MultiEdit(/x)",
        "file_info(~/x)",
        "Read(.)",
        "Read(secrets/.)",
        "Read(secrets//a/)",
        "Read(//a/./b)",
        "WebFetch(domain:.a.b)",
    ];

    #[test]
    fn paths_begin_where_the_file_belongs() {
        check(
            Place::Project,
            &RULES,
            expect![[r#"
                Read | Allow Read | Deny Read
                Read(~/.zshrc) | Allow Read(//home/me \[x\]/.zshrc) Read(//data/me/.zshrc) | Deny Read(//home/me \[x\]/.zshrc) Read(//data/me/.zshrc)
                Read(~) | Allow Read(//home/me \[x\]) Read(//data/me) | Deny Read(//home/me \[x\]) Read(//data/me)
                Read(~root/x) | Allow `Read(~root/x)` names another user's home; write `//` and the path | Deny `Read(~root/x)` names another user's home; write `//` and the path
                Read(//abs/**) | Allow Read(//abs/**) | Deny Read(//abs/**)
                Edit(/docs/**) | Allow Edit(/docs/**) | Deny Edit(/docs/**) Edit(//docs/**)
                edit(src/**) | Allow edit(src/**) | Deny edit(src/**)
                Read(./.env) | Allow Read(./.env) | Deny Read(./.env)
                Bash(/bin/ls:*) | Allow Bash(/bin/ls:*) | Deny Bash(/bin/ls:*)
                Bash(ls *) | Allow Bash(ls *) | Deny Bash(ls *)
                Task(/x) | Allow Task(/x) | Deny Task(/x)
                MultiEdit(/x) | Allow MultiEdit(/x) | Deny MultiEdit(/x) MultiEdit(//x)
                file_info(~/x) | Allow file_info(//home/me \[x\]/x) file_info(//data/me/x) | Deny file_info(//home/me \[x\]/x) file_info(//data/me/x)
                Read(.) | Allow Read(/**) | Deny Read(/**)
                Read(secrets/.) | Allow Read(secrets/**) | Deny Read(secrets)
                Read(secrets//a/) | Allow Read(secrets/a) | Deny Read(secrets/a)
                Read(//a/./b) | Allow Read(//a/b) | Deny Read(//a/b)
                WebFetch(domain:.a.b) | Allow WebFetch(domain:a.b) | Deny WebFetch(domain:a.b)
            "#]],
        );
        check(
            Place::UserClaude,
            &["Edit(/docs/**)", "Read(x)"],
            expect![[r#"
                Edit(/docs/**) | Allow Edit(//home/me \[x\]/.claude/docs/**) Edit(//data/me/.claude/docs/**) | Deny Edit(//home/me \[x\]/.claude/docs/**) Edit(//data/me/.claude/docs/**) Edit(/docs/**) Edit(//docs/**)
                Read(x) | Allow Read(x) | Deny Read(x)
            "#]],
        );
    }

    #[test]
    fn without_a_home_there_is_no_home_folder() {
        for (place, text) in [(Place::Project, "Read(~/x)"), (Place::UserClaude, "Read(/x)")] {
            let refused = |homes: Vec<String>| {
                let rule = Rule::parse(text, RuleEffect::Deny, "test").unwrap();
                let context = Context { homes, ..Context::default() };
                readings(rule, place, &context).unwrap_err()
            };
            for homes in [vec![], vec![String::new()], vec!["home".into()]] {
                assert_eq!(
                    refused(homes),
                    format!("`{text}` needs a home folder; set HOME, or write `//` and the path")
                );
            }
            assert_eq!(
                refused(vec!["/a/../b".into()]),
                format!(
                    "`{text}` needs a home folder, and `/a/../b` climbs with `..`; set HOME to the \
                     plain path"
                )
            );
        }
    }
}
