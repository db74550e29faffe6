//! `heeler sessions list`.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, absolute};

use anyhow::{Context as _, Result};
use heeler::tools::zone_of_system;
use heeler_attach::{OwnerKind, Presence, presences};
use heeler_core::{SessionId, SessionStore, SessionSummary, Timestamp, truncate_chars};
use heeler_stage::quoted;
use heeler_store::FileStore;
use jiff::tz::TimeZone;
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
    let mut sessions = store.list(String::new(), 0).await?;
    if let Some(folder) = cwd {
        let found = folder.canonicalize();
        // One that is gone had sessions, too, and is perhaps why they are looked for.
        let whole = found.as_ref().map_or_else(|_| absolute(folder), |found| Ok(found.clone()))?;
        sessions.retain(|session| Path::new(&session.header.workspace) == whole);
        if sessions.is_empty() {
            found.with_context(|| {
                format!("cannot list the sessions of {}; use --cwd FOLDER", folder.display())
            })?;
        }
    }
    heeler_core::sort_by_key(&mut sessions, |session| (session.updated, session.header.id.clone()));
    if sessions.is_empty() && form == Form::Text {
        writeln!(out, "no sessions yet; start one with `heeler exec PROMPT`")?;
    }
    let with_doors = store.sessions_with_doors()?;
    let mut rows = Vec::new();
    let ids = sessions.iter().map(|session| &session.header.id);
    let asked: Vec<_> = ids.filter(|id| with_doors.binary_search(id).is_ok()).cloned().collect();
    let present = presences(store, &asked).await;
    let open: HashMap<SessionId, Presence> = asked.into_iter().zip(present).collect();
    let zone = zone_of_system();
    for session in sessions {
        let open = open.get(&session.header.id).copied().unwrap_or(Presence::Unowned);
        match form {
            Form::Text => writeln!(out, "{}{}", line(&session, &zone), mark(&session, open))?,
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
fn mark(session: &SessionSummary, open: Presence) -> String {
    let mark = match open {
        Presence::Unowned if session.has_open_turn => "unfinished turn",
        Presence::Unowned => return String::new(),
        Presence::Silent => "open, does not answer",
        Presence::OtherVersion => "open in another version",
        Presence::Present { owner: OwnerKind::Window, .. } => "open in a terminal",
        Presence::Present { owner: OwnerKind::Run, .. } => "running",
    };
    let waits = matches!(open, Presence::Present { waiting: 1.., .. });
    format!(" ({mark}{})", if waits { ", waits for an answer" } else { "" })
}

/// A session for programs; times are milliseconds since 1970.
fn row(session: &SessionSummary, open: Presence) -> Value {
    let (owner, waiting) = match open {
        Presence::Present { owner: OwnerKind::Window, waiting } => (Some("window"), waiting),
        Presence::Present { owner: OwnerKind::Run, waiting } => (Some("run"), waiting),
        Presence::Unowned | Presence::Silent | Presence::OtherVersion => (None, 0),
    };
    let unreachable = match open {
        Presence::Silent => Some("silent"),
        Presence::OtherVersion => Some("other_version"),
        Presence::Unowned | Presence::Present { .. } => None,
    };
    json!({
        "id": session.header.id,
        "created": session.header.created,
        "updated": session.updated,
        "workspace": session.header.workspace,
        "title": title_of(&session.title),
        "name": session.name,
        "forked": session.forked,
        "open": owner,
        "waiting": waiting,
        "unreachable": unreachable,
        "unfinished_turn": session.has_open_turn && open == Presence::Unowned,
    })
}

/// The beginning of what was said, on one line.
pub(super) fn title_of(text: &str) -> String {
    // Enough for a title stays, however long the text is.
    let words = text.split_whitespace().take(TITLE_CHARS_MAX).collect::<Vec<_>>().join(" ");
    truncate_chars(&words, TITLE_CHARS_MAX).into_owned()
}

/// A session on one line, with its time as people in this zone read it.
pub(super) fn line(session: &SessionSummary, zone: &TimeZone) -> String {
    let name = session.name.as_ref().map(|name| format!("[{name}] ")).unwrap_or_default();
    let forked = session.forked.as_ref();
    let forked = forked.map(|origin| format!(" (forked from {origin})")).unwrap_or_default();
    harmless(&format!(
        "{}  {}  {}  {name}{}{forked}",
        session.header.id,
        moment_in(zone, session.updated),
        quoted(Path::new(&session.header.workspace)),
        title_of(&session.title)
    ))
}

/// A time as the person's clock shows it, to the minute; in UTC where nobody knows the zone.
fn moment_in(zone: &TimeZone, time: Timestamp) -> String {
    in_calendar(time).map_or_else(unknown, |time| {
        time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    })
}

/// A time as people read it, in UTC, to the minute.
pub(crate) fn moment(time: Timestamp) -> String {
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
