//! Stores that break a promise are found out, each by the promise it breaks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use heeler_core::BoxFuture;
use heeler_sessions::{
    Session, SessionError, SessionErrorKind, SessionStore, SessionVersion, check_id, conformance,
};

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bug {
    None,
    ListsBackwards,
    FindsPrefixAnywhere,
    TakesZeroForNone,
    ForgetsLimit,
    LosesEvents,
    KeepsOldVersion,
    RoundsFloats,
    CutsAtNul,
    RefusesLarge,
    MergesState,
    ListsWhatWasLoaded,
    FailsAsIo,
    NamesNobody,
    CreatesOver,
    UpdatesOver,
    CreatesOnUpdate,
    VersionsBeginAgain,
    TakesAnyId,
    IgnoresDots,
    LooksThenCreates,
    LooksThenUpdates,
    WritesInParts,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_breaks_a_promise_is_found_out() {
    for (bug, promise) in [
        (Bug::ListsBackwards, "ids are sorted by their bytes"),
        (Bug::FindsPrefixAnywhere, "a list holds the ids that begin with its prefix"),
        (Bug::TakesZeroForNone, "ids are sorted by their bytes"),
        (Bug::ForgetsLimit, "a list is no longer than its limit, and 0 means all"),
        (Bug::LosesEvents, "a session comes back as it was"),
        (Bug::KeepsOldVersion, "a session comes back as it was"),
        (Bug::RoundsFloats, "state comes back as the type it had"),
        (Bug::CutsAtNul, "any text is kept"),
        (Bug::RefusesLarge, "a session of 10 MB is kept"),
        (Bug::MergesState, "an update replaces all of a session"),
        (Bug::ListsWhatWasLoaded, "load_or_new and save go round"),
        (Bug::FailsAsIo, "load_or_new and save go round"),
        (Bug::NamesNobody, "what is not there is not found, by name"),
        (Bug::CreatesOver, "an id is taken once"),
        (Bug::UpdatesOver, "an update of what somebody else wrote is a conflict"),
        (Bug::CreatesOnUpdate, "what is not there is not found, by name"),
        (Bug::VersionsBeginAgain, "a session made anew is not the one that was removed"),
        (Bug::TakesAnyId, "what is no id is refused as such"),
        (Bug::IgnoresDots, "every id is kept apart"),
        (Bug::LooksThenCreates, "of those who create an id at once one wins"),
        (Bug::LooksThenUpdates, "of those who update a session at once one wins"),
        (Bug::WritesInParts, "who reads meanwhile sees whole sessions only"),
    ] {
        let broken = check(bug).await.expect_err(&format!("{bug:?} is not found"));
        assert_eq!(broken.promise(), promise, "{bug:?}: {broken}");
        assert!(broken.to_string().starts_with(promise), "{broken}");
    }
    check(Bug::None).await.unwrap();
}

async fn check(bug: Bug) -> Result<(), conformance::BrokenPromise> {
    conformance::check(|| async move { Bent { bug, kept: Arc::default() } }).await
}

/// A store in memory with a bug on command.
#[derive(Clone)]
struct Bent {
    bug: Bug,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    sessions: BTreeMap<String, Session>,
    last: u64,
}

impl Bent {
    fn with<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        act(&mut self.kept.lock().unwrap())
    }

    fn check_id(&self, id: &str) -> Result<(), SessionError> {
        if self.bug == Bug::TakesAnyId { Ok(()) } else { check_id(id) }
    }

    fn not_found(&self, id: &str) -> SessionError {
        match self.bug {
            Bug::FailsAsIo => SessionError::new(SessionErrorKind::Io, format!("no `{id}`")),
            Bug::NamesNobody => SessionError::new(SessionErrorKind::NotFound, "not found"),
            _ => SessionError::not_found(id),
        }
    }

    fn key(&self, id: &str) -> String {
        if self.bug == Bug::IgnoresDots { id.replace('.', "") } else { id.to_owned() }
    }

    /// A session as this store keeps it.
    fn kept(&self, session: &Session, before: Option<&Session>) -> Session {
        let mut session = session.clone();
        match self.bug {
            Bug::LosesEvents => session.events.clear(),
            Bug::RoundsFloats => {
                for raw in session.state.values_mut() {
                    let text = raw.get().replace("0.30000000000000004", "0.3");
                    *raw = heeler_core::RawJson::parse(&text).unwrap();
                }
            }
            Bug::CutsAtNul => session.state.retain(|key, _| !key.contains("\0\u{1}")),
            Bug::MergesState => {
                let before = before.into_iter().flat_map(|before| before.state.clone());
                session.state = before.chain(session.state).collect();
            }
            _ => {}
        }
        session
    }

    fn put(&self, kept: &mut Kept, session: &Session) -> SessionVersion {
        let key = self.key(&session.id);
        let before = kept.sessions.get(&key);
        let mut session = self.kept(session, before);
        session.version = match self.bug {
            Bug::KeepsOldVersion if before.is_some() => session.version,
            Bug::VersionsBeginAgain => SessionVersion(before.map_or(1, |kept| kept.version.0 + 1)),
            _ => SessionVersion(kept.last + 1),
        };
        kept.last += 1;
        let version = session.version;
        kept.sessions.insert(key, session);
        version
    }

    async fn create_now(self, session: Session) -> Result<SessionVersion, SessionError> {
        let id = &session.id;
        self.check_id(id)?;
        if self.bug == Bug::RefusesLarge && session.history.len() > 1_000 {
            return Err(SessionError::too_large(id));
        }
        let is_taken =
            |kept: &Kept| kept.sessions.contains_key(&self.key(id)) && self.bug != Bug::CreatesOver;
        if self.bug == Bug::LooksThenCreates {
            if self.with(|kept| is_taken(kept)) {
                return Err(SessionError::already_exists(id));
            }
            tokio::task::yield_now().await;
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            return Ok(self.with(|kept| self.put(kept, &session)));
        }
        self.with(|kept| match is_taken(kept) {
            true => Err(SessionError::already_exists(id)),
            false => Ok(self.put(kept, &session)),
        })
    }

    async fn update_now(self, session: Session) -> Result<SessionVersion, SessionError> {
        let id = &session.id;
        self.check_id(id)?;
        let look = |kept: &Kept| match kept.sessions.get(&self.key(id)) {
            None if self.bug == Bug::CreatesOnUpdate => Ok(()),
            None => Err(self.not_found(id)),
            Some(kept) if kept.version != session.version && self.bug != Bug::UpdatesOver => {
                Err(SessionError::conflict(id))
            }
            Some(_) => Ok(()),
        };
        let pause = || tokio::time::sleep(std::time::Duration::from_millis(1));
        if self.bug == Bug::LooksThenUpdates {
            self.with(|kept| look(kept))?;
            pause().await;
            return Ok(self.with(|kept| self.put(kept, &session)));
        }
        // Only of one writer: of many, the sum would be wrong first.
        if self.bug == Bug::WritesInParts && session.state.contains_key("n") {
            let mut part = session.clone();
            part.history.pop();
            let version = self.with(|kept| look(kept).map(|()| self.put(kept, &part)))?;
            pause().await;
            return self.with(|kept| {
                look_again(kept, id, version)?;
                Ok(self.put(kept, &session))
            });
        }
        self.with(|kept| look(kept).map(|()| self.put(kept, &session)))
    }
}

fn look_again(kept: &Kept, id: &str, version: SessionVersion) -> Result<(), SessionError> {
    match kept.sessions.get(id) {
        Some(session) if session.version == version => Ok(()),
        _ => Err(SessionError::conflict(id)),
    }
}

impl SessionStore for Bent {
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        Box::pin(self.clone().create_now(session.clone()))
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move {
            store.check_id(&id)?;
            store.with(|kept| match kept.sessions.get(&store.key(&id)) {
                Some(session) => Ok(session.clone()),
                None if store.bug == Bug::ListsWhatWasLoaded => {
                    let session = Session::new(id.as_str());
                    kept.sessions.insert(id, session.clone());
                    Ok(session)
                }
                None => Err(store.not_found(&id)),
            })
        })
    }

    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        Box::pin(self.clone().update_now(session.clone()))
    }

    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move {
            store.check_id(&id)?;
            let removed = store.with(|kept| kept.sessions.remove(&store.key(&id)));
            removed.map(|_| ()).ok_or_else(|| store.not_found(&id))
        })
    }

    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>> {
        let (store, prefix) = (self.clone(), prefix.to_owned());
        Box::pin(async move {
            let fits = |id: &&String| match store.bug {
                Bug::FindsPrefixAnywhere => id.contains(&prefix),
                _ => id.starts_with(&prefix),
            };
            let mut ids: Vec<String> = store.with(|kept| {
                let ids = kept.sessions.values().map(|session| &session.id);
                ids.filter(fits).cloned().collect()
            });
            if store.bug == Bug::ListsBackwards {
                ids.reverse();
            }
            match (store.bug, limit) {
                (Bug::ForgetsLimit, _) => {}
                (Bug::TakesZeroForNone, 0) => ids.clear(),
                (_, 0) => {}
                _ => ids.truncate(limit),
            }
            Ok(ids)
        })
    }
}
