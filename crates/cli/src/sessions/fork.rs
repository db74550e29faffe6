//! `heeler sessions fork`, and the fork of a session that is to go on.

use std::io::Write;

use anyhow::Result;
use heeler_assembly::{ForkWanted, fork_session};
use heeler_core::{Clock as _, ForkOrigin, SessionId};
use heeler_engine::{OsEntropy, SystemClock};
use heeler_store::FileStore;

use super::find;
use crate::say::say;

/// Makes a fork, and says which session it is.
pub(super) async fn print(
    store: &FileStore,
    id: &str,
    wanted: ForkWanted<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let from = find(store, id).await?;
    let (id, origin) = fork(store, &from, wanted).await?;
    let told =
        format!("session {id} is forked from {origin}; `heeler --resume {id}` goes on with it");
    let printed = writeln!(out, "{told}").and_then(|()| out.flush());
    // Who has the id from nowhere else would not find it again.
    if printed.is_err() {
        say(format_args!("heeler: {told}"));
    }
    Ok(printed?)
}

/// A new session that begins with what another has.
pub(crate) async fn fork(
    store: &FileStore,
    from: &SessionId,
    wanted: ForkWanted<'_>,
) -> Result<(SessionId, ForkOrigin)> {
    let now = SystemClock.now();
    let id = SessionId::mint(now, &OsEntropy::default());
    let origin = fork_session(store, from, wanted, id.clone(), now).await?;
    Ok((id, origin))
}
