//! `heeler sessions`, `heeler show`, `heeler audit` and `heeler replay`.

mod audit;
mod delete;
mod export;
mod fork;
mod list;
mod rename;
mod replay;
mod request;
mod show;
mod story;

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use heeler_assembly::{Environment, ForkWanted, open_store};
use heeler_core::{SessionId, SessionName, SessionStore, SessionSummary};
use heeler_store::FileStore;

use crate::arguments::{
    AuditArguments, ReplayArguments, SessionsArguments, SessionsCommand, ShowArguments,
};
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::Stdout;
use crate::whole::Existing;
pub(crate) use export::{Format, write_file};
pub(crate) use fork::fork;
pub(crate) use list::moment;

/// How many sessions are named when an id is ambiguous.
const NAMED_MAX: usize = 5;

/// Runs `heeler sessions`.
pub(crate) fn run(arguments: &SessionsArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    block_on(async |out| {
        match &arguments.command {
            SessionsCommand::List { cwd, json } => {
                let form = if *json { list::Form::Json } else { list::Form::Text };
                list::print(&store, cwd.as_deref(), form, out).await?;
            }
            SessionsCommand::Export { id, format, output, force } => {
                let id = find(&store, id).await?;
                let output = output.as_deref().filter(|path| *path != Path::new("-"));
                let named = output.and_then(Format::of_name);
                let format = format.or(named).unwrap_or(Format::Jsonl);
                match output {
                    Some(path) => {
                        ensure!(
                            *force || path.symlink_metadata().is_err(),
                            "{} is there already; name another file, or replace it with --force",
                            path.display()
                        );
                        let existing = if *force { Existing::Replaced } else { Existing::Stays };
                        export::write_file(&store, id, format, path, existing).await?;
                    }
                    None => export::write(&store, id, format, out).await?,
                }
            }
            SessionsCommand::Rename { id, name } => rename::rename(&store, id, name, out).await?,
            SessionsCommand::Fork { id, at, cwd } => {
                let folder = cwd.as_deref().map(|cwd| workspace(Some(cwd))).transpose()?;
                let wanted = ForkWanted { at: *at, workspace: folder.as_deref() };
                fork::print(&store, id, wanted, out).await?;
            }
            SessionsCommand::Delete { ids } => delete::delete(&store, ids, out).await?,
        }
        Ok(Exit::Done)
    })
}

/// Runs `heeler show`.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit> {
    let store = open_store(&Environment::of_this_process())?;
    block_on(async |out| {
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
    block_on(async |out| {
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
    block_on(async |out| {
        let id = find(&store, &arguments.id).await?;
        replay::print(&store, id, arguments, &environment, out).await
    })
}

/// The session whose id is this text, or whose name, or whose id begins with it.
pub(crate) async fn find(store: &FileStore, text: &str) -> Result<SessionId> {
    // A whole id needs no list.
    if let Ok(id) = text.parse()
        && store.journal_path(&id).is_file()
    {
        return Ok(id);
    }
    let all = store.list(String::new(), 0).await?;
    let is_named = |session: &&SessionSummary| {
        let wanted = text.parse::<SessionName>().ok();
        wanted.is_some() && session.name == wanted
    };
    let named: Vec<_> = all.iter().filter(is_named).collect();
    if let Some(id) = only(&named, &format!("are named {text}"), "give the id")? {
        return Ok(id);
    }
    let begins = |session: &&SessionSummary| session.header.id.as_str().starts_with(text);
    let begun: Vec<_> = all.iter().filter(begins).collect();
    match only(&begun, &format!("begin with {text}"), "give more of the id")? {
        Some(id) => Ok(id),
        None => bail!("there is no session {text}; see `heeler sessions list`"),
    }
}

/// The one session there is, if there is any.
fn only(found: &[&SessionSummary], what: &str, next: &str) -> Result<Option<SessionId>> {
    match found {
        [] => Ok(None),
        [one] => Ok(Some(one.header.id.clone())),
        several => {
            let ids = several.iter().map(|s| s.header.id.to_string());
            let mut named: Vec<_> = ids.take(NAMED_MAX).collect();
            if several.len() > NAMED_MAX {
                named.push("...".into());
            }
            bail!("{} sessions {what} ({}); {next}", several.len(), named.join(", "))
        }
    }
}

fn block_on(work: impl AsyncFnOnce(&mut dyn Write) -> Result<Exit>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = Stdout::lock();
    let printed = runtime.block_on(async {
        let exit = work(&mut out).await?;
        if exit == Exit::Done {
            out.flush()?;
        }
        Ok(exit)
    });
    match printed {
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
