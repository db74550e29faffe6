//! The daily clean-up of media, on a thread beside the run: no request waits for it.

use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;

use heeler_core::{StoreError, Timestamp};
use heeler_store::FileStore;

use super::END_PATIENCE;
use crate::say::say;

/// A clean-up that may be due.
pub(crate) struct Cleaning(Option<Receiver<Result<Option<usize>, StoreError>>>);

impl Cleaning {
    /// Begins it if it is due. Without a thread the next run does it.
    pub(crate) fn begin(store: FileStore, now: Timestamp) -> Self {
        if !store.is_media_due(now) {
            return Self(None);
        }
        let (told, hears) = channel();
        let clean = move || {
            // Who has left does not ask.
            let _ = told.send(store.clean_media(now));
        };
        Self(Builder::new().name("clean".into()).spawn(clean).ok().map(|_| hears))
    }

    /// Waits for its end, which has long come unless a thousand items were to go, or the disk is stuck.
    pub(crate) fn finish(self) {
        if let Some(Ok(Err(error))) = self.0.map(|hears| hears.recv_timeout(END_PATIENCE)) {
            say(format_args!("heeler: old media was not removed: {error}"));
        }
    }
}
