//! Which session a continued `exec` goes on with.

use std::path::Path;

use anyhow::{Result, bail};
use heeler_core::{SessionId, SessionStore};
use heeler_store::FileStore;

use crate::arguments::ExecArguments;
use crate::sessions::find;

/// The session to go on with; `None` for a new one.
pub(super) async fn session(
    arguments: &ExecArguments,
    store: &FileStore,
    workspace: &Path,
) -> Result<Option<SessionId>> {
    if let Some(id) = &arguments.resume {
        return Ok(Some(find(store, id).await?));
    }
    if !arguments.continue_newest {
        return Ok(None);
    }
    let sessions = store.list(String::new(), 0).await?;
    let newest = sessions
        .into_iter()
        .filter(|session| Path::new(&session.header.workspace) == workspace)
        .max_by_key(|session| (session.updated, session.header.created));
    match newest {
        Some(session) => Ok(Some(session.header.id)),
        None => bail!(
            "there is no session of {} yet; start one with `heeler exec PROMPT`",
            workspace.display()
        ),
    }
}
