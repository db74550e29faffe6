//! Sessions as files: `ROOT/sessions/<id>.jsonl`, beside it `<id>.spill/` for long outputs,
//! `<id>.media/` for media and `<id>.checkpoint-0` and `-1`, which can be made again, as can
//! `ROOT/sessions.index`. `<id>.door` is a socket on which the owner may listen to others.
//!
//! The operating system's lock on the journal itself is the lease: it ends with the process that
//! holds it, however that ends. Reading takes no lock.

mod checkpoint;
mod clean;
mod ending;
mod errors;
mod follow;
mod fork;
mod index;
mod leavings;
mod lines;
mod list;
mod media;
mod media_lock;
mod owned;
mod place;
mod spill;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use heeler_core::{
    Appended, BoxFuture, CheckpointDraft, Durability, Entry, Journal, Latest, Lease, MediaLimits,
    Resumed, SessionHeader, SessionId, SessionStore, SessionSummary, StoreError, StoreErrorKind,
};

use crate::journal::{AppendError, Collected, End, Writer, latest};
use crate::on_first_poll;
use owned::OwnedFile;
use place::Place;

pub use checkpoint::CHECKPOINT_BYTES_MAX;
pub use clean::{MEDIA_CLEANED_EVERY_MILLIS, MEDIA_CLEANED_MAX};
pub use follow::Follow;
pub use spill::SPILL_BYTES_MAX;

/// Keeps each session in a file of its own.
///
/// A future of this store does its work when it is first polled and holds the thread while the
/// disk is busy: microseconds for an append that need only be written, the disk's time for one
/// that must be synced, and for a read about 3 ms a megabyte. Cloning is cheap.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use heeler_core::SessionStore;
/// use heeler_store::FileStore;
///
/// let store = FileStore::open(folder.path().join("sessions"))?;
/// for session in store.list(String::new(), 20).await? {
///     println!("{} {}", session.header.id, session.title);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    place: Arc<Place>,
    media_limits: MediaLimits,
}

impl FileStore {
    /// Opens the store in the folder `root`, which is made when it is missing, for its owner only.
    ///
    /// # Errors
    /// When the folder cannot be made; the message says what to set instead.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Ok(Self {
            place: Arc::new(Place::open(root.into())?),
            media_limits: MediaLimits::default(),
        })
    }

    /// With limits of its own for media.
    #[must_use]
    pub fn with_media_limits(self, media_limits: MediaLimits) -> Self {
        Self { media_limits, ..self }
    }

    /// The journal's file of a session, whether there is one or not.
    #[must_use]
    pub fn journal_path(&self, id: &SessionId) -> PathBuf {
        self.place.journal(id)
    }

    /// Where the owner of a session may listen to other processes, whether it does or not: beside the
    /// journal, in a folder that is its owner's alone. Goes with the session.
    #[must_use]
    pub fn door_path(&self, id: &SessionId) -> PathBuf {
        self.place.door(id)
    }

    /// The sessions that have a [door](Self::door_path), in order of their ids. Whether anybody is
    /// behind it is another question: one that died leaves its own.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn sessions_with_doors(&self) -> Result<Vec<SessionId>, StoreError> {
        self.place.sessions_with_doors()
    }
}

/// Reads a journal from a file of any name, such as what `heeler sessions export` printed.
///
/// # Errors
/// When it cannot be read or is no journal. What of it cannot be read is told in its damage.
pub fn read_journal(path: impl AsRef<Path>) -> Result<Journal, StoreError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| errors::refused("open", path, error))?;
    latest(&file, None).map_err(|error| errors::export(path, error))
}

impl SessionStore for FileStore {
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || OwnedFile::create(&place, &header))
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || Ok(resume(place, id, None, Wanted::Lease)?.lease))
    }

    fn resume(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Resumed, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || resume(place, id, format, Wanted::Records))
    }

    fn latest(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Latest, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || read_latest(&place, &id, format))
    }

    fn keep_checkpoint(
        &self,
        lease: Arc<Lease>,
        draft: CheckpointDraft,
    ) -> BoxFuture<Result<(), StoreError>> {
        // What is appended before it is first polled is not in the draft.
        let end = Guard::of(&lease).map(Guard::end);
        on_first_poll(move || Guard::of(&lease)?.keep_checkpoint(&end?, draft))
    }

    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || Ok(read_latest(&place, &id, None)?.journal))
    }

    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        on_first_poll(move || Guard::of(&lease)?.append(&entries, durability))
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
        on_first_poll(move || {
            OwnedFile::open(&place, &id)?.delete(&place, &id)?;
            index::forget(&place, &id);
            Ok(())
        })
    }
}

/// What a lease of this store holds: the locked journal, ready for appends.
struct Guard {
    id: SessionId,
    place: Arc<Place>,
    writer: Mutex<Writer<OwnedFile>>,
    /// Where the next checkpoint goes. None for a journal with damage: that is told whenever it is
    /// opened, so it is walked whole each time.
    slot: Option<AtomicUsize>,
    /// Whether the system refused something that was to be written.
    was_refused: AtomicBool,
}

/// A session whose first records could not be written was never begun: nobody knows of it, and all
/// there is of it is a line in the list.
impl Drop for Guard {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if *self.was_refused.get_mut() && writer.end().is_before_records() {
            // What cannot be removed stays, as it would have.
            let _ = std::fs::remove_file(self.place.journal(&self.id));
        }
    }
}

impl Guard {
    /// That of a lease; an error for a lease of another store.
    fn of(lease: &Lease) -> Result<&Self, StoreError> {
        let guard = (*lease.guard).downcast_ref::<Self>().filter(|guard| guard.id == lease.id);
        guard.ok_or_else(|| errors::foreign_lease(&lease.id))
    }

    fn end(&self) -> End {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).end()
    }

    /// Keeps a checkpoint at `end`.
    fn keep_checkpoint(&self, end: &End, draft: CheckpointDraft) -> Result<(), StoreError> {
        let Some(next) = &self.slot else { return Ok(()) };
        if end.seq != draft.seq {
            return Err(errors::checkpoint_elsewhere(&self.id, draft.seq, end.seq));
        }
        let slot = next.load(Ordering::Relaxed);
        let path = self.place.checkpoint(&self.id, slot);
        checkpoint::keep(&path, end, draft)
            .map_err(|error| errors::refused("write", &path, error))?;
        next.store((slot + 1) % checkpoint::SLOTS, Ordering::Relaxed);
        Ok(())
    }

    fn append(&self, entries: &[Entry], durability: Durability) -> Result<Appended, StoreError> {
        // A panic while the lock was held left the writer at its last good end.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.append(entries, durability).map_err(|error| {
            if matches!(error, AppendError::Io(_)) {
                self.was_refused.store(true, Ordering::Relaxed);
            }
            let path = self.place.journal(&self.id);
            errors::append(&self.id, &path, error)
        })
    }
}

/// What somebody who takes a lease wants to know.
#[derive(PartialEq)]
enum Wanted {
    /// Only that the journal is sound.
    Lease,
    /// What to fold.
    Records,
}

fn resume(
    place: Arc<Place>,
    id: SessionId,
    format: Option<&str>,
    wanted: Wanted,
) -> Result<Resumed, StoreError> {
    let path = place.journal(&id);
    let file = OwnedFile::open(&place, &id)?;
    let found = checkpoint::find(&place, &id, &file, format);
    let known = found.as_ref().map(|found| found.end);
    let mut entries = Collected::default();
    let opened = Writer::open(file, known, |line| match wanted {
        Wanted::Lease => Ok(()),
        Wanted::Records => entries.take(line),
    });
    let (writer, scanned) = opened.map_err(|error| errors::open(&id, &path, error))?;
    check_name(&id, &path, &scanned.header)?;
    let next = found.as_ref().map_or(0, |found| (found.slot + 1) % checkpoint::SLOTS);
    let guard = Guard {
        id: id.clone(),
        place,
        writer: Mutex::new(writer),
        slot: (wanted == Wanted::Records && scanned.damage.is_empty())
            .then(|| AtomicUsize::new(next)),
        was_refused: AtomicBool::new(false),
    };
    let latest = Latest {
        checkpoint: found.map(|found| found.checkpoint),
        journal: entries.into_journal(scanned),
    };
    Ok(Resumed { lease: Lease { id, guard: Box::new(guard) }, latest })
}

fn read_latest(place: &Place, id: &SessionId, format: Option<&str>) -> Result<Latest, StoreError> {
    let path = place.journal(id);
    let file = place.open_to_read(id)?;
    let found = checkpoint::find(place, id, &file, format);
    let journal = latest(&file, found.as_ref().map(|found| found.end))
        .map_err(|error| errors::scan(id, &path, error))?;
    check_name(id, &path, &journal.header)?;
    Ok(Latest { checkpoint: found.map(|found| found.checkpoint), journal })
}

/// A journal under another session's name would be continued under a wrong identity.
fn check_name(id: &SessionId, path: &Path, header: &SessionHeader) -> Result<(), StoreError> {
    if header.id == *id {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Damaged,
        format!("`{}` holds session {}; give the file that name again", path.display(), header.id),
    ))
}
