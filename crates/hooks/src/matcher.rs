//! Which moments a hook is about.

use heeler_core::matches_no_tool;
use regex::Regex;

/// Tools that do what others do, and go by the rules of those: a guard that knows those alone is asked
/// about these, too.
const ALSO: [(&str, &[&str]); 6] = [
    ("exec", &["Bash"]),
    ("bash", &["Bash"]),
    // Its checks are command lines.
    ("git_commit", &["Bash"]),
    ("MultiEdit", &["Edit", "Write"]),
    ("apply_patch", &["Edit", "Write", "MultiEdit"]),
    // It shows files, too.
    ("str_replace_based_edit_tool", &["Edit", "Write", "MultiEdit", "Read"]),
];

/// The tools whose work this one does.
pub(crate) fn stands_for(tool: &str) -> &'static [&'static str] {
    ALSO.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, also)| also)
}

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
    /// One of tools, where what can never match one is told.
    pub(crate) fn of_tools(text: &str) -> Self {
        match matches_no_tool(text) {
            Some(why) => Self::Broken(format!("its matcher `{text}` matches no tool: {why}")),
            None => Self::read(text),
        }
    }

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

    /// Whether it is about a tool, by its own name or by that of one that it stands for.
    pub(crate) fn matches_tool(&self, tool: &str) -> bool {
        self.matches(tool) || stands_for(tool).iter().any(|name| self.matches(name))
    }

    /// Whether whoever wrote it knows this tool by its own name.
    pub(crate) fn names(&self, tool: &str) -> bool {
        matches!(self, Self::Names(names) if names.iter().any(|name| name == tool))
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
    fn a_guard_of_a_tool_is_asked_about_those_that_do_the_same() {
        let about = |matcher: &str| {
            let matcher = Matcher::read(matcher);
            let tools = [
                "Bash",
                "exec",
                "bash",
                "git_commit",
                "git_status",
                "Read",
                "Write",
                "Edit",
                "MultiEdit",
                "apply_patch",
                "str_replace_based_edit_tool",
            ];
            tools
                .into_iter()
                .filter(|tool| matcher.matches_tool(tool))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(about("Bash"), "Bash exec bash git_commit");
        assert_eq!(
            about("Edit|Write"),
            "Write Edit MultiEdit apply_patch str_replace_based_edit_tool"
        );
        assert_eq!(about("MultiEdit"), "MultiEdit apply_patch str_replace_based_edit_tool");
        assert_eq!(about("^Edit$"), "Edit MultiEdit apply_patch str_replace_based_edit_tool");
        assert_eq!(about("Read"), "Read str_replace_based_edit_tool");
        assert_eq!(about("exec"), "exec");
    }

    #[test]
    fn what_can_never_match_a_tool_is_refused() {
        for text in ["Bash,Edit", " Edit(src/**) "] {
            assert!(matches!(Matcher::of_tools(text), Matcher::Broken(_)), "{text}");
        }
        for text in ["", "*", "Bash", " Edit | Write ", "^(Edit|Write)$"] {
            assert!(!matches!(Matcher::of_tools(text), Matcher::Broken(_)), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_about_everything() {
        check("Edit(", "Edit MultiEdit Write edit mcp__memory__create mcp-x ");
        assert!(matches!(Matcher::read("Edit("), Matcher::Broken(why) if why.contains("`Edit(`")));
    }
}
