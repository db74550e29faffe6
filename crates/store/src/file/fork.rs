//! A session that begins with what another one has: its journal is made beside it and named last, so
//! that it is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use heeler_core::{Entry, SessionHeader, SessionId, StoreError};

use super::checkpoint::remove_file;
use super::place::{Place, make_folder, open_file, remove_folder, sync_folder};
use super::{FileStore, errors, media_lock};
use crate::journal::{AppendError, encode_entry, encode_header};

impl FileStore {
    /// Makes a session of these entries, numbered from 1, with copies of the media and the long outputs
    /// that the session `from` has. Nothing of `from` changes, and it can be deleted.
    ///
    /// # Errors
    /// `Exists` when the id is taken, `NotFound` when `from` was deleted meanwhile; else when the files cannot be written.
    pub fn fork(
        &self,
        from: &SessionId,
        header: &SessionHeader,
        entries: &[Entry],
    ) -> Result<(), StoreError> {
        let place = &*self.place;
        let (id, path) = (&header.id, place.journal(&header.id));
        // Nobody cleans up while a journal has no name yet.
        let _lock = media_lock::lock(place)?;
        if path.exists() {
            return Err(errors::exists(id, &path));
        }
        let new = place.new_journal(id);
        // First of all, since the clean-up knows by its name what a fork left that died.
        let made = begin(&new)
            .and_then(|file| {
                copy_beside(place, from, id)?;
                // Deleted since its journal was read, it has nothing left that could be copied whole.
                if place.is_gone(from) {
                    return Err(errors::not_found(from, &place.journal(from)));
                }
                write_whole(&new, &file, header, entries)
            })
            .and_then(|()| {
                fs::rename(&new, &path).map_err(|error| errors::refused("make", &path, error))
            });
        if made.is_err() {
            remove(place, id);
            return made;
        }
        place.sync_names().map_err(|error| errors::refused("sync", place.sessions(), error))
    }
}

/// Removes what forks left whose process died. Only under the lock of all media.
pub(super) fn remove_unfinished(place: &Place) -> Result<(), StoreError> {
    for id in place.sessions_without_name()? {
        if place.is_gone(&id) {
            remove(place, &id);
        }
    }
    Ok(())
}

/// What cannot be removed now is tried again by the next clean-up.
fn remove(place: &Place, id: &SessionId) {
    let _ = remove_folder(&place.spill_folder(id));
    let _ = remove_folder(&place.media_folder(id));
    let _ = remove_file(&place.new_journal(id));
}

/// Copies all that one session keeps beside its journal.
fn copy_beside(place: &Place, from: &SessionId, to: &SessionId) -> Result<(), StoreError> {
    for (from, to) in [
        (place.spill_folder(from), place.spill_folder(to)),
        (place.media_folder(from), place.media_folder(to)),
    ] {
        copy_folder(&from, &to).map_err(|error| errors::refused("copy to", &to, error))?;
    }
    Ok(())
}

/// Copies the files of a folder, if it is there, so that they survive the loss of power. They are never
/// changed in place, so one file with two names does where the file system has that.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    make_folder(to)?;
    for entry in entries {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_file() && fs::hard_link(entry.path(), &to).is_err() {
            copy_file(&entry.path(), &to)?;
        }
    }
    sync_folder(to)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.sync_data()
}

/// Makes a journal that has no name yet.
fn begin(path: &Path) -> Result<File, StoreError> {
    remove_file(path)
        .and_then(|()| open_file(path, OpenOptions::new().write(true).create_new(true)))
        .map_err(|error| errors::refused("write", path, error))
}

fn write_whole(
    path: &Path,
    file: &File,
    header: &SessionHeader,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let id = &header.id;
    let (line, mut sum) = encode_header(header).ok_or_else(|| errors::header_too_long(id))?;
    let refused = |error| errors::refused("write", path, error);
    let mut out = io::BufWriter::new(file);
    out.write_all(&line).map_err(refused)?;
    let mut line = Vec::new();
    for entry in entries {
        line.clear();
        sum = encode_entry(&mut line, entry, sum)
            .map_err(|error| errors::append(id, path, AppendError::Line(entry.seq, error)))?;
        out.write_all(&line).map_err(refused)?;
    }
    out.flush().and_then(|()| file.sync_data()).map_err(refused)
}
