//! A journal's file while its lock is held.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use heeler_core::{SessionHeader, SessionId, StoreError};

use super::place::{Place, remove_folder};
use super::{checkpoint, errors, media_lock};
use crate::journal::{HEADER_BYTES_MAX, Medium, encode_header};

/// How often a file that is removed and made again between opening and locking is tried.
const OPEN_ATTEMPTS_MAX: u32 = 8;

/// A locked file. The lock ends with this value, or with the process.
pub(super) struct OwnedFile {
    file: File,
    path: PathBuf,
    place: Arc<Place>,
    name: Mutex<Name>,
}

/// Whether the journal's name in its folder survives the loss of power.
enum Name {
    Unsynced,
    /// A thread sees to it, from the first write on: the first command waits for its sync, and most
    /// of that is the folders', while nobody waits before the model has answered.
    Syncing(JoinHandle<Result<(), Unsaved>>),
    Synced,
}

/// What the thread could not make survive.
enum Unsaved {
    Bytes(io::Error),
    Names,
}

impl OwnedFile {
    /// Opens and locks the journal of a session that exists.
    pub(super) fn open(place: &Arc<Place>, id: &SessionId) -> Result<Self, StoreError> {
        lock(place, id, OpenOptions::new().read(true).write(true))?.ok_or_else(|| errors::busy(id))
    }

    /// Makes the journal of a new session.
    pub(super) fn create(place: &Arc<Place>, header: &SessionHeader) -> Result<(), StoreError> {
        let id = &header.id;
        let path = place.journal(id);
        let (line, _) = encode_header(header).ok_or_else(|| errors::header_too_long(id))?;
        let options = &mut OpenOptions::new();
        let owned = lock(place, id, options.read(true).write(true).create(true).truncate(false))?
            .ok_or_else(|| errors::exists(id, &path))?;
        let is_made = owned.is_made().map_err(|error| errors::refused("read", &path, error))?;
        if is_made {
            return Err(errors::exists(id, &path));
        }
        // What a maker that died left has no whole header and never was a session.
        let made = owned.file.set_len(0).and_then(|()| owned.file.write_all_at(&line, 0));
        made.map_err(|error| {
            // An empty file that cannot be removed is no session either.
            let _ = owned.file.set_len(0);
            let _ = fs::remove_file(&path);
            errors::refused("make", &path, error)
        })
    }

    /// Removes the journal and all that belongs to it. The journal goes last, so that a delete that
    /// is cut short can be done again.
    pub(super) fn delete(self, place: &Place, id: &SessionId) -> Result<(), StoreError> {
        // Held until the journal is gone, or media could be put for a session that is no more, and half of
        // what it has be forked.
        let _media_lock = match media_lock::lock(place) {
            // Who deletes may do so for want of room, and nobody else can make it then.
            Err(_) if !place.media_lock().exists() => None,
            lock => Some(lock?),
        };
        for folder in [place.spill_folder(id), place.media_folder(id)] {
            remove_folder(&folder).map_err(|error| errors::refused("remove", &folder, error))?;
        }
        let door = place.door(id);
        checkpoint::remove_file(&door).map_err(|error| errors::refused("remove", &door, error))?;
        let path = place.journal(id);
        checkpoint::remove(place, id)
            .map_err(|error| errors::refused("remove the checkpoints of", &path, error))?;
        fs::remove_file(&path).map_err(|error| errors::refused("remove", &path, error))
    }

    /// Removes the journal if nothing was ever written to it; whether it did.
    pub(super) fn remove_empty(self, path: &Path) -> bool {
        let is_empty = matches!(Medium::length(&self.file), Ok(Some(0)));
        is_empty && fs::remove_file(path).is_ok()
    }

    /// Whether the file has a whole first line, or is more than one that was cut short.
    fn is_made(&self) -> io::Result<bool> {
        let mut head = [0; HEADER_BYTES_MAX];
        let mut n = 0;
        loop {
            match FileExt::read_at(&self.file, &mut head[n..], n as u64)? {
                0 => return Ok(n == head.len() || head[..n].contains(&b'\n')),
                more => n += more,
            }
        }
    }
}

impl OwnedFile {
    fn name(&self) -> MutexGuard<'_, Name> {
        // Only ever replaced whole.
        self.name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a file and its name survive the loss of power. The file first: journalling file systems write
/// its name with it, and the folders have nothing left to wait for.
fn sync_name(file: &File, place: &Place) -> io::Result<()> {
    file.sync_data()?;
    place.sync_names()
}

impl Drop for OwnedFile {
    fn drop(&mut self) {
        // Closing would do, if no child that is just being started had a copy of the descriptor.
        let _ = self.file.unlock();
    }
}

impl Medium for OwnedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Medium::read_at(&self.file, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        Medium::write_at(&self.file, bytes, offset)?;
        let mut name = self.name();
        if let Name::Unsynced = *name
            && let Ok(file) = self.file.try_clone()
        {
            let place = Arc::clone(&self.place);
            let sync = move || {
                file.sync_data().map_err(Unsaved::Bytes)?;
                place.sync_names().map_err(|_| Unsaved::Names)
            };
            // Without a thread the first sync does it.
            let thread = thread::Builder::new().name("journal-name".into()).spawn(sync);
            *name = thread.map_or(Name::Unsynced, Name::Syncing);
        }
        Ok(())
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }

    fn sync(&self) -> io::Result<()> {
        let mut name = self.name();
        match std::mem::replace(&mut *name, Name::Unsynced) {
            Name::Synced => self.file.sync()?,
            Name::Syncing(thread) => {
                self.file.sync()?;
                match thread.join() {
                    Ok(Ok(())) => {}
                    // The kernel tells of a page it could not write once; the sync after that is
                    // told that all is well.
                    Ok(Err(Unsaved::Bytes(error))) => return Err(error),
                    // Folders can be tried again, and what went wrong is told if it still does.
                    Ok(Err(Unsaved::Names)) | Err(_) => self.place.sync_names()?,
                }
            }
            Name::Unsynced => sync_name(&self.file, &self.place)?,
        }
        *name = Name::Synced;
        Ok(())
    }

    fn length(&self) -> io::Result<Option<u64>> {
        self.file.length()
    }

    fn is_replaced(&self) -> io::Result<bool> {
        Ok(names(&self.path, &self.file)? == Some(false))
    }
}

impl Medium for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn length(&self) -> io::Result<Option<u64>> {
        let metadata = self.metadata()?;
        Ok((metadata.nlink() > 0).then_some(metadata.len()))
    }
}

/// Opens and locks a journal at once or not at all; `None` when somebody else has it.
fn lock(
    place: &Arc<Place>,
    id: &SessionId,
    options: &mut OpenOptions,
) -> Result<Option<OwnedFile>, StoreError> {
    let path = place.journal(id);
    for _ in 0..OPEN_ATTEMPTS_MAX {
        let file = place.open_journal(id, options)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(errors::refused("lock", &path, error)),
        }
        let name = Mutex::new(Name::Unsynced);
        let owned = OwnedFile { file, path: path.clone(), place: Arc::clone(place), name };
        // Its owner may have removed it between opening and locking.
        let named = names(&path, &owned.file);
        if named.map_err(|error| errors::refused("lock", &path, error))? == Some(true) {
            return Ok(Some(owned));
        }
    }
    Err(errors::busy(id))
}

/// Whether `path` names this file; `None` when it names nothing.
fn names(path: &Path, file: &File) -> io::Result<Option<bool>> {
    match fs::metadata(path) {
        Ok(named) => {
            let opened = file.metadata()?;
            Ok(Some((named.dev(), named.ino()) == (opened.dev(), opened.ino())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::Timestamp;

    use super::*;

    /// What the first sync says when this is what the thread beside it came to.
    fn first_sync(beside: Result<(), Unsaved>) -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let place = Arc::new(Place::open(folder.path().to_owned()).map_err(io::Error::other)?);
        let id: SessionId = "one".parse().map_err(io::Error::other)?;
        let header = SessionHeader { id: id.clone(), created: Timestamp(1), workspace: "/".into() };
        OwnedFile::create(&place, &header).map_err(io::Error::other)?;
        let owned = OwnedFile::open(&place, &id).map_err(io::Error::other)?;
        *owned.name() = Name::Syncing(thread::spawn(|| beside));
        Medium::sync(&owned)
    }

    #[test]
    fn what_could_not_be_saved_beside_the_session_is_told_at_the_first_sync() {
        let lost = || io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(
            first_sync(Err(Unsaved::Bytes(lost()))).map_err(|error| error.kind()),
            Err(io::ErrorKind::StorageFull)
        );
        // Folders are tried again, and these can be.
        first_sync(Err(Unsaved::Names)).unwrap();
        first_sync(Ok(())).unwrap();
    }
}
