//! `heeler sessions` and `heeler show`.

mod delete;
mod export;
mod list;
mod request;
mod show;

use anyhow::{Result, bail};
use heeler_assembly::{Environment, open_store};
use heeler_core::{SessionId, SessionStore};
use heeler_store::FileStore;

use crate::arguments::{SessionsArguments, SessionsCommand, ShowArguments};
use crate::exit::Exit;

/// How many sessions are named when an id is ambiguous.
const NAMED_MAX: usize = 5;

/// Runs `heeler sessions`.
pub(crate) fn run(arguments: &SessionsArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    match &arguments.command {
        SessionsCommand::List { cwd } => {
            block_on(list::print(&store, cwd.as_deref(), &mut std::io::stdout().lock()))
        }
        SessionsCommand::Export { id } => block_on(async {
            let id = find(&store, id).await?;
            export::print(&store, id, &mut std::io::stdout().lock()).await
        }),
        SessionsCommand::Delete { ids } => {
            block_on(delete::delete(&store, ids, &mut std::io::stdout().lock()))
        }
    }
}

/// Runs `heeler show`.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    block_on(async {
        let id = find(&store, &arguments.id).await?;
        let out = &mut std::io::stdout().lock();
        match arguments.request {
            None => show::print(&store, id, out).await,
            Some(n) if arguments.raw => request::print_raw(&store, id, n, out).await,
            Some(n) => request::print(&store, id, n, out).await,
        }
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

fn block_on(work: impl Future<Output = Result<()>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(work) {
        Ok(()) => Ok(Exit::Done),
        // `heeler sessions list | head` is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(Exit::Done),
        Err(error) => Err(error),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
