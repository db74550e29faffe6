//! What the window asks of the stored sessions. Everything here reads files, so it runs on a thread of
//! its own: the window goes on meanwhile.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use heeler_assembly::ForkWanted;
use heeler_core::{
    Block, Input, Record, SessionId, SessionStore as _, SessionSummary, truncate_chars,
};
use heeler_store::FileStore;
use heeler_tui::host::{Glance, SessionRow};

use crate::say::told;
use crate::sessions::{Format, find, fork, write_file};
use crate::whole::Existing;

/// How much of a journal's end is looked at, a little first.
const ENDING_BYTES: [usize; 3] = [64 * 1024, 512 * 1024, 4 * 1024 * 1024];
/// The most characters of either text.
const GLANCE_CHARS_MAX: usize = 2_000;

/// Does something with the store, elsewhere.
pub(super) async fn away<T: Send + 'static>(
    work: impl AsyncFnOnce() -> Result<T> + Send + 'static,
) -> Result<T, String> {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(work())
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| "it broke off".to_owned())?.map_err(|error| told(&error))
}

/// The sessions of a folder in which somebody said anything, the latest first.
pub(super) async fn rows(store: &FileStore, workspace: &Path) -> Result<Vec<SessionRow>> {
    let here = workspace.to_string_lossy();
    let all = store.list(String::new(), 0).await?;
    let mut rows: Vec<SessionRow> = all
        .into_iter()
        .filter(|session| session.header.workspace == here && !was_only_opened(session))
        .map(|session| SessionRow {
            id: session.header.id,
            changed: session.updated,
            title: session.title,
            name: session.name,
            is_fork: session.forked.is_some(),
        })
        .collect();
    heeler_core::sort_by_key(&mut rows, |row| std::cmp::Reverse(row.changed));
    Ok(rows)
}

/// Whether nobody said anything in a session, nor named it.
pub(super) async fn is_unsaid(store: &FileStore, id: &SessionId) -> bool {
    let listed = store.list(id.to_string(), 1).await;
    let listed = listed.ok().and_then(|listed| listed.into_iter().next());
    listed.is_some_and(|session| session.header.id == *id && was_only_opened(&session))
}

/// Of a file that cannot be read the title says so.
fn was_only_opened(session: &SessionSummary) -> bool {
    let is_named = session.name.is_some() || !session.title.is_empty();
    !(session.is_begun || is_named || session.forked.is_some() || session.has_open_turn)
}

/// The last that was said in a session, as far as it stands near its end.
pub(super) fn glance(store: &FileStore, id: &SessionId) -> Result<Glance> {
    let mut glance = Glance { asked: String::new(), answered: String::new() };
    for bytes_max in ENDING_BYTES {
        let entries = store.ending(id, bytes_max)?;
        let is_whole = entries.first().is_some_and(|entry| entry.seq == 1);
        let records = || entries.iter().rev().map(|entry| &entry.record);
        let asked = records().find_map(|record| match record {
            Record::Input(input) => said(input),
            Record::SteeringQueued(queued) if queued.background.is_none() => said(&queued.input),
            _ => None,
        });
        let answered = records().find_map(|record| match record {
            Record::ModelReplied(replied) => text_of(&replied.reply.blocks),
            _ => None,
        });
        let is_found = asked.is_some() && answered.is_some();
        glance.asked = asked.unwrap_or_default();
        glance.answered = answered.unwrap_or_default();
        if is_found || is_whole {
            break;
        }
    }
    Ok(glance)
}

fn said(input: &Input) -> Option<String> {
    text_of(&input.blocks)
}

fn text_of(blocks: &[Block]) -> Option<String> {
    let text = blocks.iter().filter_map(Block::as_text).find(|text| !text.trim().is_empty())?;
    Some(truncate_chars(text, GLANCE_CHARS_MAX).into_owned())
}

/// The session that is meant by a text.
pub(super) async fn meant(store: &FileStore, text: &str) -> Result<SessionId> {
    find(store, text).await
}

/// A new session that begins with what another has.
pub(super) async fn forked(
    store: &FileStore,
    id: &SessionId,
    at: Option<u32>,
) -> Result<SessionId> {
    let wanted = ForkWanted { at, workspace: None };
    Ok(fork(store, id, wanted).await?.0)
}

/// Writes a session to a file in the folder that is worked in, or behind `~/`, which no shell reads here;
/// without a name, to one of its own, which is written anew where it is there.
pub(super) async fn export(
    store: &FileStore,
    id: SessionId,
    workspace: &Path,
    home: Option<&str>,
    file: Option<String>,
) -> Result<String> {
    let existing = if file.is_some() { Existing::Stays } else { Existing::Replaced };
    let name = file.unwrap_or_else(|| format!("heeler-{id}.html"));
    let path: PathBuf = match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => workspace.join(&name),
    };
    let Some(format) = Format::of_name(&path) else {
        bail!("/export FILE: {name} says no form; name a file that ends in .html, .md or .jsonl");
    };
    let written = write_file(store, id, format, &path, existing).await;
    written.map_err(|error| {
        // Behind this stands what the file is called until it is whole.
        let why = error.root_cause().to_string();
        let why = why.split(" at path ").next().unwrap_or_default();
        anyhow!(why.to_owned()).context(error.to_string())
    })?;
    Ok(format!("written to {}", path.display()))
}
