//! Sessions as files: `FOLDER/<id>.json`, each replaced in one step.
//!
//! Who changes or removes a session holds the operating system's lock on its file meanwhile, which
//! ends with the process. Reading takes no lock: a name leads to a whole file at any moment.

mod folder;
mod temporary;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use heeler_core::BoxFuture;

use crate::encoded::{Encoded, decode};
use crate::{Session, SessionError, SessionStore, SessionVersion, check_id};
use folder::Folder;

/// How long somebody else's write of the same session is waited for.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long is waited between the first two looks; each wait is twice the one before.
const LOCK_WAIT_FIRST: Duration = Duration::from_millis(1);
/// The longest wait between two looks.
const LOCK_WAIT_STEP_MAX: Duration = Duration::from_millis(32);

/// Keeps each session in a file of its own, for its owner only, in a folder that any number of
/// processes may share.
///
/// A write has reached the disk when it answers. A file that cannot be read costs only its own
/// session. Its futures need a tokio runtime with a clock, and leave threads of it free.
///
/// ```
/// use heeler_sessions::{FileSessions, load_or_new, save};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// let store = FileSessions::open(folder.path().join("chats"))?;
/// let mut session = load_or_new(&store, "chat-7").await?;
/// session.set_state("visits", &1)?;
/// save(&store, &mut session).await?;
/// assert_eq!(load_or_new(&store, "chat-7").await?, session);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileSessions {
    folder: Arc<Folder>,
}

impl FileSessions {
    /// Opens the store in `folder`, which is made when it is missing, for its owner only. What
    /// writers that died have left in it is removed.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SessionError> {
        Ok(Self { folder: Arc::new(Folder::open(folder.as_ref())?) })
    }

    /// The file of a session, whether there is one or not.
    #[must_use]
    pub fn path(&self, id: &str) -> PathBuf {
        self.folder.path(id)
    }
}

impl SessionStore for FileSessions {
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let (folder, encoded) = (Arc::clone(&self.folder), Encoded::first(session));
        Box::pin(async move {
            let encoded = encoded?;
            aside(move || folder.create(&encoded)).await
        })
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>> {
        let (folder, id) = (Arc::clone(&self.folder), id.to_owned());
        Box::pin(aside(move || {
            check_id(&id)?;
            let json = folder.read(&id)?;
            let path = folder.path(&id);
            decode(&id, &json, format!("`{}`", path.display()), folder::MEND)
        }))
    }

    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let folder = Arc::clone(&self.folder);
        let (encoded, expected) = (Encoded::next(session), session.version);
        Box::pin(async move {
            let encoded = encoded?;
            let id = encoded.id.to_string();
            when_free(&id, || {
                let (folder, encoded) = (Arc::clone(&folder), encoded.clone());
                move || folder.replace(expected, &encoded)
            })
            .await
        })
    }

    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>> {
        let (folder, id) = (Arc::clone(&self.folder), id.to_owned());
        Box::pin(async move {
            check_id(&id)?;
            when_free(&id, || {
                let (folder, id) = (Arc::clone(&folder), id.clone());
                move || folder.delete(&id)
            })
            .await
        })
    }

    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>> {
        let (folder, prefix) = (Arc::clone(&self.folder), prefix.to_owned());
        Box::pin(aside(move || folder.list(&prefix, limit)))
    }
}

/// What became of something that needs a session's lock.
enum Tried<T> {
    Done(T),
    /// Somebody else has the lock.
    Held,
}

/// Tries until the session's lock is free.
async fn when_free<T, W>(id: &str, work: impl Fn() -> W) -> Result<T, SessionError>
where
    T: Send + 'static,
    W: FnOnce() -> Result<Tried<T>, SessionError> + Send + 'static,
{
    let (mut waited, mut step) = (Duration::ZERO, LOCK_WAIT_FIRST);
    loop {
        if let Tried::Done(done) = aside(work()).await? {
            return Ok(done);
        }
        if waited >= LOCK_WAIT_MAX {
            let seconds = LOCK_WAIT_MAX.as_secs();
            return Err(SessionError::unavailable(format!(
                "another process has been writing session `{id}` for {seconds} seconds; end it if \
                 it hangs, then try again"
            )));
        }
        tokio::time::sleep(step).await;
        waited += step;
        step = (step * 2).min(LOCK_WAIT_STEP_MAX);
    }
}

/// Does what waits for a disk on a thread where that is welcome.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SessionError> + Send + 'static,
) -> Result<T, SessionError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(SessionError::unavailable("the runtime is shutting down; nothing was done")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_hangs_is_waited_for_and_then_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileSessions::open(folder.path()).unwrap();
        let mut session = Session::new("a");
        session.version = store.create(&session).await.unwrap();
        let file = std::fs::File::open(store.path("a")).unwrap();
        file.lock().unwrap();
        let begun = tokio::time::Instant::now();
        let error = store.update(&session).await.unwrap_err();
        let waited = begun.elapsed();
        assert!(waited >= LOCK_WAIT_MAX && waited < LOCK_WAIT_MAX * 2, "{waited:?}");
        let expected = "another process has been writing session `a` for 10 seconds; end it if it \
                        hangs, then try again";
        assert_eq!((error.is_unavailable(), error.to_string().as_str()), (true, expected));
        assert!(store.delete("a").await.unwrap_err().is_unavailable());
        // Readers need no lock.
        assert_eq!(store.get("a").await.unwrap(), session);

        file.unlock().unwrap();
        session.version = store.update(&session).await.unwrap();
        store.delete("a").await.unwrap();
    }
}
