//! What is left of sessions that were not deleted and yet are gone: their journal was removed by hand, or
//! whoever made it died before it had a first line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_core::{SessionId, StoreError, Timestamp};

use super::checkpoint::{SLOTS, remove_file};
use super::index::Stamp;
use super::media_lock::lock;
use super::owned::OwnedFile;
use super::place::{Place, remove_folder};

/// Removes what is older than `than`, `removed_max` of them at most; gives how many. What is younger may
/// be of a session that is just being made. What cannot be removed now is tried again by the next
/// clean-up.
pub(super) fn remove(
    place: &Arc<Place>,
    than: Timestamp,
    removed_max: usize,
) -> Result<usize, StoreError> {
    let mut removed = 0;
    for id in place.sessions_with_journals()? {
        if removed >= removed_max {
            break;
        }
        let path = place.journal(&id);
        let is_empty = path.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() == 0);
        if is_empty && is_older(&path, than) {
            let owned = OwnedFile::open(place, &id);
            removed += usize::from(owned.is_ok_and(|owned| owned.remove_empty(&path)));
        }
    }
    for (id, path) in files(place)? {
        if removed >= removed_max {
            break;
        }
        let is_left = place.is_gone(&id) && is_older(&path, than);
        removed += usize::from(is_left && remove_file(&path).is_ok());
    }
    for id in place.sessions_with_spills()? {
        if removed >= removed_max {
            break;
        }
        let folder = place.spill_folder(&id);
        if is_older(&folder, than) {
            // Whoever forks copies before its journal is named.
            let _lock = lock(place)?;
            removed += usize::from(place.is_gone(&id) && remove_folder(&folder).is_ok());
        }
    }
    Ok(removed)
}

/// The single files beside journals, whose session is which.
fn files(place: &Place) -> Result<Vec<(SessionId, PathBuf)>, StoreError> {
    let mut files = Vec::new();
    for slot in 0..SLOTS {
        let ids = place.sessions_with_checkpoints(slot)?.into_iter();
        files.extend(ids.map(|id| (id.clone(), place.checkpoint(&id, slot))));
    }
    let doors = place.sessions_with_doors()?.into_iter();
    files.extend(doors.map(|id| (id.clone(), place.door(&id))));
    Ok(files)
}

pub(super) fn is_older(path: &Path, than: Timestamp) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| Stamp::of(&metadata).time() < than)
}
