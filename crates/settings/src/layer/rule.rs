//! One rule of a file: read, and turned so that it means the same wherever it is judged.
//!
//! Patterns of paths are written as Claude Code's users know them: `//x` is absolute, `~/x` lies in
//! the home folder, `x` and `./x` in the workspace. A single `/` begins where the file belongs: in
//! the workspace, or, for `~/.claude/settings.json`, in `~/.claude`. People who write `/etc/x` mostly
//! mean the absolute path, so a rule that denies or asks holds for every one of these readings; one
//! that allows holds for the first alone.

use heeler_core::{Rule, RuleEffect};
use heeler_turn::verdict::{flaw, speaks_of};

use crate::source::{Context, Place};

/// Tools whose rules' arguments are patterns of paths.
const OF_PATHS: [&str; 6] = ["read", "edit", "write", "grep", "glob", "ls"];

/// What a rule says, once for each of its readings; at least one.
pub(super) fn readings(rule: Rule, place: Place, context: &Context) -> Result<Vec<Rule>, String> {
    let argument = rule.argument.as_deref().unwrap_or_default();
    let is_path = OF_PATHS.contains(&&*rule.tool.to_ascii_lowercase());
    if !is_path || argument.starts_with("//") {
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
        .filter(|home| home.starts_with('/'))
        .map(pattern_of)
        .collect();
    if homes.is_empty() {
        return Err(format!("`{rule}` needs a home folder; set HOME, or write `//` and the path"));
    }
    Ok(homes)
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

    const RULES: [&str; 11] = [
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
            for homes in [vec![], vec![String::new()], vec!["home".into()]] {
                let rule = Rule::parse(text, RuleEffect::Deny, "test").unwrap();
                let context = Context { homes, ..Context::default() };
                assert_eq!(
                    readings(rule, place, &context).unwrap_err(),
                    format!("`{text}` needs a home folder; set HOME, or write `//` and the path")
                );
            }
        }
    }
}
