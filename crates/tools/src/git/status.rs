//! `git_status`: which files differ from the last commit, and what the repository is in the middle
//! of.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, ToolContext, ToolError, ToolOutput, TypedTool, tool_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repository::Repository;
use super::run::{Ask, Git};
use super::{check_paths, looks};
use crate::text::cut;

/// Files that are listed.
const FILES_MAX: usize = 500;
/// Characters of one path.
const PATH_CHARS_MAX: usize = 400;

/// The tool.
pub(super) struct GitStatus {
    git: Arc<Git>,
    description: String,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitStatusInput {
    /// Files and folders; default all.
    #[serde(default)]
    paths: Vec<String>,
}

/// What it gives beside the text.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Status {
    /// The branch; absent where none is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The branch it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<String>,
    /// Commits that the other does not have.
    ahead: u64,
    /// Commits that only the other has.
    behind: u64,
    /// What is in the middle, such as a merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    /// The files that differ, at most 500.
    files: Vec<StatusFile>,
    /// How many more there are.
    n_more: usize,
}

/// A file that differs.
#[derive(Debug, Serialize, JsonSchema)]
struct StatusFile {
    /// How: in the index, then in the work tree, as `git status --short` has it.
    state: String,
    /// Its path from the repository's root.
    path: String,
}

impl GitStatus {
    pub(super) fn new(git: &Arc<Git>) -> Self {
        let description = format!(
            "Shows which files differ from the last commit, as `git status --short --branch` does, \
             at most {FILES_MAX}."
        );
        Self { git: Arc::clone(git), description }
    }

    async fn status(
        &self,
        context: &ToolContext,
        input: &GitStatusInput,
    ) -> Result<ToolOutput, ToolError> {
        check_paths(&input.paths)?;
        let repository = Repository::open(&self.git, context).await?;
        let args = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"];
        let ask = Ask { args: args.into(), paths: &input.paths, ..Ask::default() };
        let ran = repository.run(ask).await?.or_refused("tell what differs")?;
        let mut status = read(&String::from_utf8_lossy(&ran.output));
        status.operation = repository.operation.map(str::to_owned);
        let structured = serde_json::to_value(&status).ok().map(|it| RawJson::from_value(&it));
        Ok(ToolOutput { structured, ..ToolOutput::text(say(&status, ran.is_cut)) })
    }
}

impl TypedTool for GitStatus {
    type Input = GitStatusInput;

    fn name(&self) -> &str {
        "git_status"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(tool_schema::<Status>())
    }

    fn facts(&self, input: &GitStatusInput, workspace: &str) -> Facts {
        let words = ["status", "--short", "--branch"];
        looks(&self.git.commands, &words, &input.paths, workspace)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GitStatusInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.status(&context, &input).await })
    }
}

/// Reads the second version of git's format for programs.
fn read(output: &str) -> Status {
    let mut status = Status::default();
    let mut entries = output.split('\0');
    while let Some(entry) = entries.next() {
        let Some((kind, rest)) = entry.split_once(' ') else { continue };
        // Fields before the path, and whether another path follows.
        let (n_fields, is_moved) = match kind {
            "#" => {
                read_branch(&mut status, rest);
                continue;
            }
            "1" => (7, false),
            "2" => (8, true),
            "u" => (9, false),
            _ => (0, false),
        };
        let mut fields = rest.splitn(n_fields + 1, ' ');
        let state = match n_fields {
            0 => "??".to_owned(),
            _ => fields.clone().next().unwrap_or_default().replace('.', " "),
        };
        let path = fields.nth(n_fields).unwrap_or_default();
        let from = if is_moved { entries.next() } else { None };
        let path = match from {
            Some(from) => format!("{from} -> {path}"),
            None => path.to_owned(),
        };
        if status.files.len() < FILES_MAX {
            status.files.push(StatusFile { state, path: cut(&path, PATH_CHARS_MAX) });
        } else {
            status.n_more += 1;
        }
    }
    status
}

fn read_branch(status: &mut Status, header: &str) {
    match header.split_once(' ') {
        Some(("branch.head", "(detached)")) => {}
        Some(("branch.head", name)) => status.branch = Some(name.to_owned()),
        Some(("branch.upstream", name)) => status.upstream = Some(name.to_owned()),
        Some(("branch.ab", counts)) => {
            let mut counts = counts.split(' ').map(|it| it.get(1..).unwrap_or("").parse().ok());
            status.ahead = counts.next().flatten().unwrap_or(0);
            status.behind = counts.next().flatten().unwrap_or(0);
        }
        _ => {}
    }
}

fn say(status: &Status, is_cut: bool) -> String {
    let mut text = match &status.branch {
        Some(branch) => format!("## {branch}"),
        None => "## no branch is checked out".to_owned(),
    };
    if let Some(upstream) = &status.upstream {
        text += &format!("...{upstream} [ahead {}, behind {}]", status.ahead, status.behind);
    }
    text.push('\n');
    if let Some(operation) = &status.operation {
        text += &format!("a {operation} is in the middle\n");
    }
    if status.files.is_empty() {
        text += "nothing differs\n";
    }
    for file in &status.files {
        text += &format!("{} {}\n", file.state, file.path.replace('\n', "\\n"));
    }
    if status.n_more > 0 || is_cut {
        let n_more = status.n_more;
        text += &format!("(and {n_more} or more other files; name paths to see those)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_kind_of_entry_is_read() {
        let output = "# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0\
            # branch.ab +2 -1\x001 .M N... 100644 100644 100644 a b my file\0\
            2 R. N... 100644 100644 100644 a b R100 new\0old\0\
            u UU N... 1 2 3 4 a b c both\0? un tracked\0";
        let status = read(output);
        expect![[r#"
            ## main...origin/main [ahead 2, behind 1]
             M my file
            R  old -> new
            UU both
            ?? un tracked
        "#]]
        .assert_eq(&say(&status, false));
        let many: String = (0..=FILES_MAX).map(|n| format!("? {n}\0")).collect();
        let said = say(&read(&many), false);
        assert!(said.ends_with("(and 1 or more other files; name paths to see those)\n"));
    }
}
