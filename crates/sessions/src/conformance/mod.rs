//! What every store of sessions promises, as checks that run against any: ours and yours.
//!
//! ```
//! use heeler_sessions::{MemorySessions, conformance};
//!
//! # tokio::runtime::Builder::new_multi_thread().build()?.block_on(async {
//! conformance::check(|| async { MemorySessions::new() }).await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod crowds;
mod lists;
mod refusals;
mod values;

use std::fmt::Debug;
use std::sync::Arc;

use heeler_core::BoxFuture;

use crate::{Session, SessionError, SessionStore};

/// Checks every promise of [`SessionStore`], each on a store of its own that `make` gives and that
/// has to be empty.
///
/// It needs a tokio runtime; one with several threads finds more. Sessions of 10 MB and some
/// hundreds of small ones are written.
///
/// # Errors
/// The first promise that is not kept, and what was seen instead.
pub async fn check<S, F, Made>(make: F) -> Result<(), BrokenPromise>
where
    S: SessionStore,
    F: Fn() -> Made,
    Made: Future<Output = S>,
{
    let promises = lists::PROMISES
        .iter()
        .chain(&values::PROMISES)
        .chain(&refusals::PROMISES)
        .chain(&crowds::PROMISES);
    for (promise, keeps) in promises {
        let store: Store = Arc::new(make().await);
        keeps(store).await.map_err(|Seen(seen)| BrokenPromise { promise, seen })?;
    }
    Ok(())
}

/// A promise that a store does not keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{promise}: {seen}")]
pub struct BrokenPromise {
    promise: &'static str,
    seen: String,
}

impl BrokenPromise {
    /// The promise, in words that do not change.
    #[must_use]
    pub fn promise(&self) -> &'static str {
        self.promise
    }
}

type Store = Arc<dyn SessionStore>;
/// A promise, and what tries whether a store keeps it.
type Promise = (&'static str, fn(Store) -> BoxFuture<Kept>);
type Kept = Result<(), Seen>;

/// What was seen of a store that breaks a promise.
#[derive(Debug)]
struct Seen(String);

impl From<SessionError> for Seen {
    fn from(error: SessionError) -> Self {
        Self(format!("{:?}: {error}", error.kind()))
    }
}

/// That two things are the same.
fn same<T: PartialEq + Debug>(what: &str, seen: &T, expected: &T) -> Kept {
    if seen == expected {
        return Ok(());
    }
    Err(Seen(format!("{what} is {}, not {}", shown(seen), shown(expected))))
}

/// That something is refused in the right way.
fn refused<T: Debug>(
    what: &str,
    answer: Result<T, SessionError>,
    is_expected: fn(&SessionError) -> bool,
) -> Kept {
    match answer {
        Err(error) if is_expected(&error) => Ok(()),
        Err(error) => Err(Seen(format!("{what} is refused as {:?}: {error}", error.kind()))),
        Ok(answer) => Err(Seen(format!("{what} is not refused: {}", shown(&answer)))),
    }
}

/// The beginning of a value: some are very long.
fn shown(value: &impl Debug) -> String {
    format!("{value:?}").chars().take(200).collect()
}

/// Stores a session without anything in it.
async fn make(store: &Store, id: &str) -> Result<Session, Seen> {
    let mut session = Session::new(id);
    session.version = store.create(&session).await?;
    Ok(session)
}
