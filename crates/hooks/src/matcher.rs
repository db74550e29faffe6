//! Which moments a hook is about.

use regex::Regex;

/// What a matcher of a settings file means.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// Empty, or `*`.
    All,
    /// Names, exactly, apart from each other by `|`.
    Names(Vec<String>),
    /// Anything else is a pattern that is looked for.
    Pattern(Box<Regex>),
    /// What cannot be read; why.
    Broken(String),
}

impl Matcher {
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim();
        if matches!(text, "" | "*") {
            return Self::All;
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | ' ');
        if text.chars().all(plain) {
            return Self::Names(text.split('|').map(|name| name.trim().to_owned()).collect());
        }
        match Regex::new(text) {
            Ok(pattern) => Self::Pattern(Box::new(pattern)),
            Err(error) => Self::Broken(format!("its matcher `{text}` is no pattern: {error}")),
        }
    }

    /// Whether it is about this. One that cannot be read is about everything, so that somebody
    /// notices.
    pub(crate) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All | Self::Broken(_) => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of these names that a matcher is about.
    fn check(matcher: &str, expected: &str) {
        let names = ["Edit", "MultiEdit", "Write", "edit", "mcp__memory__create", "mcp-x", ""];
        let matcher = Matcher::read(matcher);
        let about: Vec<&str> = names.into_iter().filter(|name| matcher.matches(name)).collect();
        assert_eq!(about.join(" "), expected, "{matcher:?}");
    }

    #[test]
    fn names_are_exact_and_all_else_is_a_pattern() {
        check("Edit", "Edit");
        check("Edit|Write", "Edit Write");
        check(" Edit | Write ", "Edit Write");
        check("mcp-x", "mcp-x");
        check(".*Edit", "Edit MultiEdit");
        check("^Edit$", "Edit");
        check("mcp__memory__.*", "mcp__memory__create");
        check("Bash", "");
        for all in ["", " ", "*", ".*"] {
            check(all, "Edit MultiEdit Write edit mcp__memory__create mcp-x ");
        }
    }

    #[test]
    fn what_cannot_be_read_is_about_everything() {
        check("Edit(", "Edit MultiEdit Write edit mcp__memory__create mcp-x ");
        assert!(matches!(Matcher::read("Edit("), Matcher::Broken(why) if why.contains("`Edit(`")));
    }
}
