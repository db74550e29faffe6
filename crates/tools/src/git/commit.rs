//! `git_commit`: the paths that are named, and only what of them was reviewed.
//!
//! The gate: what is committed is a tree that this session was shown before, by its hash. It is
//! made from the files, then nothing of it is read again: hooks of the repository run as `git
//! commit` runs them, and where one changes what would be committed, nothing is.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, ToolContext, ToolError, ToolOutput, TypedTool, tool_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Objects};
use super::checks::{self, CHECK_MILLIS_MAX, CHECKS_MAX};
use super::page::folded;
use super::repository::{Repository, own_settings};
use super::review::{self, Missing};
use super::run::{Ask, Git, Hooks, Ran};
use super::{check_paths, command_line, judged};

/// Bytes of a message.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// What all of it takes at most besides the checks.
const COMMIT_MILLIS_MAX: u64 = 300_000;
/// Secrets that are named in one refusal.
const SECRETS_NAMED_MAX: usize = 10;

/// Settings that name a program which signs, or finds the key.
const SIGNERS: &str = r"^gpg\.(.*\.)?(program|defaultkeycommand)$";

/// Whether the commit gets a signature, by a program that the user's own settings name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signing {
    Wanted,
    None,
}

/// The tool.
pub(super) struct GitCommit {
    git: Arc<Git>,
    description: String,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitCommitInput {
    /// What was done and why.
    message: String,
    /// Files and folders to commit, new and removed ones too; nothing else is.
    paths: Vec<String>,
    /// Command lines that have to succeed first, such as `cargo test`.
    #[serde(default)]
    checks: Vec<String>,
}

/// What it gives beside the text.
#[derive(Debug, Serialize, JsonSchema)]
struct Committed {
    /// The id of the commit.
    id: String,
    /// The files in it.
    files: Vec<String>,
}

impl GitCommit {
    pub(super) fn new(git: &Arc<Git>) -> Self {
        let description = format!(
            "Commits the named paths as they are now, and nothing that others have staged. What \
             is committed has to be reviewed first: git_diff with the same paths shows it, or \
             else the first call does and commits nothing. Up to {CHECKS_MAX} checks run before."
        );
        Self { git: Arc::clone(git), description }
    }

    async fn commit(
        &self,
        context: &ToolContext,
        input: &GitCommitInput,
    ) -> Result<ToolOutput, ToolError> {
        check_message(&input.message)?;
        check_paths(&input.paths)?;
        checks::validate(&input.checks)?;
        if input.paths.is_empty() {
            return Err(ToolError::for_model(
                "name the paths to commit; git_status shows which differ",
            ));
        }
        let repository = Repository::open(&self.git, context).await?;
        if let Some(operation) = repository.operation {
            return Err(ToolError::for_model(format!(
                "a {operation} is in the middle, which a commit of some paths would break; finish \
                 it with Bash (`git {operation} --continue`) or leave it to the user"
            )));
        }
        let signing = Signing::of(&repository).await?;
        let candidate = Candidate::of(&repository, &input.paths, Objects::Kept).await?;
        if candidate.changes.is_empty() {
            return Err(ToolError::for_model(
                "nothing to commit: these paths are as in the last commit",
            ));
        }
        candidate.check(&repository).await?;
        let diff = candidate.diff(&repository).await?;
        check_secrets(&diff)?;
        let diff = folded(&diff);
        if let Some(missing) = review::missing(context, &candidate, &diff) {
            return Ok(to_review(context, &candidate, &diff, &missing));
        }
        let candidate = self.checked(&repository, input, candidate).await?;
        make(&repository, input, &candidate, signing).await
    }

    /// Runs the checks; they may have changed files, and then others are to be committed.
    async fn checked(
        &self,
        repository: &Repository<'_>,
        input: &GitCommitInput,
        candidate: Candidate,
    ) -> Result<Candidate, ToolError> {
        if input.checks.is_empty() {
            return Ok(candidate);
        }
        checks::pass(&self.git.commands, repository.context, &input.checks).await?;
        let now = Candidate::of(repository, &input.paths, Objects::Kept).await?;
        if now.hash != candidate.hash {
            return Err(ToolError::for_model(
                "nothing was committed: a check, or somebody meanwhile, changed these files; \
                 review them with git_diff, then commit again",
            ));
        }
        Ok(now)
    }
}

impl Signing {
    /// Refuses what the settings want signed by a program of the repository's choice: a commit with
    /// another signature, or without, is not what they ask for either.
    async fn of(repository: &Repository<'_>) -> Result<Self, ToolError> {
        let args = vec!["config", "--type=bool", "--default=false", "--get", "commit.gpgsign"];
        let wanted = repository.run(Ask { args, ..Ask::default() }).await?;
        if wanted.or_refused("tell whether commits are signed")?.text() != "true" {
            return Ok(Self::None);
        }
        match own_settings(repository.git, repository.context, SIGNERS).await?.first() {
            None => Ok(Self::Wanted),
            Some(key) => Err(ToolError::for_model(format!(
                "nothing was committed: commits here are to be signed, and this repository's own \
                 settings name the program in {key}, which is not run here; commit with `git \
                 commit` in Bash, or ask the user"
            ))),
        }
    }
}

impl TypedTool for GitCommit {
    type Input = GitCommitInput;

    fn name(&self) -> &str {
        "git_commit"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        let timeout_millis = COMMIT_MILLIS_MAX + CHECKS_MAX as u64 * CHECK_MILLIS_MAX;
        Metadata { timeout_millis, ..Metadata::default() }
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(tool_schema::<Committed>())
    }

    fn facts(&self, input: &GitCommitInput, workspace: &str) -> Facts {
        let message = format!("--message={}", input.message);
        let commit = command_line(&["commit", "--only", &message], &input.paths);
        let lines: Vec<&str> =
            input.checks.iter().map(String::as_str).chain([commit.as_str()]).collect();
        // Alone: what is edited or committed beside it would be in it by chance.
        let accesses = vec![judged(&self.git.commands, &lines, workspace)];
        Facts { accesses, exclusive: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GitCommitInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.commit(&context, &input).await })
    }
}

fn check_message(message: &str) -> Result<(), ToolError> {
    if message.trim().is_empty() {
        return Err(ToolError::for_model("the message is empty; say what was done and why"));
    }
    if message.len() > MESSAGE_BYTES_MAX || message.contains('\0') {
        return Err(ToolError::for_model(format!(
            "a message has at most {MESSAGE_BYTES_MAX} bytes and no zero among them; this has {}",
            message.len()
        )));
    }
    Ok(())
}

fn check_secrets(diff: &str) -> Result<(), ToolError> {
    let found = review::secrets_in(diff);
    if found.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = found.iter().take(SECRETS_NAMED_MAX).map(String::as_str).collect();
    Err(ToolError::for_model(format!(
        "nothing was committed: what looks like a secret would be in it: {}; take it out, or, if \
         it is none, ask the user to commit it",
        named.join(", ")
    )))
}

/// Shows what would be committed, or the first part of it that was not shown, which is the review,
/// and commits nothing.
fn to_review(
    context: &ToolContext,
    candidate: &Candidate,
    diff: &str,
    missing: &Missing,
) -> ToolOutput {
    let (what, offset) = match missing {
        Missing::Whole => ("this session has not seen what would be.".to_owned(), None),
        Missing::From(line) => (
            format!("this session has not seen all that would be: line {} comes next.", line + 1),
            Some(*line as u64 + 1),
        ),
    };
    let (shown, lines) = review::shown(context, candidate, diff, offset);
    let output = ToolOutput::error(format!(
        "nothing was committed yet: {what} Review it now{}; then call git_commit again with the \
         same paths, which commits exactly this:\n{shown}",
        if lines.end < diff.lines().count() { ", to its last line" } else { "" }
    ));
    review::noted(output, context, candidate, lines)
}

/// Makes the commit out of its tree, with the hooks that `git commit` would run.
async fn make(
    repository: &Repository<'_>,
    input: &GitCommitInput,
    candidate: &Candidate,
    signing: Signing,
) -> Result<ToolOutput, ToolError> {
    let message = message_after_hooks(repository, input, candidate).await?;
    let run = async |args: Vec<&str>, what: &str| -> Result<String, ToolError> {
        Ok(repository.run(Ask { args, ..Ask::default() }).await?.or_refused(what)?.text())
    };
    let text = format!("-m{message}");
    let mut args = vec!["commit-tree", &text];
    args.extend(candidate.base.iter().flat_map(|base| ["-p", base]));
    args.extend((signing == Signing::Wanted).then_some("-S"));
    args.push(&candidate.tree);
    let id = run(args, "make the commit").await?;
    // It moves from what the tree was made of, or not at all.
    let before = candidate.base.clone().unwrap_or_else(|| "0".repeat(id.len()));
    let subject = format!("commit: {}", message.lines().next().unwrap_or_default());
    let moved =
        run(vec!["update-ref", "-m", &subject, "HEAD", &id, &before], "move the branch").await;
    if let Err(error) = moved {
        return Err(not_moved(repository, candidate, &error).await);
    }
    let mut notes = Vec::new();
    let args = vec!["reset", "--quiet"];
    let ask = Ask { args, paths: &input.paths, ..Ask::default() };
    if let Err(error) = repository.run(ask).await?.or_refused("bring the index up to date") {
        notes.push(format!("({error}; git status shows the paths as staged until it is)\n"));
    }
    let after = hook(repository, candidate, "post-commit", None).await?;
    if !after.is_success() {
        notes.push(format!("({})\n", after.refusal("run the hook post-commit")));
    }
    Ok(report(&id, &message, candidate, &notes.concat()))
}

/// Why the branch stands where it stood, or elsewhere.
async fn not_moved(
    repository: &Repository<'_>,
    candidate: &Candidate,
    error: &ToolError,
) -> ToolError {
    let nobody_else = match repository.head().await {
        Ok(head) if head != candidate.base => {
            return ToolError::for_model(format!(
                "nothing was committed, since somebody else committed just now: {error}; look with \
                 git_log, then call again"
            ));
        }
        Ok(_) => ", and nobody else committed either",
        Err(_) => "",
    };
    // Such as a lock that another git holds or left, or a folder that cannot be written.
    ToolError::for_model(format!(
        "nothing was committed{nobody_else}. Call again when what git names is out of the way, or ask \
         the user: {error}"
    ))
}

/// Asks the repository's hooks; they may refuse, and change the message, but not what is committed.
async fn message_after_hooks(
    repository: &Repository<'_>,
    input: &GitCommitInput,
    candidate: &Candidate,
) -> Result<String, ToolError> {
    let refused = |name: &str, ran: Ran| {
        let said = ran.refusal(&format!("commit, since the hook {name} refuses"));
        Err(ToolError::for_model(format!("nothing was committed: {said}")))
    };
    let before = hook(repository, candidate, "pre-commit", None).await?;
    if !before.is_success() {
        return refused("pre-commit", before);
    }
    let failed = |error| ToolError::for_model(format!("cannot write the message: {error}"));
    let folder = repository.git.commands.temporary_folder().map_err(failed)?;
    let file = folder.path().join("COMMIT_EDITMSG");
    std::fs::write(&file, format!("{}\n", input.message.trim_end())).map_err(failed)?;
    let about = hook(repository, candidate, "commit-msg", file.to_str()).await?;
    if !about.is_success() {
        return refused("commit-msg", about);
    }
    let variables = &candidate.variables;
    let ask = Ask { args: vec!["write-tree"], variables, ..Ask::default() };
    let tree = repository.run(ask).await?.or_refused("write the tree")?.text();
    if tree != candidate.tree {
        return Err(ToolError::for_model(
            "nothing was committed: a hook of the repository changed what would be, so it is no \
             longer what was reviewed; look at the files with git_diff, then commit again",
        ));
    }
    let message = std::fs::read_to_string(&file).map_err(failed)?;
    check_message(&message)?;
    Ok(message.trim_end().to_owned())
}

/// Runs a hook, if the repository has it.
async fn hook(
    repository: &Repository<'_>,
    candidate: &Candidate,
    name: &str,
    file: Option<&str>,
) -> Result<Ran, ToolError> {
    let mut args = vec!["hook", "run", "--ignore-missing", name];
    args.extend(file.iter().flat_map(|file| ["--", file]));
    let variables = &candidate.variables;
    repository.run(Ask { args, variables, hooks: Hooks::Run, ..Ask::default() }).await
}

fn report(id: &str, message: &str, candidate: &Candidate, notes: &str) -> ToolOutput {
    let files: Vec<String> = candidate.changes.iter().map(|change| change.path.clone()).collect();
    let subject = message.lines().next().unwrap_or_default();
    let short = id.get(..12).unwrap_or(id);
    let listed: String =
        candidate.changes.iter().map(|it| format!("{} {}\n", it.kind, it.path)).collect();
    let committed = Committed { id: id.to_owned(), files };
    let structured = serde_json::to_value(committed).ok().map(|it| RawJson::from_value(&it));
    ToolOutput { structured, ..ToolOutput::text(format!("{short} {subject}\n{listed}{notes}")) }
}
