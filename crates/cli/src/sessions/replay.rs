//! `heeler replay`: a stored session once more, and where it comes out otherwise.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use heeler_assembly::{Environment, ModelChoice};
use heeler_core::{Journal, SessionId, SessionStore, Usage};
use heeler_engine::{ReplayError, ReplayModel, Replayed};
use heeler_settings::Loaded;
use heeler_store::FileStore;
use serde::Serialize;

use crate::arguments::ReplayArguments;
use crate::exit::Exit;
use crate::say::{harmless, say};

/// The version of what `--json` prints.
const REPLAY_VERSION: u32 = 1;

/// Everything a replay tells.
#[derive(Serialize)]
struct Report<'a> {
    v: u32,
    session: &'a SessionId,
    from: u64,
    /// The model that was asked; none for recorded answers.
    model: Option<&'a str>,
    /// Records that came again.
    records: u64,
    answers: u64,
    reworded: u64,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    diverged: Option<Diverged<'a>>,
}

#[derive(Serialize)]
struct Diverged<'a> {
    seq: u64,
    kind: &'a str,
    path: &'a str,
    expected: &'a str,
    found: &'a str,
}

/// Plays a session again and prints what came of it. Reads only; the session may be running.
pub(super) async fn print(
    store: &FileStore,
    id: SessionId,
    arguments: &ReplayArguments,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<Exit> {
    let journal = store.read(id).await?;
    let model = match arguments.model.as_deref() {
        None => None,
        Some(name) => {
            let named = ModelChoice::Named(Some(name.to_owned()));
            let (settings, provider) = named.ready(&mut environment.clone(), &Loaded::default())?;
            Some(ReplayModel::new(provider, settings))
        }
    };
    let replayed = match heeler_engine::replay(&journal, arguments.from, model.as_ref()).await {
        Ok(replayed) => replayed,
        Err(error @ ReplayError::Provider { .. }) => {
            say(format_args!("heeler: {error}"));
            return Ok(Exit::Provider);
        }
        Err(error) => return Err(error.into()),
    };
    let report = report(&journal, arguments, model.as_ref(), &replayed);
    let exit = match report.diverged {
        None => Exit::Done,
        Some(_) => Exit::Failure,
    };
    let written = if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)
    } else {
        out.write_all(harmless(&text(&report)?).as_bytes())
    };
    match written.and_then(|()| out.flush()) {
        // That nobody reads on makes nothing the same.
        Err(_) if exit == Exit::Failure => Ok(exit),
        written => Ok(written.map(|()| exit)?),
    }
}

fn report<'a>(
    journal: &'a Journal,
    arguments: &ReplayArguments,
    model: Option<&'a ReplayModel>,
    replayed: &'a Replayed,
) -> Report<'a> {
    Report {
        v: REPLAY_VERSION,
        session: &journal.header.id,
        from: arguments.from,
        model: model.map(|model| model.settings.name.as_str()),
        records: replayed.records,
        answers: replayed.answers,
        reworded: replayed.reworded,
        usage: replayed.usage,
        diverged: replayed.divergence.as_ref().map(|divergence| Diverged {
            seq: divergence.seq,
            kind: divergence.kind,
            path: &divergence.difference.path,
            expected: &divergence.difference.expected,
            found: &divergence.difference.found,
        }),
    }
}

fn text(report: &Report<'_>) -> Result<String> {
    let Report { session, from, records, answers, reworded, usage, .. } = report;
    let mut text = String::new();
    writeln!(text, "session    {session}, from record {from}")?;
    match report.model {
        None => writeln!(text, "answers    {answers}, as they are recorded")?,
        Some(model) => writeln!(
            text,
            "answers    {answers} of {model}, {reworded} in other words, {} tokens",
            usage.total()
        )?,
    }
    let Some(Diverged { seq, kind, path, expected, found }) = &report.diverged else {
        writeln!(text, "same       {records} records")?;
        return Ok(text);
    };
    writeln!(text, "same       {records} records, up to here:\n")?;
    writeln!(text, "diverged   record {seq}, {kind}")?;
    if !path.is_empty() {
        writeln!(text, "at         {path}")?;
    }
    writeln!(text, "expected   {expected}\nfound      {found}")?;
    Ok(text)
}
