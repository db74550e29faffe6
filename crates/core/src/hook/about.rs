//! Which tools and calls a hook is about, as settings say it.

use crate::Rule;

/// A rule that says which calls a hook is about, in its readings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookRule {
    /// As one that denies: the hook runs at what it would deny; without any, at all calls.
    pub denying: Vec<Rule>,
    /// As one that allows: the hook may allow what it would allow; without any, nothing.
    pub allowing: Vec<Rule>,
}

/// Why a matcher of tools would match none, and nobody would notice: a list that is no list, or a rule
/// on what a tool does.
#[must_use]
pub fn matches_no_tool(matcher: &str) -> Option<&'static str> {
    let names: Vec<&str> = matcher.trim().split('|').map(str::trim).collect();
    let is_listed = names.iter().any(|name| name.contains(", ") || name.ends_with(','))
        || names.iter().all(|name| name.chars().all(is_in_list))
            && names.iter().any(|name| name.contains([' ', ',']));
    if is_listed {
        return Some("names are apart by `|`");
    }
    is_rule(matcher.trim()).then_some("it looks at names, and the hook at inputs")
}

fn is_in_list(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ',' | ' ')
}

/// Whether it is a rule such as `Bash(git:*)`, which is no pattern that a name would match.
fn is_rule(text: &str) -> bool {
    let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
    parts.is_some_and(|(name, rest)| {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_input = rest.contains([':', '/', ' ']) || rest.replace(".*", "").contains('*');
        is_name && is_input && !rest.contains('|')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_never_match_a_tool_is_told_from_names_and_patterns() {
        let lists = ["Bash, Edit", "Edit Bash", "Bash,Edit", "Bash,|Edit"];
        let rules = ["Bash(git:*)", "Edit(src/**)", "Bash(ls -l)"];
        let matchers = [
            "",
            "*",
            "Bash",
            " Edit | Write ",
            "Notebook(Edit|Read)",
            "mcp__.*__(create|delete)",
            "x{1,3}",
            "Multi(.*)",
            "^(Edit|Write)$",
            "(?i)bash",
        ];
        assert_eq!(lists.map(matches_no_tool), [Some("names are apart by `|`"); 4]);
        let of_rule = Some("it looks at names, and the hook at inputs");
        assert_eq!(rules.map(matches_no_tool), [of_rule; 3]);
        assert_eq!(matchers.map(matches_no_tool), [None; 10]);
    }
}
