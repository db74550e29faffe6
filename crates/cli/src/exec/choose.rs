//! Which stored session goes on.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use heeler_assembly::{Environment, ForkWanted};
use heeler_core::{Latest, SessionId, SessionStore, SessionSummary};
use heeler_store::FileStore;
use heeler_turn::checkpoint;

use crate::say::say;
use crate::sessions::{find, fork, moment};
use crate::stage;

/// A session that goes on.
pub(crate) struct Existing {
    pub(crate) id: SessionId,
    /// The model that was last chosen for it.
    pub(crate) model: Option<String>,
    workspace: PathBuf,
}

impl Existing {
    /// That it does not go on beside a stage that it worked in.
    ///
    /// # Errors
    /// When there is one; says what to do.
    pub(crate) fn check_stage(&self, environment: &Environment) -> Result<()> {
        let id = &self.id;
        if let Some(stage) = stage::of_session(environment, id.as_str())? {
            bail!(
                "session {id} worked in the stage {stage}, which is neither applied nor discarded: \
                 first `heeler stage apply {stage}` or `heeler stage discard {stage}`"
            );
        }
        Ok(())
    }

    /// The folder the session works in. It cannot be another one: the history speaks of this one,
    /// and so does what was allowed. A fork may, which has nothing allowed.
    pub(crate) fn workspace(&self, asked: Option<&Path>, is_forked: bool) -> Result<PathBuf> {
        let (id, own) = (&self.id, self.workspace.display());
        match asked {
            Some(asked) if is_forked => return Ok(asked.to_owned()),
            Some(asked) if asked != self.workspace => bail!(
                "session {id} works in {own}; leave out --cwd, or add --fork to go on in the other folder"
            ),
            _ => {}
        }
        if !self.workspace.is_dir() {
            bail!(
                "session {id} works in {own}, which is no folder any more; where it is now, or in another \
                 one, a fork goes on: add --fork --cwd FOLDER"
            );
        }
        Ok(self.workspace.clone())
    }
}

/// The session to go on with: the one whose id begins with `resume` or whose name it is, or else the newest of the folder;
/// `None` for a new one.
pub(crate) async fn session(
    resume: Option<&str>,
    continue_newest: bool,
    store: &FileStore,
    workspace: &Path,
) -> Result<Option<Existing>> {
    let id = match resume {
        Some(id) => find(store, id).await?,
        None if continue_newest => newest(store, workspace).await?,
        None => return Ok(None),
    };
    let Latest { checkpoint, journal } = store.latest(id.clone(), Some(checkpoint::FORMAT)).await?;
    // One that says nothing sensible is nobody's loss: the model is then that of a new session.
    let kept = checkpoint.and_then(|kept| checkpoint::chosen(&kept.state).ok());
    let mut chosen = kept.unwrap_or_default();
    journal.entries.iter().for_each(|entry| chosen.take(&entry.record));
    let model = Some(chosen.model().to_owned()).filter(|name| !name.is_empty());
    Ok(Some(Existing { id, model, workspace: journal.header.workspace.into() }))
}

/// A new session that begins with all that one has, and is gone on with in its place, in this folder.
pub(crate) async fn in_its_place(
    store: &FileStore,
    id: &SessionId,
    workspace: &Path,
) -> Result<SessionId> {
    let wanted = ForkWanted { at: None, workspace: Some(workspace) };
    let (id, origin) = fork(store, id, wanted).await?;
    say(format_args!("heeler: session {id} is forked from {origin}"));
    Ok(id)
}

async fn newest(store: &FileStore, workspace: &Path) -> Result<SessionId> {
    let sessions = store.list(String::new(), 0).await?;
    // One in which nobody has said anything comes last: it was opened and left.
    let is_begun = |session: &SessionSummary| {
        session.is_begun || session.name.is_some() || session.forked.is_some()
    };
    // A journal that cannot be read names no folder, so that it may be one of this folder.
    let (unknown, known): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.header.workspace.is_empty());
    let newest = known
        .into_iter()
        .filter(|session| Path::new(&session.header.workspace) == workspace)
        .max_by_key(|session| (is_begun(session), session.updated, session.header.created));
    let unknown = unknown.into_iter().max_by_key(|session| session.updated);
    match (newest, unknown) {
        // The words would go to another conversation than the one that is meant.
        (Some(session), Some(unknown)) if unknown.updated > session.updated => {
            let (id, other) = (&unknown.header.id, &session.header.id);
            let path = store.journal_path(id);
            // Who may not read it cannot look into it either.
            let look = match File::open(&path) {
                Ok(_) => format!("look with `heeler audit {id}`"),
                Err(_) => format!("`ls -l {}` tells whose it is", path.display()),
            };
            bail!(
                "session {id} changed last ({} UTC), and which folder it is of cannot be told {}; \
                 {look}, or go on with the older one: --resume {other}",
                moment(unknown.updated),
                unknown.title
            )
        }
        (Some(session), _) => Ok(session.header.id),
        (None, _) => bail!(
            "there is no session of {} yet; start one with `heeler exec PROMPT`",
            workspace.display()
        ),
    }
}
