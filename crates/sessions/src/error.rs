//! What can go wrong in a store of sessions.

use std::error::Error;
use std::fmt::Display;
use std::io;

use heeler_core::SessionId;

use crate::encoded::SESSION_BYTES_MAX;

/// How much of a text that is no id is shown.
const SHOWN_CHARS_MAX: usize = 40;

/// What kind of failure of a store of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionErrorKind {
    /// There is no such session.
    NotFound,
    /// The id is taken.
    AlreadyExists,
    /// Somebody else wrote the session since it was read; nothing of either is lost.
    Conflict,
    /// The text is no id.
    InvalidId,
    /// What is stored cannot be read.
    Corrupt,
    /// The session is too large to be stored.
    TooLarge,
    /// The store cannot be reached, or somebody holds the session for too long. It may be otherwise
    /// a little later.
    Unavailable,
    /// The system or the database refused.
    Io,
}

/// A failure of a store of sessions; the message names the session or the place, and the next step.
///
/// Who writes a store makes its errors with the functions here, so that all stores speak alike.
///
/// ```
/// use heeler_sessions::SessionError;
///
/// let error = SessionError::not_found("chat-7");
/// assert!(error.is_not_found());
/// assert_eq!(error.to_string(), "there is no session `chat-7`; create it first");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SessionError {
    kind: SessionErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl SessionError {
    /// There is no such session.
    #[must_use]
    pub fn not_found(id: &str) -> Self {
        let message = format!("there is no session `{id}`; create it first");
        Self::new(SessionErrorKind::NotFound, message)
    }

    /// The session was stored before, and is not there any more.
    pub(crate) fn deleted(id: &str) -> Self {
        let message = format!(
            "session `{id}` was deleted since it was read, and is not stored again; begin a new one, or \
             bring it back with `create`"
        );
        Self::new(SessionErrorKind::NotFound, message)
    }

    /// The id is taken.
    #[must_use]
    pub fn already_exists(id: &str) -> Self {
        let message = format!("there is a session `{id}` already; get it and update it");
        Self::new(SessionErrorKind::AlreadyExists, message)
    }

    /// The session that is stored is not the one that was changed.
    #[must_use]
    pub fn conflict(id: &str) -> Self {
        let message = format!(
            "somebody else wrote session `{id}` since it was read, and nothing was written over \
             that; get it and make the change again"
        );
        Self::new(SessionErrorKind::Conflict, message)
    }

    /// What is stored at `place` cannot be read because of `why`, and `next` is to be done.
    pub fn corrupt(place: impl Display, why: impl Display, next: impl Display) -> Self {
        Self::new(SessionErrorKind::Corrupt, format!("cannot read {place}: {why}; {next}"))
    }

    /// The session takes more than [`SESSION_BYTES_MAX`](crate::SESSION_BYTES_MAX).
    #[must_use]
    pub fn too_large(id: &str) -> Self {
        let message = format!(
            "session `{id}` takes more than {SESSION_BYTES_MAX} bytes; remove events or trim the \
             history before it is stored"
        );
        Self::new(SessionErrorKind::TooLarge, message)
    }

    /// The store cannot be reached for now, or somebody holds the session.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(SessionErrorKind::Unavailable, message)
    }

    /// The system refused to do `what`.
    #[must_use]
    pub fn io(what: impl Display, source: io::Error) -> Self {
        Self::new(SessionErrorKind::Io, format!("cannot {what}: {source}")).with_source(source)
    }

    /// A failure of this kind, in words of its own.
    #[must_use]
    pub fn new(kind: SessionErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same failure with its cause, which the message has told already.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure.
    #[must_use]
    pub fn kind(&self) -> SessionErrorKind {
        self.kind
    }

    /// Whether there is no such session.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind == SessionErrorKind::NotFound
    }

    /// Whether the id is taken.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.kind == SessionErrorKind::AlreadyExists
    }

    /// Whether somebody else wrote the session since it was read.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind == SessionErrorKind::Conflict
    }

    /// Whether the text is no id.
    #[must_use]
    pub fn is_invalid_id(&self) -> bool {
        self.kind == SessionErrorKind::InvalidId
    }

    /// Whether what is stored cannot be read.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.kind == SessionErrorKind::Corrupt
    }

    /// Whether the store cannot be reached for now, or somebody holds the session.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind == SessionErrorKind::Unavailable
    }
}

/// Checks what every store checks of an id: letters, digits, `-`, `_` and `.`, 1 to 128 of them, the
/// first no dot.
///
/// # Errors
/// When it is none; the message says what one is.
///
/// ```
/// assert!(heeler_sessions::check_id("chat-7_a.b").is_ok());
/// assert!(heeler_sessions::check_id("../x").unwrap_err().is_invalid_id());
/// ```
pub fn check_id(id: &str) -> Result<(), SessionError> {
    // The rule of the engine's sessions; whoever keeps both needs one rule only.
    if id.parse::<SessionId>().is_ok() {
        return Ok(());
    }
    let shown: String = id.chars().take(SHOWN_CHARS_MAX).collect();
    let more = if shown.len() < id.len() { "..." } else { "" };
    let message = format!(
        "`{}{more}` is no session id; use letters, digits, `-`, `_` and `.`, 1 to 128 of them, the \
         first no dot",
        shown.escape_debug()
    );
    Err(SessionError::new(SessionErrorKind::InvalidId, message))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn each_kind_names_the_session_and_the_next_step() {
        let errors = [
            SessionError::not_found("chat-7"),
            SessionError::already_exists("chat-7"),
            SessionError::conflict("chat-7"),
            SessionError::corrupt("`/space/a.json`", "unexpected end", "mend it"),
            SessionError::too_large("chat-7"),
            SessionError::unavailable("the database cannot be reached; start it"),
            SessionError::io("write `/space/a.json`", io::Error::other("disk full")),
            check_id("").unwrap_err(),
            check_id(&"\n/".repeat(100)).unwrap_err(),
        ];
        let told = |error: &SessionError| {
            let questions = [
                error.is_not_found(),
                error.is_already_exists(),
                error.is_conflict(),
                error.is_invalid_id(),
                error.is_corrupt(),
                error.is_unavailable(),
            ];
            let yes = questions.iter().filter(|yes| **yes).count();
            let cause = error.source().map(|cause| format!(" ({cause})")).unwrap_or_default();
            format!("{:?} {yes}: {error}{cause}\n", error.kind())
        };
        expect![[r#"
            NotFound 1: there is no session `chat-7`; create it first
            AlreadyExists 1: there is a session `chat-7` already; get it and update it
            Conflict 1: somebody else wrote session `chat-7` since it was read, and nothing was written over that; get it and make the change again
            Corrupt 1: cannot read `/space/a.json`: unexpected end; mend it
            TooLarge 0: session `chat-7` takes more than 268435456 bytes; remove events or trim the history before it is stored
            Unavailable 1: the database cannot be reached; start it
            Io 0: cannot write `/space/a.json`: disk full (disk full)
            InvalidId 1: `` is no session id; use letters, digits, `-`, `_` and `.`, 1 to 128 of them, the first no dot
            InvalidId 1: `\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/\n/...` is no session id; use letters, digits, `-`, `_` and `.`, 1 to 128 of them, the first no dot
        "#]].assert_eq(&errors.iter().map(told).collect::<String>());
    }
}
