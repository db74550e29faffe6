//! `git_log`: which commits there are.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, ToolContext, ToolError, ToolOutput, TypedTool, tool_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repository::Repository;
use super::run::{Ask, Git};
use super::{check_paths, check_revision, looks};
use crate::text::cut;

/// Commits when the model says nothing.
const COMMITS_DEFAULT: u64 = 20;
/// Commits of one call.
const COMMITS_MAX: u64 = 200;
/// Characters of one message's first line, and of an author's name.
const SUBJECT_CHARS_MAX: usize = 200;
/// What is told of a commit, each with a zero behind it.
const FORMAT: &str = "--format=%h%x00%ad%x00%an%x00%s%x00";
/// How many fields that are.
const N_FIELDS: usize = 4;

/// The tool.
pub(super) struct GitLog {
    git: Arc<Git>,
    description: String,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitLogInput {
    /// Files and folders; default all.
    #[serde(default)]
    paths: Vec<String>,
    /// Commit or range, such as `main..topic`; default what is checked out.
    revision: Option<String>,
    /// Number of commits.
    max_count: Option<u64>,
    /// Commits to leave out first.
    skip: Option<u64>,
}

/// What it gives beside the text.
#[derive(Debug, Serialize, JsonSchema)]
struct Log {
    /// The commits, newest first.
    commits: Vec<Commit>,
}

/// A commit.
#[derive(Debug, Serialize, JsonSchema)]
struct Commit {
    /// The beginning of its id.
    id: String,
    /// When it was written.
    date: String,
    /// Who wrote it.
    author: String,
    /// The first line of its message.
    subject: String,
}

impl GitLog {
    pub(super) fn new(git: &Arc<Git>) -> Self {
        let description = format!(
            "Lists commits, newest first: id, date, author, first line of the message. Gives \
             {COMMITS_DEFAULT} unless told otherwise, at most {COMMITS_MAX}."
        );
        Self { git: Arc::clone(git), description }
    }

    async fn log(
        &self,
        context: &ToolContext,
        input: &GitLogInput,
    ) -> Result<ToolOutput, ToolError> {
        check_paths(&input.paths)?;
        let revision = input.revision.as_deref().unwrap_or("HEAD");
        check_revision(revision)?;
        let repository = Repository::open(&self.git, context).await?;
        if input.revision.is_none() && repository.head().await?.is_none() {
            return Ok(listed(Vec::new(), "no commit yet\n".to_owned()));
        }
        let count = input.max_count.unwrap_or(COMMITS_DEFAULT).clamp(1, COMMITS_MAX);
        let skip = input.skip.unwrap_or(0);
        // One more tells whether there are more.
        let (wanted, skipped) = (format!("--max-count={}", count + 1), format!("--skip={skip}"));
        let args = vec![
            "log",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",
            "--no-notes",
            "--no-patch",
            "--date=iso",
            FORMAT,
            &wanted,
            &skipped,
            "--end-of-options",
            revision,
        ];
        let ask = Ask { args, paths: &input.paths, ..Ask::default() };
        let ran = repository.run(ask).await?.or_refused("list commits")?;
        let mut commits = read(&String::from_utf8_lossy(&ran.output));
        let is_more = commits.len() as u64 > count;
        commits.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        let mut text: String = commits.iter().map(say).collect();
        if commits.is_empty() {
            text = "no commits\n".to_owned();
        }
        if is_more {
            text += &format!("(there are more; skip {} shows them)\n", skip + count);
        }
        Ok(listed(commits, text))
    }
}

impl TypedTool for GitLog {
    type Input = GitLogInput;

    fn name(&self) -> &str {
        "git_log"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(tool_schema::<Log>())
    }

    fn facts(&self, input: &GitLogInput, workspace: &str) -> Facts {
        let words = ["log", "--no-patch", input.revision.as_deref().unwrap_or("HEAD")];
        looks(&self.git.commands, &words, &input.paths, workspace)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GitLogInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.log(&context, &input).await })
    }
}

fn listed(commits: Vec<Commit>, text: String) -> ToolOutput {
    let structured = serde_json::to_value(Log { commits }).ok();
    let structured = structured.map(|it| RawJson::from_value(&it));
    ToolOutput { structured, ..ToolOutput::text(text) }
}

fn read(output: &str) -> Vec<Commit> {
    let fields: Vec<&str> =
        output.split('\0').map(|field| field.trim_start_matches('\n')).collect();
    let commit = |fields: &[&str]| match fields {
        [id, date, author, subject] => Some(Commit {
            id: (*id).to_owned(),
            date: (*date).to_owned(),
            author: cut(author, SUBJECT_CHARS_MAX),
            subject: cut(subject, SUBJECT_CHARS_MAX),
        }),
        _ => None,
    };
    fields.chunks_exact(N_FIELDS).filter_map(commit).collect()
}

fn say(commit: &Commit) -> String {
    let Commit { id, date, author, subject } = commit;
    format!("{id} {date} {author}: {subject}\n")
}
