//! Sessions in memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::BoxFuture;

use crate::encoded::{Encoded, decode};
use crate::{Session, SessionError, SessionStore, SessionVersion, check_id};

/// Keeps sessions in memory, in the form other stores keep, so that what works here works there.
/// Copies share what they keep.
#[derive(Debug, Clone, Default)]
pub struct MemorySessions {
    sessions: Arc<Mutex<BTreeMap<Arc<str>, Encoded>>>,
}

impl MemorySessions {
    /// A store without sessions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Encoded>> {
        // Nothing panics between two halves of a change.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemorySessions {
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let (store, encoded) = (self.clone(), Encoded::first(session));
        Box::pin(async move {
            let encoded = encoded?;
            match store.sessions().entry(Arc::clone(&encoded.id)) {
                Entry::Occupied(_) => Err(SessionError::already_exists(&encoded.id)),
                Entry::Vacant(place) => Ok(place.insert(encoded).version),
            }
        })
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move {
            check_id(&id)?;
            let stored = store.sessions().get(id.as_str()).map(|stored| Arc::clone(&stored.json));
            let json = stored.ok_or_else(|| SessionError::not_found(&id))?;
            decode(&id, &json, format!("session `{id}`"), "delete it")
        })
    }

    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let (store, encoded, expected) = (self.clone(), Encoded::next(session), session.version);
        Box::pin(async move {
            let encoded = encoded?;
            match store.sessions().get_mut(&encoded.id) {
                None => Err(SessionError::not_found(&encoded.id)),
                Some(stored) if stored.version != expected => {
                    Err(SessionError::conflict(&encoded.id))
                }
                Some(stored) => {
                    *stored = encoded;
                    Ok(stored.version)
                }
            }
        })
    }

    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move {
            check_id(&id)?;
            let removed = store.sessions().remove(id.as_str());
            removed.map(|_| ()).ok_or_else(|| SessionError::not_found(&id))
        })
    }

    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>> {
        let (store, prefix) = (self.clone(), prefix.to_owned());
        Box::pin(async move {
            let limit = if limit == 0 { usize::MAX } else { limit };
            let sessions = store.sessions();
            let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
            let ids = sessions.range::<str, _>(from).map(|(id, _)| id.to_string());
            Ok(ids.take_while(|id| id.starts_with(&prefix)).take(limit).collect())
        })
    }
}
