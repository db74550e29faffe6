//! `git_status`, `git_diff`, `git_log` and `git_commit`: git for a model that works in somebody's
//! repository, which may be anybody's.
//!
//! Read in this order: this file, `run` (how git starts, and what of a repository's settings then
//! says nothing), `repository` (where one is, and what it is in the middle of), `candidate` (the
//! commit that named paths would make, as a tree), `review` (what was shown of it, by its hash),
//! then the tools.
//!
//! What these calls do is judged as the command lines that do the same, and they start as those of
//! `Bash` do, with its launcher, environment and box.

mod candidate;
mod checks;
mod commit;
mod diff;
mod log;
mod new_files;
mod page;
mod repository;
mod review;
mod run;
mod status;
mod submodules;

use std::path::Path;
use std::sync::Arc;

use heeler_core::{Access, Facts, Resource, ShellLine, Tool, ToolError};
use heeler_shell::Place;

use crate::bash::{Bash, Commands, quoted, read_line};
use crate::place;
use run::Git;

/// How many paths one call names.
const GIT_PATHS_MAX: usize = 100;
/// Bytes of one path or name of a commit.
const NAME_BYTES_MAX: usize = 4_096;

/// The tools for git repositories. They run commands as `bash` does.
#[must_use]
pub fn git(bash: &Bash) -> Vec<Arc<dyn Tool>> {
    let git = Arc::new(Git::new(bash.commands()));
    vec![
        Arc::new(status::GitStatus::new(&git)),
        Arc::new(diff::GitDiff::new(&git)),
        Arc::new(log::GitLog::new(&git)),
        Arc::new(commit::GitCommit::new(&git)),
    ]
}

/// The facts of a call that only looks: those of the command line that shows the same.
fn looks(commands: &Commands, words: &[&str], paths: &[String], workspace: &str) -> Facts {
    let line = command_line(words, paths);
    let read = |path: &String| Resource {
        key: format!("file:{}", place::absolute(Path::new(workspace), path).display()),
        write: false,
    };
    Facts {
        accesses: vec![judged(commands, &[&line], workspace)],
        resources: paths.iter().map(read).collect(),
        replay_safe: true,
        ..Facts::default()
    }
}

/// Command lines as what a call touches. Each is read by itself, as each has a shell of its own: no
/// folder that one of them enters is where the next one starts.
fn judged(commands: &Commands, lines: &[&str], workspace: &str) -> Access {
    let read = |place: &Place<'_>| lines.iter().map(|line| read_line(line, place)).collect();
    let parts: Vec<ShellLine> = commands.read(workspace, read);
    let mut whole = ShellLine { is_read_only: true, ..ShellLine::default() };
    for part in parts {
        whole.commands.extend(part.commands);
        whole.writes.extend(part.writes);
        whole.concerns.extend(part.concerns);
        whole.is_open_ended |= part.is_open_ended;
        whole.is_read_only &= part.is_read_only;
    }
    whole.concerns.dedup();
    Access::Shell(Box::new(ShellLine { line: lines.join("\n"), ..whole }))
}

/// `git` with these words, and paths that cannot be anything else.
fn command_line(words: &[&str], paths: &[String]) -> String {
    let mut line = "git".to_owned();
    for word in words {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.".contains(c);
        let word = if word.chars().all(is_plain) { (*word).to_owned() } else { quoted(word) };
        line = format!("{line} {word}");
    }
    if !paths.is_empty() {
        line += " --";
        paths.iter().for_each(|path| line = format!("{line} {}", quoted(path)));
    }
    line
}

/// Refuses paths that git would not take as what they are.
fn check_paths(paths: &[String]) -> Result<(), ToolError> {
    if paths.len() > GIT_PATHS_MAX {
        return Err(ToolError::for_model(format!(
            "these are {} paths and at most {GIT_PATHS_MAX} can be named; name folders, or call \
             several times",
            paths.len()
        )));
    }
    paths.iter().try_for_each(|path| check_name("a path", path))
}

/// Refuses a name of a commit that git could take for an option.
fn check_revision(revision: &str) -> Result<(), ToolError> {
    check_name("the name of a commit", revision)?;
    if revision.starts_with('-') {
        return Err(ToolError::for_model(format!(
            "`{revision}` begins with a dash, so it is no name of a commit; give a branch, a tag, \
             or an id"
        )));
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> Result<(), ToolError> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains('\0') {
        return Err(ToolError::for_model(format!(
            "{what} has 1 to {NAME_BYTES_MAX} bytes and no zero among them; this has {}",
            name.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_run_whatever_it_is_called() {
        let paths = ["a b".to_owned(), "-x".to_owned(), "it's".to_owned()];
        assert_eq!(
            command_line(&["diff", "HEAD~1", "a..b"], &paths),
            r"git diff 'HEAD~1' a..b -- 'a b' '-x' 'it'\''s'"
        );
        assert_eq!(command_line(&["status"], &[]), "git status");
    }

    #[test]
    fn names_have_limits_and_are_no_options() {
        let said = |result: Result<(), ToolError>| result.map_err(|error| error.to_string());
        assert_eq!(said(check_revision("main~2")), Ok(()));
        assert!(said(check_revision("--output=x")).unwrap_err().contains("begins with a dash"));
        assert!(said(check_revision("")).is_err() && said(check_revision("a\0b")).is_err());
        assert!(said(check_paths(&["x".repeat(NAME_BYTES_MAX + 1)])).is_err());
        assert_eq!(said(check_paths(&vec!["x".repeat(NAME_BYTES_MAX); GIT_PATHS_MAX])), Ok(()));
        assert!(said(check_paths(&vec!["x".into(); GIT_PATHS_MAX + 1])).is_err());
    }
}
