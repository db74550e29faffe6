//! `heeler sessions list`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use heeler_attach::{OwnerKind, Presence, presence};
use heeler_core::{SessionStore, SessionSummary, Timestamp, truncate_chars};
use heeler_store::FileStore;

use crate::say::harmless;

/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 60;

/// Prints one line a session, the newest last.
pub(super) async fn print(
    store: &FileStore,
    cwd: Option<&Path>,
    out: &mut dyn Write,
) -> Result<()> {
    let folder = match cwd {
        None => None,
        Some(folder) => Some(folder.canonicalize().with_context(|| {
            format!("cannot list the sessions of {}; use --cwd FOLDER", folder.display())
        })?),
    };
    let mut sessions = store.list(String::new(), 0).await?;
    sessions.retain(|session| {
        folder.as_deref().is_none_or(|folder| Path::new(&session.header.workspace) == folder)
    });
    sessions.sort_by_key(|session| (session.updated, session.header.id.clone()));
    if sessions.is_empty() {
        writeln!(out, "no sessions yet; start one with `heeler exec PROMPT`")?;
    }
    let with_doors = store.sessions_with_doors()?;
    for session in sessions {
        let id = &session.header.id;
        let open = match with_doors.binary_search(id) {
            Ok(_) => presence(store, id).await.map(open).unwrap_or_default(),
            Err(_) => String::new(),
        };
        writeln!(out, "{}{open}", line(&session))?;
    }
    Ok(())
}

/// That somebody has a session open, and whether it waits for one.
fn open(Presence { owner, waiting }: Presence) -> String {
    let open = match owner {
        OwnerKind::Window => "open in a terminal",
        OwnerKind::Run => "running",
    };
    let waits = if waiting > 0 { ", waits for an answer" } else { "" };
    format!(" ({open}{waits})")
}

/// The beginning of what was said, on one line.
pub(super) fn title_of(text: &str) -> String {
    // Enough for a title stays, however long the text is.
    let words = text.split_whitespace().take(TITLE_CHARS_MAX).collect::<Vec<_>>().join(" ");
    truncate_chars(&words, TITLE_CHARS_MAX).into_owned()
}

/// A session on one line.
pub(super) fn line(session: &SessionSummary) -> String {
    let name = session.name.as_ref().map(|name| format!("[{name}] ")).unwrap_or_default();
    let forked = session.forked.as_ref();
    let forked = forked.map(|origin| format!(" (forked from {origin})")).unwrap_or_default();
    harmless(&format!(
        "{}  {}  {}  {name}{}{forked}",
        session.header.id,
        moment(session.updated),
        session.header.workspace,
        title_of(&session.title)
    ))
}

/// A time as people read it, in UTC, to the minute.
pub(super) fn moment(time: Timestamp) -> String {
    format(time, "%Y-%m-%d %H:%M")
}

/// A time in UTC, to the second.
pub(super) fn second(time: Timestamp) -> String {
    format(time, "%Y-%m-%d %H:%M:%S")
}

fn format(time: Timestamp, format: &str) -> String {
    let millis = i64::try_from(time.millis()).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(time) => time.strftime(format).to_string(),
        Err(_) => "-".to_owned(),
    }
}
