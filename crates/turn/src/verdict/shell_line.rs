//! Matching command lines before there is a shell grammar: only what is plainly one simple
//! command matches a rule.

/// Characters with which a shell does more than split words.
const METACHARACTERS: &[char] = &[
    ';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '[', ']', '*', '?', '!', '~', '#', '\\',
    '\'', '"', '\n', '\r', '\0',
];

/// Whether a line is one simple command: words and nothing else.
fn is_simple(line: &str) -> bool {
    !line.contains(METACHARACTERS)
}

/// Whether a simple command matches `prefix:*` or an exact line.
pub(super) fn matches(line: &str, argument: &str) -> bool {
    if !is_simple(line) {
        return false;
    }
    let words = normalize(line);
    match argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *")) {
        Some(prefix) => {
            let prefix = normalize(prefix);
            words == prefix || words.starts_with(&format!("{prefix} "))
        }
        None => words == normalize(argument),
    }
}

/// Whether a line that is not simple might run what a deny rule's argument names: its words stand
/// in the line in any form, or the line can build words that are not written in it.
pub(super) fn may_hide(line: &str, argument: &str) -> bool {
    if is_simple(line) {
        return false;
    }
    let prefix = argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *"));
    let Some(first) = prefix.unwrap_or(argument).split_whitespace().next() else { return true };
    let bare: String = line.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect();
    bare.contains(first) || line.contains(['$', '`', '*', '?', '{', '['])
}

fn normalize(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deny_rule_is_not_evaded_by_quoting_or_expansion() {
        for line in ["ls; rm x", "r\"m\" x", "\\rm x", "$X x", "ls && /bin/rm x", "`echo rm`"] {
            assert!(may_hide(line, "rm:*"), "{line}");
        }
        assert!(!may_hide("ls && pwd", "rm:*"));
        assert!(!may_hide("cargo test", "rm:*"));
    }
}
