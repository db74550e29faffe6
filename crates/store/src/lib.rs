//! Session stores: the file journal, memory, and a store that fails on command.
//!
//! [`FileStore`] is the default: one append-only file a session. [`MemoryStore`] makes the same
//! promises for tests and the library. [`FailingStore`] wraps either and refuses appends when told
//! to. Media are kept by [`FileStore`] too, beside their session, and by [`MemoryMedia`]. Read in this
//! order: `journal` (bytes; docs/design/001-journal-format.md), `file` (folders, locks, the promise).
//!
//! Invariant: a store knows nothing of what records mean, but for the title of a list.

mod failing;
mod file;
mod journal;
mod media;
mod memory;

pub use failing::FailingStore;
pub use file::{
    CHECKPOINT_BYTES_MAX, FileStore, Follow, MEDIA_CLEANED_EVERY_MILLIS, MEDIA_CLEANED_MAX,
    SPILL_BYTES_MAX, read_journal,
};
pub use journal::{DAMAGE_MAX, HEADER_BYTES_MAX, LINE_BYTES_MAX, RECORD_DEPTH_MAX};
pub use media::MemoryMedia;
pub use memory::MemoryStore;

use heeler_core::BoxFuture;

/// A future that does its work when it is first polled, in one go: dropping it before does
/// nothing, and after there is nothing left to drop.
fn on_first_poll<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> BoxFuture<T> {
    Box::pin(async move { work() })
}
