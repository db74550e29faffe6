//! The promise of a session store: one append-only journal a session, owned by one writer.

use std::any::Any;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{BoxFuture, CallId, Entry, Seq, SessionId, SessionName, Timestamp};

/// Keeps sessions.
///
/// Promises of every implementation: an append that answers is whole or not there, and one whose
/// process dies leaves whole records from its beginning; records come back in order and as they
/// were; a lease is exclusive until it is dropped or its process dies; the index and checkpoints may
/// be lost and rebuilt, the journal never is.
pub trait SessionStore: Send + Sync + 'static {
    /// Makes an empty session.
    ///
    /// # Errors
    /// `Exists` when the id is taken.
    fn create(&self, header: SessionHeader) -> BoxFuture<Result<(), StoreError>>;

    /// Takes the exclusive right to append. A second taker, in this process or another, is told
    /// `Busy` at once.
    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>>;

    /// Reads the journal. Never changes it: a torn tail is left out here and cut by the next
    /// append.
    fn read(&self, id: SessionId) -> BoxFuture<Result<Journal, StoreError>>;

    /// Reads what a fold still needs: the newest checkpoint in `format` that fits the journal, and
    /// the records after it. Without one, or without a format, all records.
    ///
    /// A checkpoint with which anything is amiss is as good as none. What was changed in the journal
    /// before the checkpoint goes unnoticed here; [`SessionStore::read`] notices it.
    fn latest(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Latest, StoreError>> {
        let (journal, _) = (self.read(id), format);
        Box::pin(async move { Ok(Latest { checkpoint: None, journal: journal.await? }) })
    }

    /// As [`SessionStore::lease`] and [`SessionStore::latest`], in one walk where that is cheaper.
    fn resume(
        &self,
        id: SessionId,
        format: Option<&'static str>,
    ) -> BoxFuture<Result<Resumed, StoreError>> {
        let (lease, latest) = (self.lease(id.clone()), self.latest(id, format));
        Box::pin(async move { Ok(Resumed { lease: lease.await?, latest: latest.await? }) })
    }

    /// Keeps a checkpoint after the journal's last record, in place of older ones. A store without
    /// checkpoints does nothing, and does not ask for the state either.
    ///
    /// The call itself notes the place in the journal, so it comes before the next append; the
    /// future encodes and writes, may block, and belongs on a thread where that is welcome.
    fn keep_checkpoint(
        &self,
        lease: Arc<Lease>,
        draft: CheckpointDraft,
    ) -> BoxFuture<Result<(), StoreError>> {
        let _ = (lease, draft);
        Box::pin(async { Ok(()) })
    }

    /// Appends `entries`, the first of which has the sequence number after the journal's last.
    ///
    /// The same entries at the same place answer `AlreadyThere`; others there are a `Conflict`.
    /// A failed append leaves the journal as it was for every reader, and may be tried again. The
    /// entries are shared with whoever applies them, so that a store can keep them as they are.
    fn append(
        &self,
        lease: Arc<Lease>,
        entries: Arc<[Entry]>,
        durability: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>>;

    /// Sessions whose id starts with `prefix`, sorted by id; `limit` 0 means all. Reads no more
    /// of a journal than what it does not know yet.
    fn list(
        &self,
        prefix: String,
        limit: usize,
    ) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>>;

    /// Removes a session and all it has.
    ///
    /// # Errors
    /// `Busy` while somebody holds its lease.
    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>>;
}

/// What is fixed when a session is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHeader {
    /// The id.
    pub id: SessionId,
    /// When it was made.
    pub created: Timestamp,
    /// The absolute path of the folder it works in.
    pub workspace: String,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// What is fixed.
    pub header: SessionHeader,
    /// When the journal last grew.
    pub updated: Timestamp,
    /// The beginning of what was said first, for people; empty when nothing was said in words yet.
    pub title: String,
    /// What a person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// The session whose beginning it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<ForkOrigin>,
    /// Whether its last turn has no end in the journal: it runs, or its process died in it. Whoever
    /// goes on with the session finishes that turn first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_open_turn: bool,
    /// Whether anything was said in it, or a model asked: it was not just opened and left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_begun: bool,
}

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// The session that was forked; it may be gone.
    pub session: SessionId,
    /// The first of the person's inputs, from 1, that is the fork's own.
    pub at: u32,
}

impl std::fmt::Display for ForkOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.session, self.at)
    }
}

/// The exclusive right to append to one session. Dropping it gives the right back.
pub struct Lease {
    /// The session.
    pub id: SessionId,
    /// What the store needs to know its own lease again.
    pub guard: Box<dyn Any + Send + Sync>,
}

/// How much an append must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The death of the process.
    Written,
    /// The loss of power.
    Synced,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The entries are new.
    Written,
    /// The same entries stood there already: what they announce may have happened.
    AlreadyThere,
}

/// A session's journal as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// What is fixed.
    pub header: SessionHeader,
    /// The readable entries, in order.
    pub entries: Vec<Entry>,
    /// What could not be read; empty for a sound journal. A torn tail is no damage.
    pub damage: Vec<JournalDamage>,
    /// Bytes of a torn tail that were left out.
    pub torn_bytes: u64,
}

/// A journal from its newest checkpoint on.
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    /// Where a fold can begin; at the beginning without one.
    pub checkpoint: Option<Checkpoint>,
    /// The journal, its entries only those after the checkpoint.
    pub journal: Journal,
}

/// A session that is taken over.
pub struct Resumed {
    /// The right to append.
    pub lease: Lease,
    /// What to fold.
    pub latest: Latest,
}

/// A session's state after one of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The record.
    pub seq: Seq,
    /// The state, as whoever folds wrote it.
    pub state: Vec<u8>,
}

/// Writes a state.
pub type EncodeState = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// A checkpoint that is to be kept.
pub struct CheckpointDraft {
    /// The journal's last record.
    pub seq: Seq,
    /// Names the form of the state's bytes and the fold that led to them; a checkpoint is read
    /// back only by who asks for the same.
    pub format: &'static str,
    /// Writes the state, piece by piece: it may be as large as the conversation.
    pub encode: EncodeState,
}

impl Journal {
    /// The last number that a record had which cannot be read; 0 for a sound journal. Whoever goes on
    /// leaves room for it, so that each reader knows that something is missing there.
    #[must_use]
    pub fn lost_up_to(&self) -> Seq {
        self.damage.iter().map(|damage| damage.seq).max().unwrap_or_default()
    }
}

/// A place in a journal that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalDamage {
    /// The line, from 1.
    pub line: u64,
    /// The sequence number expected there.
    pub seq: Seq,
    /// What is wrong with it.
    pub what: String,
}

/// Keeps outputs too long for the history where the model can read them.
pub trait Spill: Send + Sync + 'static {
    /// Writes the whole output of a call and tells where it is.
    ///
    /// # Errors
    /// When it cannot be written; the model then sees only the part that fits.
    fn write(&self, session: &SessionId, call: CallId, text: &str) -> io::Result<PathBuf>;

    /// The folder all outputs of a session go to, absolute: the model may read it.
    fn folder(&self, session: &SessionId) -> PathBuf;
}

/// What kind of failure of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such session.
    NotFound,
    /// The id is taken.
    Exists,
    /// Somebody else owns the session, or holds for too long what only one can have.
    Busy,
    /// A limit is reached.
    Full,
    /// Other records stand where these should go: somebody else wrote.
    Conflict,
    /// The journal was written by a newer version; it can be read, not continued.
    Newer,
    /// The journal's header cannot be read.
    Damaged,
    /// The system refused: disk full, no permission, and the like.
    Io,
}

/// A failure of a store; the message names the session or file and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    #[source]
    source: Option<io::Error>,
}

impl StoreError {
    /// A failure of this kind.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// A refusal of the system while doing `what`.
    pub fn io(what: impl std::fmt::Display, source: io::Error) -> Self {
        Self {
            kind: StoreErrorKind::Io,
            message: format!("{what}: {source}"),
            source: Some(source),
        }
    }

    /// What kind of failure.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether there is no such session.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind == StoreErrorKind::NotFound
    }

    /// Whether somebody else owns the session, or holds what is needed of it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.kind == StoreErrorKind::Busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_ends_with_the_last_of_it() {
        let (id, created) = ("01a00000-0000-7000-8000-000000000000".parse(), Timestamp(1));
        let header = SessionHeader { id: id.unwrap(), created, workspace: "/w".into() };
        let damage =
            [3, 9, 5].map(|seq| JournalDamage { line: seq + 1, seq, what: String::new() }).into();
        let mut journal = Journal { header, entries: Vec::new(), damage, torn_bytes: 0 };
        assert_eq!(journal.lost_up_to(), 9);
        journal.damage.clear();
        assert_eq!(journal.lost_up_to(), 0);
    }

    #[test]
    fn an_error_says_what_it_is_and_keeps_its_cause() {
        use StoreErrorKind::{Busy, Conflict, Damaged, Exists, Full, Io, Newer, NotFound};
        for kind in [NotFound, Exists, Busy, Full, Conflict, Newer, Damaged, Io] {
            let error = StoreError::new(kind, "session s");
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, "session s"));
            assert_eq!((error.is_not_found(), error.is_busy()), (kind == NotFound, kind == Busy));
        }
        let error = StoreError::io("session s", std::io::Error::other("disk"));
        assert_eq!((error.kind(), error.to_string().as_str()), (Io, "session s: disk"));
        assert!(std::error::Error::source(&error).is_some());
    }

    #[test]
    fn a_forks_origin_is_its_session_and_the_first_input_of_its_own() {
        let origin = ForkOrigin { session: "chat-7".parse().unwrap(), at: 2 };
        assert_eq!(origin.to_string(), "chat-7 at 2");
    }
}
