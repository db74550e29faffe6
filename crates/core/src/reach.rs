//! How far tools reach on a machine, whoever lets a call run: one object, from which come the box
//! of commands and the checks of tools that open files or connections themselves.
//!
//! The verdict on a call judges the letters of what it names, by rules that a person may add to.
//! This is about where those letters really lead, and holds after the verdict, in every mode.

use std::path::PathBuf;

/// Places in a workspace that decide what later runs. Writing them is never a plain edit, in
/// whatever folder they lie.
///
/// Those that are not of git are the names of `heeler_shell::PROTECTED_NAMES` as well: neither
/// crate may import the other.
pub const PROTECTED: [&str; 45] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
    ".heeler",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".crush",
    "crush.json",
    ".crush.json",
    ".qwen",
    ".windsurf",
    ".kiro",
    ".roo",
    ".clinerules",
    ".continue",
    ".amazonq",
    ".factory",
    ".junie",
    ".pi",
    ".aider.conf.yml",
    ".github/hooks",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".gitmodules",
    ".cargo/config",
    ".cargo/config.toml",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lvimrc",
    ".dir-locals.el",
    ".gdbinit",
];

/// The tools that read what they are given the path of: an argument of their rules is a pattern of paths,
/// and what is denied to them at a place, no command reads there either.
pub const READING_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "file_info"];

/// The tools that change what they are given the path of; as [`READING_TOOLS`] otherwise.
pub const WRITING_TOOLS: [&str; 5] =
    ["Edit", "Write", "MultiEdit", "apply_patch", "str_replace_based_edit_tool"];

/// Whether an argument of this tool's rules is a pattern of paths.
#[must_use]
pub fn takes_paths(tool: &str) -> bool {
    READING_TOOLS.iter().chain(&WRITING_TOOLS).any(|name| name.eq_ignore_ascii_case(tool))
}

/// Whether a path, by its letters, is one of [`PROTECTED`] or in it, at whatever depth; so is all
/// of a git folder. Upper and lower case are not told apart.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let begins = |rest: &[&str], place: &str| {
        place.split('/').enumerate().all(|(index, name)| rest.get(index) == Some(&name))
    };
    (0..parts.len()).any(|from| {
        let rest = &parts[from..];
        rest[0] == ".git" || PROTECTED.iter().any(|place| begins(rest, place))
    })
}

/// How far the tools of an agent reach. Relative paths start at the workspace of the call. The
/// default walls nothing off and has no network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// Folders besides the workspace that confined commands may write, such as the git folder of a
    /// linked work tree.
    pub writable: Vec<PathBuf>,
    /// Places that decide what later runs. Confined commands cannot change them; other tools only
    /// by the name under which the call was judged, never through a link that hides it.
    pub protected: Vec<PathBuf>,
    /// Places that nothing reads or writes, whether or not they exist yet.
    pub secrets: Vec<PathBuf>,
    /// Places within secrets that tools read all the same: what is kept for the session itself.
    pub readable: Vec<PathBuf>,
    /// What rules deny.
    pub denied: Vec<Denied>,
    /// Whether what is confined may talk to others.
    pub network: bool,
}

/// A place that a rule denies to a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The tool's name as the rule has it; `Read` is whatever reads, `Edit` whatever writes.
    pub tool: String,
    /// The file or folder.
    pub below: PathBuf,
    /// Which paths below it, each with all that is in it; empty for the place as a whole.
    pub glob: String,
}

impl Denied {
    /// The rule that denies it, as it reads from the workspace.
    #[must_use]
    pub fn rule(&self) -> String {
        let place = match self.glob.as_str() {
            "" => self.below.clone(),
            glob => self.below.join(glob),
        };
        format!("{}({})", self.tool, place.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], expected: bool) {
        for path in paths {
            assert_eq!(is_protected(path), expected, "{path}");
        }
    }

    #[test]
    fn what_decides_what_runs_does_so_in_every_folder() {
        for place in PROTECTED {
            check(&[place, &format!("a/{place}"), &format!("/a/b/{place}/c")], true);
        }
        check(&[".git", "a/.GIT/index", "./.VSCode//tasks.json", "a/.cargo/Config"], true);
        let others = ["", "a", ".github/x", "a/.vscode2", "vscode", ".cargo/bin/config", "config"];
        check(&others, false);
    }

    #[test]
    fn arguments_of_tools_of_files_are_patterns_of_paths() {
        for tool in READING_TOOLS.into_iter().chain(WRITING_TOOLS) {
            assert!(takes_paths(tool) && takes_paths(&tool.to_uppercase()), "{tool}");
        }
        assert!(!takes_paths("Bash") && !takes_paths(""));
    }

    #[test]
    fn what_is_denied_is_told_as_the_rule_that_denies_it() {
        let denied = |glob: &str| {
            let (tool, below) = ("Read".into(), "/w/keys".into());
            Denied { tool, below, glob: glob.into() }.rule()
        };
        assert_eq!(denied(""), "Read(/w/keys)");
        assert_eq!(denied("**/*.pem"), "Read(/w/keys/**/*.pem)");
    }
}
