//! Checkpoints beside the journal, in two files that are written by turns.
//!
//! While one is overwritten the other stays as it is, so a death at any moment leaves a whole one,
//! and there is no temporary file to leave behind. They can be made again from the journal, so they
//! are never synced, and one with which anything is amiss is passed over.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::path::Path;

use heeler_core::{Checkpoint, CheckpointDraft, SessionId};

use super::place::{Place, open_file};
use crate::journal::{
    CHECKPOINT_LINE_BYTES_MAX, End, Medium, decode_checkpoint, encode_checkpoint,
    seq_of_checkpoint, stands,
};

/// The longest file of a checkpoint. A longer state is not kept, and its session folds its journal.
pub const CHECKPOINT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many files there are.
pub(super) const SLOTS: usize = 2;

/// How much is written at once.
const WRITE_BUFFER_BYTES: usize = 64 * 1024;

/// A checkpoint that fits the journal.
pub(super) struct Found {
    pub(super) checkpoint: Checkpoint,
    pub(super) end: End,
    pub(super) slot: usize,
}

/// The newest checkpoint in `format` that fits the journal.
pub(super) fn find(
    place: &Place,
    id: &SessionId,
    journal: &impl Medium,
    format: Option<&str>,
) -> Option<Found> {
    let format = format?;
    let seq = |slot: usize| {
        let beginning = read_beginning(&place.checkpoint(id, slot)).ok()?;
        Some((seq_of_checkpoint(&beginning), slot))
    };
    let mut slots: Vec<_> = (0..SLOTS).filter_map(seq).collect();
    heeler_core::sort(&mut slots);
    slots.into_iter().rev().find_map(|(_, slot)| {
        let path = place.checkpoint(id, slot);
        let (end, state) = open(&path, journal, format)
            .inspect_err(|why| {
                tracing::info!(path = %path.display(), why, "a checkpoint is passed over");
            })
            .ok()?;
        Some(Found { checkpoint: Checkpoint { seq: end.seq, state }, end, slot })
    })
}

/// Where a checkpoint belongs and its state, or what is amiss.
fn open(path: &Path, journal: &impl Medium, format: &str) -> Result<(End, Vec<u8>), String> {
    let bytes = read_file(path, CHECKPOINT_BYTES_MAX).map_err(|error| error.to_string())?;
    let (end, state) = decode_checkpoint(bytes, format)?;
    match stands(journal, &end) {
        Ok(true) => Ok((end, state)),
        Ok(false) => Err("the journal is not the one it was made of".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes the file of a checkpoint; what cannot be written whole is removed.
pub(super) fn keep(path: &Path, end: &End, draft: CheckpointDraft) -> io::Result<()> {
    // A new file is never somebody's link.
    remove_file(path)?;
    let file = open_file(path, OpenOptions::new().write(true).create_new(true))?;
    let out = BufWriter::with_capacity(WRITE_BUFFER_BYTES, file);
    encode_checkpoint(out, CHECKPOINT_BYTES_MAX, draft.format, end, draft.encode).inspect_err(
        |_| {
            let _ = fs::remove_file(path);
        },
    )
}

/// Removes all checkpoints of a session.
pub(super) fn remove(place: &Place, id: &SessionId) -> io::Result<()> {
    (0..SLOTS).try_for_each(|slot| remove_file(&place.checkpoint(id, slot)))
}

fn read_beginning(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_file(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::with_capacity(CHECKPOINT_LINE_BYTES_MAX);
    file.take(CHECKPOINT_LINE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_file(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let file = open_file(path, OpenOptions::new().read(true))?;
    let length = file.metadata()?.len();
    if length > bytes_max as u64 {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(bytes_max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"1234").unwrap();
        assert_eq!(read_file(&path, 4).unwrap(), b"1234");
        assert_eq!(read_file(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
