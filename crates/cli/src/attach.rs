//! `heeler attach` and `heeler stop`: a session that another process has open.

use std::io::IsTerminal as _;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{Environment, open_store};
use heeler_attach::{AttachError, Attached, Presence, attach, presences};
use heeler_core::{SessionId, SessionStore as _, TurnOutcome};
use heeler_engine::Session;
use heeler_store::FileStore;

use crate::arguments::AttachArguments;
use crate::exec::{END_PATIENCE, follow, not_followed};
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::{print, say};
use crate::sessions::find;
use crate::terminal;

/// How long an owner may take to stop its turn; one that is suspended takes for ever.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);

/// How long an owner is waited for without a word.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// Runs `heeler attach`: in a terminal as a window, else as lines.
pub(crate) fn run(arguments: &AttachArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let is_shown =
        !arguments.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let ended = within_runtime(async {
        let id = match &arguments.id {
            Some(id) => find(&store, id).await?,
            None => newest(&store, &workspace(None)?).await?,
        };
        let attached = enter(&store, &id).await?;
        match is_shown {
            true => terminal::show(attached, environment, store).await,
            false => {
                if attached.is_left {
                    say(format_args!(
                        "heeler: a turn was left unfinished, and nothing runs: Enter goes on with it \
                         where session {id} is open, or in `heeler attach {id}` in a terminal"
                    ));
                }
                Ok(follow(&store, attached.session, arguments.json).await)
            }
        }
    });
    match ended {
        Err(error) if arguments.json => Ok(not_followed(&error)),
        ended => ended,
    }
}

/// Runs `heeler stop`.
pub(crate) fn stop(id: &str) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    within_runtime(async {
        let id = find(&store, id).await?;
        let session = enter(&store, &id).await?.session;
        let (view, _) = session.subscribe();
        let runs = view.turn.is_some();
        // Asked in any case: hooks may hear an input that is about to begin a turn, which no view shows.
        if !stop_all(&session, runs).await? {
            bail!("session {id} is open, and no turn of it runs");
        }
        print(&match runs {
            true => format!("the turn of session {id} is stopped\n"),
            false => format!("what was about to run in session {id} is stopped\n"),
        })?;
        Ok(Exit::Done)
    })
}

/// Attaches, and says what is waited for when that takes long.
async fn enter(store: &FileStore, id: &SessionId) -> Result<Attached, AttachError> {
    let mut attaching = pin!(attach(store, id));
    if let Ok(attached) = tokio::time::timeout(TOLD_AFTER, &mut attaching).await {
        return attached;
    }
    say(format_args!(
        "heeler: waiting for the heeler that has session {id} open; it may be suspended (`fg` in its \
         terminal goes on)"
    ));
    attaching.await
}

/// Stops what runs, and makes sure of it: the owner may end, or be suspended, before it hears of it.
/// `false` where there is nothing to stop.
async fn stop_all(session: &Session, runs: bool) -> Result<bool> {
    let id = session.id();
    let Ok(stopped) = tokio::time::timeout(STOPPED_WITHIN, session.stop()).await else {
        bail!(
            "the heeler that has session {id} open was told to stop and does not answer; it may be \
             suspended (`fg` in its terminal goes on)"
        );
    };
    // What its journal says until the end is known here when its answer is not to come.
    let (view, _) = session.subscribe();
    match (stopped, view.turn, view.last_outcome) {
        (Ok(was), ..) => Ok(was),
        (Err(_), None, Some(TurnOutcome::Cancelled)) if runs => Ok(true),
        (Err(_), None, _) if !runs => {
            bail!("session {id} was closed before anything of it could be stopped")
        }
        (Err(_), None, _) => bail!("the turn of session {id} ended before it could be stopped"),
        (Err(_), Some(_), _) => bail!(
            "the heeler that had session {id} open ended before its turn could be stopped; nothing of \
             it runs, and `heeler --resume {id}` goes on with it"
        ),
    }
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
    let ids: Vec<SessionId> = sessions.into_iter().map(|session| session.header.id).collect();
    let present = presences(store, &ids).await;
    let mut open = ids.into_iter().zip(present).filter(|(_, who)| *who != Presence::Unowned);
    // One that does not answer is open all the same: attaching to it says why it cannot be.
    if let Some((id, _)) = open.next() {
        return Ok(id);
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
