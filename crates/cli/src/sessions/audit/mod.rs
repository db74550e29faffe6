//! `heeler audit`: whether a journal is as it was written, and what was done on whose word.

mod deeds;
mod edits;
mod plan;
pub(super) mod secrets;

use std::io::Write;

use anyhow::Result;
use heeler_core::{SessionId, SessionStore, StoreErrorKind};
use heeler_store::FileStore;
use serde::Serialize;

use super::list::second;
use crate::exit::Exit;
use crate::say::{harmless, one_line, say};
use deeds::{Audited, Deed, Ending};
use plan::LeftPlan;

/// The version of what `--json` prints.
const AUDIT_VERSION: u32 = 1;

/// How an audit is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For a person.
    Text,
    /// One object on one line.
    Json,
}

/// Everything an audit tells.
#[derive(Serialize)]
struct Report<'a> {
    v: u32,
    session: &'a SessionId,
    workspace: &'a str,
    records: usize,
    damage: Vec<Damage<'a>>,
    torn_bytes: u64,
    /// Records that do not follow from those before them.
    misfits: u64,
    /// Decisions that left plan mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaves: Vec<LeftPlan>,
    deeds: Vec<Deed>,
}

#[derive(Serialize)]
struct Damage<'a> {
    line: u64,
    seq: u64,
    what: &'a str,
}

/// Prints the audit; fails when the journal is damaged. Reads only; the session may be running.
pub(super) async fn print(
    store: &FileStore,
    id: SessionId,
    form: Form,
    out: &mut dyn Write,
) -> Result<Exit> {
    let journal = match store.read(id).await {
        Ok(journal) => journal,
        Err(error) if error.kind() == StoreErrorKind::Damaged => {
            say(format_args!("heeler: {error}"));
            return Ok(Exit::Failure);
        }
        Err(error) => return Err(error.into()),
    };
    let Audited { deeds, leaves, misfits } = deeds::of(&journal);
    let damage = journal.damage.iter();
    let report = Report {
        v: AUDIT_VERSION,
        session: &journal.header.id,
        workspace: &journal.header.workspace,
        records: journal.entries.len(),
        damage: damage.map(|d| Damage { line: d.line, seq: d.seq, what: &d.what }).collect(),
        torn_bytes: journal.torn_bytes,
        misfits,
        leaves,
        deeds,
    };
    let written = match form {
        Form::Json => writeln!(out, "{}", serde_json::to_string(&report)?),
        Form::Text => out.write_all(harmless(&text(&report)?).as_bytes()),
    };
    // That nobody reads on makes no damaged journal a sound one.
    if !report.damage.is_empty() {
        return Ok(Exit::Failure);
    }
    written.and_then(|()| out.flush())?;
    Ok(Exit::Done)
}

fn text(report: &Report<'_>) -> Result<String> {
    let out = &mut Vec::new();
    writeln!(out, "session    {}", report.session)?;
    writeln!(out, "workspace  {}", report.workspace)?;
    let state = match report.damage.len() {
        0 => "every checksum and the chain are right".to_owned(),
        1 => "DAMAGED in 1 place".to_owned(),
        n => format!("DAMAGED in {n} places"),
    };
    writeln!(out, "journal    {} records, {state}", report.records)?;
    for Damage { line, what, .. } in &report.damage {
        writeln!(out, "damaged    line {line}: {what}")?;
    }
    if report.torn_bytes > 0 && report.damage.is_empty() {
        writeln!(out, "torn       the last {} bytes are no whole record", report.torn_bytes)?;
    }
    if report.misfits > 0 {
        writeln!(out, "misfits    {} (records that do not follow from the rest)", report.misfits)?;
    }
    for left in &report.leaves {
        writeln!(out, "\n{} UTC  {}", second(left.at), one_line(&left.to_string()))?;
    }
    if report.deeds.is_empty() {
        writeln!(out, "\nnothing was done and nothing denied")?;
    }
    for deed in &report.deeds {
        let summary = one_line(&deed.summary);
        writeln!(out, "\n{} UTC  {}  {summary}", second(deed.at), deed.call)?;
        for edit in &deed.edits {
            writeln!(out, "  edited   {}", one_line(&edit.to_string()))?;
        }
        match &deed.ending {
            // Reasons name paths and hosts as the model wrote them.
            Ending::Denied { by } => writeln!(out, "  denied   {}", one_line(by))?,
            ending => {
                let allowed = deed.allowed_by.as_deref();
                let unknown = "nobody knows: the records that said it are missing";
                writeln!(out, "  allowed  {}", one_line(allowed.unwrap_or(unknown)))?;
                writeln!(out, "  ended    {ending}")?;
            }
        }
    }
    Ok(String::from_utf8_lossy(out).into_owned())
}
