//! Lists sessions from file names and the beginnings of files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::time::UNIX_EPOCH;

use heeler_core::{
    SessionHeader, SessionId, SessionSummary, StoreError, StoreErrorKind, Timestamp,
};

use super::errors;
use super::place::Place;
use crate::journal::{HEAD_BYTES, HeaderError, read_head};

/// Sessions whose id starts with `prefix`, sorted by id; 0 as limit means all.
///
/// A journal whose first line cannot be read is listed without workspace, and its title says so:
/// that lets a person find and delete it, and nothing continues it by accident.
pub(super) fn list(
    place: &Place,
    prefix: &str,
    limit: usize,
) -> Result<Vec<SessionSummary>, StoreError> {
    let folder = place.sessions();
    let refused = |error| errors::refused("list", folder, error);
    let mut ids = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let id = entry.file_name().to_str().and_then(Place::session_of);
        ids.extend(id.filter(|id| id.as_str().starts_with(prefix)));
    }
    ids.sort();
    let limit = if limit == 0 { usize::MAX } else { limit };
    Ok(ids.into_iter().filter_map(|id| summary(place, id)).take(limit).collect())
}

/// A session's line in the list; `None` for what is no session, or was removed meanwhile.
fn summary(place: &Place, id: SessionId) -> Option<SessionSummary> {
    let unreadable = |updated, title: &str| {
        let header = SessionHeader { id: id.clone(), created: updated, workspace: String::new() };
        Some(SessionSummary { header, updated, title: title.to_owned() })
    };
    let file = match place.open_to_read(&id) {
        Ok(file) => file,
        Err(error) if error.kind() == StoreErrorKind::Io => {
            return unreadable(Timestamp(0), "(the file cannot be opened)");
        }
        Err(_) => return None,
    };
    match read_beginning(file) {
        Err(_) => unreadable(Timestamp(0), "(the file cannot be read)"),
        Ok((bytes, updated)) => match read_head(&bytes) {
            Ok(head) if head.header.id == id => {
                Some(SessionSummary { header: head.header, updated, title: head.title })
            }
            Ok(_) => unreadable(updated, "(the file has another session's name)"),
            Err(HeaderError::Missing) => None,
            Err(HeaderError::Newer(_)) => unreadable(updated, "(written by a newer heeler)"),
            Err(HeaderError::Damaged(_)) => unreadable(updated, "(the first line is damaged)"),
        },
    }
}

/// The first bytes of a file, and when it last changed.
fn read_beginning(file: File) -> io::Result<(Vec<u8>, Timestamp)> {
    let since_epoch = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut bytes)?;
    Ok((bytes, Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))))
}
