//! Sessions as files: `ROOT/sessions/<id>.jsonl`, beside it `<id>.spill/` for long outputs.
//!
//! The operating system's lock on the journal itself is the lease: it ends with the process that
//! holds it, however that ends. Reading takes no lock.

mod errors;
mod list;
mod owned;
mod place;
mod spill;

use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use heeler_core::{
    Appended, BoxFuture, Durability, Entry, Journal, Lease, SessionHeader, SessionId, SessionStore,
    SessionSummary, StoreError, StoreErrorKind,
};

use crate::journal::{READ_BUFFER_BYTES, Writer, read};
use crate::on_first_poll;
use owned::OwnedFile;
use place::Place;

pub use spill::SPILL_BYTES_MAX;

/// Keeps each session in a file of its own.
///
/// A future of this store does its work when it is first polled and holds the thread while the
/// disk is busy: microseconds for an append that need only be written, the disk's time for one
/// that must be synced, and for a read about 3 ms a megabyte. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct FileStore {
    place: Arc<Place>,
}

impl FileStore {
    /// Opens the store in the folder `root`, which is made when it is missing, for its owner only.
    ///
    /// # Errors
    /// When the folder cannot be made; the message says what to set instead.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Ok(Self { place: Arc::new(Place::open(root.into())?) })
    }

    /// The journal's file of a session, whether there is one or not.
    #[must_use]
    pub fn journal_path(&self, id: &SessionId) -> PathBuf {
        self.place.journal(id)
    }
}

impl SessionStore for FileStore {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || OwnedFile::create(&place, &header))
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || lease(place, id))
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || read_journal(&place, &id))
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        on_first_poll(move || match (*lease.guard).downcast_ref::<Guard>() {
            Some(guard) if guard.id == lease.id => guard.append(&entries, durability),
            _ => Err(errors::foreign_lease(&lease.id)),
        })
    }

    fn list(
        &self,
        prefix: String,
        limit: usize,
    ) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || list::list(&place, &prefix, limit))
    }

    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || OwnedFile::open(&place, &id)?.delete(&place, &id))
    }
}

/// What a lease of this store holds: the locked journal, ready for appends.
struct Guard {
    id: SessionId,
    place: Arc<Place>,
    writer: Mutex<Writer<OwnedFile>>,
    /// Whether the journal's name in its folder survives the loss of power.
    is_name_synced: AtomicBool,
}

impl Guard {
    fn append(&self, entries: &[Entry], durability: Durability) -> Result<Appended, StoreError> {
        // A panic while the lock was held left the writer at its last good end.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if durability == Durability::Synced && !self.is_name_synced.load(Ordering::Relaxed) {
            self.place.sync_names()?;
            self.is_name_synced.store(true, Ordering::Relaxed);
        }
        writer.append(entries, durability).map_err(|error| {
            let path = self.place.journal(&self.id);
            errors::append(&self.id, &path, error)
        })
    }
}

fn lease(place: Arc<Place>, id: SessionId) -> Result<Lease, StoreError> {
    let path = place.journal(&id);
    let file = OwnedFile::open(&place, &id)?;
    let (writer, scanned) = Writer::open(file).map_err(|error| errors::open(&id, &path, error))?;
    check_name(&id, &path, &scanned.header)?;
    let guard = Guard {
        id: id.clone(),
        place,
        writer: Mutex::new(writer),
        is_name_synced: AtomicBool::new(false),
    };
    Ok(Lease { id, guard: Box::new(guard) })
}

fn read_journal(place: &Place, id: &SessionId) -> Result<Journal, StoreError> {
    let path = place.journal(id);
    let file = place.open_to_read(id)?;
    let journal = read(BufReader::with_capacity(READ_BUFFER_BYTES, file))
        .map_err(|error| errors::scan(id, &path, error))?;
    check_name(id, &path, &journal.header)?;
    Ok(journal)
}

/// A journal under another session's name would be continued under a wrong identity.
fn check_name(
    id: &SessionId,
    path: &std::path::Path,
    header: &SessionHeader,
) -> Result<(), StoreError> {
    if header.id == *id {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Damaged,
        format!("`{}` holds session {}; give the file that name again", path.display(), header.id),
    ))
}
