//! The daily clean-up of media: what is old goes, whether or not somebody needs the room.
//!
//! Once a day at most, whichever process comes first, and a part at a time, so that nobody waits for
//! long: the lock is held for one session's folder, and what one day leaves, the next takes.

use heeler_core::{StoreError, Timestamp};

use super::checkpoint::read_file;
use super::media::remove_of_session;
use super::media_lock::lock;
use super::place::overwrite;
use super::{FileStore, errors, fork, leavings};

/// How much time lies between two clean-ups.
pub const MEDIA_CLEANED_EVERY_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// How many items one of them removes, give or take those of its last session.
pub const MEDIA_CLEANED_MAX: usize = 1_000;
/// The longest file that says when the last one was.
const CLEANED_BYTES_MAX: usize = 32;

impl FileStore {
    /// Removes media that is older than [`MediaLimits::kept_millis`](heeler_core::MediaLimits), and
    /// that of sessions that are gone, with what else is left of those and is as old, unless this was
    /// done within a day. Gives the number of items; `None` when it was not due.
    ///
    /// # Errors
    /// When the files cannot be read or removed.
    pub fn clean_media(&self, now: Timestamp) -> Result<Option<usize>, StoreError> {
        if !self.is_media_due(now) {
            return Ok(None);
        }
        let place = &self.place;
        let than = Timestamp(now.0.saturating_sub(self.media_limits.kept_millis));
        let mut removed = 0;
        for session in place.sessions_with_media()? {
            if removed >= MEDIA_CLEANED_MAX {
                break;
            }
            let _lock = lock(place)?;
            removed += remove_of_session(place, &session, than)?;
        }
        removed += leavings::remove(place, than, MEDIA_CLEANED_MAX.saturating_sub(removed))?;
        let _lock = lock(place)?;
        fork::remove_unfinished(place)?;
        let path = place.media_cleaned();
        // What is left of a stamp that was cut off says nothing.
        overwrite(&path, now.0.to_string().as_bytes())
            .map_err(|error| errors::refused("write", &path, error))?;
        Ok(Some(removed))
    }

    /// Whether [`FileStore::clean_media`] has something to do: one small file is read.
    #[must_use]
    pub fn is_media_due(&self, now: Timestamp) -> bool {
        let last = read_file(&self.place.media_cleaned(), CLEANED_BYTES_MAX).ok();
        let last = last.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.trim().parse().ok());
        // What claims to have been done in the future was not.
        let is_done = |last: u64| last <= now.0 && now.0 - last < MEDIA_CLEANED_EVERY_MILLIS;
        !last.is_some_and(is_done)
    }
}
