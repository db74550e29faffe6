//! `--stage` and `heeler stage`: what was changed beside a folder, and what becomes of it.

mod commits;
mod diff;
mod files;
mod review;

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use heeler_assembly::Environment;
use heeler_stage::{
    Applied, CHANGES_MAX, Change, Progress, Recovered, Stage, StageError, quoted, recover,
};

use crate::arguments::{StageArguments, StageCommand};
use crate::exit::Exit;
use crate::say::{harmless, print, say};
use files::{Chosen, Differing, StagedFile};
use review::Verdict;

/// The most bytes of a diff that are shown beside an answer.
const SHOWN_BYTES_MAX: usize = 256 * 1024;
/// How many paths are named that were applied over what somebody had made of them.
const REPLACED_SHOWN: usize = 20;

/// What becomes of a stage when its run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AtEnd {
    // Each hunk is asked about at a terminal; without one it is kept.
    Ask,
    Apply,
    Keep,
    Discard,
}

/// What may be in the place of changes that are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// What was there when the stage began.
    Unchanged,
    /// What somebody has made of that since, too.
    Anything,
}

/// What a person is told of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// That it is kept, and why.
    Kept,
    /// That, and what they are asked.
    Asked,
    /// What differs, too, and what became of it.
    All,
}

/// What became of a stage.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Settled {
    /// Its name; it is there only while it is kept.
    id: String,
    /// What became of it.
    state: SettledState,
    /// How many paths were applied, else how many differ.
    paths: usize,
    /// Names under which repositories of the folder have what was committed or stashed in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<String>,
    /// Why it could not be applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SettledState {
    /// Nothing differed.
    Unchanged,
    Applied,
    Kept,
    Discarded,
}

impl Settled {
    /// Whether what was to be applied was not.
    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }
}

/// Where stages are kept.
///
/// # Errors
/// When there is no folder for them.
pub(crate) fn stages(environment: &Environment) -> Result<PathBuf> {
    let cache = environment.get("XDG_CACHE_HOME")?.map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = match (cache, environment.get("HOME")?) {
        (Some(cache), _) => cache,
        (None, Some(home)) => PathBuf::from(home).join(".cache"),
        (None, None) => {
            bail!("neither XDG_CACHE_HOME nor HOME is set; set XDG_CACHE_HOME to a folder")
        }
    };
    Ok(cache.join("heeler").join("stages"))
}

/// Says where a folder is only a part of a repository, whose git is not in its stage.
pub(crate) fn tell_part(folder: &Path) {
    let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    if let Some(root) = folder.ancestors().find(has_git).filter(|root| *root != folder) {
        say(format_args!(
            "heeler: the stage is of {} alone, so there is no git in it; `--cwd {}` takes the whole \
             repository",
            folder.display(),
            root.display()
        ));
    }
}

/// Finishes what an earlier process had begun to apply, and says so. The names of the stages of which
/// nothing is left.
///
/// # Errors
/// When stages cannot be listed.
pub(crate) fn finish_earlier(environment: &Environment) -> Result<Vec<String>> {
    let mut done = Vec::new();
    // Who has no place for stages has none.
    let Ok(stages) = stages(environment) else { return Ok(done) };
    for Recovered { id, came_to } in recover(&stages)? {
        let applied = match came_to {
            Ok(applied) => applied,
            Err(error) => {
                say(format_args!("heeler: {error}; `heeler stage discard {id}` gives up on it"));
                continue;
            }
        };
        say(format_args!(
            "heeler: {id} was being applied when heeler died; the rest of it is done"
        ));
        tell_conflicts(&applied);
        if applied.conflicts.is_empty() {
            // Another process may be at it, and what is done is done.
            match finish(&stages, &id) {
                Ok(()) => done.push(id),
                Err(error) => {
                    say(format_args!("heeler: {error:#}"));
                    tell_kept(&id);
                }
            }
        }
    }
    Ok(done)
}

/// Ends a stage whose files are all applied.
fn finish(stages: &Path, id: &str) -> Result<()> {
    let stage = Stage::open(stages, id)?;
    // What was chosen of the files is known and done. Of commits nothing is, and they do no harm.
    bring(&stage, &files::read(&stage, stage.changes()?)?)?;
    Ok(stage.discard()?)
}

/// The stage that a session works in, if there is one.
///
/// # Errors
/// When stages cannot be listed.
pub(crate) fn of_session(environment: &Environment, session: &str) -> Result<Option<String>> {
    let Ok(stages) = stages(environment) else { return Ok(None) };
    let all = Stage::list(&stages)?;
    let own = all.into_iter().find(|summary| summary.session.as_deref() == Some(session));
    Ok(own.map(|summary| summary.id))
}

/// Does with a stage whose run has ended what is to be done. Whatever cannot be done leaves it kept,
/// and is told here and in what is returned.
pub(crate) fn settle(stage: Stage, at_end: AtEnd, over: Over, told: Told) -> Settled {
    let (id, tree) = (stage.summary().id.clone(), stage.staged(Path::new("")));
    settle_or_say(stage, at_end, over, told).unwrap_or_else(|error| {
        let is_too_much = is_too_much(&error);
        let error = format!("{error:#}");
        say(format_args!("heeler: {error}"));
        match is_too_much {
            true => say(format_args!(
                "heeler: nothing of it can be applied; take what you need from {}, then `heeler stage \
                 discard {id}` drops it",
                tree.display()
            )),
            // What was refused is refused again, unless what was in the way is gone by then.
            false => say(format_args!(
                "heeler: the changes are kept: `heeler stage apply {id}` tries again, `heeler stage \
                 discard {id}` drops them"
            )),
        }
        let state = SettledState::Kept;
        Settled { id, state, paths: 0, commits: Vec::new(), error: Some(error) }
    })
}

/// Whether more differs than is ever looked at.
fn is_too_much(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(StageError::is_too_much)
}

fn settle_or_say(mut stage: Stage, at_end: AtEnd, over: Over, told: Told) -> Result<Settled> {
    stage.end_work()?;
    let id = stage.summary().id.clone();
    let settled =
        |state, paths| Settled { id: id.clone(), state, paths, commits: Vec::new(), error: None };
    let (differing, changed) = match read(&mut stage, over) {
        // What nobody wants need not be counted to its end.
        Err(error) if at_end == AtEnd::Discard && is_too_much(&error) => {
            stage.discard()?;
            return Ok(settled(SettledState::Discarded, CHANGES_MAX));
        }
        read => read?,
    };
    let files = &differing.files;
    let has_commits = !differing.commits.is_empty() || differing.unknown.is_some();
    if files.is_empty() && !has_commits {
        stage.discard()?;
        if told == Told::All {
            // All may be applied already, by who died then, and what stays has been named.
            say("heeler: nothing is left to apply; the stage is gone");
        }
        return Ok(settled(SettledState::Unchanged, 0));
    }
    let paths = files.len();
    let Some((chosen, wants_commits)) = wanted(files, has_commits, at_end, told) else {
        tell_kept(&id);
        return Ok(settled(SettledState::Kept, paths));
    };
    let changes = differing.with(&chosen)?;
    let replaced = replaced(&changes, changed);
    let applied = match changes.is_empty() {
        true => Applied::default(),
        false => stage.apply(changes)?,
    };
    if !applied.conflicts.is_empty() {
        tell_conflicts(&applied);
        bail!("not all of it could be applied");
    }
    let commits = match wants_commits {
        true => bring(&stage, &differing)?,
        false => Vec::new(),
    };
    stage.discard()?;
    let taken = chosen.iter().filter(|chosen| !chosen.is_nothing()).count();
    let is_applied = taken > 0 || !commits.is_empty();
    if told == Told::All {
        match (is_applied, paths) {
            (false, _) => say("heeler: nothing was applied; the stage is gone"),
            (true, 0) => {}
            (true, _) => say(format_args!("heeler: applied to {taken} of {paths} paths")),
        }
        tell_replaced(&replaced);
    }
    Ok(match is_applied {
        false => settled(SettledState::Discarded, paths),
        true => Settled { commits, ..settled(SettledState::Applied, taken) },
    })
}

/// What is wanted of each file, and whether the commits are; `None` when that is for later.
fn wanted(
    files: &[StagedFile],
    has_commits: bool,
    at_end: AtEnd,
    told: Told,
) -> Option<(Vec<Chosen>, bool)> {
    match at_end {
        AtEnd::Apply => Some((vec![Chosen::All; files.len()], true)),
        AtEnd::Discard => Some((vec![Chosen::Nothing; files.len()], false)),
        AtEnd::Ask if can_ask() && told != Told::Kept => {
            let Verdict::Chosen(chosen) = review::ask(files) else { return None };
            // Commits are a question of their own, and what is not known is not dropped unasked.
            Some((chosen, has_commits && review::ask_for_commits()?))
        }
        AtEnd::Ask | AtEnd::Keep => {
            if told == Told::All {
                show(files);
            }
            None
        }
    }
}

/// What differs in a stage, and which paths of that somebody changed who may be overruled.
fn read(stage: &mut Stage, over: Over) -> Result<(Differing, Vec<PathBuf>)> {
    let (found, changed) = match over {
        Over::Unchanged => (stage.changes()?, Vec::new()),
        Over::Anything => stage.changes_to_what_is_there()?,
    };
    Ok((files::read(stage, found)?, changed))
}

/// What of that which somebody changed is about to be applied over, folders that go with it included.
fn replaced(changes: &[(Change, Option<Vec<u8>>)], mut changed: Vec<PathBuf>) -> Vec<PathBuf> {
    let taken: HashSet<&Path> = changes.iter().map(|(change, _)| change.path.as_path()).collect();
    changed.retain(|path| taken.contains(path.as_path()));
    changed
}

/// Names what was applied over what somebody had made of it.
fn tell_replaced(replaced: &[PathBuf]) {
    let names: Vec<_> = replaced.iter().take(REPLACED_SHOWN).map(|path| quoted(path)).collect();
    if names.is_empty() {
        return;
    }
    let more = match replaced.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.join(", ");
    say(format_args!("heeler: applied over what was changed since the stage began: {names}{more}"));
}

/// Whether somebody reads what is asked, and can answer.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Has the repositories of the folder take over what was committed in the stage, and says so: the names
/// they have it by.
fn bring(stage: &Stage, differing: &Differing) -> Result<Vec<String>> {
    const STAYS: &str = "what was committed stays in the stage";
    if let Some(error) = &differing.unknown {
        bail!("{STAYS}: {error}");
    }
    let mut names = Vec::new();
    // What has to be taken along by hand is told when all else is done.
    let (made, others): (Vec<_>, Vec<_>) = differing.commits.iter().partition(|it| it.is_new());
    for staged in others.into_iter().chain(made) {
        let brought = staged.bring(stage).context(STAYS)?;
        let (id, place) = (&stage.summary().id, staged.place());
        // Only names of ours in what somebody may copy to a shell.
        say(format_args!(
            "heeler: what was committed is now in the repository{place}: `git branch -r --list '{id}/*'`"
        ));
        names.extend(brought);
    }
    Ok(names)
}

/// Shows what differs, as far as that is not too much.
fn show(files: &[StagedFile]) {
    let mut text = diff::text(files);
    if text.len() > SHOWN_BYTES_MAX {
        let end = (0..=SHOWN_BYTES_MAX).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n... {more} more bytes: `heeler stage show` prints all"));
    }
    say(text.trim_end());
}

fn tell_kept(id: &str) {
    say(format_args!(
        "heeler: the changes are kept: `heeler stage apply {id}` makes them, `heeler stage discard \
         {id}` drops them"
    ));
}

fn tell_conflicts(applied: &Applied) {
    for conflict in &applied.conflicts {
        say(format_args!("heeler: {conflict}"));
    }
}

/// Runs `heeler stage`.
pub(crate) fn run(arguments: &StageArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let stages = stages(&environment)?;
    let open = |id: &str| Stage::open(&stages, id);
    match &arguments.command {
        StageCommand::List => {
            let mut text = String::new();
            for summary in Stage::list(&stages)? {
                let session = summary.session.as_deref().unwrap_or("no session");
                text.push_str(&format!("{}  {session}  {}\n", summary.id, summary.base.display()));
            }
            print(&harmless(&text))?;
        }
        StageCommand::Show { id } => {
            let stage = open(id)?;
            let text = diff::text(&files::read(&stage, stage.changes()?)?.files);
            // Other programs read it as it is.
            match std::io::stdout().is_terminal() {
                true => print(&harmless(&text))?,
                false => print(&text)?,
            }
        }
        StageCommand::Apply { id, all, force } => {
            // Who looks at stages, or drops one, wants nothing done to a folder.
            if finish_earlier(&environment)?.contains(id) {
                return Ok(Exit::Done);
            }
            if !all && !can_ask() {
                let flags = if *force { "--all --force" } else { "--all" };
                bail!(
                    "nobody can be asked which changes of {id} to make; `heeler stage apply {id} {flags}` \
                     makes all of them"
                );
            }
            let at_end = if *all { AtEnd::Apply } else { AtEnd::Ask };
            let over = if *force { Over::Anything } else { Over::Unchanged };
            let settled = settle(open(id)?, at_end, over, Told::All);
            return Ok(if settled.has_failed() { Exit::Failure } else { Exit::Done });
        }
        StageCommand::Discard { id } => {
            let stage = open(id)?;
            // One whose plan or base is not to be read is dropped all the same.
            let progress = stage.progress().unwrap_or_default();
            stage.discard()?;
            if let Some(Progress { done, paths }) = progress {
                say(format_args!(
                    "heeler: {id} was being applied when heeler died: {done} of {paths} paths were \
                     done and stay so, the rest is dropped"
                ));
            }
        }
    }
    Ok(Exit::Done)
}
