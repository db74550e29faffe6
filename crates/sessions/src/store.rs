//! The promise of a store of sessions.

use std::sync::Arc;

use heeler_core::BoxFuture;

use crate::{Session, SessionError, SessionVersion};

/// Keeps sessions, each as a whole.
///
/// Promises of every implementation, which [`conformance`](crate::conformance) checks: a session
/// comes back as it was given; what is stored and what a caller holds do not touch each other; an
/// update of a session that somebody else wrote since is refused, so that of changes made at once
/// none is lost, whoever makes them; a write is there whole or not at all, and one that answered
/// lasts. Ids are those of [`check_id`](crate::check_id). It may be called from everywhere at once.
///
/// A future does nothing before it is polled. One that is dropped may have been done.
///
/// ```
/// use heeler_core::Message;
/// use heeler_sessions::{MemorySessions, Session, SessionStore};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemorySessions::new();
/// let mut session = Session::new("chat-7");
/// session.version = store.create(&session).await?;
///
/// session.history.push(Message::user("Hello"));
/// let mut other = store.get("chat-7").await?;
/// session.version = store.update(&session).await?;
///
/// other.history.push(Message::user("Too late"));
/// assert!(store.update(&other).await.unwrap_err().is_conflict());
/// assert_eq!(store.list("chat-", 0).await?, ["chat-7"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SessionStore: Send + Sync + 'static {
    /// Stores a session that is not there yet, whatever version it carries, and says which version
    /// it is now.
    ///
    /// # Errors
    /// `AlreadyExists` when the id is taken.
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>>;

    /// Reads a session, with its version.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Corrupt` when it cannot be read.
    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>>;

    /// Puts a session in place of the stored one, if that still has the version the session carries,
    /// and says which version it is now.
    ///
    /// # Errors
    /// `Conflict` when it has another, `NotFound` when there is none.
    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>>;

    /// Removes a session, whatever its version, also one that cannot be read.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>>;

    /// The ids that begin with `prefix`, sorted by their bytes, no more than `limit` of them. A
    /// limit of 0 and an empty prefix mean all. A session that cannot be read is among them.
    ///
    /// # Errors
    /// When the store cannot be read at all.
    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>>;
}

impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        (**self).create(session)
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>> {
        (**self).get(id)
    }

    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        (**self).update(session)
    }

    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>> {
        (**self).delete(id)
    }

    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>> {
        (**self).list(prefix, limit)
    }
}

/// Reads a session; one that is not there begins without anything in it, and is not stored by that.
///
/// ```
/// # use heeler_sessions::{MemorySessions, SessionError};
/// # async fn example(store: MemorySessions) -> Result<(), SessionError> {
/// let mut session = heeler_sessions::load_or_new(&store, "chat-7").await?;
/// // Ask a model, keep its answer in the history, and:
/// heeler_sessions::save(&store, &mut session).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`SessionStore::get`] but `NotFound`.
pub async fn load_or_new(
    store: &(impl SessionStore + ?Sized),
    id: &str,
) -> Result<Session, SessionError> {
    match store.get(id).await {
        Err(error) if error.is_not_found() => Ok(Session::new(id)),
        other => other,
    }
}

/// Stores a session, whether it was stored before or not, and puts its new version into it.
///
/// # Errors
/// `Conflict` when somebody else wrote or made it since it was read, `NotFound` when it was read or
/// stored before and somebody deleted it since, and those of [`SessionStore::update`] and
/// [`SessionStore::create`]. The session is then as it was. Whoever wants one back that was deleted
/// calls [`SessionStore::create`].
pub async fn save(
    store: &(impl SessionStore + ?Sized),
    session: &mut Session,
) -> Result<(), SessionError> {
    session.version = match store.update(session).await {
        // What somebody deleted stays so, though others still hold it.
        Err(error) if error.is_not_found() && session.version != SessionVersion::default() => {
            Err(SessionError::deleted(&session.id))
        }
        Err(error) if error.is_not_found() => match store.create(session).await {
            // It was made since the line above.
            Err(error) if error.is_already_exists() => Err(SessionError::conflict(&session.id)),
            other => other,
        },
        other => other,
    }?;
    Ok(())
}
