//! The stored form of a session, the same in every store: JSON.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::sync::Arc;

use heeler_core::{Message, RawJson, from_json_bytes};
use serde::{Deserialize, Serialize};

use crate::{RecordedEvent, Session, SessionError, SessionVersion, check_id};

/// The longest stored form of a session, in bytes.
pub const SESSION_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A session on its way into a store.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) id: Arc<str>,
    /// What it is when it is stored.
    pub(crate) version: SessionVersion,
    pub(crate) json: Arc<[u8]>,
}

impl Encoded {
    /// As the first version of a session.
    pub(crate) fn first(session: &Session) -> Result<Self, SessionError> {
        Self::new(session, first_version(), SESSION_BYTES_MAX)
    }

    /// As the version after the one it carries.
    pub(crate) fn next(session: &Session) -> Result<Self, SessionError> {
        let version = SessionVersion(session.version.0.wrapping_add(1));
        Self::new(session, version, SESSION_BYTES_MAX)
    }

    fn new(
        session: &Session,
        version: SessionVersion,
        bytes_max: usize,
    ) -> Result<Self, SessionError> {
        // No field is forgotten here when there is one more.
        let Session { id, version: _, history, state, events } = session;
        check_id(id)?;
        let mut out = Bounded { bytes: Vec::new(), bytes_max };
        serde_json::to_writer(&mut out, &Stored { id, version, history, state, events })
            // Nothing else can fail: every key is a text.
            .map_err(|_| SessionError::too_large(id))?;
        Ok(Self { id: id.as_str().into(), version, json: out.bytes.into() })
    }
}

/// A session as it is written: the fields and names of [`Session`].
#[derive(Serialize)]
struct Stored<'a> {
    id: &'a str,
    version: SessionVersion,
    history: &'a [Message],
    state: &'a BTreeMap<String, RawJson>,
    events: &'a [RecordedEvent],
}

/// What an update has to know of a stored session.
#[derive(Deserialize)]
struct Head {
    id: String,
    version: SessionVersion,
}

/// Reads the stored form of session `id`; `place` and `next` are for people, if it cannot be read.
pub(crate) fn decode(
    id: &str,
    json: &[u8],
    place: impl Display,
    next: impl Display,
) -> Result<Session, SessionError> {
    match from_json_bytes::<Session>(json) {
        Ok(session) if session.id == id => Ok(session),
        Ok(session) => Err(elsewhere(&session.id, place)),
        Err(error) => Err(SessionError::corrupt(place, &error, next).with_source(error)),
    }
}

/// Reads the version of the stored form of session `id`.
pub(crate) fn decode_version(
    id: &str,
    json: &[u8],
    place: impl Display,
    next: impl Display,
) -> Result<SessionVersion, SessionError> {
    match from_json_bytes::<Head>(json) {
        Ok(head) if head.id == id => Ok(head.version),
        Ok(head) => Err(elsewhere(&head.id, place)),
        Err(error) => Err(SessionError::corrupt(place, &error, next).with_source(error)),
    }
}

fn elsewhere(id: &str, place: impl Display) -> SessionError {
    let why = format!("it holds session `{id}`");
    SessionError::corrupt(place, why, "give it that session's name again")
}

/// A version that was never there, also if a session with the same id was removed: whoever still
/// holds that one must not write over a new one.
fn first_version() -> SessionVersion {
    // A number that every reader of JSON takes as it is, and room to count on.
    SessionVersion((RandomState::new().hash_one(()) >> 16).max(1))
}

struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_the_sessions_own_with_the_new_version() {
        let mut session = Session::new("a");
        session.history.push(Message::user("Hello"));
        session.set_state("n", &1).unwrap();
        session.add_events(crate::samples::kinds().into_iter().map(crate::samples::event));
        session.version = SessionVersion(6);
        let encoded = Encoded::next(&session).unwrap();
        session.version = SessionVersion(7);
        assert_eq!(&encoded.json[..], serde_json::to_vec(&session).unwrap());
        assert_eq!(decode("a", &encoded.json, "here", "mend it").unwrap(), session);
        assert_eq!(decode_version("a", &encoded.json, "", "").unwrap(), SessionVersion(7));
    }

    #[test]
    fn what_is_too_large_is_not_stored() {
        assert_eq!(SESSION_BYTES_MAX, 268_435_456);
        let session = Session::new("a");
        let length = Encoded::new(&session, SessionVersion(1), 1_000).unwrap().json.len();
        assert!(Encoded::new(&session, SessionVersion(1), length).is_ok());
        let error = Encoded::new(&session, SessionVersion(1), length - 1).unwrap_err();
        assert_eq!(error.kind(), crate::SessionErrorKind::TooLarge);
    }

    #[test]
    fn what_belongs_to_another_session_is_not_taken() {
        let encoded = Encoded::first(&Session::new("a")).unwrap();
        for error in [
            decode("b", &encoded.json, "`b.json`", "mend it").unwrap_err(),
            decode_version("b", &encoded.json, "`b.json`", "mend it").unwrap_err(),
        ] {
            let expected = "cannot read `b.json`: it holds session `a`; give it that session's \
                            name again";
            assert_eq!((error.is_corrupt(), error.to_string().as_str()), (true, expected));
        }
        let first = |_| Encoded::first(&Session::new("a")).unwrap().version.0;
        let mut versions: Vec<u64> = (0..100).map(first).collect();
        heeler_core::sort(&mut versions);
        versions.dedup();
        assert!(versions.len() == 100 && versions[99] < 1 << 48);
    }
}
