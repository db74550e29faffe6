//! Lists sessions from file names, the index, and what the index does not know of their files.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use heeler_core::{
    SessionHeader, SessionId, SessionSummary, StoreError, StoreErrorKind, Timestamp,
};

use super::errors;
use super::index::{self, Known, Stamp};
use super::place::Place;
use crate::journal::{HEADER_BYTES_MAX, HeaderError, Label, ScanError, scan_header};

/// Once so many bytes of journals were read that the index did not know, it is written anew.
const UNKNOWN_BYTES_MAX: u64 = 1024 * 1024;
/// How much of a journal is read at once.
const READ_BUFFER_BYTES: usize = 64 * 1024;

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
    let (mut found, mut n_all) = (Vec::new(), 0_usize);
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let Some(id) = entry.file_name().to_str().and_then(Place::session_of) else { continue };
        n_all += 1;
        if id.as_str().starts_with(prefix) {
            found.push((id, entry));
        }
    }
    heeler_core::sort_by(&mut found, |one, other| one.0.cmp(&other.0));
    let limit = if limit == 0 { usize::MAX } else { limit };
    let mut walk = Walk { place, known: index::read(place), n_unknown_bytes: 0 };
    let mut listed = Vec::with_capacity(found.len().min(limit));
    for (id, entry) in &found {
        if listed.len() >= limit {
            break;
        }
        listed.extend(walk.summary(id, entry));
    }
    // What is known of sessions that are gone is of no use any more.
    let is_stale = found.len() == n_all && walk.known.len() > found.len();
    if walk.n_unknown_bytes >= UNKNOWN_BYTES_MAX || is_stale {
        walk.known.retain(|id, _| place.journal(id).exists());
        index::write(place, walk.known.values());
    }
    Ok(listed)
}

/// One listing.
struct Walk<'a> {
    place: &'a Place,
    known: BTreeMap<SessionId, Known>,
    n_unknown_bytes: u64,
}

/// What there is of a file.
enum Listed {
    Known(Known),
    /// When it last changed, and why nothing is known of it.
    Unreadable(Timestamp, &'static str),
    /// It is no session.
    Nothing,
}

impl Walk<'_> {
    /// A session's line in the list; `None` for what is no session, or was removed meanwhile.
    fn summary(&mut self, id: &SessionId, entry: &DirEntry) -> Option<SessionSummary> {
        let stamp = entry.metadata().ok().filter(|m| m.is_file()).map(|m| Stamp::of(&m));
        if let (Some(stamp), Some(known)) = (stamp, self.known.get(id))
            && known.stamp == stamp
        {
            return Some(known.summary());
        }
        // The folder tells when a file changed that cannot be opened.
        let changed = stamp.map_or(Timestamp(0), |stamp| stamp.time());
        let unreadable = |updated, title: &str| {
            let header =
                SessionHeader { id: id.clone(), created: updated, workspace: String::new() };
            let label = Label { title: title.to_owned(), ..Label::default() };
            Some(label.summary(header, updated))
        };
        let mut file = match self.place.open_to_read(id) {
            Ok(file) => file,
            Err(error) if error.kind() == StoreErrorKind::Io => {
                return unreadable(changed, "(the file cannot be opened)");
            }
            Err(_) => return None,
        };
        let cannot = |_| Listed::Unreadable(changed, "(the file cannot be read)");
        match self.read(id, &mut file).unwrap_or_else(cannot) {
            Listed::Known(known) => {
                let summary = known.summary();
                self.known.insert(id.clone(), known);
                Some(summary)
            }
            Listed::Unreadable(updated, why) => unreadable(updated, why),
            Listed::Nothing => None,
        }
    }

    /// What a journal says, from where it is not known.
    fn read(&mut self, id: &SessionId, file: &mut File) -> io::Result<Listed> {
        let stamp = Stamp::of(&file.metadata()?);
        let unreadable = |why| Ok(Listed::Unreadable(stamp.time(), why));
        let known = self.known.remove(id);
        let known = match known.filter(|known| known.stamp.grew_to(&stamp)) {
            Some(known) => Known { stamp, ..known },
            None => {
                let head = file.by_ref().take(HEADER_BYTES_MAX as u64);
                self.n_unknown_bytes += stamp.length.min(head.limit());
                match scan_header(BufReader::with_capacity(HEADER_BYTES_MAX, head)) {
                    Ok(header) if header.id == *id => {
                        Known { stamp, header, label: Label::default(), read_to: 0 }
                    }
                    Ok(_) => return unreadable("(the file has another session's name)"),
                    Err(ScanError::Io(error)) => return Err(error),
                    Err(ScanError::Header(HeaderError::Missing)) => return Ok(Listed::Nothing),
                    Err(ScanError::Header(HeaderError::Newer(_))) => {
                        return unreadable("(written by a newer heeler)");
                    }
                    Err(ScanError::Header(HeaderError::Damaged(_))) => {
                        return unreadable("(the first line is damaged)");
                    }
                }
            }
        };
        Ok(Listed::Known(self.read_label(known, file)?))
    }

    /// Takes in what was appended since.
    fn read_label(&mut self, mut known: Known, file: &mut File) -> io::Result<Known> {
        let left = known.stamp.length.saturating_sub(known.read_to);
        self.n_unknown_bytes += left;
        file.seek(SeekFrom::Start(known.read_to))?;
        let reader = BufReader::with_capacity(READ_BUFFER_BYTES, file.take(left));
        known.read_to += known.label.read(reader)?;
        Ok(known)
    }
}
