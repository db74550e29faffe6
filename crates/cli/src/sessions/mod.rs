//! `heeler sessions`, `heeler show`, `heeler audit` and `heeler replay`.

mod audit;
mod delete;
mod export;
mod list;
mod replay;
mod request;
mod show;

use anyhow::{Result, bail};
use heeler_assembly::{Environment, open_store};
use heeler_core::{SessionId, SessionStore};
use heeler_store::FileStore;

use crate::arguments::{
    AuditArguments, ReplayArguments, SessionsArguments, SessionsCommand, ShowArguments,
};
use crate::exit::Exit;

/// How many sessions are named when an id is ambiguous.
const NAMED_MAX: usize = 5;

/// Runs `heeler sessions`.
pub(crate) fn run(arguments: &SessionsArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    let out = &mut std::io::stdout().lock();
    block_on(async {
        match &arguments.command {
            SessionsCommand::List { cwd } => list::print(&store, cwd.as_deref(), out).await?,
            SessionsCommand::Export { id } => {
                export::print(&store, find(&store, id).await?, out).await?;
            }
            SessionsCommand::Delete { ids } => delete::delete(&store, ids, out).await?,
        }
        Ok(Exit::Done)
    })
}

/// Runs `heeler show`.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    let out = &mut std::io::stdout().lock();
    block_on(async {
        let id = find(&store, &arguments.id).await?;
        match arguments.request {
            None => show::print(&store, id, out).await?,
            Some(n) if arguments.raw => request::print_raw(&store, id, n, out).await?,
            Some(n) => request::print(&store, id, n, out).await?,
        }
        Ok(Exit::Done)
    })
}

/// Runs `heeler audit`.
pub(crate) fn audit(arguments: &AuditArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let form = if arguments.json { audit::Form::Json } else { audit::Form::Text };
    let out = &mut std::io::stdout().lock();
    block_on(async {
        let id = find(&store, &arguments.id).await?;
        if arguments.secrets {
            return audit::secrets::print(&store, &id, &environment, form, out);
        }
        audit::print(&store, id, form, out).await
    })
}

/// Runs `heeler replay`.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let out = &mut std::io::stdout().lock();
    block_on(async {
        let id = find(&store, &arguments.id).await?;
        replay::print(&store, id, arguments, &environment, out).await
    })
}

/// The session whose id is, or begins with, this text.
pub(crate) async fn find(store: &FileStore, text: &str) -> Result<SessionId> {
    let mut found = store.list(text.to_owned(), 0).await?;
    if let Some(exact) = found.iter().position(|session| session.header.id.as_str() == text) {
        return Ok(found.swap_remove(exact).header.id);
    }
    match found.as_slice() {
        [] => bail!("there is no session {text}; see `heeler sessions list`"),
        [one] => Ok(one.header.id.clone()),
        several => {
            let ids = several.iter().map(|s| s.header.id.to_string());
            let mut named: Vec<_> = ids.take(NAMED_MAX).collect();
            if several.len() > NAMED_MAX {
                named.push("...".into());
            }
            bail!(
                "{} sessions begin with {text} ({}); give more of the id",
                several.len(),
                named.join(", ")
            )
        }
    }
}

fn block_on(work: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(work) {
        // `heeler sessions list | head` is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(Exit::Done),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
