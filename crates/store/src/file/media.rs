//! Media as files: `<id>.media/` beside the journal, with one file of bytes and one of what is known of
//! them for each item.
//!
//! An item is there once its second file is: both are renamed into place, that one last, and it is
//! the first to go. Whoever writes or removes holds the lock of `media.lock`; reading takes none.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use heeler_core::{
    BoxFuture, MediaItem, MediaLimits, MediaReference, MediaScope, MediaStore, NewMedia, SessionId,
    StoreError, StoreErrorKind, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::FileStore;
use super::checkpoint::{read_file, remove_file};
use super::errors;
use super::leavings::is_older;
use super::media_lock::lock;
use super::place::{Place, make_folder, open_file, remove_folder, sync_folder};
use crate::media::{Held, item_of, no_item, no_room, reference_of, sorted};
use crate::on_first_poll;

/// What the name of a file ends in that says what is known of an item.
const KNOWN_SUFFIX: &str = ".json";
/// What the name of a file ends in that is not whole yet.
const NEW_SUFFIX: &str = ".new";
/// The longest file that says what is known of an item.
const KNOWN_BYTES_MAX: usize = 64 * 1024;

/// What is known of an item, in its file.
#[derive(Serialize, Deserialize)]
struct Known {
    media_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    bytes: u64,
    created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat: Option<String>,
}

/// One session's media.
struct Folder<'a> {
    session: &'a SessionId,
    path: PathBuf,
}

impl<'a> Folder<'a> {
    fn of(place: &Place, session: &'a SessionId) -> Self {
        Self { session, path: place.media_folder(session) }
    }

    fn bytes(&self, reference: &MediaReference) -> PathBuf {
        self.path.join(reference.id())
    }

    fn known(&self, reference: &MediaReference) -> PathBuf {
        self.path.join(format!("{}{KNOWN_SUFFIX}", reference.id()))
    }

    /// What is known of an item, and whose it is; `None` when it is not there.
    fn find(
        &self,
        reference: &MediaReference,
    ) -> Result<Option<(MediaScope, MediaItem)>, StoreError> {
        let path = self.known(reference);
        let json = match read_file(&path, KNOWN_BYTES_MAX) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(errors::refused("read", &path, error)),
        };
        let known: Known = serde_json::from_slice(&json)
            .map_err(|error| damaged(&path, &format!("cannot be read: {error}")))?;
        let Known { media_type, name, bytes, created, channel, chat } = known;
        let path = Some(self.bytes(reference));
        let item =
            MediaItem { reference: reference.clone(), media_type, name, bytes, created, path };
        Ok(Some((MediaScope { session: self.session.clone(), channel, chat }, item)))
    }

    /// The item, if the scope holds it.
    fn item(
        &self,
        scope: &MediaScope,
        reference: &MediaReference,
    ) -> Result<(MediaScope, MediaItem), StoreError> {
        let found = self.find(reference)?.filter(|(of, _)| scope.holds(of));
        found.ok_or_else(|| no_item(reference, self.session))
    }

    /// The references of all that is there, with what their bytes take.
    fn references(&self) -> Result<Vec<(MediaReference, u64)>, StoreError> {
        let refused = |error| errors::refused("list", &self.path, error);
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(refused(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(refused)?;
            let name = entry.file_name();
            let reference = name.to_str().and_then(|name| format!("media://{name}").parse().ok());
            let Some(reference) = reference else { continue };
            match entry.metadata() {
                Ok(metadata) => found.push((reference, metadata.len())),
                // Removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(found)
    }

    /// Removes what writers that died left behind. Only under the lock.
    fn remove_unfinished(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let is_new = path.to_str().is_some_and(|path| path.ends_with(NEW_SUFFIX));
            // Bytes of which nothing is known.
            let is_lone = path.extension().is_none()
                && !path.with_extension(KNOWN_SUFFIX.trim_start_matches('.')).exists();
            if is_new || is_lone {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn remove(&self, reference: &MediaReference) -> Result<(), StoreError> {
        for path in [self.known(reference), self.bytes(reference)] {
            remove_file(&path).map_err(|error| errors::refused("remove", &path, error))?;
        }
        Ok(())
    }

    /// Removes the items that are unwanted; gives their number. What cannot be read is nobody's.
    fn remove_where(
        &self,
        is_unwanted: impl Fn(&MediaScope, &MediaItem) -> bool,
    ) -> Result<usize, StoreError> {
        let mut removed = 0;
        for (reference, _) in self.references()? {
            let is_unwanted = match self.find(&reference) {
                Ok(found) => found.is_none_or(|(scope, item)| is_unwanted(&scope, &item)),
                Err(error) if error.kind() == StoreErrorKind::Damaged => true,
                Err(error) => return Err(error),
            };
            if is_unwanted {
                self.remove(&reference)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

impl FileStore {
    fn put_media(&self, scope: &MediaScope, media: NewMedia) -> Result<MediaItem, StoreError> {
        let place = &self.place;
        let at = media.at;
        let (mut item, bytes) = item_of(scope, media)?;
        let folder = Folder::of(place, &scope.session);
        let journal = place.journal(&scope.session);
        let _lock = lock(place)?;
        // What belongs to no session would never be removed.
        if !journal.exists() {
            return Err(errors::not_found(&scope.session, &journal));
        }
        // A file that was spoiled since is written again.
        if let Ok(Some((_, there))) = folder.find(&item.reference)
            && read_media(scope, &folder, &item.reference).is_ok()
        {
            return Ok(there);
        }
        let limits = &self.media_limits;
        let no_room = || {
            let held = measure(place, &scope.session)?;
            Ok::<_, StoreError>(no_room(limits, &scope.session, held, item.bytes))
        };
        if no_room()?.is_some() {
            remove_older(place, Timestamp(at.0.saturating_sub(limits.kept_millis)))?;
        }
        if let Some(error) = no_room()? {
            return Err(error);
        }
        let known = Known {
            media_type: item.media_type.clone(),
            name: item.name.clone(),
            bytes: item.bytes,
            created: item.created,
            channel: scope.channel.clone(),
            chat: scope.chat.clone(),
        };
        let write = || {
            make_folder(&folder.path)?;
            folder.remove_unfinished()?;
            write_new(&folder.bytes(&item.reference), &bytes)?;
            write_new(&folder.known(&item.reference), &serde_json::to_vec(&known)?)?;
            sync_folder(&folder.path)
        };
        write().map_err(|error| errors::refused("write into", &folder.path, error))?;
        item.path = Some(folder.bytes(&item.reference));
        Ok(item)
    }
}

/// Writes a whole file in one step. Its name is the folder's to sync.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(NEW_SUFFIX);
    let new = PathBuf::from(new);
    // A new file is never somebody's link.
    remove_file(&new)?;
    let written =
        open_file(&new, OpenOptions::new().write(true).create_new(true)).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_data()
        });
    written.and_then(|()| fs::rename(&new, path)).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

fn read_media(
    scope: &MediaScope,
    folder: &Folder<'_>,
    reference: &MediaReference,
) -> Result<(MediaItem, Bytes), StoreError> {
    let (of, item) = folder.item(scope, reference)?;
    let path = folder.bytes(reference);
    let bytes_max = usize::try_from(item.bytes).unwrap_or(usize::MAX);
    let bytes = read_file(&path, bytes_max).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged(&path, "is gone"),
        io::ErrorKind::FileTooLarge => damaged(&path, "is longer than it was"),
        _ => errors::refused("read", &path, error),
    })?;
    if reference_of(&of, &item.media_type, &item.name, &bytes)? != *reference {
        return Err(damaged(&path, "or what is known of it was changed since it was written"));
    }
    Ok((item, bytes.into()))
}

fn damaged(path: &Path, what: &str) -> StoreError {
    let message =
        format!("`{}` {what}; restore it from a backup, or do without it", path.display());
    StoreError::new(StoreErrorKind::Damaged, message)
}

/// What a session's folder and all of them hold.
fn measure(place: &Place, session: &SessionId) -> Result<(Held, Held), StoreError> {
    let (mut of_session, mut in_all) = (Held::default(), Held::default());
    for other in place.sessions_with_media()? {
        for (_, bytes) in Folder::of(place, &other).references()? {
            in_all.add(bytes);
            if other == *session {
                of_session.add(bytes);
            }
        }
    }
    Ok((of_session, in_all))
}

/// Only under the lock.
fn remove_older(place: &Place, than: Timestamp) -> Result<usize, StoreError> {
    let mut removed = 0;
    for session in place.sessions_with_media()? {
        removed += remove_of_session(place, &session, than)?;
    }
    Ok(removed)
}

/// Removes what is older of one session, or all of it when the session is gone, however it went, and its
/// folder is older: whoever restores a backup may put the journal there last. Only under the lock.
pub(super) fn remove_of_session(
    place: &Place,
    session: &SessionId,
    than: Timestamp,
) -> Result<usize, StoreError> {
    let folder = Folder::of(place, session);
    let is_gone = place.is_gone(session) && is_older(&folder.path, than);
    let removed = folder.remove_where(|_, item| is_gone || item.created < than)?;
    if is_gone {
        remove_folder(&folder.path)
            .map_err(|error| errors::refused("remove", &folder.path, error))?;
    }
    Ok(removed)
}

impl MediaStore for FileStore {
    fn put(&self, scope: MediaScope, media: NewMedia) -> BoxFuture<Result<MediaItem, StoreError>> {
        let this = self.clone();
        on_first_poll(move || this.put_media(&scope, media))
    }

    fn find(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<MediaItem, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || Ok(Folder::of(&place, &scope.session).item(&scope, &reference)?.1))
    }

    fn get(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || read_media(&scope, &Folder::of(&place, &scope.session), &reference))
    }

    fn items(&self, scope: MediaScope) -> BoxFuture<Result<Vec<MediaItem>, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || {
            let folder = Folder::of(&place, &scope.session);
            let found = folder.references()?.into_iter();
            // What cannot be read is told to whoever asks for it.
            let found = found.filter_map(|(reference, _)| folder.find(&reference).ok().flatten());
            Ok(sorted(found.filter(|(of, _)| scope.holds(of)).map(|(_, item)| item).collect()))
        })
    }

    fn remove(&self, scope: MediaScope) -> BoxFuture<Result<usize, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || {
            let _lock = lock(&place)?;
            Folder::of(&place, &scope.session).remove_where(|of, _| scope.holds(of))
        })
    }

    fn remove_older(&self, than: Timestamp) -> BoxFuture<Result<usize, StoreError>> {
        let place = Arc::clone(&self.place);
        on_first_poll(move || {
            let _lock = lock(&place)?;
            remove_older(&place, than)
        })
    }

    fn folder(&self, session: &SessionId) -> Option<PathBuf> {
        Some(self.place.media_folder(session))
    }

    fn limits(&self) -> MediaLimits {
        self.media_limits
    }
}
