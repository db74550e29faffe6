//! `heeler sessions delete`: removes sessions, and says which they were.

use std::io::Write;

use anyhow::{Result, bail};
use heeler::tools::zone_of_system;
use heeler_core::{SessionId, SessionStore};
use heeler_store::FileStore;

use super::list::line;
use crate::say::say;

/// Removes each session. Only whole ids name one here: the beginning of an id may be a slip, and
/// what is gone is gone. One that cannot be removed does not keep the others.
pub(super) async fn delete(store: &FileStore, ids: &[String], out: &mut dyn Write) -> Result<()> {
    let ids = ids.iter().map(|id| id.parse()).collect::<Result<Vec<SessionId>, _>>()?;
    let (mut n_kept, mut told) = (0, Ok(()));
    for id in &ids {
        let listed = store.list(id.to_string(), 0).await?;
        let what = listed.iter().find(|session| session.header.id == *id);
        match store.delete(id.clone()).await {
            Ok(()) => {
                // That nobody reads on does not keep the rest.
                let what =
                    what.map_or_else(|| id.to_string(), |session| line(session, &zone_of_system()));
                told = told.and(writeln!(out, "deleted {what}"));
            }
            Err(error) => {
                n_kept += 1;
                match (what, listed.len()) {
                    (None, 1..) => say(format_args!(
                        "heeler: {id} is only the beginning of an id; to delete, give the whole of it"
                    )),
                    _ => say(format_args!("heeler: {error}")),
                }
            }
        }
    }
    match n_kept {
        0 => Ok(told?),
        _ => bail!("{n_kept} of {} not deleted", ids.len()),
    }
}
