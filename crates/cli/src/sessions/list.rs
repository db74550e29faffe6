//! `heeler sessions list`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use heeler::tools::zone_of_system;
use heeler_attach::{OwnerKind, Presence, presence};
use heeler_core::{SessionStore, SessionSummary, Timestamp, truncate_chars};
use heeler_store::FileStore;
use serde_json::{Value, json};

use crate::say::harmless;

/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 60;

/// The version of what `--json` prints.
const LIST_VERSION: u32 = 1;

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For a person, a line a session.
    Text,
    /// One object.
    Json,
}

/// Prints the sessions, the newest last.
pub(super) async fn print(
    store: &FileStore,
    cwd: Option<&Path>,
    form: Form,
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
    heeler_core::sort_by_key(&mut sessions, |session| (session.updated, session.header.id.clone()));
    if sessions.is_empty() && form == Form::Text {
        writeln!(out, "no sessions yet; start one with `heeler exec PROMPT`")?;
    }
    let with_doors = store.sessions_with_doors()?;
    let mut rows = Vec::new();
    for session in sessions {
        let id = &session.header.id;
        let open = match with_doors.binary_search(id) {
            Ok(_) => presence(store, id).await,
            Err(_) => None,
        };
        match form {
            Form::Text => writeln!(out, "{}{}", line(&session), mark(&session, open))?,
            Form::Json => rows.push(row(&session, open)),
        }
    }
    if form == Form::Json {
        writeln!(out, "{}", json!({ "v": LIST_VERSION, "sessions": rows }))?;
    }
    Ok(())
}

/// That somebody has a session open, and whether it waits for one; or that its process died in a
/// turn.
fn mark(session: &SessionSummary, open: Option<Presence>) -> String {
    let Some(Presence { owner, waiting }) = open else {
        return if session.has_open_turn { " (unfinished turn)".to_owned() } else { String::new() };
    };
    let waits = if waiting > 0 { ", waits for an answer" } else { "" };
    match owner {
        OwnerKind::Window => format!(" (open in a terminal{waits})"),
        OwnerKind::Run => format!(" (running{waits})"),
    }
}

/// A session for programs; times are milliseconds since 1970.
fn row(session: &SessionSummary, open: Option<Presence>) -> Value {
    let owner = open.as_ref().map(|presence| match presence.owner {
        OwnerKind::Window => "window",
        OwnerKind::Run => "run",
    });
    json!({
        "id": session.header.id,
        "created": session.header.created,
        "updated": session.updated,
        "workspace": session.header.workspace,
        "title": title_of(&session.title),
        "name": session.name,
        "forked": session.forked,
        "open": owner,
        "waiting": open.map_or(0, |presence| presence.waiting),
        "unfinished_turn": session.has_open_turn && owner.is_none(),
    })
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
        moment_here(session.updated),
        session.header.workspace,
        title_of(&session.title)
    ))
}

/// A time as the person's clock shows it, to the minute; in UTC where nobody knows the zone.
fn moment_here(time: Timestamp) -> String {
    in_calendar(time).map_or_else(unknown, |time| {
        time.to_zoned(zone_of_system()).strftime("%Y-%m-%d %H:%M").to_string()
    })
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
    in_calendar(time).map_or_else(unknown, |time| time.strftime(format).to_string())
}

/// `None` for a time that no calendar has.
fn in_calendar(time: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(i64::try_from(time.millis()).ok()?).ok()
}

fn unknown() -> String {
    "-".to_owned()
}
