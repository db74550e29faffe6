//! What is done to stored sessions while nobody has them open: a name, and a fork.

use std::path::Path;
use std::sync::Arc;

use heeler_core::{
    Block, Durability, Entry, ForkOrigin, Input, MediaStore, Record, SessionHeader, SessionId,
    SessionName, SessionStore, Spill, StoreError, Timestamp,
};
use heeler_store::FileStore;
use heeler_turn::checkpoint;
use heeler_turn::fork::{self, ForkError};

/// Why nothing was done; the message names the session and the next step.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing to fork there.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// Records are missing, so nobody knows what a fork would begin with.
    #[error("session {0} is damaged, so it is not forked; `heeler audit {0}` says where")]
    Damaged(SessionId),
}

/// Names a session that nobody has open, or takes its name away.
///
/// # Errors
/// When somebody has it open, or it cannot be written.
pub async fn rename_session(
    store: &FileStore,
    id: &SessionId,
    name: Option<SessionName>,
    now: Timestamp,
) -> Result<(), StoredError> {
    let resumed = store.resume(id.clone(), Some(checkpoint::FORMAT)).await?;
    let known = resumed.latest.checkpoint.map_or(0, |checkpoint| checkpoint.seq);
    let journal = &resumed.latest.journal;
    let last = journal.entries.last().map_or(known, |entry| entry.seq).max(journal.lost_up_to());
    let record = Record::Named { name };
    let entry = Entry { seq: last.saturating_add(1), at: now, record };
    store.append(Arc::new(resumed.lease), Arc::from([entry]), Durability::Synced).await?;
    Ok(())
}

/// What a fork is to be.
#[derive(Debug, Clone, Copy, Default)]
pub struct ForkWanted<'a> {
    /// It takes what comes before this one of the person's inputs, from 1; `None` for all of it.
    pub at: Option<u32>,
    /// It works in this folder; `None` for the source's own.
    pub workspace: Option<&'a Path>,
}

/// Makes the session `id` of what `from` has. The source is only read, whoever has it open.
///
/// # Errors
/// When there is no such input, the source is damaged, or the fork cannot be written.
pub async fn fork_session(
    store: &FileStore,
    from: &SessionId,
    wanted: ForkWanted<'_>,
    id: SessionId,
    now: Timestamp,
) -> Result<ForkOrigin, StoredError> {
    let journal = store.read(from.clone()).await?;
    if !journal.damage.is_empty() {
        return Err(StoredError::Damaged(from.clone()));
    }
    let mut entries = journal.entries;
    let made = fork::fork(&entries, from, wanted.at, now)?;
    entries.truncate(made.taken);
    let spills = (Spill::folder(store, from), Spill::folder(store, &id));
    // A store that keeps no media in a folder has none to move.
    let media = MediaStore::folder(store, from).zip(MediaStore::folder(store, &id));
    for entry in &mut entries {
        for (old, new) in [Some(&spills), media.as_ref()].into_iter().flatten() {
            move_files(&mut entry.record, old, new);
        }
    }
    entries.extend(made.closing);
    let workspace = match wanted.workspace {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => journal.header.workspace,
    };
    let header = SessionHeader { id, created: now, workspace };
    store.fork(from, &header, &entries)?;
    Ok(made.origin)
}

/// Results say where the files are that belong to them; those of a fork are the fork's own. What the
/// model itself said stays as it was signed.
fn move_files(record: &mut Record, old: &Path, new: &Path) {
    let (Some(from), Some(to)) = (old.to_str(), new.to_str()) else { return };
    match record {
        Record::CallFinished { output, .. } => {
            move_text(&mut output.content, from, to);
            if output.for_user.contains(from) {
                output.for_user = output.for_user.replace(from, to);
            }
            let items = output.media_items.iter_mut().filter_map(|item| item.path.as_mut());
            for path in items.chain(output.spill.as_mut()) {
                if let Ok(rest) = path.strip_prefix(old) {
                    *path = new.join(rest);
                }
            }
        }
        // Among them what work in the background came to.
        Record::SteeringQueued(queued) => {
            let Input { blocks, .. } = &mut queued.input;
            move_text(blocks, from, to);
        }
        Record::Compacted(compacted) if compacted.summary.contains(from) => {
            compacted.summary = compacted.summary.replace(from, to);
        }
        _ => {}
    }
}

fn move_text(blocks: &mut [Block], from: &str, to: &str) {
    for block in blocks {
        if let Block::Text(text) = block
            && text.text.contains(from)
        {
            let text = Arc::make_mut(text);
            text.text = text.text.replace(from, to);
        }
    }
}
