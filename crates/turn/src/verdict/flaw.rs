//! Rules that cannot do what they say.

use std::net::Ipv4Addr;

use heeler_core::{Rule, takes_paths};

use super::{path, same_name};

/// The names by which rules speak of what any tool does.
const FAMILIES: [&str; 4] = ["Bash", "Read", "Edit", "WebFetch"];

/// What is wrong with a rule, in words that follow its text; `None` when it can match what it
/// seems to speak of.
///
/// A rule that matches nothing would be ignored in silence, and what somebody forbade would run.
/// Whoever reads rules from people refuses these. Where one gets to be judged all the same, it
/// allows nothing, and one that denies or asks holds for all that it might have meant.
#[must_use]
pub fn flaw(rule: &Rule) -> Option<&'static str> {
    let name = rule.tool.strip_suffix('*').unwrap_or(&rule.tool);
    if name.contains('*') {
        return Some("has a `*` inside the tool's name; only one at its end is understood");
    }
    let argument = rule.argument.as_deref()?;
    if !is_paired(argument) {
        return Some("has brackets that do not pair; give one rule at a time");
    }
    match rule.tool.to_ascii_lowercase().as_str() {
        "bash" => of_command(argument),
        tool if takes_paths(tool) => of_path(argument),
        "webfetch" => of_host(argument),
        tool if tool.starts_with("mcp__") => {
            Some("has an argument, and calls of such tools are not understood; name only the tool")
        }
        _ => None,
    }
}

/// Whether a rule speaks of any of these tools, or of what tools of other names may do. One that
/// does not was meant for another name.
pub fn speaks_of<'a>(rule: &Rule, mut tools: impl Iterator<Item = &'a str>) -> bool {
    tools.any(|name| same_name(&rule.tool, name))
        || FAMILIES.iter().any(|name| same_name(&rule.tool, name))
        || rule.tool.starts_with("mcp__")
}

pub(super) fn of_command(argument: &str) -> Option<&'static str> {
    let words = argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *"));
    words
        .unwrap_or(argument)
        .contains('*')
        .then_some("has a `*` that is not its end; `Bash(words:*)` means any arguments after these")
}

pub(super) fn of_path(argument: &str) -> Option<&'static str> {
    if is_quoted(argument) {
        return Some(QUOTED);
    }
    if argument.starts_with('~') {
        return Some("begins with `~`, which means nothing here; write `//` and the absolute path");
    }
    if argument.split('/').any(|part| part == "..") {
        return Some("climbs with `..`; write `//` and the absolute path");
    }
    (!path::is_pattern(argument)).then_some("is no pattern of paths; look at its brackets and `\\`")
}

pub(super) fn of_host(argument: &str) -> Option<&'static str> {
    if is_quoted(argument) {
        return Some(QUOTED);
    }
    let domain = argument.strip_prefix("domain:").unwrap_or_default().trim_end_matches('.');
    if domain.split('.').any(str::is_empty) || domain.contains(['*', '/', ':', ' ']) {
        return Some("names no domain; write it as `WebFetch(domain:example.com)`");
    }
    if !domain.is_ascii() {
        return Some("names a domain in letters that no request has; write them as `xn--...`");
    }
    // Whatever begins like this is an address for whoever makes requests, in four plain numbers.
    let is_number =
        domain.rsplit('.').next().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    (is_number && domain.parse::<Ipv4Addr>().is_err())
        .then_some("names an address as no request has it; write it as `domain:127.0.0.1`")
}

const QUOTED: &str = "has quotes around its argument, which no name has; leave them out";

fn is_quoted(argument: &str) -> bool {
    let is_within =
        |quote| argument.len() > 1 && argument.starts_with(quote) && argument.ends_with(quote);
    is_within('"') || is_within('\'')
}

/// Whether round brackets open before they close; what follows a `\` is text.
fn is_paired(argument: &str) -> bool {
    let (mut depth, mut escaped) = (0u32, false);
    for byte in argument.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'(' => depth += 1,
            b')' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::RuleEffect;

    use super::*;

    /// What is wrong with each of these rules, a line each.
    fn check(rules: &[&str], expected: Expect) {
        let mut lines = String::new();
        for text in rules {
            let rule = Rule::parse(text, RuleEffect::Deny, "test").unwrap();
            lines += &format!("{text} {}\n", flaw(&rule).unwrap_or("is fine"));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn what_could_never_match_is_told() {
        check(
            &[
                "mcp__*__push",
                "Bash(rm:*), Bash(curl:*)",
                "Bash(echo (:*)",
                "Bash(*rm*)",
                "bash(rm*)",
                "Read(~/.ssh/**)",
                "Edit(../other/**)",
                "Edit(src/[a)",
                "Grep({a)",
                "LS(~)",
                "Write(a\\)",
                "WebFetch(example.com)",
                "WebFetch(domain:*.example.com)",
                "WebFetch(domain:)",
                "WebFetch(domain:.)",
                "WebFetch(domain:.example.com)",
                "WebFetch(domain:b\u{fc}cher.de)",
                "WebFetch(domain:2130706433)",
                "WebFetch('domain:a.b')",
                "MultiEdit(../a)",
                "file_info(~/x)",
                "Read(\"secrets/a\")",
                "mcp__git__push(main)",
            ],
            expect![[r#"
                mcp__*__push has a `*` inside the tool's name; only one at its end is understood
                Bash(rm:*), Bash(curl:*) has brackets that do not pair; give one rule at a time
                Bash(echo (:*) has brackets that do not pair; give one rule at a time
                Bash(*rm*) has a `*` that is not its end; `Bash(words:*)` means any arguments after these
                bash(rm*) has a `*` that is not its end; `Bash(words:*)` means any arguments after these
                Read(~/.ssh/**) begins with `~`, which means nothing here; write `//` and the absolute path
                Edit(../other/**) climbs with `..`; write `//` and the absolute path
                Edit(src/[a) is no pattern of paths; look at its brackets and `\`
                Grep({a) is no pattern of paths; look at its brackets and `\`
                LS(~) begins with `~`, which means nothing here; write `//` and the absolute path
                Write(a\) is no pattern of paths; look at its brackets and `\`
                WebFetch(example.com) names no domain; write it as `WebFetch(domain:example.com)`
                WebFetch(domain:*.example.com) names no domain; write it as `WebFetch(domain:example.com)`
                WebFetch(domain:) names no domain; write it as `WebFetch(domain:example.com)`
                WebFetch(domain:.) names no domain; write it as `WebFetch(domain:example.com)`
                WebFetch(domain:.example.com) names no domain; write it as `WebFetch(domain:example.com)`
                WebFetch(domain:bücher.de) names a domain in letters that no request has; write them as `xn--...`
                WebFetch(domain:2130706433) names an address as no request has it; write it as `domain:127.0.0.1`
                WebFetch('domain:a.b') has quotes around its argument, which no name has; leave them out
                MultiEdit(../a) climbs with `..`; write `//` and the absolute path
                file_info(~/x) begins with `~`, which means nothing here; write `//` and the absolute path
                Read("secrets/a") has quotes around its argument, which no name has; leave them out
                mcp__git__push(main) has an argument, and calls of such tools are not understood; name only the tool
            "#]],
        );
    }

    #[test]
    fn a_rule_for_no_tool_speaks_of_none() {
        for (text, expected) in [
            ("ls", true),
            ("L*", true),
            ("WebFetch", true),
            ("Web*", true),
            ("mcp__later__tool", true),
            ("List", false),
            ("Bsh", false),
            ("x*", false),
        ] {
            let rule = Rule::parse(text, RuleEffect::Deny, "test").unwrap();
            assert_eq!(speaks_of(&rule, ["LS", "Bash"].into_iter()), expected, "{text}");
        }
    }

    #[test]
    fn what_can_match_is_fine() {
        check(
            &[
                "Bash",
                "B*",
                "mcp__git__*",
                "Bash(git push:*)",
                "Bash(git *)",
                "Bash(echo (a) b)",
                "Read(//etc/**)",
                "Edit(a\\(b)",
                "Edit(**/*.{rs,toml})",
                "WebFetch(domain:example.com)",
                "WebFetch(domain:127.0.0.1)",
                "own(anything at all)",
            ],
            expect![[r#"
                Bash is fine
                B* is fine
                mcp__git__* is fine
                Bash(git push:*) is fine
                Bash(git *) is fine
                Bash(echo (a) b) is fine
                Read(//etc/**) is fine
                Edit(a\(b) is fine
                Edit(**/*.{rs,toml}) is fine
                WebFetch(domain:example.com) is fine
                WebFetch(domain:127.0.0.1) is fine
                own(anything at all) is fine
            "#]],
        );
    }
}
