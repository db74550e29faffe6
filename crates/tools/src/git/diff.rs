//! `git_diff`: what differs, and the review that a commit needs.

use std::sync::Arc;

use heeler_core::{BoxFuture, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::candidate::{Candidate, Objects};
use super::new_files::Begin;
use super::page::{folded, page, page_bytes_max};
use super::repository::Repository;
use super::run::{Ask, Git, OUTPUT_BYTES_MAX};
use super::{check_paths, check_revision, looks, new_files, review};

/// How differences are shown, whatever the settings say.
const OPTIONS: [&str; 7] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "-M",
    "--patch",
];

/// The tool.
pub(super) struct GitDiff {
    git: Arc<Git>,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitDiffInput {
    /// Files and folders; default all.
    #[serde(default)]
    paths: Vec<String>,
    /// What is staged instead.
    #[serde(default)]
    staged: bool,
    /// The commit or range to compare with, such as `main` or `v1..v2`; default the last commit.
    base: Option<String>,
    /// First line to show, from 1.
    offset: Option<u64>,
    /// Whether the text of new files is shown where no path was given. For a person's own look: no
    /// model is told of it, and a model's input with it fits no schema.
    #[serde(default)]
    #[schemars(skip)]
    new_text: bool,
}

impl GitDiff {
    pub(super) fn new(git: &Arc<Git>) -> Self {
        Self { git: Arc::clone(git) }
    }

    async fn diff(
        &self,
        context: &ToolContext,
        input: &GitDiffInput,
    ) -> Result<ToolOutput, ToolError> {
        check_paths(&input.paths)?;
        input.base.as_deref().map_or(Ok(()), check_revision)?;
        let repository = Repository::open(&self.git, context).await?;
        if !input.staged && input.base.is_none() && !input.paths.is_empty() {
            return self.review(&repository, input).await;
        }
        let has_base = input.staged || input.base.is_some() || repository.head().await?.is_some();
        let mut args = vec!["diff"];
        args.extend(OPTIONS);
        if input.staged || !has_base {
            args.push("--cached");
        }
        args.push("--end-of-options");
        match &input.base {
            Some(base) => args.push(base),
            None if input.staged || !has_base => {}
            None => args.push("HEAD"),
        }
        let ask = Ask { args, paths: &input.paths, ..Ask::default() };
        let ran = repository.run(ask).await?.or_refused("show what differs")?;
        let (diff, bytes_max) = (ran.text(), page_bytes_max(context));
        // Made first, since the page gets what it leaves: of too much the middle would be cut out.
        let room = bytes_max.saturating_sub(diff.len()).max(bytes_max / 2);
        let new = match input.staged || input.base.is_some() {
            true => String::new(),
            false => new(&repository, input, room).await?,
        };
        let mut text = page(&diff, input.offset, bytes_max.saturating_sub(new.len()));
        if text.is_empty() && !input.new_text {
            text = "nothing differs\n".to_owned();
        }
        if ran.is_cut {
            text += &format!("(there is more than {OUTPUT_BYTES_MAX} bytes; name paths)\n");
        }
        text += &new;
        if text.is_empty() {
            text = "nothing differs\n".to_owned();
        }
        Ok(ToolOutput::text(text))
    }

    /// What a commit of these paths would be.
    async fn review(
        &self,
        repository: &Repository<'_>,
        input: &GitDiffInput,
    ) -> Result<ToolOutput, ToolError> {
        let candidate = Candidate::of(repository, &input.paths, Objects::Aside).await?;
        if candidate.changes.is_empty() {
            return Ok(ToolOutput::text("nothing differs\n"));
        }
        let diff = candidate.diff(repository).await?;
        let context = repository.context;
        let (shown, lines) = review::shown(context, &candidate, &folded(&diff), input.offset);
        Ok(review::noted(ToolOutput::text(shown), context, &candidate, lines))
    }
}

impl TypedTool for GitDiff {
    type Input = GitDiffInput;

    fn name(&self) -> &str {
        "git_diff"
    }

    fn description(&self) -> &str {
        "Shows what differs between the last commit and the files, staged or not. With paths it \
         shows what git_commit of these would commit, new files included, and is the review which \
         that needs."
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, input: &GitDiffInput, workspace: &str) -> Facts {
        let mut words = vec!["diff", "--no-ext-diff", "--no-textconv"];
        words.extend(input.staged.then_some("--cached"));
        words.push(input.base.as_deref().unwrap_or("HEAD"));
        looks(&self.git.commands, &words, &input.paths, workspace)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GitDiffInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.diff(&context, &input).await })
    }
}

/// Files that no comparison shows, in so many bytes.
async fn new(
    repository: &Repository<'_>,
    input: &GitDiffInput,
    bytes_max: usize,
) -> Result<String, ToolError> {
    if !input.new_text {
        let names = new_files::names(repository, Begin::Here).await?;
        return Ok(new_files::listed(&names, bytes_max));
    }
    let names = new_files::names(repository, Begin::Root).await?;
    let top = repository.top.clone();
    let shown = move || new_files::shown(&top, &names, bytes_max);
    let shown = tokio::task::spawn_blocking(shown).await;
    shown.map_err(|error| ToolError::Internal(Box::new(error)))
}
