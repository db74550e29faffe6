//! `heeler sessions rename`.

use std::io::Write;

use anyhow::Result;
use heeler_assembly::rename_session;
use heeler_core::{Clock as _, SessionName};
use heeler_engine::SystemClock;
use heeler_store::FileStore;

use super::find;
use crate::say::harmless;

/// Names a session, and says so; an empty name takes its name away.
pub(super) async fn rename(
    store: &FileStore,
    id: &str,
    name: &str,
    out: &mut dyn Write,
) -> Result<()> {
    let name: Option<SessionName> = match name.trim() {
        "" => None,
        name => Some(name.parse()?),
    };
    let id = find(store, id).await?;
    rename_session(store, &id, name.clone(), SystemClock.now()).await?;
    match name {
        Some(name) => writeln!(out, "session {id} is named {}", harmless(name.as_str()))?,
        None => writeln!(out, "session {id} has no name any more")?,
    }
    Ok(())
}
