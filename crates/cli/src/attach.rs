//! `heeler attach` and `heeler stop`: a session that another process has open.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{Environment, open_store};
use heeler_attach::{attach, presence};
use heeler_core::{SessionId, SessionStore as _};
use heeler_store::FileStore;

use crate::arguments::AttachArguments;
use crate::exec::{END_PATIENCE, follow};
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::print;
use crate::sessions::find;
use crate::terminal;

/// Runs `heeler attach`: in a terminal as a window, else as lines.
pub(crate) fn run(arguments: &AttachArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let is_shown =
        !arguments.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    within_runtime(async {
        let id = match &arguments.id {
            Some(id) => find(&store, id).await?,
            None => newest(&store, &workspace(None)?).await?,
        };
        let attached = attach(&store, &id).await?;
        match is_shown {
            true => terminal::show(attached, environment, store).await,
            false => follow(&store, attached.session, arguments.json).await,
        }
    })
}

/// Runs `heeler stop`.
pub(crate) fn stop(id: &str) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    within_runtime(async {
        let id = find(&store, id).await?;
        let session = attach(&store, &id).await?.session;
        let (view, _) = session.subscribe();
        if view.turn.is_none() {
            bail!("session {id} is open, and no turn of it runs");
        }
        session.cancel().await;
        print(&format!("the turn of session {id} is stopped\n"))?;
        Ok(Exit::Done)
    })
}

/// The session of a folder that was last written to, among those that are open.
async fn newest(store: &FileStore, workspace: &Path) -> Result<SessionId> {
    let with_doors = store.sessions_with_doors()?;
    let mut sessions = store.list(String::new(), 0).await?;
    sessions.retain(|session| {
        Path::new(&session.header.workspace) == workspace
            && with_doors.binary_search(&session.header.id).is_ok()
    });
    heeler_core::sort_by_key(&mut sessions, |session| {
        std::cmp::Reverse((session.updated, session.header.created))
    });
    for session in sessions {
        if presence(store, &session.header.id).await.is_some() {
            return Ok(session.header.id);
        }
    }
    bail!(
        "no session of {} is open; `heeler sessions list` shows those that are, and `heeler \
         --continue` goes on with the newest",
        workspace.display()
    )
}

fn within_runtime<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(work);
    // A thread that is stuck in a call of the system's keeps nobody from leaving.
    runtime.shutdown_timeout(END_PATIENCE);
    ended
}
