//! The daily clean-up of media, on a thread beside the run: no request waits for it.

use std::thread::{Builder, JoinHandle};

use heeler_core::{StoreError, Timestamp};
use heeler_store::FileStore;

use crate::say::say;

/// A clean-up that may be due.
pub(crate) struct Cleaning(Option<JoinHandle<Result<Option<usize>, StoreError>>>);

impl Cleaning {
    /// Begins it if it is due. Without a thread the next run does it.
    pub(crate) fn begin(store: FileStore, now: Timestamp) -> Self {
        if !store.is_media_due(now) {
            return Self(None);
        }
        let clean = move || store.clean_media(now);
        Self(Builder::new().name("clean".into()).spawn(clean).ok())
    }

    /// Waits for its end, which has long come unless a thousand items were to go.
    pub(crate) fn finish(self) {
        if let Some(Ok(Err(error))) = self.0.map(JoinHandle::join) {
            say(format_args!("heeler: old media was not removed: {error}"));
        }
    }
}
